//! The laws of streams, over every recorded stream and every pair.

use serde_json::Value;
use toolwire::codec::EventSink;
use toolwire::fold::Fold;
use toolwire::model::Event;
use toolwire::wire::sse::Frames;
use toolwire::{Ledger, Protocol, codec};

use super::accumulate::accumulate;
use super::oracle::{Ending, Oracle};
use super::{Recorded, commented_pipe, recorded, through, translated};
use crate::json::without_nulls;

/// Any chunking gives the same bytes, the comment about losses among them, and
/// the same ledger: every single cut,
/// byte by byte, random splits, and all three line ends.
#[test]
fn any_chunking_gives_the_same_bytes() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let full = std::env::var_os("TOOLWIRE_SWEEP").is_some();
    let (step, splits) = if full { (1, 1000) } else { SAMPLE };
    let mut cuts = 0;
    for (number, stream) in recorded().iter().enumerate() {
        for to in Protocol::ALL {
            let request = stream.request(to);
            let run = |chunks: Vec<&[u8]>| {
                through(commented_pipe(stream.from, to, request.as_deref()), chunks)
            };
            let bytes = stream.bytes.as_slice();
            let whole = run(vec![bytes]);
            let check = |chunks: Vec<&[u8]>, how: &str| {
                assert!(run(chunks) == whole, "{} to {to}, {how}", stream.name());
            };
            check(bytes.chunks(1).collect(), "byte by byte");
            for cut in (number % step..bytes.len()).step_by(step) {
                cuts += 1;
                check(vec![&bytes[..cut], &bytes[cut..]], &format!("cut at {cut}"));
            }
            for _ in 0..splits {
                cuts += 1;
                let mut chunks = Vec::new();
                let mut rest = bytes;
                while !rest.is_empty() {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let length = ((random >> 33) as usize % 97 + 1).min(rest.len());
                    let (chunk, tail) = rest.split_at(length);
                    chunks.push(chunk);
                    rest = tail;
                }
                check(chunks, "split at random");
            }
            if to == stream.from {
                continue;
            }
            for ends in ["\r\n", "\r"] {
                let Ok(text) = std::str::from_utf8(bytes) else { continue };
                if text.contains('\r') {
                    continue;
                }
                let text = text.replace('\n', ends);
                check(vec![text.as_bytes()], &format!("with {ends:?}"));
                check(text.as_bytes().chunks(1).collect(), &format!("{ends:?} byte by byte"));
                let marked = format!("\u{feff}: hello{ends}{text}");
                check(vec![marked.as_bytes()], "with a mark and a comment");
            }
        }
    }
    eprintln!("{cuts} ways to cut the streams");
}

/// A careful client finds nothing wrong with what it gets, and sees the calls
/// that the upstream made.
#[test]
fn a_careful_client_sees_the_same_calls() {
    let mut wrong = Vec::new();
    for stream in recorded() {
        let mut upstream = Oracle::lenient(stream.from);
        upstream.feed(&stream.bytes);
        for to in Protocol::ALL.into_iter().filter(|to| *to != stream.from) {
            let request = stream.request(to);
            let (out, _) =
                translated(stream.from, to, request.as_deref(), [stream.bytes.as_slice()]);
            let mut client = Oracle::strict(to);
            client.feed(&out);
            let mut say = |what: &str| wrong.push(format!("{} to {to}: {what}", stream.name()));
            if let Some(fault) = &client.fault {
                say(fault);
            }
            if client.ending == Ending::None {
                say("no ending");
            }
            // What went up renamed or wrapped comes back different, and where
            // the upstream deviates the oracle has no opinion about the calls.
            if request.is_some() || client.ending == Ending::Error || upstream.fault.is_some() {
                continue;
            }
            let theirs: Vec<_> = upstream.calls.iter().map(|call| json(&call.arguments)).collect();
            let ours: Vec<_> = client.calls.iter().map(|call| json(&call.arguments)).collect();
            if theirs != ours && !DEVIANT.contains(&stream.name().as_str()) {
                say(&format!("calls {theirs:?} came as {ours:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// Streams whose calls the oracle cannot tell as toolwire must: upstreams that
/// deviate from their protocol, items of a vendor's own shape, and freeform
/// input, which Messages has as the property of an object. What comes out of
/// these is held by the golden files alone.
const DEVIANT: [&str; 9] = [
    "chat-custom-call",
    "chat-gemini-missing-ids",
    "chat-vendor-every-index-zero",
    "chat-vendor-object-arguments",
    "chat-vllm-missing-index",
    "responses-apply-patch-call",
    "responses-local-shell-call",
    "responses-only-completed",
    "responses-only-items-done",
];

/// No text at all and an empty object are the same arguments.
fn json(arguments: &str) -> String {
    if arguments.trim().is_empty() { "{}".to_owned() } else { arguments.to_owned() }
}

/// A stream put together by the client's SDK is the unary translation of the
/// same answer.
#[test]
fn a_folded_stream_is_the_unary_answer() {
    let mut wrong = Vec::new();
    for stream in recorded() {
        let Some(source) = folded(stream.from, &stream.bytes) else { continue };
        for to in Protocol::ALL.into_iter().filter(|to| *to != stream.from) {
            // The tools are the upstream's own here, so nothing is restored on
            // either side.
            let (out, _) =
                translated(stream.from, to, Some(PLAIN_REQUEST), [stream.bytes.as_slice()]);
            let unary = encoded(to, &source);
            let streamed = normalized(accumulate(to, &out));
            if unary != streamed {
                wrong.push(format!(
                    "{} to {to}\n  unary  {unary}\n  stream {streamed}",
                    stream.name()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// A request that every protocol reads and that says nothing but what it must.
pub(crate) const PLAIN_REQUEST: &str =
    r#"{"messages":[],"input":"","stream":true,"stream_options":{"include_usage":true}}"#;

/// Collects a stream that ended well.
struct Collect {
    fold: Fold,
    ended: bool,
    ledger: Ledger,
}

impl EventSink for Collect {
    fn event(&mut self, event: Event<'_>) {
        self.ended |= matches!(event, Event::End);
        self.fold.event(&event);
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

pub(crate) fn folded(protocol: Protocol, bytes: &[u8]) -> Option<Fold> {
    let mut collect = Collect { fold: Fold::default(), ended: false, ledger: Ledger::default() };
    let mut reader = (codec(protocol).stream_reader)();
    let mut frames = Frames::default();
    let mut broken = false;
    let mut each = |frame: toolwire::wire::sse::Frame<'_>| {
        if !frame.data.is_empty() && !collect.ended {
            broken |= reader.read(&frame, &mut collect).is_err();
        }
        std::ops::ControlFlow::Continue(())
    };
    frames.push(bytes, &mut each).ok()?;
    frames.finish(&mut each).ok()?;
    if !collect.ended {
        reader.finish(&mut collect);
    }
    (collect.ended && !broken).then_some(collect.fold)
}

/// The unary translation of a folded answer.
fn encoded(to: Protocol, fold: &Fold) -> Value {
    let mut out = Vec::new();
    let asked = (codec(to).response_context)(&codec(to).decode_request(PLAIN_REQUEST).unwrap());
    let mut response = fold.response();
    // A client that named no model is told none by a stream that knows none.
    response.created = None;
    toolwire::restore::distinct(&mut response, &mut Ledger::default());
    (codec(to).encode_response)(&response, Some(&asked), &mut out, &mut Ledger::default());
    normalized(serde_json::from_slice(&out).unwrap())
}

/// What a stream and a whole answer may say differently without saying
/// anything different: when it was, nothing as null or as empty, and a call
/// that was cut in its arguments.
pub(crate) fn normalized(mut value: Value) -> Value {
    forget(&mut value);
    without_nulls(&value)
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for key in ["created", "created_at", "completed_at"] {
                members.shift_remove(key);
            }
            // What was cut is closed at its last whole member in an answer, and
            // stays as it came in a stream.
            if members.get("stop_reason").is_some_and(|reason| reason == "max_tokens")
                && let Some(Value::Array(blocks)) = members.get_mut("content")
                && let Some(Value::Object(last)) = blocks.last_mut()
            {
                last.shift_remove("input");
            }
            if members.get("content").is_some_and(|text| text == "") {
                members.shift_remove("content");
            }
            for (_, value) in members {
                forget(value);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(forget),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The list of recorded streams is what the other tests stand on.
#[test]
fn every_protocol_is_recorded() {
    let streams: Vec<Recorded> = recorded();
    for protocol in Protocol::ALL {
        let count = streams.iter().filter(|stream| stream.from == protocol).count();
        assert!(count >= 15, "{protocol} has {count} recorded streams");
    }
}

/// Every how many bytes a stream is cut in two, and how often at random, unless
/// `cargo xtask sweep` runs this.
const SAMPLE: (usize, usize) = (151, 2);
