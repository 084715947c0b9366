//! An ending that the caller holds until it has done something else.

use serde_json::{Value, json};
use toolwire::model::{ApiError, ErrorKind};
use toolwire::pipe::{HeldAnswer, Pipe};
use toolwire::{Protocol, codec};

use super::pipe;
use crate::PROTOCOLS;
use crate::documents::{documents, streams};

/// Without its ending a stream is what it always was, and with it too. What is
/// held is a good ending and nothing else.
#[test]
fn a_released_ending_gives_the_same_bytes() {
    for stream in streams() {
        for to in PROTOCOLS {
            let name = format!("{} {} to {to}", stream.name(), stream.from);
            let expected = played(pipe(stream.from, to, None), &stream.bytes).1;
            let (mut held, mut out) =
                played(pipe(stream.from, to, None).with_held_ending(), &stream.bytes);
            assert_eq!(held.holds_ending(), held.summary().complete, "{name}");
            assert_eq!(held.is_done(), !held.holds_ending(), "{name}");
            held.release_ending(&mut out);
            assert_eq!(out, expected, "{name}");
            assert!(held.is_done() && !held.holds_ending(), "{name}");
            held.release_ending(&mut out);
            assert_eq!(out, expected, "{name}: the ending came twice");
        }
    }
}

/// The answer that is held is the one in the last event, which its own codec
/// can read.
#[test]
fn the_answer_is_the_one_in_the_last_event() {
    let mut held = 0;
    for stream in streams() {
        let to = Protocol::Responses;
        let (mut pipe, _) = played(pipe(stream.from, to, None).with_held_ending(), &stream.bytes);
        let Some(HeldAnswer { text: answer, .. }) = pipe.held_answer() else {
            assert!(!pipe.holds_ending(), "{}", stream.name());
            continue;
        };
        held += 1;
        assert!((codec(to).decode_response)(&answer).is_ok(), "{}", stream.name());
        let mut ending = Vec::new();
        pipe.release_ending(&mut ending);
        let ending = String::from_utf8(ending).unwrap();
        let data = ending.lines().find_map(|line| line.strip_prefix("data:")).unwrap();
        let mut event: Value = serde_json::from_str(data).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        if event["response"]["output"] == json!([]) {
            event["response"]["output"] = answer["output"].clone();
        }
        assert_eq!(answer, event["response"]);
    }
    assert!(held > 20, "{held}");
}

/// The server behind ChatGPT ends its streams with an answer that lacks the items that
/// came before. What is kept has them.
#[test]
fn an_ending_without_items_keeps_the_items_of_the_stream() {
    let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "It is 42.", "annotations": []}]});
    let answer = |status: &str| {
        json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m",
            "output": []})
    };
    let events = [
        json!({"type": "response.created", "sequence_number": 0, "response": answer("in_progress")}),
        json!({"type": "response.output_item.done", "sequence_number": 1, "output_index": 0,
            "item": item}),
        json!({"type": "response.completed", "sequence_number": 2, "response": answer("completed")}),
    ];
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let stream: String = events.iter().map(event).collect();
    let held = pipe(Protocol::Responses, Protocol::Responses, None).with_held_ending();
    let (mut pipe, mut out) = played(held, stream.as_bytes());
    let kept: Value = serde_json::from_str(&pipe.held_answer().unwrap().text).unwrap();
    assert_eq!((&kept["id"], &kept["output"]), (&json!("resp_1"), &json!([item])));
    pipe.release_ending(&mut out);
    assert_eq!(out, stream.as_bytes(), "what the client gets is as it came");
}

/// Whoever takes the ending to send it by itself has its bytes, with the answer where it is
/// said to be, and nothing of it comes out of the pipe as well.
#[test]
fn an_ending_that_is_taken_is_the_one_that_would_be_released() {
    let mut taken = 0;
    for stream in streams() {
        let name = stream.name();
        let held = || pipe(stream.from, Protocol::Responses, None).with_held_ending();
        let (mut whole, expected) = played(held(), &stream.bytes);
        let (mut pipe, mut out) = played(held(), &stream.bytes);
        let Some(event) = pipe.take_held_event() else {
            let passes = stream.from == Protocol::Responses;
            assert!(passes || !pipe.holds_ending(), "{name}");
            continue;
        };
        taken += 1;
        let answer = whole.held_answer().unwrap();
        assert_eq!(&event.bytes[event.written.place], answer.text.as_bytes(), "{name}");
        assert_eq!(Some(event.written.answer), answer.written, "{name}");
        let mut ending = Vec::new();
        whole.release_ending(&mut ending);
        assert_eq!(event.bytes, ending, "{name}");
        assert!(pipe.holds_ending() && !pipe.is_done(), "{name}");
        assert!(pipe.take_held_event().is_none(), "{name}: it was taken twice");
        pipe.release_ending(&mut out);
        assert!(pipe.is_done(), "{name}");
        assert_eq!(out, expected, "{name}");
        let (mut pipe, out) = played(held(), &stream.bytes);
        pipe.take_held_event();
        check_failure(&name, stream.from, pipe, out);
    }
    assert!(taken > 20, "{taken}");
}

/// If what had to be done first fails, the client gets an error where the ending
/// would have been, and no number twice.
#[test]
fn an_error_takes_the_place_of_a_held_ending() {
    for stream in streams() {
        let held = pipe(stream.from, Protocol::Responses, None).with_held_ending();
        let (pipe, out) = played(held, &stream.bytes);
        check_failure(&stream.name(), stream.from, pipe, out);
    }
    for (folder, from, body) in documents("responses") {
        let mut pipe = pipe(from, Protocol::Responses, None).with_held_ending();
        let mut out = Vec::new();
        pipe.whole(&body, &mut out);
        check_failure(&folder.display().to_string(), from, pipe, out);
    }
}

/// The same toward every client: what it reads is an answer that has failed, whichever
/// protocol the upstream speaks.
#[test]
fn no_client_takes_an_answer_for_complete_whose_ending_became_an_error() {
    for stream in streams() {
        for to in PROTOCOLS {
            let name = format!("{} {} to {to}", stream.name(), stream.from);
            let (mut held, mut out) =
                played(pipe(stream.from, to, None).with_held_ending(), &stream.bytes);
            if !held.holds_ending() {
                continue;
            }
            held.fail(ApiError::new(ErrorKind::Server, "The store is not available."), &mut out);
            let (client, _) = played(pipe(to, to, None), &out);
            let error = client.summary().error.as_ref().map(|error| error.message.as_str());
            assert_eq!(error, Some("The store is not available."), "{name}");
            assert!(!client.summary().complete, "{name}");
        }
    }
}

fn check_failure(name: &str, from: Protocol, mut pipe: Pipe, mut out: Vec<u8>) {
    if !pipe.holds_ending() {
        return;
    }
    pipe.fail(ApiError::new(ErrorKind::Server, "The store is not available."), &mut out);
    assert!(pipe.is_done() && !pipe.holds_ending(), "{name}");
    assert!(pipe.summary().error.is_some() && !pipe.summary().complete, "{name}");
    let text = String::from_utf8(out).unwrap();
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert!(!kinds.contains(&"response.completed"), "{name}: {kinds:?}");
    assert_eq!(kinds.last(), Some(&"response.failed"), "{name}: {kinds:?}");
    // What an upstream has numbered itself may begin anywhere.
    if from != Protocol::Responses {
        let numbers = events.iter().filter_map(|event| event["sequence_number"].as_u64());
        assert!(numbers.eq(0..events.len() as u64), "{name}");
    }
}

fn played(mut pipe: Pipe, bytes: &[u8]) -> (Pipe, Vec<u8>) {
    let mut out = Vec::new();
    pipe.push(bytes, &mut out);
    pipe.finish(&mut out);
    (pipe, out)
}
