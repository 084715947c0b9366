//! What the decoder reads, what is cut out of requests that pass, and what the
//! encoder makes of values that another protocol could have been decoded into.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::CODEC;
use crate::ledger::{Entry, Ledger};
use crate::model::{
    ApiError, Arguments, Audio, Cache, Call, Candidate, Display, Document, ErrorKind, Format,
    Hosted, HostedClass, Issuer, Item, JsonSchema, Mode, Native, NativeKind, Protocol, Reasoning,
    Request, Response, ResultKind, Retry, Role, Sealed, SearchResult, Slot, Source, Stop, Subset,
    Text, ThinkingMode, Tool, ToolKind, ToolRef, ToolRefKind, ToolResult, Turn, Usage,
};
use crate::profile::Profile;
use crate::toolset::Toolset;
use crate::translate::{self, Options};
use crate::wire::envelope::Envelope;
use crate::wire::{At, Extra, Pos, Raw, Str};

mod foreign_reasoning;
mod streams_in;
mod streams_out;

#[test]
fn reasoning_of_another_vendor_is_cut_out_with_the_ids_of_its_answer() {
    let body = vector("requests", "reasoning-of-messages-returns");
    let (out, ledger) = cut(&body);
    let kinds: Vec<_> =
        out["input"].as_array().unwrap().iter().map(|item| item["type"].as_str()).collect();
    assert_eq!(kinds, [None, Some("function_call"), Some("function_call_output")]);
    assert!(out["input"].as_array().unwrap().iter().all(|item| item.get("id").is_none()));
    let told = [
        "dropped item_id info",
        "dropped reasoning_foreign",
        "dropped reasoning_foreign",
        "dropped reasoning_foreign",
    ];
    assert_eq!(lines(&ledger), told);
    // Nothing else changes, not even its spelling.
    let mut expected = parse(&body);
    let items = expected["input"].as_array_mut().unwrap();
    items.retain(|item| item["type"] != "reasoning");
    items[1].as_object_mut().unwrap().remove("id");
    assert_eq!(out, expected);
}

#[test]
fn whatever_the_envelope_holds_it_is_cut_out() {
    let item = |sealed: &str| format!(r#"{{"type":"reasoning","encrypted_content":"{sealed}"}}"#);
    let envelope = |issuer, blob: Option<&str>| {
        let blob = blob.map(str::to_owned);
        let (item_id, text, place) = (None, None, None);
        Envelope { issuer, item_id, text, blob, redacted: false, place }.seal()
    };
    for (sealed, told) in [
        ("tw1.damaged".to_owned(), "dropped reasoning_foreign"),
        (envelope(Issuer::Anthropic, Some("E")), "dropped reasoning_foreign"),
        (envelope(Issuer::OpenAi, Some("E")), "dropped reasoning_foreign"),
        (envelope(Issuer::Vendor("x".to_owned()), None), "dropped reasoning_unsigned"),
    ] {
        let (out, ledger) = cut(&format!(r#"{{"input":[{}]}}"#, item(&sealed)));
        assert_eq!(out, json!({"input": []}));
        assert_eq!(lines(&ledger), [told]);
    }
    // A text that looks like an envelope is none, and ids that stand for
    // something stay.
    let said = r#"{"input": [ {"role":"user","content":"tw1.x","id":"msg_1"} ] }"#;
    let (out, ledger) = cut(said);
    assert_eq!((out, ledger), (parse(said), Vec::new()));
    let kept = r#"{"type":"item_reference","id":"a"},{"type":"web_search_call","id":"b"},
        {"type":"local_shell_call","id":"c","call_id":"d","action":{}},
        {"type":"local_shell_call_output","id":"c","output":""}"#;
    let (out, _) = cut(&format!(r#"{{"input":[{},{kept}]}}"#, item("tw1.x")));
    assert_eq!(out, parse(&format!(r#"{{"input":[{kept}]}}"#)));
}

#[test]
fn errors_come_back_as_they_were() {
    let vectors = vectors("errors");
    assert!(vectors.len() >= 8, "only {} vectors", vectors.len());
    for (name, body) in vectors.iter().filter(|(name, _)| !name.starts_with("compatible")) {
        let error = (CODEC.decode_error)(None, body).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut out = Vec::new();
        (CODEC.encode_error)(&error, &mut out);
        assert_eq!(bytes(&out), parse(body), "{name}");
    }
}

#[test]
fn what_another_protocol_left_unset() {
    let mut tool = function("f", None);
    tool.strict = None;
    let mut request = request(Protocol::Chat, vec![user("hi")]);
    request.tools = vec![tool];
    check(
        &request,
        json!({
            "input": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "name": "f",
                "parameters": {"type": "object", "properties": {}}, "strict": false}],
            "store": false,
            "include": ["reasoning.encrypted_content"],
        }),
        &["emulated schema_empty"],
    );
}

#[test]
fn one_system_text_is_instructions() {
    let request = request(Protocol::Chat, vec![system("Be brief."), user("hi")]);
    check_part(&request, "/instructions", json!("Be brief."), &[]);
}

#[test]
fn several_system_texts_stay_in_place() {
    let mut top = system("One.");
    top.slot = Slot::Top;
    top.items.push(text("Two."));
    let request = request(Protocol::Messages, vec![top, user("hi")]);
    check_part(
        &request,
        "/input/0",
        json!({"type": "message", "role": "developer", "content": [
            {"type": "input_text", "text": "One."}, {"type": "input_text", "text": "Two."}]}),
        &[],
    );
}

#[test]
fn calls_of_messages_keep_their_bytes_and_get_no_item_id() {
    let raw = r#"{"z":12345678901234567890,"a":1.0}"#;
    let turns = vec![
        user("hi"),
        assistant(vec![text("Looking."), call("toolu_1", "f", Arguments::Json(Raw::made(raw)))]),
        results(vec![result("toolu_1", vec![text("18")])]),
    ];
    check_part(
        &request(Protocol::Messages, turns),
        "/input",
        json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "Looking."},
            {"type": "function_call", "call_id": "toolu_1", "name": "f", "arguments": raw},
            {"type": "function_call_output", "call_id": "toolu_1", "output": "18"},
        ]),
        &[],
    );
}

#[test]
fn results_are_text_unless_there_is_media() {
    let mut failed = result("a", vec![text("boom")]);
    failed.is_error = Some(At::made(true));
    let mut silent = result("b", Vec::new());
    silent.is_error = Some(At::made(true));
    let pdf = Source::Base64 { media: "application/pdf".into(), data: "JVBERi0=".into() };
    let document = Item::Document(Document {
        at: Pos::NONE,
        source: pdf,
        name: None,
        context: None,
        citations: None,
        cache: None,
        extra: Vec::new(),
    });
    let found = Item::SearchResult(SearchResult {
        at: Pos::NONE,
        source: Some("https://example.com".into()),
        title: Some("Weather".into()),
        content: vec![text("Rain.")],
        citations: None,
        cache: None,
        extra: Vec::new(),
    });
    let calls = ["a", "b", "c", "d", "e"].map(|id| call(id, "f", Arguments::Json(Raw::made("{}"))));
    let turns = vec![
        assistant(calls.into()),
        results(vec![
            failed,
            silent,
            result("c", vec![text("x"), text("y")]),
            result("d", vec![text("see"), document]),
            result("e", vec![found]),
        ]),
    ];
    let (out, ledger) = encode(&request(Protocol::Messages, turns));
    let outputs: Vec<&Value> =
        out["input"].as_array().unwrap().iter().filter_map(|item| item.get("output")).collect();
    assert_eq!(
        outputs,
        [
            &json!("Error: boom"),
            &json!("Error:"),
            &json!("x\ny"),
            &json!([
                {"type": "input_text", "text": "see"},
                {"type": "input_file", "filename": "document.pdf",
                    "file_data": "data:application/pdf;base64,JVBERi0="},
            ]),
            &json!("Weather (https://example.com)\nRain."),
        ]
    );
    let told = ["degraded is_error info", "degraded is_error info", "degraded citations"];
    assert_eq!(lines(&ledger), told);
}

#[test]
fn results_that_do_not_pair_are_repaired() {
    let turns = vec![
        assistant(vec![call("a", "f", Arguments::Freeform("go".into()))]),
        results(vec![result("gone", vec![text("lost")])]),
    ];
    let (out, ledger) = encode(&request(Protocol::Chat, turns));
    assert_eq!(
        out["input"],
        json!([
            {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "go"},
            {"type": "custom_tool_call_output", "call_id": "a",
                "output": "Error: no result supplied"},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "[result of call gone]"},
                {"type": "input_text", "text": "lost"}]},
        ])
    );
    assert_eq!(lines(&ledger), ["degraded orphan_result", "degraded missing_result"]);
}

#[test]
fn an_orphan_keeps_its_failure() {
    let mut orphan = result("gone", vec![text("boom")]);
    orphan.is_error = Some(At::made(true));
    let (out, ledger) = encode(&request(Protocol::Messages, vec![results(vec![orphan])]));
    assert_eq!(
        out["input"][0]["content"],
        json!([
            {"type": "input_text", "text": "[result of call gone] Error:"},
            {"type": "input_text", "text": "boom"},
        ])
    );
    assert_eq!(lines(&ledger), ["degraded orphan_result", "degraded is_error info"]);
}

#[test]
fn asking_for_log_probabilities_is_one_setting() {
    let body = vector("requests", "state-fields");
    let request = CODEC.decode_request(&body).unwrap();
    assert_eq!(request.output.logprobs.map(|asked| asked.value), Some(true));
    let left: Vec<_> = request.state.include.iter().map(|word| word.decode()).collect();
    assert_eq!(left, ["web_search_call.action.sources"]);
}

#[test]
fn reasoning_goes_back_to_its_issuer_only() {
    let own = reasoning(Some(sealed(Issuer::OpenAi, Some("rs_1"))));
    let foreign = reasoning(Some(sealed(Issuer::Anthropic, None)));
    let turns = vec![assistant(vec![own, foreign, reasoning(None), text("So.")]), user("go")];
    let (out, ledger) = encode(&request(Protocol::Messages, turns));
    assert_eq!(
        out["input"][0],
        json!({"type": "reasoning", "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "E"})
    );
    assert_eq!(out["input"][1], json!({"role": "assistant", "content": "So."}));
    assert_eq!(lines(&ledger), ["dropped reasoning_foreign", "dropped reasoning_unsigned"]);
}

#[test]
fn a_result_in_the_words_of_messages_is_read() {
    let body = vector("requests", "tool-result-of-messages-in-responses");
    let request = CODEC.decode_request(&body).unwrap();
    let result = match request.turns[2].items.as_slice() {
        [Item::Result(result), Item::Text(_)] => result,
        other => panic!("{other:?}"),
    };
    assert_eq!(result.call_id.as_ref().unwrap(), &"call_1");
}

#[test]
fn repeated_ids_and_results_are_told() {
    let made = |id| call(id, "f", Arguments::Text("{}".into()));
    let turns = vec![
        assistant(vec![made("x")]),
        results(vec![result("x", vec![text("1")]), result("x", vec![text("2")])]),
        assistant(vec![made("x")]),
        results(vec![result("x", vec![text("3")])]),
    ];
    let (out, ledger) = encode(&request(Protocol::Chat, turns));
    let outputs: Vec<_> = out["input"].as_array().unwrap().iter().map(|i| &i["output"]).collect();
    assert_eq!(outputs, [&Value::Null, &json!("2"), &Value::Null, &json!("3")]);
    assert_eq!(out["input"][2]["call_id"], out["input"][3]["call_id"]);
    let told = lines(&ledger);
    assert!(told.contains(&"dropped duplicate_result".to_owned()), "{told:?}");
    assert!(told.contains(&"renamed call_id".to_owned()), "{told:?}");
}

#[test]
fn thinking_of_messages_is_effort_and_summary() {
    for (budget, effort) in [(1024, "low"), (8000, "medium"), (16_000, "high"), (32_000, "xhigh")] {
        let mut request = request(Protocol::Messages, vec![user("hi")]);
        request.thinking.mode = Some(At::made(ThinkingMode::Enabled));
        request.thinking.budget = Some(At::made(budget));
        let expected = json!({"effort": effort, "summary": "auto"});
        check_part(
            &request,
            "/reasoning",
            expected,
            &["emulated thinking_mode", "degraded thinking_budget"],
        );
    }
    let mut request = request(Protocol::Messages, vec![user("hi")]);
    request.thinking.mode = Some(At::made(ThinkingMode::Adaptive));
    request.thinking.display = Some(At::made(Display::Omitted));
    let told = ["emulated thinking_mode", "emulated reasoning_display"];
    check_part(&request, "/reasoning", Value::Null, &told);
    request.thinking.mode = Some(At::made(ThinkingMode::Disabled));
    check_part(&request, "/reasoning", json!({"effort": "none"}), &told);
}

#[test]
fn what_responses_has_no_field_for() {
    let mut request = request(Protocol::Chat, vec![user("hi")]);
    request.output.max_tokens = Some(At::made(5));
    request.output.stop = vec!["END".into()];
    request.output.n = Some(At::made(2));
    request.sampling.seed = Some(Raw::made("7"));
    request.sampling.temperature = Some(Raw::made("0.50"));
    request.stream.usage = Some(At::made(true));
    request.extra = vec![
        Extra { key: "prediction".into(), value: Raw::made("{}") },
        Extra { key: "prompt_cache_options".into(), value: Raw::made(r#"{"mode":"implicit"}"#) },
    ];
    check(
        &request,
        json!({
            "input": [{"role": "user", "content": "hi"}],
            "max_output_tokens": 16,
            "temperature": 0.5,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_options": {"mode": "implicit"},
        }),
        &[
            "degraded max_tokens_floor info",
            "dropped stop",
            "refused multiple_answers",
            "dropped sampling",
            "emulated stream_options",
            "dropped only:prediction",
        ],
    );
}

#[test]
fn cache_markers_of_messages() {
    let marked = |profile: &Profile| {
        let mut part = Text::new("hi".into());
        part.cache = Some(Cache { at: Pos::NONE, ttl: Some("1h".into()), extra: Vec::new() });
        let turn = Turn::new(Pos::NONE, Role::User, vec![Item::Text(part)]);
        let request = request(Protocol::Messages, vec![turn]);
        let (out, ledger) = encode_for(&request, profile);
        (out["input"][0]["content"][0].clone(), lines(&ledger))
    };
    let mut profile = Profile::of(Protocol::Responses);
    let plain = json!({"type": "input_text", "text": "hi"});
    assert_eq!(marked(&profile), (plain, vec!["dropped cache_breakpoint info".to_owned()]));
    profile.cache_breakpoints = true;
    let kept = json!({"type": "input_text", "text": "hi",
        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}});
    assert_eq!(marked(&profile), (kept, vec!["degraded cache_ttl info".to_owned()]));
}

#[test]
fn a_forced_tool_that_cannot_cross_is_refused() {
    let raw = Raw::made(r#"{"type":"x"}"#);
    let mut request = request(Protocol::Messages, vec![user("hi")]);
    request.tools = vec![Tool::new(Pos::NONE, "x".into(), ToolKind::Unknown(raw))];
    request.choice.mode = Some(At::made(Mode::Named(ToolRef {
        at: Pos::NONE,
        kind: ToolRefKind::Any,
        name: "x".into(),
        namespace: None,
        extra: Vec::new(),
    })));
    let told = ["dropped unknown_tool", "refused choice_target"];
    check_part(&request, "/tool_choice", Value::Null, &told);
    request.choice.mode = Some(At::made(Mode::Any));
    let told = ["dropped unknown_tool", "refused choice_without_tools"];
    check_part(&request, "/tool_choice", Value::Null, &told);
}

#[test]
fn native_tools_of_messages_are_functions() {
    let native = Native { kind: NativeKind::Bash, kind_text: "bash_20250124".into() };
    let mut request = request(Protocol::Messages, vec![user("hi")]);
    request.tools = vec![Tool::new(Pos::NONE, "bash".into(), ToolKind::Native(native))];
    let (out, ledger) = encode(&request);
    assert_eq!(out["tools"][0]["type"], "function");
    assert_eq!(out["tools"][0]["name"], "bash");
    assert_eq!(out["tools"][0]["strict"], false);
    assert_eq!(lines(&ledger), ["degraded native_tool_training"]);
}

#[test]
fn an_output_schema_of_messages_gets_a_name() {
    let schema = r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;
    let mut request = request(Protocol::Messages, vec![user("hi")]);
    request.output.format = Some(At::made(Format::JsonSchema(JsonSchema {
        name: None,
        description: None,
        schema: Some(Raw::made(schema)),
        strict: None,
        extra: Vec::new(),
    })));
    let expected = json!({"type": "json_schema", "name": "response",
        "schema": parse(schema), "strict": true});
    check_part(&request, "/text/format", expected, &["emulated format_name"]);
}

#[test]
fn an_answer_of_messages_is_a_whole_response() {
    let answer = answer(
        vec![
            reasoning(Some(sealed(Issuer::Anthropic, None))),
            text("par"),
            call("toolu_1", "get", Arguments::Json(Raw::made(r#"{"a":1.0}"#))),
        ],
        Stop::MaxTokens,
    );
    let body = vector("requests", "codex");
    let request = CODEC.decode_request(&body).unwrap();
    let (out, ledger) = answer_of(&answer, Some(&request));
    assert_eq!(ledger, []);
    for key in REQUIRED {
        assert!(out.get(key).is_some(), "{key} is missing");
    }
    assert_eq!(out["status"], "incomplete");
    assert_eq!(out["incomplete_details"], json!({"reason": "max_output_tokens"}));
    assert_eq!(out["tools"].as_array().unwrap().len(), request.tools.len());
    assert_eq!(out["store"], false);
    assert_eq!(out["usage"]["total_tokens"], 112);
    let items = out["output"].as_array().unwrap();
    let brief: Vec<_> = items.iter().map(|item| (item["type"].clone(), &item["status"])).collect();
    assert_eq!(
        brief,
        [
            (json!("reasoning"), &Value::Null),
            (json!("message"), &json!("completed")),
            (json!("function_call"), &json!("incomplete")),
        ]
    );
    assert_eq!(items[2]["call_id"], "toolu_1");
    assert_eq!(items[2]["arguments"], r#"{"a":1.0}"#);
    for (item, prefix) in items.iter().zip(["rs_", "msg_", "fc_"]) {
        assert!(item["id"].as_str().unwrap().starts_with(prefix), "{item}");
    }
    let sealed = items[0]["encrypted_content"].as_str().unwrap();
    let envelope = Envelope::open(sealed).unwrap();
    assert_eq!(envelope.issuer, Issuer::Anthropic);
    assert_eq!(envelope.blob.as_deref(), Some("E"));
    assert_eq!(envelope.text.as_deref(), Some(["Hm.".to_owned()].as_slice()));
}

#[test]
fn refusals() {
    let explained = Stop::Refusal { category: None, explanation: Some(Str::plain("Not allowed.")) };
    let (out, _) = answer_of(&answer(vec![text("par")], explained), None);
    assert_eq!(out["status"], "incomplete");
    assert_eq!(out["incomplete_details"]["reason"], "content_filter");
    assert_eq!(out["output"][0]["content"][0]["text"], "par");
    assert_eq!(
        out["output"][1]["content"],
        json!([{"type": "refusal", "refusal": "Not allowed."}])
    );
}

#[test]
fn errors_of_others() {
    let cases = [
        (ErrorKind::Overloaded, "overloaded_error", Some(529), 503, "server_is_overloaded"),
        (ErrorKind::Auth, "authentication_error", Some(401), 401, "invalid_api_key"),
        (ErrorKind::Quota, "billing_error", Some(402), 429, "insufficient_quota"),
        (
            ErrorKind::ContextLength,
            "invalid_request_error",
            Some(400),
            400,
            "context_length_exceeded",
        ),
        (ErrorKind::Truncated, "api_error", None, 502, "server_error"),
    ];
    for (kind, vendor_type, status, expected, code) in cases {
        let mut error = ApiError::new(kind, "No.");
        error.vendor_type = Some(vendor_type.to_owned());
        error.status = status;
        let mut out = Vec::new();
        assert_eq!((CODEC.encode_error)(&error, &mut out), expected, "{vendor_type}");
        assert_eq!(bytes(&out)["error"]["code"], code, "{vendor_type}");
    }
    let mut error = ApiError::new(ErrorKind::RateLimit, "Slow down.");
    error.retry = Retry::After(3);
    let mut out = Vec::new();
    assert_eq!((CODEC.encode_error)(&error, &mut out), 429);
    assert_eq!(bytes(&out)["error"]["message"], "Slow down. Please try again in 3s.");
}

#[test]
fn errors_of_compatible_servers_are_read() {
    let cases = [
        ("compatible-server-flat", None, ErrorKind::InvalidRequest),
        ("compatible-server-detail", Some(422), ErrorKind::InvalidRequest),
    ];
    for (name, status, kind) in cases {
        let error = (CODEC.decode_error)(status, &vector("errors", name)).unwrap();
        assert_eq!(error.kind, kind, "{name}");
        assert!(!error.message.is_empty(), "{name}");
    }
}

#[test]
fn local_shell_outputs_find_their_calls() {
    let body = vector("requests", "local-shell");
    let request = CODEC.decode_request(&body).unwrap();
    let ids: Vec<_> = request
        .turns
        .iter()
        .flat_map(|turn| &turn.items)
        .filter_map(|item| if let Item::Result(result) = item { Some(result) } else { None })
        .map(|result| result.call_id.as_ref().unwrap().decode().into_owned())
        .collect();
    assert_eq!(ids, ["call_ls", "call_ls2"]);
}

#[test]
fn broken_requests_say_where() {
    let cases = [
        (r#"{"model":1}"#, 9),
        (r#"{"input":[{"type":"function_call","arguments":"{}"}]}"#, 10),
        (r#"{"input":[5]}"#, 10),
        (r#"{"tools":[{"type":"function"}]}"#, 10),
        (r#"{"model":"a","model":"b"}"#, 21),
    ];
    for (body, offset) in cases {
        let error = CODEC.decode_request(body).unwrap_err();
        assert_eq!(error.pos.offset(), Some(offset), "{body}: {error}");
    }
}

#[test]
fn instructions_alone_are_the_input() {
    let request = request(Protocol::Chat, vec![system("Say hi.")]);
    check_part(&request, "/input", json!([{"role": "system", "content": "Say hi."}]), &[]);
}

#[test]
fn an_empty_text_beside_a_call_is_no_message() {
    let items = vec![text(""), call("a", "f", Arguments::Text("{}".into()))];
    let turns = vec![assistant(items), results(vec![result("a", vec![text("")])])];
    let expected = json!([
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": ""},
    ]);
    let told = ["emulated message_boundary"];
    check_part(&request(Protocol::Chat, turns), "/input", expected, &told);
}

#[test]
fn markers_of_openai_cross_to_openai() {
    let mut part = Text::new("hi".into());
    let mode = Extra { key: "mode".into(), value: Raw::made("\"explicit\"") };
    part.cache = Some(Cache { at: Pos::NONE, ttl: Some("30m".into()), extra: vec![mode] });
    let turn = Turn::new(Pos::NONE, Role::User, vec![Item::Text(part)]);
    let kept = json!({"type": "input_text", "text": "hi",
        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}});
    check_part(&request(Protocol::Chat, vec![turn]), "/input/0/content/0", kept, &[]);
}

#[test]
fn a_mode_of_tomorrow_crosses_between_the_two_of_openai() {
    let mut request = request(Protocol::Chat, vec![user("hi")]);
    request.tools = vec![function("f", None)];
    request.choice.mode = Some(At::made(Mode::Other(Raw::made("\"eager\""))));
    request.choice.subset = Some(Subset { at: Pos::NONE, tools: Vec::new() });
    let expected = json!({"type": "allowed_tools", "mode": "eager", "tools": []});
    check_part(&request, "/tool_choice", expected, &["emulated schema_empty"]);
}

#[test]
fn a_forced_choice_among_tools_that_are_not_there_is_refused() {
    let mut request = request(Protocol::Chat, vec![user("hi")]);
    request.tools = vec![function("f", None)];
    let absent = ToolRef {
        at: Pos::NONE,
        kind: ToolRefKind::Any,
        name: "g".into(),
        namespace: None,
        extra: Vec::new(),
    };
    request.choice.mode = Some(At::made(Mode::Any));
    request.choice.subset = Some(Subset { at: Pos::NONE, tools: vec![absent] });
    let mut profile = Profile::of(Protocol::Responses);
    profile.allowed_tools = false;
    let (_, ledger) = encode_for(&request, &profile);
    assert!(lines(&ledger).contains(&"refused choice_without_tools".to_owned()), "{ledger:?}");
}

#[test]
fn top_p_alone_reaches_a_model_that_does_not_take_it_beside_a_temperature() {
    let mut profile = Profile::of(Protocol::Responses);
    profile.temperature_with_top_p = false;
    let mut request = request(Protocol::Chat, vec![user("hi")]);
    request.sampling.top_p = Some(Raw::made("0.90"));
    let (out, ledger) = encode_for(&request, &profile);
    assert_eq!((&out["top_p"], lines(&ledger)), (&json!(0.9), Vec::new()));
    request.sampling.temperature = Some(Raw::made("0.5"));
    let (out, ledger) = encode_for(&request, &profile);
    assert_eq!((&out["top_p"], &out["temperature"]), (&Value::Null, &json!(0.5)));
    assert_eq!(lines(&ledger), ["dropped sampling"]);
}

#[test]
fn web_search_of_messages() {
    let hosted = Hosted { class: HostedClass::WebSearch, kind_text: "web_search_20250305".into() };
    let mut tool = Tool::new(Pos::NONE, "web_search".into(), ToolKind::Hosted(hosted));
    let option =
        |key: &'static str, value: &'static str| Extra { key: key.into(), value: Raw::made(value) };
    tool.extra = vec![
        option("max_uses", "3"),
        option("allowed_domains", r#"["example.com"]"#),
        option("user_location", r#"{"type":"approximate","city":"Paris"}"#),
    ];
    let mut request = request(Protocol::Messages, vec![user("hi")]);
    request.tools = vec![tool];
    request.choice.mode = Some(At::made(Mode::Named(ToolRef {
        at: Pos::NONE,
        kind: ToolRefKind::Any,
        name: "web_search".into(),
        namespace: None,
        extra: Vec::new(),
    })));
    let expected = json!([{"type": "web_search", "filters": {"allowed_domains": ["example.com"]},
        "user_location": {"type": "approximate", "city": "Paris"}}]);
    let told = ["emulated hosted_tool:web_search", "dropped web_search_option"];
    check_part(&request, "/tools", expected, &told);
    check_part(&request, "/tool_choice", json!({"type": "web_search"}), &told);
}

#[test]
fn citations_and_log_probabilities_of_others() {
    let cited = |origin, citations: &'static str, logprobs: Option<&'static str>| {
        let mut part = Text::new("Rain.".into());
        part.citations = Some(Raw::made(citations));
        let mut answer = answer(vec![Item::Text(part)], Stop::EndTurn);
        answer.origin = origin;
        answer.tier = None;
        answer.candidates[0].logprobs = logprobs.map(Raw::made);
        let (out, ledger) = answer_of(&answer, None);
        (out["output"][0]["content"][0].clone(), lines(&ledger))
    };
    let note = json!({"type": "url_citation", "start_index": 0, "end_index": 5,
        "url": "https://example.com", "title": "W"});
    let (part, told) = cited(
        Protocol::Messages,
        r#"[{"type":"web_search_result_location","url":"https://example.com","title":"W",
            "cited_text":"Rain","encrypted_index":"E"},{"type":"page_location"}]"#,
        None,
    );
    assert_eq!(part["annotations"], json!([note]));
    assert_eq!(told, ["degraded citations", "dropped citations"]);
    let (part, told) = cited(
        Protocol::Chat,
        r#"[{"type":"url_citation","url_citation":{"start_index":0,"end_index":5,
            "url":"https://example.com","title":"W"}}]"#,
        Some(r#"{"content":[{"token":"Rain","logprob":-0.5}],"refusal":null}"#),
    );
    assert_eq!(part["annotations"], json!([note]));
    assert_eq!(part["logprobs"], json!([{"token": "Rain", "logprob": -0.5}]));
    assert_eq!(told, ["emulated citations"]);
}

#[test]
fn a_spoken_answer_crosses_as_its_transcript() {
    let spoken = Audio {
        at: Pos::NONE,
        data: Some("SUQz".into()),
        format: None,
        cache: None,
        extra: vec![Extra { key: "transcript".into(), value: Raw::made("\"Hello.\"") }],
    };
    let (out, ledger) = answer_of(&answer(vec![Item::Audio(spoken)], Stop::EndTurn), None);
    assert_eq!(out["output"][0]["content"][0]["text"], "Hello.");
    assert_eq!(lines(&ledger), ["degraded audio"]);
}

#[test]
fn what_an_answer_of_others_has_beside_its_items() {
    let mut answer = answer(vec![call("a", "f", Arguments::Text("{}".into()))], Stop::ToolCalls);
    answer.candidates[0].turns[0].extra = vec![Extra { key: "mood".into(), value: Raw::made("1") }];
    let (out, ledger) = answer_of(&answer, None);
    assert_eq!(out["status"], "completed");
    assert_eq!(lines(&ledger), ["dropped only:mood"]);
}

#[test]
fn the_wait_is_read_out_of_the_sentence() {
    let error = (CODEC.decode_error)(None, &vector("errors", "responses-rate-limit")).unwrap();
    assert_eq!(error.retry, Retry::After(2));
}

#[test]
fn a_body_cut_anywhere_is_an_error() {
    for (kind, name) in [("requests", "codex"), ("requests", "responses-hosted-history")] {
        let body = vector(kind, name);
        let body = body.trim_end();
        for end in (0..body.len()).filter(|end| body.is_char_boundary(*end)) {
            assert!(CODEC.decode_request(&body[..end]).is_err(), "{name} up to {end}");
        }
    }
}

fn check(request: &Request<'_>, expected: Value, told: &[&str]) {
    let (out, ledger) = encode(request);
    assert_eq!(out, expected);
    assert_eq!(lines(&ledger), told);
}

fn check_part(request: &Request<'_>, pointer: &str, expected: Value, told: &[&str]) {
    let (out, ledger) = encode(request);
    assert_eq!(out.pointer(pointer).unwrap_or(&Value::Null), &expected);
    assert_eq!(lines(&ledger), told);
}

fn encode(request: &Request<'_>) -> (Value, Vec<Entry>) {
    encode_for(request, &Profile::of(Protocol::Responses))
}

fn encode_for(request: &Request<'_>, profile: &Profile) -> (Value, Vec<Entry>) {
    let mut out = Vec::new();
    let mut ledger = Ledger::default();
    let tools = Toolset::new(request, profile);
    (CODEC.encode_request)(request, &tools, profile, &mut out, &mut ledger);
    (bytes(&out), ledger.entries(""))
}

/// A request on its way to an upstream that speaks Responses too.
fn cut(body: &str) -> (Value, Vec<Entry>) {
    let (from, to) = (Protocol::Responses, Protocol::Responses);
    let passed = translate::request(from, to, body.as_bytes(), &Options::default()).unwrap();
    (bytes(&passed.body), passed.ledger)
}

fn answer_of(answer: &Response<'_>, request: Option<&Request<'_>>) -> (Value, Vec<Entry>) {
    let mut out = Vec::new();
    let mut ledger = Ledger::default();
    let asked = request.map(|request| (CODEC.response_context)(request));
    (CODEC.encode_response)(answer, asked.as_ref(), &mut out, &mut ledger);
    (bytes(&out), ledger.entries(""))
}

fn lines(ledger: &[Entry]) -> Vec<String> {
    let level = |entry: &Entry| match entry.level {
        crate::Level::Loss => "",
        crate::Level::Info => " info",
    };
    ledger
        .iter()
        .map(|entry| format!("{} {}{}", entry.action.as_str(), entry.code, level(entry)))
        .collect()
}

fn request(origin: Protocol, turns: Vec<Turn<'static>>) -> Request<'static> {
    let mut request = Request::new(origin);
    request.turns = turns;
    request
}

fn user(said: &'static str) -> Turn<'static> {
    Turn::new(Pos::NONE, Role::User, vec![text(said)])
}

fn system(said: &'static str) -> Turn<'static> {
    Turn::new(Pos::NONE, Role::System, vec![text(said)])
}

fn assistant(items: Vec<Item<'static>>) -> Turn<'static> {
    Turn::new(Pos::NONE, Role::Assistant, items)
}

fn results(results: Vec<ToolResult<'static>>) -> Turn<'static> {
    Turn::new(Pos::NONE, Role::User, results.into_iter().map(Item::Result).collect())
}

fn text(said: &'static str) -> Item<'static> {
    Item::Text(Text::new(Str::plain(said)))
}

fn call(id: &'static str, name: &'static str, arguments: Arguments<'static>) -> Item<'static> {
    Item::Call(Call {
        at: Pos::NONE,
        id: Some(id.into()),
        name: name.into(),
        namespace: None,
        arguments,
        caller: None,
        cache: None,
        extra: Vec::new(),
    })
}

fn result(id: &'static str, content: Vec<Item<'static>>) -> ToolResult<'static> {
    ToolResult {
        at: Pos::NONE,
        call_id: Some(id.into()),
        name: None,
        namespace: None,
        kind: ResultKind::Function,
        content,
        is_error: None,
        cache: None,
        extra: Vec::new(),
    }
}

fn reasoning(sealed: Option<Sealed<'static>>) -> Item<'static> {
    Item::Reasoning(Reasoning {
        at: Pos::NONE,
        summary: vec!["Hm.".into()],
        content: Vec::new(),
        sealed,
        place: None,
        extra: Vec::new(),
    })
}

fn sealed(issuer: Issuer, id: Option<&'static str>) -> Sealed<'static> {
    Sealed { issuer, item_id: id.map(Str::from), blob: Some("E".into()), redacted: false }
}

fn function(name: &'static str, schema: Option<Raw<'static>>) -> Tool<'static> {
    Tool::new(Pos::NONE, name.into(), ToolKind::Function { schema })
}

fn answer(items: Vec<Item<'static>>, stop: Stop<'static>) -> Response<'static> {
    Response {
        origin: Protocol::Messages,
        id: Some("msg_1".into()),
        model: Some("claude-opus-5".into()),
        created: None,
        candidates: vec![Candidate {
            at: Pos::NONE,
            turns: vec![assistant(items)],
            stop: At::made(stop),
            logprobs: None,
            extra: Vec::new(),
        }],
        usage: Some(Usage {
            at: Pos::NONE,
            input: 105,
            cache_read: Some(90),
            cache_write: Some(5),
            output: 7,
            reasoning: Some(3),
            extra: Vec::new(),
        }),
        tier: Some("standard".into()),
        extra: Vec::new(),
    }
}

fn vectors(kind: &str) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(root().join(kind))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let body = fs::read_to_string(path.join("in.responses.json")).ok()?;
            Some((path.file_name()?.to_string_lossy().into_owned(), body))
        })
        .collect();
    found.sort();
    found
}

fn vector(kind: &str, name: &str) -> String {
    fs::read_to_string(root().join(kind).join(name).join("in.responses.json")).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn bytes(text: &[u8]) -> Value {
    serde_json::from_slice(text)
        .unwrap_or_else(|error| panic!("{error}: {:?}", std::str::from_utf8(text)))
}

/// The members that the published types require of an answer.
const REQUIRED: [&str; 32] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "model",
    "previous_response_id",
    "instructions",
    "output",
    "error",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "store",
    "background",
    "service_tier",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
    "user",
];

#[test]
fn an_answer_that_failed_is_the_error_it_names() {
    let body = vector("responses", "responses-failed-rate-limit");
    let error = (CODEC.decode_error)(Some(200), &body).unwrap();
    assert_eq!(error.kind, ErrorKind::RateLimit);
    assert_eq!(error.retry, Retry::After(12));
    assert!(error.extra.is_empty(), "{error:?}");
    assert_eq!((CODEC.encode_error)(&error, &mut Vec::new()), 429);
}
