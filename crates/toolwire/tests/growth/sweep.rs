//! Every place of every vector, stretched in every way that fits it.

use std::collections::BTreeSet;

use serde_json::Value;
use toolwire::Protocol;
use toolwire_laws::growth::{self, Growth, Inputs};

use super::entry_points::{ENTRY_POINTS, EntryPoint, Kind};
use super::stretch::{Stretch, fresh, places};
use super::vectors::{self, Data, Vector};

/// The places of vectors, without their numbers, that have been stretched: the
/// same place of two vectors is one case.
type Seen = BTreeSet<(Kind, String, String, Stretch)>;

#[test]
fn every_place_of_every_vector() {
    if std::env::var_os("TOOLWIRE_SWEEP").is_none() {
        return;
    }
    let mut over = Vec::new();
    let mut seen = Seen::new();
    for kind in Kind::ALL {
        for vector in vectors::all(kind.folder()) {
            match kind {
                Kind::Stream => stream(&vector, &mut seen, &mut over),
                Kind::Request | Kind::Answer | Kind::Error | Kind::Tools => {
                    document(kind, &vector, &mut seen, &mut over);
                }
            }
        }
    }
    assert!(over.is_empty(), "{} cases:\n{}", over.len(), over.join("\n"));
}

fn document(kind: Kind, vector: &Vector, seen: &mut Seen, over: &mut Vec<String>) {
    let Ok(document) = serde_json::from_slice::<Value>(&vector.bytes) else { return };
    for place in places(&document) {
        let value = document.pointer(&place).unwrap();
        for stretch in Stretch::ALL.into_iter().filter(|stretch| stretch.fits(value)) {
            let key = key(&document, &place);
            if !seen.insert((kind, vector.protocol.as_str().to_owned(), key, stretch)) {
                continue;
            }
            let make = |size| {
                let mut stretched = document.clone();
                stretch.apply(stretched.pointer_mut(&place).unwrap(), size);
                serde_json::to_vec(&stretched).unwrap()
            };
            let case = format!("{kind:?} {} {}{place} {stretch:?}", vector.protocol, vector.name);
            measure(kind, vector.protocol, &case, stretch.size(value), make, over);
        }
    }
}

fn stream(vector: &Vector, seen: &mut Seen, over: &mut Vec<String>) {
    let events = vectors::events(&vector.bytes);
    let protocol = vector.protocol;
    let write = |events: &[(Option<String>, Data)]| {
        let mut out = Vec::new();
        for (name, data) in events {
            vectors::write_event(name.as_deref(), data, &mut out);
        }
        out
    };
    for (number, (name, data)) in events.iter().enumerate() {
        let Data::Json(document) = data else { continue };
        let kind = name.clone().unwrap_or_default();
        // The event itself, again and again, alike or with indexes of its own.
        for stretch in [Stretch::Alike, Stretch::Fresh] {
            let shape =
                places(document).iter().map(|place| key(document, place)).collect::<String>();
            if !seen.insert((
                Kind::Stream,
                protocol.to_string(),
                format!("{kind} {shape}"),
                stretch,
            )) {
                continue;
            }
            let make = |size: usize| {
                let mut all = events.clone();
                let copy = |copy: usize| match stretch {
                    Stretch::Fresh => Data::Json(fresh(document.clone(), copy)),
                    _alike => data.clone(),
                };
                all.splice(number..=number, (0..size).map(|at| (name.clone(), copy(at))));
                write(&all)
            };
            let case = format!("Stream {protocol} {} event {number} {stretch:?}", vector.name);
            let size = (40_000 / document.to_string().len()).clamp(20, 1000);
            measure(Kind::Stream, protocol, &case, size, make, over);
        }
        for place in places(document) {
            let value = document.pointer(&place).unwrap();
            for stretch in Stretch::ALL.into_iter().filter(|stretch| stretch.fits(value)) {
                let key = format!("{kind} {}", key(document, &place));
                if !seen.insert((Kind::Stream, protocol.to_string(), key, stretch)) {
                    continue;
                }
                let make = |size| {
                    let mut stretched = document.clone();
                    stretch.apply(stretched.pointer_mut(&place).unwrap(), size);
                    let mut all = events.clone();
                    all[number].1 = Data::Json(stretched);
                    write(&all)
                };
                let case =
                    format!("Stream {protocol} {} event {number}{place} {stretch:?}", vector.name);
                measure(Kind::Stream, protocol, &case, stretch.size(value), make, over);
            }
        }
    }
    // All of the stream between its first and its last event.
    for stretch in [Stretch::Alike, Stretch::Fresh] {
        let make = |size: usize| {
            let Some((first, rest)) = events.split_first() else { return Vec::new() };
            let mut all = vec![first.clone()];
            for (copy, (name, data)) in (0..size).zip(rest.iter().cycle()) {
                let round = copy / rest.len().max(1);
                let data = match (data, stretch) {
                    (Data::Json(value), Stretch::Fresh) => Data::Json(fresh(value.clone(), round)),
                    (other, _alike) => other.clone(),
                };
                all.push((name.clone(), data));
            }
            write(&all)
        };
        let case = format!("Stream {protocol} {} all of it {stretch:?}", vector.name);
        measure(Kind::Stream, protocol, &case, 500, make, over);
    }
}

/// The place without its numbers, with the type of the objects on the way.
fn key(document: &Value, place: &str) -> String {
    let mut key = String::new();
    let mut value = document;
    for step in place.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        value = match value {
            Value::Array(list) => {
                key.push_str("/*");
                &list[step.parse::<usize>().unwrap()]
            }
            Value::Object(members) => {
                key.push('/');
                key.push_str(&step);
                &members[&step]
            }
            _scalar => value,
        };
        if let Some(kind) = value.get("type").or_else(|| value.get("role")).and_then(Value::as_str)
        {
            key.push_str(&format!("({kind})"));
        }
    }
    key
}

/// Measures every entry point that takes such a document.
pub(crate) fn measure(
    kind: Kind,
    protocol: Protocol,
    case: &str,
    size: usize,
    make: impl Fn(usize) -> Vec<u8>,
    over: &mut Vec<String>,
) {
    if !growth::is_wanted(case) {
        return;
    }
    let inputs = Inputs::new(size, make);
    let mut most = 0.0_f64;
    for EntryPoint { names, takes: _, pairs, call } in
        ENTRY_POINTS.iter().filter(|entry| entry.takes == kind)
    {
        for to in Protocol::ALL {
            if !pairs && to != protocol {
                continue;
            }
            let growth = Growth::over(&inputs, |bytes| call(protocol, to, bytes));
            most = most.max(growth.measured().unwrap_or_default());
            if growth.is_over() {
                let line = format!("{case}, {} to {to}: {growth}", names[0]);
                println!("{line}");
                over.push(line);
            }
        }
    }
    println!("{case}: at most {most:.2} times");
}
