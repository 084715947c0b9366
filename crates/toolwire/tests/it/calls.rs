//! Calls out of an answer, and results into the next request.

use serde_json::{Value, json};
use toolwire::calls::{self, Error, Input, NativeKind, ToolCall, ToolOutput};
use toolwire::{Code, Protocol, translate};

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, Input::Arguments(arguments.to_owned()))
}

fn parsed(protocol: Protocol, response: &str) -> Vec<ToolCall> {
    calls::parse(protocol, response.as_bytes()).unwrap()
}

/// The next request, which must be JSON, and its text.
fn next(protocol: Protocol, request: &str, response: &str, outputs: &[ToolOutput]) -> String {
    let body =
        calls::next_request(protocol, request.as_bytes(), response.as_bytes(), outputs).unwrap();
    let text = String::from_utf8(body).unwrap();
    serde_json::from_str::<Value>(&text).unwrap();
    text
}

/// The items that a response with one call of a kind goes on with.
fn result_item(call: &str, output: ToolOutput) -> Value {
    let response = format!(r#"{{"status":"completed","output":[{call}]}}"#);
    let continuation =
        calls::continuation(Protocol::Responses, response.as_bytes(), &[output]).unwrap();
    let results: Vec<Value> =
        continuation.results().map(|item| serde_json::from_str(item).unwrap()).collect();
    assert_eq!(results.len(), 1);
    results[0].clone()
}

const CHAT: &str = r#"{"id":"chatcmpl-1","model":"m","choices":[{"index":0,"finish_reason":"stop",
"message":{ "role":"assistant", "content":null, "reasoning_content":"h\u00e9", "tool_calls":[
 {"id":"call_a","type":"function","function":{"name":"f","arguments":"{\"n\": 1.0}"}},
 {"id":"call_b","type":"custom","custom":{"name":"g","input":"a\nb"}}]}}]}"#;

const RESPONSES: &str = r#"{"id":"resp_1","status":"completed","output":[
 {"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAA\u002b=="},
 {"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Let me see.","annotations":[]}]},
 {"id":"fc_1","type":"function_call","call_id":"call_a","name":"f","namespace":"crm","arguments":"{\"n\": 1.0}","status":"completed"},
 {"id":"ctc_1","type":"custom_tool_call","call_id":"call_b","name":"g","input":"a\nb"}]}"#;

const MESSAGES: &str = r#"{"id":"msg_1","type":"message","role":"assistant","stop_reason":"tool_use","content":[
 {"type":"thinking","thinking":"h\u00e9","signature":"EqQB+/=="},
 {"type":"redacted_thinking","data":"xyz"},
 {"type":"text","text":"Let me see."},
 {"type":"tool_use","id":"toolu_a","name":"f","input":{"z":12345678901234567890,"n": 1.0}},
 {"type":"tool_use","id":"toolu_b","name":"g","input":{}}]}"#;

#[test]
fn chat_calls() {
    let calls = parsed(Protocol::Chat, CHAT);
    assert_eq!(calls[0], call("call_a", "f", r#"{"n": 1.0}"#));
    assert_eq!(calls[1].freeform(), Some("a\nb"));
    assert_eq!(calls[1].arguments(), None);
    assert_eq!(calls.len(), 2);
}

#[test]
fn responses_calls() {
    let calls = parsed(Protocol::Responses, RESPONSES);
    let first = call("call_a", "f", r#"{"n": 1.0}"#).namespace("crm");
    assert_eq!(calls[0], first);
    assert_eq!(calls[1].freeform(), Some("a\nb"));
    assert_eq!(calls.len(), 2);
}

#[test]
fn messages_calls_keep_the_spelling_of_numbers() {
    let calls = parsed(Protocol::Messages, MESSAGES);
    assert_eq!(
        calls,
        [
            call("toolu_a", "f", r#"{"z":12345678901234567890,"n": 1.0}"#),
            call("toolu_b", "g", "{}"),
        ],
    );
}

#[test]
fn native_calls() {
    let calls = parsed(
        Protocol::Responses,
        r#"{"output":[{"type":"local_shell_call","id":"lsh_1","call_id":"call_1","status":"completed",
            "action":{"type":"exec","command":["ls"],"env":{}}}]}"#,
    );
    assert_eq!(calls[0].id, "call_1");
    assert_eq!(calls[0].name, "local_shell");
    let Input::Action(NativeKind::LocalShell, action) = &calls[0].input else { panic!() };
    assert_eq!(action, r#"{"type":"exec","command":["ls"],"env":{}}"#);
}

#[test]
fn an_answer_without_calls_has_none() {
    let chat = r#"{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"hi"}}]}"#;
    assert_eq!(parsed(Protocol::Chat, chat), []);
    let responses = r#"{"output":[{"type":"message","role":"assistant","content":[]}]}"#;
    assert_eq!(parsed(Protocol::Responses, responses), []);
    let messages =
        r#"{"role":"assistant","content":[{"type":"text","text":"hi"}],"stop_reason":"tool_use"}"#;
    assert_eq!(parsed(Protocol::Messages, messages), []);
}

#[test]
fn a_body_that_is_no_answer() {
    for protocol in Protocol::ALL {
        for body in ["", "[]", "{", "{\"a\":1}x", "\u{1}"] {
            let error = calls::parse(protocol, body.as_bytes()).unwrap_err();
            let Error::Document(translate::Error::Invalid { .. }) = error else {
                panic!("{protocol}: {body}: {error}");
            };
        }
        assert!(calls::parse(protocol, b"{\"a\":\"\xff\"}").is_err());
    }
}

#[test]
fn chat_continuation() {
    let request = r#"{"model":"m", "messages":[ {"role":"user","content":"go"} ] , "seed":1.0}"#;
    let outputs = [ToolOutput::text("call_b", "B"), ToolOutput::error("call_a", "boom")];
    let message = &CHAT[CHAT.find("{ \"role\"").unwrap()..CHAT.len() - 3];
    assert_eq!(
        next(Protocol::Chat, request, CHAT, &outputs),
        format!(
            concat!(
                r#"{{"model":"m", "messages":[ {{"role":"user","content":"go"}},{},"#,
                r#"{{"role":"tool","tool_call_id":"call_a","content":"Error: boom"}},"#,
                r#"{{"role":"tool","tool_call_id":"call_b","content":"B"}} ] , "seed":1.0}}"#,
            ),
            message
        ),
    );
}

#[test]
fn responses_continuation_carries_reasoning_as_it_came() {
    let request = r#"{"input":[],"model":"m"}"#;
    let outputs = [
        ToolOutput::text("call_a", r#"{"ok":true}"#),
        ToolOutput::json("call_b", r#"[{"type":"input_text","text":"t"}]"#),
    ];
    let text = next(Protocol::Responses, request, RESPONSES, &outputs);
    for line in RESPONSES.lines().skip(1) {
        let item = line.trim().trim_end_matches("]}").trim_end_matches(',');
        assert!(text.contains(item), "{item}");
    }
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        body["input"].as_array().unwrap()[4..],
        [
            json!({"type":"function_call_output","call_id":"call_a","output":"{\"ok\":true}"}),
            json!({"type":"custom_tool_call_output","call_id":"call_b",
                   "output":[{"type":"input_text","text":"t"}]}),
        ],
    );
    assert_eq!(body["model"], "m");
}

#[test]
fn responses_text_input_becomes_a_list() {
    let request = r#"{"model":"m","input":"h\u00e9","store":false}"#;
    let response = r#"{"output":[{"type":"message","role":"assistant","content":[]}]}"#;
    assert_eq!(
        next(Protocol::Responses, request, response, &[]),
        concat!(
            r#"{"model":"m","input":[{"role":"user","content":"h\u00e9"},"#,
            r#"{"type":"message","role":"assistant","content":[]}],"store":false}"#,
        ),
    );
}

#[test]
fn responses_without_input() {
    let response =
        r#"{"output":[{"type":"function_call","call_id":"c","name":"f","arguments":""}]}"#;
    let outputs = [ToolOutput::text("c", "")];
    let items = concat!(
        r#"[{"type":"function_call","call_id":"c","name":"f","arguments":""},"#,
        r#"{"type":"function_call_output","call_id":"c","output":""}]"#,
    );
    let check = |request: &str, wanted: String| {
        assert_eq!(next(Protocol::Responses, request, response, &outputs), wanted);
    };
    check(r#"{"prompt":{"id":"p"} }"#, format!(r#"{{"prompt":{{"id":"p"}},"input":{items}}}"#));
    check(r#"{"input":null}"#, format!(r#"{{"input":{items}}}"#));
    check("{}", format!(r#"{{"input":{items}}}"#));
}

#[test]
fn a_server_that_keeps_the_conversation_gets_the_results_alone() {
    let request = r#"{"conversation":"conv_1","input":[{"role":"user","content":"go"}]}"#;
    let response =
        r#"{"output":[{"type":"function_call","call_id":"c","name":"f","arguments":""}]}"#;
    assert_eq!(
        next(Protocol::Responses, request, response, &[ToolOutput::text("c", "r")]),
        concat!(
            r#"{"conversation":"conv_1","input":"#,
            r#"[{"type":"function_call_output","call_id":"c","output":"r"}]}"#,
        ),
    );
}

#[test]
fn responses_native_results() {
    let shell = r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#;
    assert_eq!(
        result_item(shell, ToolOutput::text("c", "a.txt")),
        json!({"type":"shell_call_output","call_id":"c","output":[
            {"stdout":"a.txt","stderr":"","outcome":{"type":"exit","exit_code":0}}]}),
    );
    assert_eq!(
        result_item(shell, ToolOutput::error("c", "no such file")),
        json!({"type":"shell_call_output","call_id":"c","output":[
            {"stdout":"","stderr":"no such file","outcome":{"type":"exit","exit_code":1}}]}),
    );
    let timeout = r#"[{"stdout":"","stderr":"","outcome":{"type":"timeout"}}]"#;
    assert_eq!(
        result_item(shell, ToolOutput::json("c", timeout))["output"],
        serde_json::from_str::<Value>(timeout).unwrap(),
    );
    let local = r#"{"type":"local_shell_call","id":"lsh_1","call_id":"c","status":"completed",
        "action":{"type":"exec","command":["ls"],"env":{}}}"#;
    assert_eq!(
        result_item(local, ToolOutput::text("c", "a.txt")),
        json!({"type":"local_shell_call_output","id":"c","output":"a.txt"}),
    );
    let patch = r#"{"type":"apply_patch_call","call_id":"c","status":"completed",
        "operation":{"type":"delete_file","path":"a"}}"#;
    assert_eq!(
        result_item(patch, ToolOutput::error("c", "no such file")),
        json!({"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no such file"}),
    );
}

#[test]
fn a_call_of_a_program_is_answered_to_the_program() {
    let call = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}",
        "caller":{"type":"program","caller_id":"p"}}"#;
    assert_eq!(
        result_item(call, ToolOutput::text("c", "r")),
        json!({"type":"function_call_output","call_id":"c","output":"r",
               "caller":{"type":"program","caller_id":"p"}}),
    );
}

#[test]
fn messages_continuation_keeps_every_block() {
    let request = r#"{"messages":[{"role":"user","content":"go"}],"max_tokens":1}"#;
    let outputs = [ToolOutput::error("toolu_b", "boom"), ToolOutput::text("toolu_a", "")];
    let content = &MESSAGES[MESSAGES.find('[').unwrap()..MESSAGES.len() - 1];
    assert_eq!(
        next(Protocol::Messages, request, MESSAGES, &outputs),
        format!(
            concat!(
                r#"{{"messages":[{{"role":"user","content":"go"}},"#,
                r#"{{"role":"assistant","content":{}}},"#,
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_a"}},"#,
                r#"{{"type":"tool_result","tool_use_id":"toolu_b","content":"boom","is_error":true}}"#,
                r#"]}}],"max_tokens":1}}"#,
            ),
            content
        ),
    );
}

#[test]
fn outputs_that_do_not_fit() {
    let outputs = |outputs: &[ToolOutput]| {
        calls::continuation(Protocol::Messages, MESSAGES.as_bytes(), outputs).unwrap_err()
    };
    let text = |id: &str| ToolOutput::text(id, "r");
    let error = outputs(&[text("toolu_a")]);
    assert_eq!(error, Error::Missing { ids: vec!["toolu_b".into()] });
    assert_eq!(error.to_string(), "no output for the call toolu_b");
    assert_eq!(outputs(&[]), Error::Missing { ids: vec!["toolu_a".into(), "toolu_b".into()] },);
    let error = outputs(&[text("toolu_a"), text("toolu_b"), text("toolu_c")]);
    assert_eq!(error, Error::Unknown { id: "toolu_c".into() });
    assert_eq!(error.to_string(), "the output for toolu_c answers no call of this answer");
    let error = outputs(&[text("toolu_a"), text("toolu_b"), text("toolu_a")]);
    assert_eq!(error, Error::Duplicate { id: "toolu_a".into() });
    let error = outputs(&[text("toolu_a"), ToolOutput::json("toolu_b", "{")]);
    assert!(matches!(error, Error::Content { id, .. } if id == "toolu_b"));
    let error = outputs(&[text("toolu_a"), ToolOutput::json("toolu_b", "{}")]);
    assert_eq!(
        error.to_string(),
        "the output for toolu_b cannot be sent: expected a list of content parts, found an object",
    );
}

#[test]
fn calls_that_share_an_id_are_answered_in_turn() {
    let response = r#"{"choices":[{"message":{"role":"assistant","tool_calls":[
        {"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},
        {"id":"x","type":"function","function":{"name":"g","arguments":"{}"}}]}}]}"#;
    let outputs = [ToolOutput::text("x", "1"), ToolOutput::text("x", "2")];
    let continuation = calls::continuation(Protocol::Chat, response.as_bytes(), &outputs).unwrap();
    let results: Vec<&str> = continuation.results().collect();
    assert_eq!(
        results,
        [
            r#"{"role":"tool","tool_call_id":"x","content":"1"}"#,
            r#"{"role":"tool","tool_call_id":"x","content":"2"}"#,
        ],
    );
}

#[test]
fn a_legacy_function_call_is_answered_as_a_function() {
    let response = r#"{"choices":[{"finish_reason":"function_call","message":
        {"content":null,"function_call":{"name":"f","arguments":"{}"}}}]}"#;
    let calls = parsed(Protocol::Chat, response);
    assert_eq!(calls[0].name, "f");
    let outputs = [ToolOutput::text(calls[0].id.as_str(), "r")];
    let continuation = calls::continuation(Protocol::Chat, response.as_bytes(), &outputs).unwrap();
    let items: Vec<&str> = continuation.items().collect();
    assert_eq!(
        items,
        [
            // The answer did not say who speaks, so that is added.
            r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}"#,
            r#"{"role":"function","name":"f","content":"r"}"#,
        ],
    );
}

#[test]
fn requests_that_cannot_be_continued() {
    let check = |protocol, request: &str, wanted: &str| {
        let response = match protocol {
            Protocol::Chat => CHAT,
            Protocol::Responses => RESPONSES,
            Protocol::Messages => MESSAGES,
            other => panic!("not a built-in protocol: {other:?}"),
        };
        let outputs: Vec<ToolOutput> = parsed(protocol, response)
            .into_iter()
            .map(|call| ToolOutput::text(call.id, "r"))
            .collect();
        let error =
            calls::next_request(protocol, request.as_bytes(), response.as_bytes(), &outputs);
        assert_eq!(error.unwrap_err().to_string(), wanted);
    };
    check(Protocol::Chat, "{}", "required field `messages` is missing (byte 0)");
    check(
        Protocol::Messages,
        r#"{"messages":"hi"}"#,
        "/messages: expected an array, found a string (byte 12)",
    );
    check(
        Protocol::Responses,
        r#"{"input":[],"input":[]}"#,
        "/input: field `input` appears twice (byte 20)",
    );
}

#[test]
fn cut_documents_are_errors() {
    for (protocol, response, request) in [
        (Protocol::Chat, CHAT, r#"{"messages":[{"role":"user","content":"é"}]}"#),
        (Protocol::Responses, RESPONSES, r#"{"input":"é","store":false}"#),
        (Protocol::Messages, MESSAGES, r#"{"messages":[{"role":"user","content":"é"}]}"#),
    ] {
        let outputs: Vec<ToolOutput> = parsed(protocol, response)
            .into_iter()
            .map(|call| ToolOutput::text(call.id, "r"))
            .collect();
        for end in 0..response.len() {
            let cut = &response.as_bytes()[..end];
            let error = calls::continuation(protocol, cut, &outputs).unwrap_err();
            assert!(matches!(error, Error::Document(_)), "{error}");
        }
        let continuation = calls::continuation(protocol, response.as_bytes(), &outputs).unwrap();
        for end in 0..request.len() {
            let error = continuation.append_to(&request.as_bytes()[..end]).unwrap_err();
            assert!(matches!(error, Error::Document(_)), "{error}");
        }
        continuation.append_to(request.as_bytes()).unwrap();
    }
}

/// Whatever a model answered, the next request has a result for every call, and
/// a reader finds each behind its call.
#[test]
fn every_answer_goes_on() {
    let mut answered = 0;
    for (folder, protocol, response) in crate::vectors::inputs("responses") {
        let Ok(calls) = calls::parse(protocol, &response) else { continue };
        let outputs: Vec<ToolOutput> = calls
            .iter()
            .map(|call| match call.input {
                Input::Action(NativeKind::ToolSearch, _) => ToolOutput::json(&call.id, "[]"),
                Input::Action(NativeKind::Computer, _) => ToolOutput::json(&call.id, "{}"),
                _ => ToolOutput::text(&call.id, "r"),
            })
            .collect();
        let request = match protocol {
            Protocol::Chat | Protocol::Messages => {
                r#"{"model":"m","max_tokens":99,"messages":[{"role":"user","content":"go"}]}"#
            }
            Protocol::Responses => r#"{"model":"m","input":"go"}"#,
            other => panic!("not a built-in protocol: {other:?}"),
        };
        let next = match calls::next_request(protocol, request.as_bytes(), &response, &outputs) {
            Ok(next) => next,
            // There is nothing to go on from, not even an empty message.
            Err(Error::Document(_)) if calls.is_empty() => continue,
            Err(error) => panic!("{}: {error}", folder.display()),
        };
        for to in Protocol::ALL {
            let translated =
                translate::request(protocol, to, &next, &translate::Options::default()).unwrap();
            for entry in translated.ledger {
                let unpaired = matches!(
                    entry.code,
                    Code::MissingResult | Code::OrphanResult | Code::DuplicateResult
                );
                assert!(!unpaired, "{} to {to}: {entry:?}", folder.display());
            }
        }
        answered += calls.len();
    }
    assert!(answered > 20, "{answered}");
}
