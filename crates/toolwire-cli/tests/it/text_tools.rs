//! `--tool-calls` and `--tool-dialect`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolwire::text_tools::Dialect;

use crate::command::toolwire;

const REQUEST: &str = r#"{"model":"m","messages":[{"role":"user","content":"Weather in Paris?"}],
    "tools":[{"type":"function","function":{"name":"get_weather","parameters":
    {"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}],"tool_choice":"required"}"#;

/// The client's request in a file of its own.
fn request_file(test: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("toolwire-text-{test}-{}.json", std::process::id()));
    fs::write(&path, REQUEST).unwrap();
    path
}

#[test]
fn a_request_goes_up_without_tools_in_any_dialect() {
    for dialect in Dialect::all() {
        let flags = "translate --from chat --to messages --kind request --tool-calls text";
        let ran = toolwire(&format!("{flags} --tool-dialect {dialect}"), REQUEST);
        let sent = ran.document();
        assert!(sent.get("tools").is_none() && sent.get("tool_choice").is_none(), "{sent}");
        let system = sent["system"].as_str().unwrap();
        assert!(system.contains("TOOL_NAME") && system.contains("get_weather"), "{system}");
        let ledger = ran.ledger();
        assert!(ledger.contains(&"/tools tools_as_text emulated".to_owned()), "{ledger:?}");
        assert!(ledger.contains(&"/tool_choice choice_asked degraded".to_owned()), "{ledger:?}");
    }
    let flags = "translate --to chat --tool-calls text";
    let hermes = toolwire(&format!("{flags} --tool-dialect hermes"), REQUEST).out;
    assert_eq!(toolwire(flags, REQUEST).out, hermes, "hermes is the default");
    let native = toolwire("translate --to chat --tool-calls native", REQUEST);
    assert_eq!(native.document(), serde_json::from_str::<Value>(REQUEST).unwrap());
}

#[test]
fn the_calls_in_a_response_become_calls() {
    let path = request_file("response");
    for (mode, text, count) in [
        (
            "text",
            "<tool_call>{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Paris\"}}</tool_call>",
            1,
        ),
        ("text", "I'll get the weather in Paris.", 0),
        ("intent", "I'll get the weather in Paris.", 1),
    ] {
        let answer = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 5}});
        let flags = format!(
            "translate --from messages --to chat --kind response --tool-calls {mode} --request {}",
            path.display()
        );
        let choice = toolwire(&flags, answer.to_string()).document()["choices"][0].take();
        let calls = choice["message"]["tool_calls"].as_array().map_or(0, Vec::len);
        assert_eq!(calls, count, "{choice}");
        if count > 0 {
            let function = &choice["message"]["tool_calls"][0]["function"];
            assert_eq!(
                *function,
                json!({"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"})
            );
            assert_eq!(choice["finish_reason"], "tool_calls");
        }
    }
    fs::remove_file(&path).unwrap();
}

#[test]
fn the_calls_in_a_stream_become_calls_even_within_one_protocol() {
    let path = request_file("stream");
    let mut input = String::new();
    for piece in [
        "One moment. [TOOL_",
        "CALLS][{\"name\":\"get_weather\",",
        "\"arguments\":{\"city\":\"Paris\"}}]",
    ] {
        let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m", "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]});
        input.push_str(&format!("data: {chunk}\n\n"));
    }
    let stop = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
        "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    input.push_str(&format!("data: {stop}\n\ndata: [DONE]\n\n"));
    for (to, mark) in
        [("chat", "\"finish_reason\":\"tool_calls\""), ("chat", "\"name\":\"get_weather\"")]
    {
        let flags = format!(
            "translate --to {to} --kind stream --tool-calls text --request {}",
            path.display()
        );
        let ran = toolwire(&flags, &input);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains(mark) && ran.out.ends_with("data: [DONE]\n\n"), "{}", ran.out);
        assert!(!ran.out.contains("TOOL_"), "{}", ran.out);
        let line = serde_json::to_string(&input).unwrap();
        let lines = toolwire(&format!("{flags} --lines"), line).document();
        assert_eq!(lines["body"].as_str().unwrap(), ran.out);
    }
    fs::remove_file(&path).unwrap();
}

#[test]
fn flags_that_do_not_fit_say_what_does() {
    for (flags, expected) in [
        ("--to chat --tool-dialect hermes", "--tool-dialect requires --tool-calls text or intent"),
        ("--to chat --tool-calls words", "native, text, intent"),
        ("--to chat --tool-calls text --tool-dialect klingon", "hermes, qwen3_coder"),
        (
            "--to chat --from messages --kind response --tool-calls text",
            "--tool-calls requires --request",
        ),
        ("--to chat --kind stream --tool-calls text", "--tool-calls requires --request"),
        ("--to chat --from messages --kind error --tool-calls text", "request, response or stream"),
    ] {
        let ran = toolwire(&format!("translate {flags}"), REQUEST);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{flags}: {}", ran.err);
        assert!(ran.err.contains(expected), "{flags}: {}", ran.err);
    }
}
