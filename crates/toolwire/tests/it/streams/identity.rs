//! Whatever way an upstream spells a list of calls, each comes out once, with
//! its own arguments, byte for byte.

use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};
use toolwire::Protocol;

use super::oracle::{Ending, Oracle};
use super::translated;

/// A call that a model makes.
#[derive(Clone, Debug)]
struct Made {
    id: String,
    name: String,
    arguments: String,
}

/// How an upstream tells its calls apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallIdentity {
    /// By index. Ids may come late, names in pieces, fragments in any order.
    Index,
    /// By index, without any ids.
    IndexOnly,
    /// By index, and every call has the same id.
    SameId,
    /// By the id on every fragment.
    Id,
    /// By the id on the first fragment; what follows belongs to the last.
    FirstId,
    /// Every index is 0, and a new id is a new call.
    Zero,
    /// Each call whole, several in a chunk, without an index.
    Whole,
}

const CALL_IDENTITIES: [CallIdentity; 7] = [
    CallIdentity::Index,
    CallIdentity::IndexOnly,
    CallIdentity::SameId,
    CallIdentity::Id,
    CallIdentity::FirstId,
    CallIdentity::Zero,
    CallIdentity::Whole,
];

#[test]
fn no_call_is_merged_or_lost() {
    // The same cases on every run; `cargo xtask sweep` takes a million.
    let rounds: u64 =
        std::env::var("TOOLWIRE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    for seed in 0..rounds {
        let bytes = random_bytes(seed);
        let mut random = Unstructured::new(&bytes);
        let (way, calls, stream) = encoded(&mut random).unwrap();
        for to in [Protocol::Responses, Protocol::Messages] {
            let (out, _) = translated(Protocol::Chat, to, None, [stream.as_bytes()]);
            let mut client = Oracle::strict(to);
            client.feed(&out);
            let told = || {
                format!(
                    "{way:?} to {to}, seed {seed}\n{stream}\n{}",
                    std::str::from_utf8(&out).unwrap()
                )
            };
            assert_eq!(client.fault, None, "{}", told());
            assert_eq!(client.ending, Ending::Success, "{}", told());
            assert_eq!(client.calls.len(), calls.len(), "{}", told());
            for (number, (seen, made)) in client.calls.iter().zip(&calls).enumerate() {
                assert_eq!(
                    (&seen.name, &seen.arguments),
                    (&made.name, &made.arguments),
                    "{}",
                    told()
                );
                if made.id.is_empty() || (way == CallIdentity::SameId && number > 0) {
                    assert!(!seen.id.is_empty(), "{}", told());
                } else {
                    assert_eq!(seen.id, made.id, "{}", told());
                }
            }
            let mut ids: Vec<_> = client.calls.iter().map(|call| &call.id).collect();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), calls.len(), "{}", told());
        }
    }
}

fn random_bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..256).flat_map(|_| next().to_le_bytes()).collect()
}

/// A list of calls, and a stream that makes them.
fn encoded(random: &mut Unstructured<'_>) -> Result<(CallIdentity, Vec<Made>, String)> {
    let way = *random.choose(&CALL_IDENTITIES)?;
    let count = random.int_in_range(1..=5)?;
    let calls = (0..count).map(|number| made(random, way, number)).collect::<Result<Vec<_>>>()?;
    let mut lists = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        lists.push(fragments(random, way, index, call)?);
    }
    let mut entries = Vec::new();
    let interleaved = matches!(
        way,
        CallIdentity::Index | CallIdentity::IndexOnly | CallIdentity::SameId | CallIdentity::Id
    ) && random.arbitrary()?;
    if interleaved {
        // Every call begins in its turn, then fragments come in any order.
        for list in &mut lists {
            entries.push(list.remove(0));
        }
        while lists.iter().any(|list| !list.is_empty()) {
            let pick = random.int_in_range(0..=lists.len() - 1)?;
            if !lists[pick].is_empty() {
                entries.push(lists[pick].remove(0));
            } else if let Some(list) = lists.iter_mut().find(|list| !list.is_empty()) {
                entries.push(list.remove(0));
            }
        }
    } else {
        entries = lists.into_iter().flatten().collect();
    }
    let mut stream = String::new();
    let mut chunk = |delta: Value, finish: Value| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        });
        stream.push_str(&format!("data: {chunk}\n\n"));
    };
    chunk(json!({"role": "assistant", "content": null}), Value::Null);
    if way == CallIdentity::Whole {
        chunk(json!({"tool_calls": entries}), Value::Null);
    } else {
        for entry in entries {
            chunk(json!({"tool_calls": [entry]}), Value::Null);
        }
    }
    chunk(json!({}), json!("tool_calls"));
    if random.arbitrary()? {
        stream.push_str("data: [DONE]\n\n");
    }
    Ok((way, calls, stream))
}

fn made(random: &mut Unstructured<'_>, way: CallIdentity, number: usize) -> Result<Made> {
    let id = match way {
        CallIdentity::IndexOnly => String::new(),
        CallIdentity::SameId => "call_0".to_owned(),
        CallIdentity::Index
        | CallIdentity::Id
        | CallIdentity::FirstId
        | CallIdentity::Zero
        | CallIdentity::Whole => {
            format!("call_{number}_{}", random.int_in_range(0..=999)?)
        }
    };
    // The same tool may be called twice in a row.
    let name = (*random.choose(&["read_file", "read_file", "w", "search_everything"])?).to_owned();
    let value = *random.choose(&[
        r#"{"a":1}"#,
        r#"{ "path" : "src/{a}.rs" }"#,
        r#"{"q":"quote \" and \\ back}"}"#,
        r#"{"n":12345678901234567890,"f":1.0,"e":1e2}"#,
        r#"{"deep":{"er":[[{"x":"]}"}]]}}"#,
        r#"{"u":"é世界🦀\u00e9"}"#,
        r#"{}"#,
    ])?;
    Ok(Made { id, name, arguments: value.to_owned() })
}

/// The pieces of one call, in order.
fn fragments(
    random: &mut Unstructured<'_>,
    way: CallIdentity,
    index: usize,
    call: &Made,
) -> Result<Vec<Value>> {
    let mut pieces = Vec::new();
    let mut rest = call.arguments.as_str();
    if way == CallIdentity::Whole {
        pieces.push(rest.to_owned());
        rest = "";
    }
    while !rest.is_empty() {
        let length = random.int_in_range(1..=rest.chars().count().min(9))?;
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        pieces.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    // Where nothing but the order tells calls apart, a name in pieces or a late
    // id would be another upstream's mistake on top.
    let by_index =
        matches!(way, CallIdentity::Index | CallIdentity::IndexOnly | CallIdentity::SameId);
    let (first, second) = if by_index && call.name.len() > 2 && random.arbitrary()? {
        call.name.split_at(2)
    } else {
        (call.name.as_str(), "")
    };
    let late = way == CallIdentity::Index && random.arbitrary()?;
    let with_head: bool = way == CallIdentity::Whole || random.arbitrary()?;
    let mut entries = Vec::new();
    let mut head = json!({"type": "function", "function": {"name": first}});
    if !call.id.is_empty() && !late {
        head["id"] = json!(call.id);
    }
    let opening = if with_head && second.is_empty() { pieces.remove(0) } else { String::new() };
    head["function"]["arguments"] = json!(opening);
    entries.push(head);
    if !second.is_empty() {
        entries.push(json!({"function": {"name": second}}));
    }
    let repeats: bool = random.arbitrary()?;
    for (number, piece) in pieces.into_iter().enumerate() {
        let mut entry = json!({"function": {"arguments": piece}});
        if way == CallIdentity::Id || (late && number == 0) {
            entry["id"] = json!(call.id);
        } else if repeats {
            entry["id"] = if call.id.is_empty() { json!("") } else { Value::Null };
            entry["function"]["name"] = json!("");
        }
        entries.push(entry);
    }
    if late && entries.iter().all(|entry| entry["id"].is_null()) {
        entries.push(json!({"id": call.id, "function": {"arguments": ""}}));
    }
    for entry in &mut entries {
        match way {
            CallIdentity::Index | CallIdentity::IndexOnly | CallIdentity::SameId => {
                entry["index"] = json!(index)
            }
            CallIdentity::Zero => entry["index"] = json!(0),
            CallIdentity::Id | CallIdentity::FirstId | CallIdentity::Whole => {}
        }
    }
    Ok(entries)
}
