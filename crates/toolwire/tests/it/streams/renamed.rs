//! A stream in which the model has another name, and nothing else is another.

use serde_json::Value;
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::pipe::Pipe;
use toolwire::translate::Options;
use toolwire::wire::sse::Frames;

use super::recorded;

const NAME: &str = "another \"model\" é";

/// Every recorded stream toward every client: only the model's name differs.
#[test]
fn only_the_name_is_another() {
    for stream in recorded() {
        for to in Protocol::ALL {
            let told = format!("{} to {to}", stream.name());
            check(stream.from, to, &stream.bytes, &told);
        }
    }
}

/// What passes is found however the events are spelled: over several lines,
/// with every line end, beside comments and other fields.
#[test]
fn however_events_are_spelled() {
    let ends = ["\n", "\r\n", "\r"].into_iter().cycle();
    for (stream, end) in recorded().into_iter().zip(ends) {
        let Ok(text) = std::str::from_utf8(&stream.bytes) else { continue };
        if text.contains('\r') {
            continue;
        }
        let lines = over_lines(text);
        let marked = format!("\u{feff}: hello\nid: 7\nretry: 100\n{lines}");
        for text in [lines, marked] {
            let told = format!("{} with {end:?}", stream.name());
            check(stream.from, stream.from, text.replace('\n', end).as_bytes(), &told);
        }
    }
}

/// Where the model is named in places that repeat, do not repeat, or only look
/// like it.
#[test]
fn the_name_and_nothing_like_it() {
    let text = |text: &str| format!(r#""choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]"#);
    let mut events = String::new();
    for event in [
        format!(r#"{{"id":"1","model":"m",{}}}"#, text("a")),
        format!(r#"{{"id":"1","model":"m",{}}}"#, text("b")),
        format!(r#"{{"id":"1","model":"m-2",{}}}"#, text("c")),
        format!(r#"{{{},"model":"m"}}"#, text("behind")),
        format!(r#"{{{},"model":"m"}}"#, text("behind it")),
        format!(r#"{{"mod\u0065l":"m",{}}}"#, text("numbered")),
        format!(r#"{{"model":"","x":{{"model":"m"}},{}}}"#, text(r#"\"model\":\"m\""#)),
        format!(r#"{{"model":null,{}}}"#, text("d")),
        format!(r#"{{"x":{{"model":"m"}},{}}}"#, text("e")),
        r#"{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#.to_owned(),
        "[DONE]".to_owned(),
    ] {
        events.push_str(&format!("data: {event}\n\n"));
    }
    let out = check(Protocol::Chat, Protocol::Chat, events.as_bytes(), "by hand");
    let named = out.matches(&serde_json::to_string(NAME).unwrap()).count();
    assert_eq!(named, 8, "{out}");
    assert_eq!(out.matches(r#"{"model":"m"}"#).count(), 2, "{out}");
    assert!(out.contains(r#""model":null"#), "{out}");
}

/// A stream that breaks off ends in an event of toolwire's own, which names the
/// model as the others do.
#[test]
fn the_error_that_ends_a_stream() {
    let created = r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}"#;
    for begun in [format!("data: {created}\n\n"), String::new()] {
        let mut pipe = pipe(Protocol::Responses, Protocol::Responses, Some(NAME));
        let mut out = Vec::new();
        pipe.push(begun.as_bytes(), &mut out);
        pipe.fail(ApiError::new(ErrorKind::Server, "broken"), &mut out);
        let failed = events(&out).pop().unwrap();
        assert_eq!(failed.data["response"]["model"], NAME, "{failed:?}");
    }
}

/// What the upstream calls the model is not forgotten.
#[test]
fn the_upstreams_own_name() {
    for stream in recorded() {
        let named = events(&stream.bytes).iter().find_map(|event| {
            let name = model(stream.from, &mut event.data.clone())?.as_str()?.to_owned();
            (!name.is_empty()).then_some(name)
        });
        for to in Protocol::ALL {
            let mut pipe = pipe(stream.from, to, Some(NAME));
            pipe.push(&stream.bytes, &mut Vec::new());
            let seen = pipe.summary().model.clone();
            if seen.is_some() || stream.from == to {
                assert_eq!(seen, named, "{} to {to}", stream.name());
            }
        }
    }
}

/// Checks that a stream differs by the model's name from what it is without,
/// wherever it is cut. What it is.
fn check(from: Protocol, to: Protocol, bytes: &[u8], told: &str) -> String {
    let plain = run(from, to, None, [bytes]);
    let renamed = run(from, to, Some(NAME), [bytes]);
    assert_eq!(run(from, to, Some(NAME), bytes.chunks(1)), renamed, "{told}, byte by byte");
    assert_eq!(run(from, to, Some(NAME), bytes.chunks(89)), renamed, "{told}, in chunks");
    let (before, after) = (events(&plain), events(&renamed));
    assert_eq!(before.len(), after.len(), "{told}");
    for (mut before, mut after) in before.into_iter().zip(after) {
        let Some(name) = model(to, &mut after.data) else {
            assert_eq!(before.raw, after.raw, "{told}");
            continue;
        };
        if name.is_null() {
            assert_eq!(before.raw, after.raw, "{told}");
            continue;
        }
        assert_eq!(name.take(), NAME, "{told}");
        match model(to, &mut before.data) {
            Some(name) => {
                let own = name.take();
                if from == to {
                    let places = replaced(&before.raw, &own);
                    assert!(places.contains(&after.raw), "{told}: {} {}", before.raw, after.raw);
                }
            }
            // Only what toolwire writes itself may come to name a model.
            None => assert_ne!(from, to, "{told}"),
        }
        assert_eq!(without(to, before.data), without(to, after.data), "{told}");
    }
    String::from_utf8(renamed).unwrap()
}

fn pipe(from: Protocol, to: Protocol, model: Option<&str>) -> Pipe {
    let mut options = Options::new();
    options.model = model.map(str::to_owned);
    Pipe::new(from, to, &options).unwrap()
}

fn run<'c>(
    from: Protocol,
    to: Protocol,
    model: Option<&str>,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Vec<u8> {
    let mut pipe = pipe(from, to, model);
    let mut out = Vec::new();
    for chunk in chunks {
        pipe.push(chunk, &mut out);
    }
    pipe.finish(&mut out);
    out
}

/// One event of a stream. Data that is no JSON is null.
#[derive(Debug)]
struct Sent {
    raw: String,
    data: Value,
}

fn events(bytes: &[u8]) -> Vec<Sent> {
    let mut list = Vec::new();
    let mut each = |frame: toolwire::wire::sse::Frame<'_>| {
        list.push(Sent {
            raw: std::str::from_utf8(frame.raw).unwrap().to_owned(),
            data: serde_json::from_str(frame.data).unwrap_or_default(),
        });
        std::ops::ControlFlow::Continue(())
    };
    let mut frames = Frames::default();
    let _ = frames.push(bytes, &mut each);
    let _ = frames.finish(&mut each);
    list
}

/// Where an event names the model.
fn model(protocol: Protocol, event: &mut Value) -> Option<&mut Value> {
    match protocol {
        Protocol::Chat => event.get_mut("model"),
        Protocol::Responses => event.get_mut("response")?.get_mut("model"),
        Protocol::Messages => event.get_mut("message")?.get_mut("model"),
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

fn without(protocol: Protocol, mut event: Value) -> Value {
    let holder = match protocol {
        Protocol::Chat => Some(&mut event),
        Protocol::Responses => event.get_mut("response"),
        Protocol::Messages => event.get_mut("message"),
        other => panic!("not a built-in protocol: {other:?}"),
    };
    if let Some(Value::Object(members)) = holder {
        members.shift_remove("model");
    }
    event
}

/// The bytes with the new name in place of the old, wherever that stands.
fn replaced(raw: &str, own: &Value) -> Vec<String> {
    let (old, new) = (own.to_string(), serde_json::to_string(NAME).unwrap());
    let places = raw.match_indices(&old);
    places.map(|(at, _)| format!("{}{new}{}", &raw[..at], &raw[at + old.len()..])).collect()
}

/// The stream with its JSON over several lines.
fn over_lines(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let data = line.strip_prefix("data:").map(str::trim);
        match data.and_then(|data| serde_json::from_str::<Value>(data).ok()) {
            Some(value) => {
                for line in serde_json::to_string_pretty(&value).unwrap().lines() {
                    out.push_str(&format!("data:{line}\n"));
                }
            }
            None => out.push_str(line),
        }
    }
    out
}
