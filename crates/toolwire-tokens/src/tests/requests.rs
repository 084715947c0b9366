//! Whole requests: an estimate that errs on the high side.

use std::fs;
use std::path::Path;

use toolwire::codec::codec;
use toolwire::model::Protocol;

use crate::{RequestCount, Tokenizer, count_request, quick_estimate};

fn exact(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

fn estimate(request: &toolwire::model::Request<'_>) -> u64 {
    count_request(request, Tokenizer::ESTIMATE)
}

/// The estimate covers everything in a request.
#[test]
fn every_vector_is_covered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/requests");
    let mut seen = 0;
    for vector in fs::read_dir(folder).unwrap() {
        for file in fs::read_dir(vector.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let parts: Vec<_> = name.split('.').collect();
            let [_, protocol, "json"] = parts[..] else { continue };
            let body = fs::read_to_string(&path).unwrap();
            let Ok(request) = codec(Protocol::parse(protocol).unwrap()).decode_request(&body)
            else {
                continue;
            };
            seen += 1;
            let estimate = estimate(&request);
            let exact = exact(&content(&body));
            assert!(estimate >= exact, "{}: {estimate} for {exact}", path.display());
            let counted = RequestCount::of_request(&request, Tokenizer::ESTIMATE);
            assert_eq!(counted.total, estimate, "{}", path.display());
            let quick = quick_estimate(&request);
            let near = estimate / 2..=estimate * 3 / 2;
            assert!(near.contains(&quick), "{}: {quick} for {estimate}", path.display());
        }
    }
    assert!(seen > 200, "{seen} vectors");
}

/// What a model reads of a request, as one text: tools as JSON, and every text of
/// the conversation, without media and without the protocol's field names.
fn content(body: &str) -> String {
    let document: serde_json::Value = serde_json::from_str(body).unwrap();
    let mut text = String::new();
    for key in ["tools", "functions"] {
        let tools = document.get(key).map(ToString::to_string);
        text.push_str(&tools.unwrap_or_default());
    }
    for key in ["system", "instructions", "messages", "input"] {
        if let Some(value) = document.get(key) {
            leaves(value, &mut text);
        }
    }
    text
}

fn leaves(value: &serde_json::Value, text: &mut String) {
    match value {
        serde_json::Value::String(leaf) if !leaf.starts_with("data:") => {
            text.push_str(leaf);
            text.push('\n');
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| leaves(value, text)),
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                if !PLUMBING.contains(&key.as_str()) {
                    leaves(value, text);
                }
            }
        }
        serde_json::Value::String(_) | serde_json::Value::Null => {}
        serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            text.push_str(&value.to_string());
        }
    }
}

const PLUMBING: &[&str] = &[
    "type",
    "role",
    "cache_control",
    "prompt_cache_breakpoint",
    "status",
    "data",
    "file_data",
    "encrypted_content",
    "signature",
    "media_type",
    "logprobs",
];

#[test]
fn media_count_by_their_size() {
    let image = |source: &str| {
        let body = format!(
            r#"{{"model":"m","max_tokens":1,"messages":[{{"role":"user","content":[{{"type":"image","source":{source}}}]}}]}}"#
        );
        estimate(&codec(Protocol::Messages).decode_request(&body).unwrap()) - 16
    };
    let base64 = |data: &str| {
        image(&format!(r#"{{"type":"base64","media_type":"image/png","data":"{data}"}}"#))
    };
    // PNG of 1000 by 750, GIF of 300 by 250, JPEG of 1500 by 1000 behind a
    // comment, WebP of 750 by 1000.
    assert_eq!(base64("iVBORw0KGgoAAAANSUhEUgAAA+gAAALu"), 1000);
    assert_eq!(base64("R0lGODlhLAH6AA=="), 100);
    assert_eq!(base64("/9j//gAEAAD/wAARCAPoBdwDASIA"), 2000);
    // The same JPEG behind three kilobytes of comment.
    assert_eq!(base64(&format!("/9j//gv/{}/8AAEQgD6AXcAwEi", "A".repeat(4092))), 2000);
    assert_eq!(base64("UklGRgAAAABXRUJQVlA4WAoAAAAAAAAA7QIA5wMA"), 1000);
    assert_eq!(base64("bm8gaW1hZ2U="), 4800);
    assert_eq!(image(r#"{"type":"url","url":"https://x.example/a.png"}"#), 4800);
}

/// Counts that Anthropic shows in its guide to token counting, for
/// `claude-opus-4-6`: platform.claude.com/docs/en/build-with-claude/token-counting.
#[test]
fn counts_that_a_vendor_publishes() {
    for (body, published) in [
        (
            r#"{"model":"m","max_tokens":1,"system":"You are a scientist",
                "messages":[{"role":"user","content":"Hello, Claude"}]}"#,
            14,
        ),
        (
            r#"{"model":"m","max_tokens":1,"tools":[{"name":"get_weather",
                "description":"Get the current weather in a given location",
                "input_schema":{"type":"object","properties":{"location":{"type":"string",
                    "description":"The city and state, e.g. San Francisco, CA"}},
                    "required":["location"]}}],
                "messages":[{"role":"user","content":"What's the weather like in San Francisco?"}]}"#,
            403,
        ),
    ] {
        let estimate = estimate(&codec(Protocol::Messages).decode_request(body).unwrap());
        assert!(estimate >= published, "{estimate} for {published}");
        assert!(estimate <= 3 * published, "{estimate} for {published}");
    }
}

#[test]
fn every_part_of_a_request_is_listed() {
    let body = br#"{"model":"claude-sonnet-4-5","max_tokens":9,"system":"Be brief.",
        "tools":[{"name":"get_weather","input_schema":{"type":"object"}}],
        "messages":[{"role":"user","content":"Weather?"},
            {"role":"assistant","content":[{"type":"text","text":"One moment."},
                {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1",
                "content":"sunny"}]}]}"#;
    let count = RequestCount::of(Protocol::Messages, body, Tokenizer::for_model("gpt-5")).unwrap();
    let listed: Vec<_> = count
        .parts
        .iter()
        .map(|part| (part.section, part.turn, part.kind, part.name.as_deref()))
        .collect();
    assert_eq!(
        listed,
        [
            ("system", Some(0), "text", None),
            ("user", Some(1), "text", None),
            ("assistant", Some(2), "text", None),
            ("assistant", Some(2), "call", Some("get_weather")),
            ("user", Some(3), "result", Some("toolu_1")),
            ("tools", None, "tool", Some("get_weather")),
            ("tools", None, "instructions", None),
            ("request", None, "framing", None),
        ]
    );
    // `Be brief.` has 3 tokens, the turn around it 8.
    assert_eq!(count.parts[0].tokens, 11);
    assert_eq!(count.total, count.parts.iter().map(|part| part.tokens).sum::<u64>());
}

#[test]
fn what_is_no_request_is_refused() {
    let refused = RequestCount::of(Protocol::Chat, b"[1]", Tokenizer::ESTIMATE);
    assert!(refused.is_err());
}
