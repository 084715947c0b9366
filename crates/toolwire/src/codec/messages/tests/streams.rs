//! Streams, read and written.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::CODEC;
use super::{parsed, without_nulls};
use crate::codec::{EventSink, codec};
use crate::fold::Fold;
use crate::ledger::Ledger;
use crate::model::{
    ApiError, Arguments, Call, CallForm, CallHead, ErrorKind, Event, Head, HostedClass, HostedItem,
    Issuer, Item, NativeKind, Part, Piece, Protocol, Reasoning, ResponseContext, Role, Sealed,
    Start, Stop, Tail, Turn, Usage,
};
use crate::wire::sse::Frames;
use crate::wire::{At, Pos, Raw, Str};

mod reading;
mod writing;

/// What a reader handed on, as lines that are easy to compare.
#[derive(Default)]
struct Collected {
    lines: Vec<String>,
    fold: Fold,
    ledger: Ledger,
    ended: bool,
}

impl EventSink for Collected {
    fn event(&mut self, event: Event<'_>) {
        assert!(!self.ended, "{event:?} comes after the end");
        self.ended = matches!(event, Event::End | Event::Error(_));
        self.fold.event(&event);
        self.lines.push(line(&event));
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Start(start) => format!("start {:?} {:?}", start.id, start.model),
        Event::Open { block, head: Head::Call(call) } => {
            format!("open {block} call {:?} {:?} {:?}", call.id, call.name, call.form)
        }
        Event::Open { block, head: Head::Text(_) } => format!("open {block} text"),
        Event::Open { block, head: Head::Refusal(_) } => format!("open {block} refusal"),
        Event::Open { block, head: Head::Reasoning { .. } } => format!("open {block} reasoning"),
        Event::Delta { block, piece } => match piece {
            Piece::Text { text, .. } => format!("text {block} {text:?}"),
            Piece::Citation(raw) => format!("citation {block} {raw:?}"),
            Piece::Summary { part, text } => format!("summary {block}.{part} {text:?}"),
            Piece::Reasoning { part, text } => format!("reasoning {block}.{part} {text:?}"),
            Piece::Arguments(text) => format!("arguments {block} {text:?}"),
        },
        Event::Close { block, tail } => match &tail.sealed {
            Some(sealed) => format!("close {block} {:?} {:?}", sealed.issuer, sealed.blob),
            None => format!("close {block}"),
        },
        Event::Whole(turn) => match turn.items.as_slice() {
            [Item::Hosted(item)] => format!("hosted {:?} {:?}", item.class, item.raw),
            [Item::Opaque(item)] => format!("opaque {:?}", item.raw),
            [Item::Reasoning(item)] => format!("withheld {:?}", item.sealed),
            other => format!("whole {other:?}"),
        },
        Event::About { tier, extra } => format!("about {tier:?} {extra:?}"),
        Event::Usage(usage) => format!(
            "usage {} {:?} {:?} {}",
            usage.input, usage.cache_read, usage.cache_write, usage.output
        ),
        Event::Stop { stop, .. } => format!("stop {:?}", stop.value),
        Event::End => "end".to_owned(),
        Event::Error(error) => format!("error {:?} {}", error.kind, error.message),
    }
}

fn read(stream: &str) -> Collected {
    let mut collected = Collected::default();
    let mut reader = (CODEC.stream_reader)();
    let mut frames = Frames::default();
    let mut each = |frame: crate::wire::sse::Frame<'_>| {
        reader
            .read(&frame, &mut collected)
            .unwrap_or_else(|error| panic!("{error}: {}", frame.data));
        ControlFlow::Continue(())
    };
    frames.push(stream.as_bytes(), &mut each).unwrap();
    frames.finish(&mut each).unwrap();
    reader.finish(&mut collected);
    collected
}

/// The stream as the vendor's own libraries add it up.
fn accumulated(stream: &str) -> Value {
    let mut message = Value::Null;
    let mut inputs: Vec<String> = Vec::new();
    let mut frames = Frames::default();
    let mut each = |frame: crate::wire::sse::Frame<'_>| {
        if frame.data == "[DONE]" {
            return ControlFlow::Continue(());
        }
        let event: Value = serde_json::from_str(frame.data).unwrap();
        let index = event["index"].as_u64().unwrap_or_default() as usize;
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let content = message["content"].as_array_mut().unwrap();
                assert_eq!(content.len(), index, "indexes are dense");
                content.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let block = &mut message["content"][index];
                let delta = &event["delta"];
                let (kind, add) = match delta["type"].as_str().unwrap() {
                    "text_delta" => ("text", "text"),
                    "thinking_delta" => ("thinking", "thinking"),
                    "signature_delta" => {
                        block["signature"] = delta["signature"].clone();
                        return ControlFlow::Continue(());
                    }
                    "citations_delta" => {
                        if !block["citations"].is_array() {
                            block["citations"] = json!([]);
                        }
                        block["citations"].as_array_mut().unwrap().push(delta["citation"].clone());
                        return ControlFlow::Continue(());
                    }
                    "input_json_delta" => {
                        assert!(block["type"].as_str().unwrap().ends_with("tool_use"));
                        inputs[index].push_str(delta["partial_json"].as_str().unwrap());
                        if let Ok(value) = serde_json::from_str(&inputs[index]) {
                            block["input"] = value;
                        }
                        return ControlFlow::Continue(());
                    }
                    "compaction_delta" => {
                        block["content"] = delta["content"].clone();
                        block["encrypted_content"] = delta["encrypted_content"].clone();
                        return ControlFlow::Continue(());
                    }
                    _ => return ControlFlow::Continue(()),
                };
                assert_eq!(block["type"], kind, "a delta belongs to its block");
                let text =
                    format!("{}{}", block[add].as_str().unwrap(), delta[add].as_str().unwrap());
                block[add] = Value::String(text);
            }
            "message_delta" => {
                for (key, value) in event["delta"].as_object().unwrap() {
                    message[key] = value.clone();
                }
                for (key, value) in event["usage"].as_object().unwrap() {
                    message["usage"][key] = value.clone();
                }
                for (key, value) in event.as_object().unwrap() {
                    if !["type", "delta", "usage"].contains(&key.as_str()) {
                        message[key] = value.clone();
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    };
    frames.push(stream.as_bytes(), &mut each).unwrap();
    message
}

/// The streams of Messages that can be read to their end.
fn vectors() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/streams");
    let mut found: Vec<_> = fs::read_dir(root)
        .unwrap()
        .filter_map(|entry| {
            let folder = entry.unwrap();
            if folder.file_name() == "messages-ping-swallows-event" {
                return None;
            }
            let text = fs::read_to_string(folder.path().join("in.messages.sse")).ok()?;
            Some((folder.file_name().into_string().unwrap(), text))
        })
        .collect();
    found.sort();
    assert!(found.len() >= 25);
    found
}

/// The whole events of a stream. A cut goes through one, which is none then.
fn events_of(stream: &str) -> &str {
    stream.rfind("\n\n").map_or("", |end| &stream[..end + 2])
}
