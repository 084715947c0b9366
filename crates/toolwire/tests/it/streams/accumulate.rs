//! A stream put together as the vendors' SDKs do it.

use serde_json::{Map, Value, json};
use toolwire::Protocol;

use super::oracle::events;

/// The answer that a client's SDK makes of a stream that ended well.
pub(crate) fn accumulate(protocol: Protocol, bytes: &[u8]) -> Value {
    let events: Vec<Value> = events(bytes, true)
        .iter()
        .filter_map(|(_, data, _)| serde_json::from_str(data).ok())
        .collect();
    match protocol {
        Protocol::Chat => chat(&events),
        Protocol::Responses => responses(&events),
        Protocol::Messages => messages(&events),
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

fn responses(events: &[Value]) -> Value {
    let last = events.iter().rev().find(|event| {
        let ends = ["response.completed", "response.incomplete", "response.cancelled"];
        ends.iter().any(|kind| event["type"] == *kind)
    });
    last.map_or(Value::Null, |event| event["response"].clone())
}

fn chat(events: &[Value]) -> Value {
    let mut answer = json!({"object": "chat.completion"});
    let mut message = json!({"role": "assistant"});
    let mut choice = json!({"index": 0});
    for event in events {
        for key in ["id", "created", "model", "service_tier", "usage"] {
            if !event[key].is_null() {
                answer[key] = event[key].clone();
            }
        }
        // Of several answers the first counts.
        let parts = event["choices"].as_array().into_iter().flatten();
        for part in parts.filter(|part| part["index"].as_u64().unwrap_or(0) == 0) {
            if !part["finish_reason"].is_null() {
                choice["finish_reason"] = part["finish_reason"].clone();
            }
            extend(&mut choice["logprobs"]["content"], &part["logprobs"]["content"]);
            for (key, value) in part["delta"].as_object().into_iter().flatten() {
                match key.as_str() {
                    "role" => {}
                    "tool_calls" => calls(&mut message["tool_calls"], value),
                    "function_call" => merge(&mut message["function_call"], value),
                    "reasoning_details" | "annotations" => extend(&mut message[key], value),
                    _text => append(&mut message[key], value),
                }
            }
        }
    }
    if choice["logprobs"]["content"].is_null() {
        choice["logprobs"] = Value::Null;
    }
    // A role chunk says "" where a whole answer says nothing.
    if message["content"] == "" {
        message["content"] = Value::Null;
    }
    choice["message"] = message;
    answer["choices"] = json!([choice]);
    answer
}

fn calls(list: &mut Value, parts: &Value) {
    for part in parts.as_array().into_iter().flatten() {
        let index = part["index"].as_u64().unwrap_or_default() as usize;
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().unwrap();
        while list.len() <= index {
            list.push(json!({}));
        }
        let mut part = part.clone();
        part.as_object_mut().unwrap().shift_remove("index");
        merge(&mut list[index], &part);
    }
}

/// Objects member by member, texts one behind the other.
fn merge(whole: &mut Value, part: &Value) {
    match part {
        Value::Object(members) => {
            if whole.is_null() {
                *whole = Value::Object(Map::new());
            }
            for (key, value) in members {
                if key == "id" || key == "type" {
                    whole[key] = value.clone();
                } else {
                    merge(&mut whole[key], value);
                }
            }
        }
        Value::String(_) => append(whole, part),
        Value::Null => {}
        Value::Array(_) | Value::Bool(_) | Value::Number(_) => *whole = part.clone(),
    }
}

fn append(whole: &mut Value, part: &Value) {
    let Some(text) = part.as_str() else { return };
    *whole = Value::String(format!("{}{text}", whole.as_str().unwrap_or_default()));
}

fn extend(whole: &mut Value, part: &Value) {
    let Some(more) = part.as_array() else { return };
    if whole.is_null() {
        *whole = json!([]);
    }
    whole.as_array_mut().unwrap().extend(more.iter().cloned());
}

fn messages(events: &[Value]) -> Value {
    let mut answer = Value::Null;
    let mut inputs: Vec<String> = Vec::new();
    for event in events {
        let index = event["index"].as_u64().unwrap_or_default() as usize;
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => answer = event["message"].clone(),
            "content_block_start" => {
                answer["content"].as_array_mut().unwrap().push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let (block, delta) = (&mut answer["content"][index], &event["delta"]);
                append(&mut block["text"], &delta["text"]);
                append(&mut block["thinking"], &delta["thinking"]);
                append(&mut block["signature"], &delta["signature"]);
                if !delta["citation"].is_null() {
                    extend(&mut block["citations"], &json!([delta["citation"]]));
                }
                inputs[index].push_str(delta["partial_json"].as_str().unwrap_or_default());
                block.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            }
            "content_block_stop" if !inputs[index].trim().is_empty() => {
                // What was cut is for the SDK's own repair.
                let cut = || json!({"cut": inputs[index]});
                answer["content"][index]["input"] =
                    serde_json::from_str(&inputs[index]).unwrap_or_else(|_| cut());
            }
            "message_delta" => {
                for (key, value) in event["delta"].as_object().into_iter().flatten() {
                    answer[key] = value.clone();
                }
                for key in ["container", "context_management"] {
                    if let Some(value) = event.get(key) {
                        answer[key] = value.clone();
                    }
                }
                for (key, value) in event["usage"].as_object().into_iter().flatten() {
                    answer["usage"][key] = value.clone();
                }
            }
            _other => {}
        }
    }
    answer
}
