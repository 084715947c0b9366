//! Calls restored while they are being made, and what a pipe keeps.

use super::Pipe;
use super::freeform::{FreeformInput, FreeformStep};
use crate::model::Protocol::{self, Chat, Messages, Responses};
use crate::translate::Options;
use crate::wire::Str;

/// Unwraps a call whose JSON comes in these pieces.
fn unwrapped<'p>(pieces: impl IntoIterator<Item = &'p str>) -> (String, bool) {
    let mut input = FreeformInput::default();
    let mut text = String::new();
    for piece in pieces {
        if let FreeformStep::Text(more) = input.push(&Str::plain(piece)) {
            text.push_str(more);
        }
    }
    let ended = input.finish();
    text.push_str(&ended.rest.unwrap_or_default());
    (text, ended.odd)
}

/// Checks the text, in one piece, character by character and cut anywhere.
fn check(json: &str, expected: &str) {
    assert_eq!(unwrapped([json]), (expected.to_owned(), false), "{json}");
    let characters: Vec<String> = json.chars().map(String::from).collect();
    let one_by_one = unwrapped(characters.iter().map(String::as_str));
    assert_eq!(one_by_one, (expected.to_owned(), false), "{json}");
    for (cut, _) in json.char_indices() {
        let (head, tail) = json.split_at(cut);
        assert_eq!(unwrapped([head, tail]), (expected.to_owned(), false), "{json} at {cut}");
    }
}

#[test]
fn the_one_text() {
    check(r#"{"input":"ls -la"}"#, "ls -la");
    check(r#" { "input" : "a" } "#, "a");
    check(r#"{"input":""}"#, "");
}

#[test]
fn escapes() {
    check(r#"{"input":"a\n\t\"\\\/\u00e9\ud83e\udd80b"}"#, "a\n\t\"\\/é🦀b");
}

#[test]
fn a_cut_text_is_the_text_so_far() {
    check(r#"{"input":"*** Begin"#, "*** Begin");
    check(r#"{"input":"a\u00"#, "a");
    check(r#"{"input":"a\"#, "a");
}

#[test]
fn another_shape_is_the_input_itself() {
    check(r#"{"patch":"x"}"#, r#"{"patch":"x"}"#);
    check("*** Begin Patch", "*** Begin Patch");
    check(r#"{"input":7}"#, r#"{"input":7}"#);
    check(r#""just text""#, r#""just text""#);
    check("", "");
}

#[test]
fn what_comes_behind_the_text_is_told() {
    assert_eq!(unwrapped([r#"{"input":"a","more":1}"#]), ("a".to_owned(), true));
    assert_eq!(unwrapped([r#"{"input":"a","#, r#""more":1}"#]), ("a".to_owned(), true));
}

/// A stream of Chat that says a text of ten letters so many times.
fn kept(to: Protocol, pieces: usize) -> usize {
    let mut pipe = Pipe::new(Chat, to, &Options::new()).unwrap();
    let mut out = Vec::new();
    for _ in 0..pieces {
        let delta = r#"{"choices":[{"index":0,"delta":{"content":"0123456789"}}]}"#;
        pipe.push(format!("data: {delta}\n\n").as_bytes(), &mut out);
    }
    pipe.kept_bytes()
}

#[test]
fn what_a_stream_may_keep_is_what_it_says() {
    for to in [Responses, Messages] {
        let (one, many) = (kept(to, 1), kept(to, 1001));
        assert_eq!(many - one, 10_000, "{to}");
        assert!(one < 200, "{to} {one}");
    }
    assert_eq!(kept(Chat, 1001), 0, "bytes that pass are not kept");
}

#[test]
fn what_says_nothing_may_be_kept_whole() {
    let mut pipe = Pipe::new(Chat, Responses, &Options::new()).unwrap();
    let unknown = format!("data: {{\"unknown\":\"{}\"}}\n\n", "x".repeat(1000));
    pipe.push(unknown.as_bytes(), &mut Vec::new());
    assert!(pipe.kept_bytes() >= 1000, "{}", pipe.kept_bytes());
}
