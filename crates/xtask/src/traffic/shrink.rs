//! The smallest document that still fails in the same way. It shows what matters, and of what was
//! recorded it shows as little as possible.

use serde_json::Value;

use super::case::{Case, Kind};

/// Cuts a case down as long as `fails` says that it still shows the same. It stops after a fixed
/// number of attempts: small enough will do.
pub(super) fn shrunk(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut attempts = ATTEMPTS;
    let mut smallest = case.clone();
    let mut still_fails = |body: Vec<u8>, smallest: &mut Case| {
        if attempts == 0 || body == smallest.body {
            return false;
        }
        attempts -= 1;
        let smaller = Case { body, ..smallest.clone() };
        let fails = fails(&smaller);
        if fails {
            *smallest = smaller;
        }
        fails
    };
    if case.kind == Kind::Stream {
        let text = case.text().replace("\r\n", "\n");
        let mut events: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
        shrink_list(&mut events, |events| still_fails(joined(events), &mut smallest));
        for at in 0..events.len() {
            let Some((head, data)) = events.get(at).and_then(|event| event.split_once("data: "))
            else {
                continue;
            };
            let head = head.to_owned();
            let Ok(mut value) = serde_json::from_str::<Value>(data) else { continue };
            shrink_value(&mut value, &mut |value| {
                let mut with = events.clone();
                if let Some(event) = with.get_mut(at) {
                    *event = format!("{head}data: {value}");
                }
                still_fails(joined(&with), &mut smallest)
            });
            if let Some(event) = events.get_mut(at) {
                *event = format!("{head}data: {value}");
            }
        }
    } else if let Ok(mut value) = serde_json::from_slice::<Value>(&case.body) {
        let mut root = value.clone();
        shrink_value(&mut value, &mut |value| {
            root = value.clone();
            still_fails(root.to_string().into_bytes(), &mut smallest)
        });
    }
    smallest
}

fn joined(events: &[String]) -> Vec<u8> {
    events.join("\n\n").into_bytes()
}

/// Takes away halves, quarters and so on down to single elements.
fn shrink_list<T: Clone>(list: &mut Vec<T>, mut fails: impl FnMut(&[T]) -> bool) {
    let mut size = list.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < list.len() {
            let end = (at + size).min(list.len());
            let mut without = list.clone();
            without.drain(at..end);
            if fails(&without) {
                *list = without;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
}

/// Takes members and elements away, from the outside in, and shortens texts.
fn shrink_value(root: &mut Value, fails: &mut dyn FnMut(&Value) -> bool) {
    let mut pointers = vec![String::new()];
    while let Some(pointer) = pointers.pop() {
        let Some(value) = root.pointer(&pointer).cloned() else { continue };
        match value {
            Value::Object(members) => {
                for name in members.keys() {
                    let mut without = root.clone();
                    if let Some(Value::Object(members)) = without.pointer_mut(&pointer) {
                        members.shift_remove(name);
                    }
                    if fails(&without) {
                        *root = without;
                    } else {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        pointers.push(format!("{pointer}/{name}"));
                    }
                }
            }
            Value::Array(mut list) => {
                shrink_list(&mut list, |list| {
                    let mut without = root.clone();
                    if let Some(place) = without.pointer_mut(&pointer) {
                        *place = Value::Array(list.to_vec());
                    }
                    let fails = fails(&without);
                    if fails {
                        *root = without;
                    }
                    fails
                });
                pointers.extend((0..list.len()).map(|at| format!("{pointer}/{at}")));
            }
            Value::String(text) if text.chars().count() > 12 => {
                for length in [3, 12] {
                    let mut without = root.clone();
                    if let Some(place) = without.pointer_mut(&pointer) {
                        *place = Value::String(text.chars().take(length).collect());
                    }
                    if fails(&without) {
                        *root = without;
                        break;
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

const ATTEMPTS: usize = 1500;
