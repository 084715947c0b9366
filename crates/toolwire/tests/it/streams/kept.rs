//! A stream within Responses whose answer somebody keeps: what is kept of it is as the
//! caller says, in every event, and nothing else is another.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::pipe::Pipe;
use toolwire::translate::{KeptState, Options, PreparedRequest, ResponseTranslator, response};
use toolwire::wire::sse::Frames;

use super::recorded;
use crate::documents::documents;

const RESPONSES: Protocol = Protocol::Responses;

fn kept() -> KeptState {
    KeptState {
        id: Some("resp_own".to_owned()),
        created: Some(7),
        store: true,
        previous: Some("resp_before".to_owned()),
        conversation: Some("conv_own".to_owned()),
        background: false,
    }
}

/// A turn of which nothing is kept and that continues nothing.
fn alone() -> KeptState {
    KeptState { store: false, previous: None, conversation: None, ..kept() }
}

/// What an answer says of this state.
fn members(kept: &KeptState) -> Map<String, Value> {
    let KeptState { id, created, store, previous, conversation, background } = kept;
    let mut members = Map::new();
    if let Some(id) = id {
        members.insert("id".to_owned(), json!(id));
        members.insert("created_at".to_owned(), json!(created));
    }
    members.insert("background".to_owned(), json!(background));
    members.insert("previous_response_id".to_owned(), json!(previous));
    members.insert("store".to_owned(), json!(store));
    let conversation = conversation.as_ref().map(|id| json!({"id": id}));
    members.insert("conversation".to_owned(), json!(conversation));
    members
}

fn pipe(kept: Option<KeptState>, model: Option<&str>) -> Pipe {
    let mut options = Options::new();
    options.kept_state = kept;
    options.model = model.map(str::to_owned);
    Pipe::new(RESPONSES, RESPONSES, &options).unwrap()
}

fn run<'c>(mut pipe: Pipe, chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in chunks {
        pipe.push(chunk, &mut out);
    }
    pipe.finish(&mut out);
    out
}

/// The events of a stream: their bytes, and their data if that is JSON.
fn events(bytes: &[u8]) -> Vec<(String, Value)> {
    let mut list = Vec::new();
    let mut each = |frame: toolwire::wire::sse::Frame<'_>| {
        let raw = std::str::from_utf8(frame.raw).unwrap().to_owned();
        list.push((raw, serde_json::from_str(frame.data).unwrap_or_default()));
        std::ops::ControlFlow::Continue(())
    };
    let mut frames = Frames::default();
    let _ = frames.push(bytes, &mut each);
    let _ = frames.finish(&mut each);
    list
}

/// Checks that an answer differs from the upstream's by what is kept of it, and that nothing
/// of it has moved.
fn check_answer(upstreams: &Value, clients: &Value, kept: &KeptState, told: &str) {
    let mut expected = upstreams.as_object().unwrap().clone();
    for (name, value) in members(kept) {
        if expected.contains_key(&name) || name != "conversation" || !value.is_null() {
            expected.insert(name, value);
        }
    }
    let (expected, clients) = (Value::Object(expected), clients.clone());
    assert_eq!(clients.to_string(), expected.to_string(), "{told}");
}

/// Checks a stream, wherever it is cut. How many answers were in it.
fn check(bytes: &[u8], kept: &KeptState, told: &str) -> usize {
    let plain = run(pipe(None, None), [bytes]);
    let written = run(pipe(Some(kept.clone()), None), [bytes]);
    for size in [1, 2, 7, 89, 1021] {
        let chunks = run(pipe(Some(kept.clone()), None), bytes.chunks(size));
        assert!(chunks == written, "{told}, in chunks of {size}");
    }
    let (before, after) = (events(&plain), events(&written));
    assert_eq!(before.len(), after.len(), "{told}");
    let mut answers = 0;
    for ((raw, before), (raw_after, after)) in before.into_iter().zip(after) {
        if !before["response"].is_object() {
            assert_eq!(raw, raw_after, "{told}");
            continue;
        }
        answers += 1;
        check_answer(&before["response"], &after["response"], kept, told);
        let lines = |raw: &str| raw.lines().filter(|line| !line.starts_with("data")).count();
        assert_eq!(lines(&raw), lines(&raw_after), "{told}");
    }
    answers
}

/// Every recorded stream: only what is kept of the answer differs, and all of it is there.
#[test]
fn only_what_is_kept_is_another() {
    let mut answers = 0;
    for stream in recorded().into_iter().filter(|stream| stream.from == RESPONSES) {
        for kept in [kept(), alone()] {
            answers += check(&stream.bytes, &kept, &stream.name());
        }
    }
    assert!(answers > 200, "{answers}");
}

/// Without a state that is kept the bytes pass.
#[test]
fn the_bytes_pass_if_nothing_is_kept() {
    let is_responses = |stream: &super::Recorded| stream.from == RESPONSES;
    for stream in recorded().into_iter().filter(is_responses) {
        let mut pipe = pipe(None, None);
        let mut out = Vec::new();
        pipe.push(&stream.bytes, &mut out);
        assert!(stream.bytes.starts_with(&out) || !pipe.summary().complete, "{}", stream.name());
    }
}

/// A turn whose answer has no id of its own keeps the upstream's.
#[test]
fn an_answer_that_is_not_kept_has_the_upstreams_id() {
    let kept = KeptState { id: None, created: None, ..alone() };
    for stream in recorded().into_iter().filter(|stream| stream.from == RESPONSES) {
        check(&stream.bytes, &kept, &stream.name());
    }
}

/// The answer is found however events are spelled: over several lines, with every line end,
/// beside comments and other fields, with keys that are spelled by number.
#[test]
fn however_events_are_spelled() {
    let answer = json!({"id": "resp_1", "conversation": {"id": "conv_1", "more": [1]},
        "store": false, "output": [], "previous_response_id": null, "status": "completed"});
    let event = json!({"type": "response.completed", "response": answer, "sequence_number": 3});
    let numbered = event.to_string().replace("\"response\":", "\"\\u0072esponse\":");
    let mut spelled = vec![
        format!("data: {event}\n\n"),
        format!("data:{event}\n\n"),
        format!("data: {numbered}\n\n"),
        format!("event: response.completed\ndata: {event}"),
    ];
    for data in [serde_json::to_string_pretty(&event).unwrap(), numbered] {
        let mut lines = "\u{feff}: hello\nid: 7\nevent: response.completed\n".to_owned();
        for (number, line) in data.lines().enumerate() {
            if number == 2 {
                lines.push_str(": between\n");
            }
            writeln!(lines, "data: {line}").unwrap();
        }
        spelled.push(format!("{lines}\n"));
    }
    for text in spelled {
        for end in ["\n", "\r\n", "\r"] {
            for kept in [kept(), alone()] {
                let told = format!("{text} with {end:?}");
                assert_eq!(check(text.replace('\n', end).as_bytes(), &kept, &told), 1, "{told}");
            }
        }
    }
}

/// What stands deeper or in a text is nobody's business.
#[test]
fn the_members_of_the_answer_and_nothing_like_them() {
    let item = json!({"type": "message", "id": "msg_1", "store": false, "response": {"id": "x"},
        "content": [{"type": "output_text", "text": "\"response\":{\"id\":\"resp_1\"}"}]});
    let events = [
        json!({"type": "response.created", "response": {}}),
        json!({"type": "response.in_progress", "id": "ev_1", "store": false,
            "response": {"metadata": {"id": "resp_1", "store": "no"}, "id": null}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "vendor.event", "response": "resp_1"}),
        json!({"type": "vendor.event", "x": {"response": {"id": "resp_1"}}}),
        json!({"type": "response.completed", "response": {"output": [item], "id": "resp_1"}}),
    ];
    let bytes: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    assert_eq!(check(bytes.as_bytes(), &kept(), "by hand"), 3);
}

/// The model's other name and what is kept are written at once.
#[test]
fn with_another_name_of_the_model() {
    for stream in recorded().into_iter().filter(|stream| stream.from == RESPONSES) {
        let both = run(pipe(Some(kept()), Some("another")), [stream.bytes.as_slice()]);
        let renamed = run(pipe(None, Some("another")), [stream.bytes.as_slice()]);
        let one_by_one = run(pipe(Some(kept()), None), [renamed.as_slice()]);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let answers = events(&both).into_iter().filter(|(_, data)| data["response"].is_object());
        for (_, event) in answers {
            assert_eq!(event["response"]["id"], "resp_own", "{}", stream.name());
        }
        // What ends a stream that broke off was written in other words the second time.
        if pipe_is_complete(&stream.bytes) {
            assert_eq!(text(both), text(one_by_one), "{}", stream.name());
        }
    }
}

fn pipe_is_complete(bytes: &[u8]) -> bool {
    let mut pipe = pipe(None, None);
    pipe.push(bytes, &mut Vec::new());
    pipe.summary().complete
}

/// A stream that breaks off ends in events of toolwire's own, which say the same.
#[test]
fn the_error_that_ends_a_stream() {
    let created = r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","store":false,"output":[]}}"#;
    for begun in [format!("data: {created}\n\n"), String::new()] {
        let mut pipe = pipe(Some(kept()), None);
        let mut out = Vec::new();
        pipe.push(begun.as_bytes(), &mut out);
        pipe.fail(ApiError::new(ErrorKind::Server, "broken"), &mut out);
        let events = events(&out);
        assert_eq!(events.last().unwrap().1["type"], "response.failed");
        let answers: Vec<_> =
            events.iter().filter(|(_, data)| data["response"].is_object()).collect();
        assert_eq!(answers.len(), 2, "{events:?}");
        for (_, data) in answers {
            for (name, value) in members(&kept()) {
                assert_eq!(data["response"][&name], value, "{name} in {data}");
            }
        }
    }
}

/// What the caller keeps is what the client gets: of a stream, and of a whole answer that
/// comes as one.
#[test]
fn the_answer_that_is_held() {
    let mut held = 0;
    for stream in recorded().into_iter().filter(|stream| stream.from == RESPONSES) {
        let mut pipe = pipe(Some(kept()), None).with_held_ending();
        pipe.push(&stream.bytes, &mut Vec::new());
        let Some(answer) = pipe.held_answer() else { continue };
        held += 1;
        let answer: Value = serde_json::from_str(&answer.text).unwrap();
        for (name, value) in members(&kept()) {
            assert_eq!(answer[&name], value, "{name} in {}", stream.name());
        }
    }
    assert!(held > 20, "{held}");
}

fn translator(kept: Option<KeptState>) -> ResponseTranslator {
    let mut options = Options::new();
    options.kept_state = kept;
    let request = br#"{"model":"m","input":"Hi"}"#;
    PreparedRequest::new(RESPONSES, RESPONSES, request).unwrap().response_translator(&options)
}

/// The same laws of whole answers, and of whole answers that come as a stream.
#[test]
fn whole_answers() {
    let mut answers = 0;
    for (folder, from, body) in documents("responses") {
        let told = folder.display().to_string();
        let Some(plain) = translator(None).translate(&body).ok().filter(|_| from == RESPONSES)
        else {
            continue;
        };
        assert_eq!(plain.body, body, "{told}");
        answers += 1;
        let upstreams: Value = serde_json::from_slice(&body).unwrap();
        for kept in [kept(), alone(), KeptState { id: None, ..alone() }] {
            let written = translator(Some(kept.clone())).translate(&body).unwrap();
            let (after, before) =
                (format!("{:?}", written.summary), format!("{:?}", plain.summary));
            assert_eq!(after, before, "{told}");
            let clients: Value = serde_json::from_slice(&written.body).unwrap();
            check_answer(&upstreams, &clients, &kept, &told);

            let mut pipe = pipe(Some(kept.clone()), None);
            let mut out = Vec::new();
            pipe.whole(&body, &mut out);
            for (_, event) in events(&out).iter().filter(|(_, data)| data["response"].is_object()) {
                for (name, value) in members(&kept) {
                    assert_eq!(event["response"][&name], value, "{told}: {name}");
                }
            }
        }
    }
    assert!(answers > 20, "{answers}");
}

/// An error gets no members of an answer.
#[test]
fn an_error_is_no_answer() {
    let error = br#"{"error":{"message":"No.","type":"server_error"}}"#;
    let options = Options::new().kept_state(kept());
    let passed = response(RESPONSES, RESPONSES, error, &options).unwrap();
    assert_eq!(passed.body, error);
}
