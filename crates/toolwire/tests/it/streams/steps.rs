//! A stream taken step by step is the stream.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::pipe::Pipe;
use toolwire::translate::Options;

/// Two calls, the second of them long, behind a long text.
fn stream(protocol: Protocol) -> Vec<u8> {
    let mut out = Vec::new();
    let text = "some words \"and\" more\n".repeat(4_000);
    let long = json!({"text": "line\n".repeat(20_000)}).to_string();
    let calls = [("call_a", "look", "{\"at\":1}"), ("call_b", "write", &long)];
    let mut event = |value: Value| {
        if let Some(kind) = value["type"].as_str() {
            out.extend_from_slice(format!("event: {kind}\n").as_bytes());
        }
        out.extend_from_slice(format!("data: {value}\n\n").as_bytes());
    };
    match protocol {
        Protocol::Chat => {
            let chunk = |delta: Value, finish: Value| {
                json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
            };
            event(chunk(json!({"role": "assistant", "content": text}), Value::Null));
            for (index, (id, name, arguments)) in calls.into_iter().enumerate() {
                let begun = json!({"index": index, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""}});
                event(chunk(json!({"tool_calls": [begun]}), Value::Null));
                let more = json!({"index": index, "function": {"arguments": arguments}});
                event(chunk(json!({"tool_calls": [more]}), Value::Null));
            }
            event(chunk(json!({}), json!("tool_calls")));
            out.extend_from_slice(b"data: [DONE]\n\n");
        }
        Protocol::Messages => {
            event(json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
                "role": "assistant", "model": "m", "content": [], "stop_reason": null,
                "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}}));
            let mut block = |index: usize, start: Value, delta: Value| {
                event(json!({"type": "content_block_start", "index": index,
                    "content_block": start}));
                event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
                event(json!({"type": "content_block_stop", "index": index}));
            };
            block(
                0,
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": text}),
            );
            for (index, (id, name, arguments)) in (1..).zip(calls) {
                block(
                    index,
                    json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                    json!({"type": "input_json_delta", "partial_json": arguments}),
                );
            }
            event(json!({"type": "message_delta", "usage": {"output_tokens": 9},
                "delta": {"stop_reason": "tool_use", "stop_sequence": null}}));
            event(json!({"type": "message_stop"}));
        }
        // What the other two become is a stream of this one.
        Protocol::Responses => {
            let chat = stream(Protocol::Chat);
            let mut pipe = new(Protocol::Chat, Protocol::Responses);
            pipe.push(&chat, &mut out);
        }
        other => panic!("not a built-in protocol: {other:?}"),
    }
    out
}

fn new(from: Protocol, to: Protocol) -> Pipe {
    Pipe::new(from, to, &Options::new()).unwrap()
}

/// What comes out step by step, and the longest step.
fn stepped(pipe: &mut Pipe, bytes: &[u8], size: usize) -> (Vec<u8>, usize) {
    let (mut all, mut longest) = (Vec::new(), 0);
    let mut out = Vec::new();
    for chunk in bytes.chunks(size) {
        let mut rest = chunk;
        loop {
            let more = pipe.step(&mut rest, &mut out);
            longest = longest.max(out.len());
            all.append(&mut out);
            if !more {
                break;
            }
        }
        assert!(pipe.is_done() || rest.is_empty(), "bytes were left without a word");
    }
    (all, longest)
}

#[test]
fn steps_give_what_a_push_gives() {
    for from in Protocol::ALL {
        let bytes = stream(from);
        for to in Protocol::ALL {
            let mut whole = Vec::new();
            let mut pipe = new(from, to);
            pipe.push(&bytes, &mut whole);
            assert!(pipe.is_done() && pipe.summary().complete, "{from} to {to}");
            for size in [bytes.len(), 4096, 61] {
                let mut pipe = new(from, to);
                let (all, longest) = stepped(&mut pipe, &bytes, size);
                assert!(all == whole, "{from} to {to} by {size}");
                assert!(pipe.is_done() && pipe.summary().complete, "{from} to {to} by {size}");
                // The last event says everything once; no step says it twice.
                assert!(longest < 320_000, "{from} to {to} by {size}: a step of {longest} bytes");
            }
        }
    }
}

/// A caller who does not come back for the rest still gets it at the end,
/// whatever becomes of the upstream behind its last word.
#[test]
fn what_is_owed_is_paid_at_the_end() {
    let bytes = stream(Protocol::Chat);
    let mut whole = Vec::new();
    new(Protocol::Chat, Protocol::Responses).push(&bytes, &mut whole);
    for fails in [false, true] {
        let mut pipe = new(Protocol::Chat, Protocol::Responses);
        let (mut rest, mut out) = (bytes.as_slice(), Vec::new());
        while !rest.is_empty() {
            pipe.step(&mut rest, &mut out);
        }
        assert!(!pipe.is_done(), "nothing was owed");
        if fails {
            pipe.fail(ApiError::new(ErrorKind::Server, "reset"), &mut out);
        } else {
            pipe.finish(&mut out);
        }
        assert!(out == whole && pipe.is_done() && pipe.summary().complete);
        assert!(pipe.summary().error.is_none());
    }
}
