//! A whole answer told as a stream is the same answer again.

use serde_json::Value;
use toolwire::codec::EventSink;
use toolwire::fold::Fold;
use toolwire::model::{Event, Response};
use toolwire::pipe::Pipe;
use toolwire::translate::{self, Options};
use toolwire::unfold::unfold;
use toolwire::{Ledger, Protocol, codec};

use crate::json::without_nulls;
use crate::streams::accumulate::accumulate;
use crate::streams::laws::{PLAIN_REQUEST, normalized};
use crate::streams::oracle::{Ending, Oracle};
use crate::vectors::inputs;

#[derive(Default)]
struct Folded {
    fold: Fold,
    ledger: Ledger,
}

impl EventSink for Folded {
    fn event(&mut self, event: Event<'_>) {
        self.fold.event(&event);
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// Told as events and folded again, an answer is to every other protocol what
/// it was. Within its own protocol answers are not encoded.
#[test]
fn a_stream_of_an_answer_is_the_answer() {
    let mut wrong = Vec::new();
    for (folder, from, body) in inputs("responses") {
        let body = std::str::from_utf8(&body).unwrap();
        let response = (codec(from).decode_response)(body).unwrap();
        // What does not answer has nothing to be told.
        if response.candidates.is_empty() {
            continue;
        }
        let mut folded = Folded::default();
        unfold(&response, &mut folded);
        for to in Protocol::ALL.into_iter().filter(|to| *to != from) {
            let (whole, again) = (encoded(to, &response), encoded(to, &folded.fold.response()));
            if whole != again {
                wrong.push(format!("{} to {to}\n  {whole}\n  {again}", folder.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

fn encoded(to: Protocol, response: &Response<'_>) -> Value {
    let mut out = Vec::new();
    (codec(to).encode_response)(response, None, &mut out, &mut Ledger::default());
    with_arguments(without_nulls(&serde_json::from_slice(&out).unwrap()))
}

/// No text at all and an empty object are the same arguments.
fn with_arguments(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            for (key, value) in members {
                let bare = key == "arguments" && *value == "";
                *value = if bare { "{}".into() } else { with_arguments(value.take()) };
            }
        }
        Value::Array(list) => {
            list.iter_mut().for_each(|value| *value = with_arguments(value.take()));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    value
}

/// What a client puts together of the stream is the answer it would have got,
/// and an answer that failed or is not finished ends in an error.
#[test]
fn a_client_gets_the_answer_as_a_stream() {
    let mut wrong = Vec::new();
    for (folder, from, body) in inputs("responses") {
        // Line ends between tokens would end the data of an event.
        let body = String::from_utf8(body).unwrap().replace('\n', " ").into_bytes();
        for to in Protocol::ALL {
            let told = format!("{} to {to}", folder.display());
            let options = Options::new().request(PLAIN_REQUEST.as_bytes());
            let mut pipe = Pipe::new(from, to, &options).unwrap();
            let mut out = Vec::new();
            pipe.whole(&body, &mut out);
            assert!(pipe.is_done(), "{told}");
            // Where the bytes pass, nobody looks whether the arguments of a call have an end.
            let is_unseen = from == to && folder.ends_with("chat-unknown-finish-in-call");
            let mut fails = FAILS.iter().any(|name| folder.ends_with(name)) && !is_unseen;
            // Clients of Chat take a chunk with an error in it for the end of the stream,
            // whatever else it says.
            fails |= from == to && folder.ends_with("chat-error-beside-a-finished-answer");
            assert_eq!(pipe.summary().error.is_some(), fails, "{told}");
            assert_eq!(pipe.summary().complete, !fails, "{told}");
            if fails {
                continue;
            }
            if from == to {
                // Every member is there, whether the client knows it or not.
                assert_eq!(pipe.take_ledger(), [], "{told}");
            }
            if (from, to) == (Protocol::Chat, Protocol::Chat) {
                assert_eq!(one_chunk(&out), serde_json::from_slice::<Value>(&body).unwrap());
                continue;
            }
            let mut client = Oracle::strict(to);
            client.feed(&out);
            assert_eq!(client.fault, None, "{told}");
            assert!(matches!(client.ending, Ending::Success | Ending::Short), "{told}");
            let unary = translate::response(from, to, &body, &options).unwrap();
            let unary = normalized(with_arguments(serde_json::from_slice(&unary.body).unwrap()));
            let streamed = normalized(with_arguments(accumulate(to, &out)));
            if unary != streamed {
                wrong.push(format!("{told}\n  {unary}\n  {streamed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// Long texts are kept back so that what was said before can be sent. Here all
/// of it is said at once.
#[test]
fn a_long_answer_ends() {
    let text = "word ".repeat(100_000);
    let body = serde_json::json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": text}}],
    });
    for to in Protocol::ALL {
        let mut pipe = Pipe::new(Protocol::Chat, to, &Options::new()).unwrap();
        let mut out = Vec::new();
        pipe.whole(body.to_string().as_bytes(), &mut out);
        let mut client = Oracle::strict(to);
        client.feed(&out);
        assert!(pipe.is_done() && client.fault.is_none(), "{to}: {:?}", client.fault);
        assert_eq!((&client.ending, client.text.len()), (&Ending::Success, text.len()), "{to}");
    }
}

/// The answer that the only chunk of a stream is made of.
fn one_chunk(stream: &[u8]) -> Value {
    let text = std::str::from_utf8(stream).unwrap();
    let data = text.strip_prefix("data: ").unwrap().strip_suffix("\n\ndata: [DONE]\n\n").unwrap();
    let mut chunk: Value = serde_json::from_str(data).unwrap();
    chunk["object"] = "chat.completion".into();
    for choice in chunk["choices"].as_array_mut().unwrap() {
        let choice = choice.as_object_mut().unwrap();
        let mut message = choice.shift_remove("delta").unwrap();
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for (number, call) in calls.into_iter().flatten().enumerate() {
            assert_eq!(call["index"], number);
            // The one that the vendor itself has stands last.
            if call.as_object().unwrap().keys().next().unwrap() == "index" {
                call.as_object_mut().unwrap().shift_remove("index");
            }
        }
        // A vendor's own delta and its message have changed names.
        if let Some(delta) = choice.shift_remove("message") {
            choice.insert("delta".to_owned(), delta);
        }
        // A choice that a filter emptied has no message.
        if message != serde_json::json!({}) {
            choice.insert("message".to_owned(), message);
        }
    }
    chunk
}

const FAILS: [&str; 13] = [
    "chat-broken-off-behind-call",
    "chat-broken-off-in-call",
    "chat-choice-error",
    "chat-error-beside-choices",
    "chat-error-beside-no-finish",
    "chat-error-without-message",
    "chat-gemini-malformed-call",
    "chat-unknown-finish-in-call",
    "chat-vendor-finish",
    "responses-failed",
    "responses-failed-rate-limit",
    "responses-in-progress",
    "responses-queued",
];
