//! Random documents: vectors of one protocol spliced into each other, with
//! parts taken out, doubled, swapped, replaced and moved to where they do not
//! belong. The property tests and the fuzzer make them from the same bytes.

use std::fs;
use std::path::Path;

use arbitrary::Unstructured;
use serde_json::Value;
use toolwire::Protocol;

/// The vector inputs of a kind, as trees.
pub(crate) fn documents(kind: &str) -> Vec<(Protocol, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|folder| folder.join("vectors").is_dir());
    let folder = root.expect("vectors/ stands above").join("vectors").join(kind);
    let mut folders: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut found = Vec::new();
    for folder in folders {
        for protocol in Protocol::ALL {
            if let Ok(body) = fs::read(folder.join(format!("in.{protocol}.json"))) {
                found.push((protocol, serde_json::from_slice(&body).unwrap()));
            }
        }
    }
    found
}

/// A random document of a protocol.
pub(crate) fn document(
    random: &mut Unstructured<'_>,
    documents: &[(Protocol, Value)],
) -> arbitrary::Result<(Protocol, String)> {
    let (from, first) = random.choose(documents)?;
    let mut document = first.clone();
    for _ in 0..random.int_in_range(0..=2)? {
        let (other, second) = random.choose(documents)?;
        if other == from {
            splice(random, &mut document, second)?;
        }
    }
    for _ in 0..random.int_in_range(0..=4)? {
        damage(random, &mut document, 0)?;
    }
    for _ in 0..random.int_in_range(0..=2)? {
        let (other, donor) = random.choose(documents)?;
        if other == from {
            transplant(random, &mut document, donor)?;
        }
    }
    Ok((*from, document.to_string()))
}

/// Takes some members of `second` into `first`; lists are appended.
fn splice(
    random: &mut Unstructured<'_>,
    first: &mut Value,
    second: &Value,
) -> arbitrary::Result<()> {
    let (Value::Object(first), Value::Object(second)) = (first, second) else { return Ok(()) };
    for (key, value) in second {
        if random.ratio(1, 3)? {
            continue;
        }
        match (first.get_mut(key), value) {
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
            (Some(_) | None, _) => {
                first.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(())
}

/// Goes down to a random member and puts there what some member of `donor` is:
/// one of the same name, if there is any, or else one of any name.
fn transplant(
    random: &mut Unstructured<'_>,
    value: &mut Value,
    donor: &Value,
) -> arbitrary::Result<()> {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = random.choose(&keys)?;
            let Some(member) = members.get_mut(key) else { return Ok(()) };
            let deeper = (member.is_object() || member.is_array()) && random.ratio(3, 4)?;
            if deeper {
                return transplant(random, member, donor);
            }
            let mut found = Vec::new();
            collect(donor, &mut found);
            let alike: Vec<_> = found.iter().filter(|(other, _)| other == key).collect();
            let (other, graft) = match alike.is_empty() {
                false => **random.choose(&alike)?,
                true if found.is_empty() => return Ok(()),
                true => *random.choose(&found)?,
            };
            // A member of another name may take its name along.
            if other != key && random.ratio(1, 2)? {
                members.insert(other.to_owned(), graft.clone());
            } else {
                *member = graft.clone();
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let at = random.choose_index(list.len())?;
            transplant(random, &mut list[at], donor)?;
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {}
    }
    Ok(())
}

/// Every member of every object in a document.
fn collect<'d>(value: &'d Value, found: &mut Vec<(&'d str, &'d Value)>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                found.push((key, member));
                collect(member, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|element| collect(element, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Goes down to a random place and changes something there.
fn damage(random: &mut Unstructured<'_>, value: &mut Value, depth: usize) -> arbitrary::Result<()> {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = random.choose(&keys)?.clone();
            if depth > 0 && random.ratio(1, 6)? {
                members.shift_remove(&key);
            } else if random.ratio(1, 12)? {
                members.insert("x_unknown".to_owned(), Value::from("a field of tomorrow"));
            } else if let Some(member) = members.get_mut(&key) {
                damage(random, member, depth + 1)?;
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let at = random.choose_index(list.len())?;
            match random.int_in_range(0..=9)? {
                0 => {
                    list.remove(at);
                }
                1 => {
                    let copy = list[at].clone();
                    list.push(copy);
                }
                2 => list.swap(0, at),
                _ => damage(random, &mut list[at], depth + 1)?,
            }
        }
        Value::String(text) => {
            *text = random
                .choose(&[
                    "", " ", "auto", "none", "a/b.c", "{\"a\":1.0}", "[1]", "é\n\"\\", "tw1.x",
                ])?
                .to_string();
        }
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => {
            let empty = [Value::Array(Vec::new()), Value::Object(serde_json::Map::new())];
            let plain = [Value::Null, Value::from(1), Value::from(true)];
            let all: Vec<Value> = plain.into_iter().chain(empty).collect();
            *other = random.choose(&all)?.clone()
        }
    }
    Ok(())
}
