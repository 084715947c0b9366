//! The same answer in every protocol, whole and streamed, says the same.

use serde_json::{Value, json};
use toolwire::Protocol;

use super::{Call, Input, ResponseContent, Stop, Usage, answer, stream};

fn protocol(name: &str) -> Protocol {
    Protocol::parse(name).unwrap()
}

/// What all of the documents below say.
fn expected() -> ResponseContent {
    let input = Input::Json(json!({ "city": "Oslo" }));
    ResponseContent {
        text: "Let me see.".to_owned(),
        reasoning: vec!["Hm.".to_owned()],
        calls: vec![Call {
            id: "c1".to_owned(),
            name: "weather".to_owned(),
            input,
            ..Call::default()
        }],
        stop: Stop::Calls,
        usage: Some(Usage {
            input: 10,
            output: 5,
            total: 15,
            cache_read: 4,
            cache_write: 0,
            reasoning: 2,
        }),
        ended: true,
        ..ResponseContent::default()
    }
}

fn events(documents: &[Value]) -> Vec<u8> {
    documents
        .iter()
        .map(|document| format!("data: {document}\n\n"))
        .collect::<String>()
        .into_bytes()
}

#[test]
fn chat() {
    let arguments = r#"{"city":"Oslo"}"#;
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}});
    let whole = json!({"choices": [{"finish_reason": "stop", "message": {
        "content": "Let me see.", "reasoning": "Hm.", "reasoning_content": "Hm.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": arguments}}],
    }}], "usage": usage});
    assert_eq!(answer(protocol("chat"), &whole), expected());

    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let (first, rest) = arguments.split_at(4);
    let streamed = [
        delta(json!({"reasoning_content": "Hm."})),
        delta(json!({"content": "Let me "})),
        delta(json!({"content": "see."})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "weather", "arguments": first}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": rest}}]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], "usage": usage}),
    ];
    assert_eq!(stream(protocol("chat"), &events(&streamed)), expected());
}

#[test]
fn responses() {
    let items = json!([
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Let me see."}]},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": r#"{"city":"Oslo"}"#},
    ]);
    let whole = json!({"status": "completed", "output": items, "usage": {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 15}});
    assert_eq!(answer(protocol("responses"), &whole), expected());

    let mut streamed = vec![
        json!({"type": "response.output_text.delta", "delta": "Let me see."}),
        json!({"type": "response.function_call_arguments.delta", "delta": r#"{"city":"Oslo"}"#}),
    ];
    for (at, item) in items.as_array().unwrap().iter().enumerate() {
        streamed
            .push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    streamed.push(json!({"type": "response.completed", "response": whole}));
    assert_eq!(stream(protocol("responses"), &events(&streamed)), expected());
}

#[test]
fn messages() {
    let usage = json!({"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2}});
    let whole = json!({"content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
    ], "stop_reason": "tool_use", "usage": usage});
    assert_eq!(answer(protocol("messages"), &whole), expected());

    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let streamed = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 1}}}),
        start(0, json!({"type": "thinking", "thinking": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Let me see."})),
        start(2, json!({"type": "tool_use", "id": "c1", "name": "weather", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"city\":"})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "\"Oslo\"}"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 2}}}),
        json!({"type": "message_stop"}),
    ];
    assert_eq!(stream(protocol("messages"), &events(&streamed)), expected());
}

#[test]
fn tokens_beside_the_ones_they_belong_to_are_found_by_the_total() {
    let usage = |usage: Value| {
        answer(protocol("chat"), &json!({"choices": [], "usage": usage})).usage.unwrap()
    };
    let beside = usage(json!({"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 31,
        "completion_tokens_details": {"reasoning_tokens": 20}}));
    assert_eq!((beside.output, beside.reasoning), (21, 20));
    let unsaid = usage(json!({"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 31}));
    assert_eq!((unsaid.output, unsaid.reasoning), (21, 20));
}

#[test]
fn a_stream_that_disagrees_with_itself_is_noticed() {
    let streamed = [
        json!({"type": "response.output_text.delta", "delta": "one"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item":
            {"type": "message", "content": [{"type": "output_text", "text": "other"}]}}),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ];
    let answer = stream(protocol("responses"), &events(&streamed));
    assert!(answer.contradiction.is_some());
    assert_eq!(answer.other_text.as_deref(), Some("one"));
}

#[test]
fn a_stream_without_its_end_has_not_ended() {
    let cut = events(&[json!({"choices": [{"index": 0, "delta": {"content": "He"}}]})]);
    assert!(!stream(protocol("chat"), &cut).ended);
    let twice = events(&[
        json!({"type": "message_start", "message": {}}),
        json!({"type": "message_start", "message": {}}),
        json!({"type": "message_stop"}),
    ]);
    assert!(!stream(protocol("messages"), &twice).ended);
}
