//! Streams as the vendors send them, in every protocol.

use serde_json::{Value, json};
use toolwire::Protocol;

/// What is streamed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// A call in 64 fragments.
    Arguments,
    /// A text in 256 pieces.
    Text,
    /// The same, no event spelled like the one before it: readers that know an
    /// event by its spelling must read each.
    Unlike,
    /// A call of 256 KB in fragments of 16 bytes.
    Long,
    /// The same with 1 MB.
    Big,
    /// The same with 10 MB.
    Huge,
}

impl Case {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Text => "text",
            Self::Unlike => "unlike",
            Self::Long => "256-KB-call",
            Self::Big => "1-MB-call",
            Self::Huge => "10-MB-call",
        }
    }

    #[allow(dead_code, reason = "only who is told a case by name asks")]
    pub(crate) fn parse(name: &str) -> Self {
        let all = [Self::Arguments, Self::Text, Self::Unlike, Self::Long, Self::Big, Self::Huge];
        all.into_iter().find(|case| case.name() == name).unwrap()
    }

    /// How many bytes the call's arguments have.
    #[allow(dead_code, reason = "only who measures memory asks")]
    pub(crate) fn size(self) -> usize {
        self.pieces().iter().map(String::len).sum()
    }

    /// What is streamed, in pieces.
    fn pieces(self) -> Vec<String> {
        let text = match self {
            Self::Text | Self::Unlike => {
                return (0..256).map(|number| format!(" word{} of", number % 97)).collect();
            }
            Self::Arguments => {
                let lines: Vec<String> =
                    (0..24).map(|number| format!("let value_{number} = {number};")).collect();
                json!({"path": "src/main.rs", "line": 42, "text": lines.join("\n")}).to_string()
            }
            Self::Long => lines(15_250),
            Self::Big => lines(61_000),
            Self::Huge => lines(610_000),
        };
        let size = if self == Self::Arguments { text.len().div_ceil(64) } else { 16 };
        text.as_bytes()
            .chunks(size)
            .map(|piece| String::from_utf8(piece.to_vec()).unwrap())
            .collect()
    }

    /// The stream, and how many events it has.
    pub(crate) fn stream(self, protocol: Protocol) -> (Vec<u8>, usize) {
        let pieces = self.pieces();
        let mut stream =
            Stream { protocol, bytes: Vec::new(), events: 0, unlike: self == Self::Unlike };
        let call = self != Self::Text && self != Self::Unlike;
        match protocol {
            Protocol::Chat => stream.chat(&pieces, call),
            Protocol::Responses => stream.responses(&pieces, call),
            Protocol::Messages => stream.messages(&pieces, call),
            other => panic!("not a built-in protocol: {other:?}"),
        }
        (stream.bytes, stream.events)
    }
}

fn lines(count: usize) -> String {
    json!({"text": "line of text, 16\n".repeat(count)}).to_string()
}

struct Stream {
    protocol: Protocol,
    bytes: Vec<u8>,
    events: usize,
    /// Whether a space follows every second event.
    unlike: bool,
}

impl Stream {
    fn event(&mut self, event: &Value) {
        if self.protocol != Protocol::Chat {
            let name = event["type"].as_str().unwrap();
            self.bytes.extend_from_slice(format!("event: {name}\n").as_bytes());
        }
        let space = if self.unlike && self.events % 2 == 1 { " " } else { "" };
        self.bytes.extend_from_slice(format!("data: {event}{space}\n\n").as_bytes());
        self.events += 1;
    }

    fn chat(&mut self, pieces: &[String], call: bool) {
        let chunk = |delta: Value, finish: Value| {
            json!({
                "id": "chatcmpl-CaJ4tFzTn8kq2wVYp0sHx3LbR", "object": "chat.completion.chunk",
                "created": 1_763_200_000, "model": "gpt-5.2-2026-08-11",
                "service_tier": "default", "system_fingerprint": "fp_50cad350e4",
                "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
                "usage": null, "obfuscation": "aJ3kQ",
            })
        };
        if call {
            self.event(&chunk(
                json!({"role": "assistant", "content": null, "tool_calls": [{
                "index": 0, "id": "call_m5nYF0xQpLw2TbS8", "type": "function",
                "function": {"name": "edit_file", "arguments": ""}}]}),
                Value::Null,
            ));
        } else {
            self.event(&chunk(
                json!({"role": "assistant", "content": "", "refusal": null}),
                Value::Null,
            ));
        }
        for piece in pieces {
            let delta = if call {
                json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
            } else {
                json!({"content": piece})
            };
            self.event(&chunk(delta, Value::Null));
        }
        self.event(&chunk(json!({}), json!(if call { "tool_calls" } else { "stop" })));
        self.bytes.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn messages(&mut self, pieces: &[String], call: bool) {
        self.event(&json!({"type": "message_start", "message": {
            "model": "claude-opus-4-9", "id": "msg_01XwEr8Kq2TnYb5LzVpHs3Dj", "type": "message",
            "role": "assistant", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 472, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "output_tokens": 2, "service_tier": "standard"}}}));
        let block = if call {
            json!({"type": "tool_use", "id": "toolu_01T1x1fJ34qAmk2tNTrN7Up6", "name": "edit_file", "input": {}})
        } else {
            json!({"type": "text", "text": ""})
        };
        self.event(&json!({"type": "content_block_start", "index": 0, "content_block": block}));
        for piece in pieces {
            let delta = if call {
                json!({"type": "input_json_delta", "partial_json": piece})
            } else {
                json!({"type": "text_delta", "text": piece})
            };
            self.event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}));
        }
        self.event(&json!({"type": "content_block_stop", "index": 0}));
        self.event(&json!({"type": "message_delta",
            "delta": {"stop_reason": if call { "tool_use" } else { "end_turn" }, "stop_sequence": null},
            "usage": {"output_tokens": 89}}));
        self.event(&json!({"type": "message_stop"}));
    }

    fn responses(&mut self, pieces: &[String], call: bool) {
        let mut number = -1;
        let mut next = || {
            number += 1;
            number
        };
        let response = |status: &str, output: Value| {
            json!({"id": "resp_68f1b2c3d4e5", "object": "response", "created_at": 1_763_200_000,
                "status": status, "error": null, "incomplete_details": null,
                "model": "gpt-5.2-2026-08-11", "output": output, "tools": [], "usage": null})
        };
        let whole: String = pieces.concat();
        let item = |status: &str, text: &str| {
            if call {
                json!({"id": "fc_68f1b2c3", "type": "function_call", "status": status,
                    "arguments": text, "call_id": "call_m5nYF0xQpLw2TbS8", "name": "edit_file"})
            } else {
                let content = if text.is_empty() {
                    json!([])
                } else {
                    json!([{"type": "output_text", "text": text, "annotations": [], "logprobs": []}])
                };
                json!({"id": "msg_68f1b2c3", "type": "message", "status": status,
                    "role": "assistant", "content": content})
            }
        };
        self.event(&json!({"type": "response.created", "sequence_number": next(),
            "response": response("in_progress", json!([]))}));
        self.event(&json!({"type": "response.output_item.added", "sequence_number": next(),
            "output_index": 0, "item": item("in_progress", "")}));
        if !call {
            self.event(&json!({"type": "response.content_part.added", "sequence_number": next(),
                "item_id": "msg_68f1b2c3", "output_index": 0, "content_index": 0,
                "part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []}}));
        }
        for piece in pieces {
            self.event(&if call {
                json!({"type": "response.function_call_arguments.delta", "sequence_number": next(),
                    "item_id": "fc_68f1b2c3", "output_index": 0, "delta": piece,
                    "obfuscation": "aJ3kQ"})
            } else {
                json!({"type": "response.output_text.delta", "sequence_number": next(),
                    "item_id": "msg_68f1b2c3", "output_index": 0, "content_index": 0,
                    "delta": piece, "logprobs": [], "obfuscation": "aJ3kQ"})
            });
        }
        if call {
            self.event(&json!({"type": "response.function_call_arguments.done",
                "sequence_number": next(), "item_id": "fc_68f1b2c3", "output_index": 0,
                "name": "edit_file", "arguments": whole}));
        } else {
            self.event(&json!({"type": "response.output_text.done", "sequence_number": next(),
                "item_id": "msg_68f1b2c3", "output_index": 0, "content_index": 0,
                "text": whole, "logprobs": []}));
            self.event(&json!({"type": "response.content_part.done", "sequence_number": next(),
                "item_id": "msg_68f1b2c3", "output_index": 0, "content_index": 0,
                "part": {"type": "output_text", "text": whole, "annotations": [], "logprobs": []}}));
        }
        self.event(&json!({"type": "response.output_item.done", "sequence_number": next(),
            "output_index": 0, "item": item("completed", &whole)}));
        self.event(&json!({"type": "response.completed", "sequence_number": next(),
            "response": response("completed", json!([item("completed", &whole)]))}));
    }
}
