//! A stream put together as a client would do it.

use serde_json::{Value, json};
use toolwire::wire::sse::Frames;

/// The answer that a stream amounts to.
pub(super) fn accumulate(bytes: &[u8]) -> Value {
    let mut answer = json!({"reply": []});
    let mut numbers = Vec::new();
    let mut each = |frame: toolwire::wire::sse::Frame<'_>| {
        let event: Value = serde_json::from_str(frame.data).unwrap();
        match frame.name.unwrap() {
            "opened" | "because" => {
                for (key, value) in event.as_object().unwrap() {
                    answer[key] = value.clone();
                }
            }
            "spent" => answer["spent"] = event,
            "began" => {
                numbers.push(event["n"].as_u64());
                answer["reply"].as_array_mut().unwrap().push(event["piece"].clone());
            }
            "grew" => {
                let index = numbers.iter().position(|n| *n == event["n"].as_u64()).unwrap();
                grow(&mut answer["reply"][index], &event);
            }
            "ended" => {
                let index = numbers.iter().position(|n| *n == event["n"].as_u64()).unwrap();
                let piece = &mut answer["reply"][index];
                if !event["seal"].is_null() {
                    piece["seal"] = event["seal"].clone();
                }
                if let Some(action) = piece.get_mut("do").and_then(Value::as_object_mut)
                    && !action.contains_key("write")
                {
                    let text = action.get("with").and_then(Value::as_str).unwrap_or("");
                    let text = if text.is_empty() { "{}" } else { text };
                    let with = serde_json::from_str(text).ok().filter(Value::is_object);
                    let is_bare = text.starts_with('{') && text.ends_with('}');
                    let with = with.filter(|_| is_bare).unwrap_or_else(|| json!(text));
                    action.insert("with".to_owned(), with);
                }
            }
            "closed" => {}
            other => panic!("{other}: {event}"),
        }
        std::ops::ControlFlow::Continue(())
    };
    let mut frames = Frames::default();
    frames.push(bytes, &mut each).unwrap();
    frames.finish(&mut each).unwrap();
    answer
}

fn grow(piece: &mut Value, event: &Value) {
    for (key, more) in event.as_object().unwrap() {
        let slot = match key.as_str() {
            "n" | "part" => continue,
            "with" | "write" => &mut piece["do"][key],
            "think" | "gist" => {
                if piece[key].is_null() {
                    piece[key] = json!([]);
                }
                let list = piece[key].as_array_mut().unwrap();
                let part = event["part"].as_u64().unwrap() as usize;
                if list.len() <= part {
                    list.push(json!(""));
                }
                list.last_mut().unwrap()
            }
            _text => &mut piece[key],
        };
        let text = format!("{}{}", slot.as_str().unwrap_or_default(), more.as_str().unwrap());
        *slot = Value::String(text);
    }
}
