//! Answers of Messages.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Call, Input, ResponseContent, Stop, Usage, list, number, text};

pub(super) fn answer(document: &Value) -> ResponseContent {
    let mut answer = ResponseContent::default();
    for block in list(document, "/content") {
        add_block(block, None, &mut answer);
    }
    end(document, &mut answer);
    answer.usage = document.get("usage").filter(|usage| usage.is_object()).map(usage);
    answer
}

pub(super) fn stream(events: &[Value]) -> ResponseContent {
    let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
    let mut counted = serde_json::Map::new();
    let mut last = ResponseContent::default();
    let mut before = Vec::new();
    let mut starts = 0;
    for event in events {
        match text(event, "/type") {
            "message_start" => {
                starts += 1;
                let message = event.get("message").unwrap_or(&Value::Null);
                // An answer that goes on from one before it begins with that one's blocks.
                before.extend_from_slice(list(message, "/content"));
                merge(&mut counted, message);
                if !text(message, "/stop_reason").is_empty() {
                    end(message, &mut last);
                }
            }
            "content_block_start" => {
                let whole = event.get("content_block").cloned().unwrap_or_default();
                let block = Block { whole, ..Block::default() };
                blocks.insert(number(event, "/index"), block);
            }
            "content_block_delta" => {
                let block = blocks.entry(number(event, "/index")).or_default();
                block.text.push_str(text(event, "/delta/text"));
                block.text.push_str(text(event, "/delta/thinking"));
                block.input.push_str(text(event, "/delta/partial_json"));
            }
            "message_delta" => {
                merge(&mut counted, event);
                end(event.get("delta").unwrap_or(&Value::Null), &mut last);
            }
            // An answer that begins twice is broken: nobody knows what belongs to it.
            // So is one that does not say why it ended.
            "message_stop" => last.ended = starts < 2 && last.stop.is_said(),
            "error" => last.error = super::error_message(event),
            _ => {}
        }
    }
    let mut answer = last;
    before.iter().for_each(|block| add_block(block, None, &mut answer));
    blocks.values().for_each(|block| add_block(&block.whole, Some(block), &mut answer));
    answer.usage = (!counted.is_empty()).then(|| usage(&Value::Object(counted)));
    answer
}

/// A block as it began, and what its deltas added.
#[derive(Default)]
struct Block {
    whole: Value,
    text: String,
    input: String,
}

fn add_block(whole: &Value, added: Option<&Block>, answer: &mut ResponseContent) {
    let more = added.map_or("", |block| block.text.as_str());
    match text(whole, "/type") {
        "text" => answer.text.push_str(&format!("{}{more}", text(whole, "/text"))),
        "thinking" => {
            let thought = format!("{}{more}", text(whole, "/thinking"));
            answer.reasoning.extend((!thought.is_empty()).then_some(thought));
        }
        // Sealed: nobody but the vendor can read it.
        "redacted_thinking" => {}
        "tool_use" => {
            let pieces = added.map_or("", |block| block.input.as_str());
            let input = match whole.get("input") {
                Some(input) if pieces.trim().is_empty() => Input::Json(input.clone()),
                Some(_) | None => Input::of_arguments(pieces),
            };
            answer.calls.push(Call {
                id: text(whole, "/id").to_owned(),
                name: text(whole, "/name").to_owned(),
                namespace: String::new(),
                input,
            });
        }
        _ => answer.hosted += 1,
    }
}

fn end(message: &Value, answer: &mut ResponseContent) {
    answer.stop = match text(message, "/stop_reason") {
        "" => Stop::Unsaid,
        "end_turn" | "stop_sequence" => Stop::End,
        "tool_use" => Stop::Calls,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Filter,
        other => Stop::Other(other.to_owned()),
    };
    text(message, "/stop_details/explanation").clone_into(&mut answer.explanation);
}

/// The counters of a stream are totals so far: the last one of each is right.
fn merge(counted: &mut serde_json::Map<String, Value>, holder: &Value) {
    let Some(usage) = holder.get("usage").and_then(Value::as_object) else { return };
    for (name, count) in usage.iter().filter(|(_, count)| !count.is_null()) {
        counted.insert(name.clone(), count.clone());
    }
}

fn usage(usage: &Value) -> Usage {
    let cache_read = number(usage, "/cache_read_input_tokens");
    let cache_write = number(usage, "/cache_creation_input_tokens");
    let input = number(usage, "/input_tokens") + cache_read + cache_write;
    let output = number(usage, "/output_tokens");
    let reasoning = number(usage, "/output_tokens_details/thinking_tokens");
    Usage { input, output, total: input + output, cache_read, cache_write, reasoning }
}
