//! An ending that the caller holds until it has done something else.

use serde_json::Value;
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
        let event: Value = serde_json::from_str(data).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), event["response"]);
    }
    assert!(held > 20, "{held}");
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
