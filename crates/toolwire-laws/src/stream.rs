//! The laws of streams that hold for any bytes.

use std::ops::ControlFlow;

use toolwire::codec::{EventSink, codec};
use toolwire::ledger::Ledger;
use toolwire::model::{Event, Item, Protocol};
use toolwire::pipe::Pipe;
use toolwire::translate::Options;
use toolwire::wire::sse::{Frame, Frames};

/// However the bytes are cut, they are the same events, and every byte belongs
/// to one of them.
pub fn any_cut_frames_the_same(bytes: &[u8]) -> Result<(), String> {
    let whole = framed([bytes]);
    let singly = framed(bytes.chunks(1));
    if whole != singly {
        return Err(format!("{whole:?} byte by byte {singly:?}"));
    }
    let third = bytes.len() / 3;
    let (head, tail) = bytes.split_at(third);
    if framed([head, tail]) != whole {
        return Err(format!("{whole:?} cut at {third} is something else"));
    }
    match whole {
        Some((_, raw)) if raw != bytes => Err("some bytes belong to no event".to_owned()),
        Some(_) | None => Ok(()),
    }
}

type Events = Vec<(Option<String>, String)>;

fn framed<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Option<(Events, Vec<u8>)> {
    let mut frames = Frames::default();
    let (mut events, mut raw) = (Events::new(), Vec::new());
    let mut each = |frame: Frame<'_>| {
        raw.extend_from_slice(frame.raw);
        if !frame.data.is_empty() {
            events.push((frame.name.map(str::to_owned), frame.data.to_owned()));
        }
        ControlFlow::Continue(())
    };
    for chunk in chunks {
        frames.push(chunk, &mut each).ok()?;
    }
    frames.finish(&mut each).ok()?;
    Some((events, raw))
}

/// Whatever an upstream sends, its client gets the same bytes however they were
/// cut, nothing after the last, and a stream that its own protocol reads up to
/// one ending, which is a good one only if the upstream's was.
pub fn one_ending(from: Protocol, to: Protocol, bytes: &[u8]) -> Result<(), String> {
    let (out, complete) = piped(from, to, [bytes])?;
    if (out.clone(), complete) != piped(from, to, bytes.chunks(1))? {
        return Err("byte by byte it is another stream".to_owned());
    }
    if from == to {
        return Ok(());
    }
    ends_once(to, &out, complete)
}

/// Whatever a whole answer is, the stream that is made of it has one ending,
/// which is a good one only if the answer has one, for a client of every built-in
/// protocol.
pub fn a_whole_answer_ends_once(from: Protocol, text: &str) -> Result<(), String> {
    Protocol::ALL.into_iter().try_for_each(|to| a_whole_answer_ends_once_between(from, to, text))
}

/// Whatever a whole answer is, the stream that is made of it has one ending,
/// which is a good one only if the answer has one.
pub fn a_whole_answer_ends_once_between(
    from: Protocol,
    to: Protocol,
    text: &str,
) -> Result<(), String> {
    // In a stream of Chat a call without a name is one that is cut.
    if has_nameless_call(from, text) {
        return Ok(());
    }
    let mut pipe =
        Pipe::new(from, to, &Options::new()).map_err(|error| format!("{from} to {to}: {error}"))?;
    let mut out = Vec::new();
    pipe.whole(text.as_bytes(), &mut out);
    if !pipe.is_done() {
        return Err(format!("to {to}: it never ends"));
    }
    // What passes is as good as it was.
    if from == to {
        return Ok(());
    }
    ends_once(to, &out, pipe.summary().complete).map_err(|what| format!("to {to}: {what}"))
}

fn has_nameless_call(protocol: Protocol, text: &str) -> bool {
    let Ok(response) = (codec(protocol).decode_response)(text) else { return false };
    let turns = response.candidates.iter().flat_map(|candidate| &candidate.turns);
    let nameless = |item: &Item<'_>| matches!(item, Item::Call(call) if call.name.is_empty());
    turns.flat_map(|turn| &turn.items).any(nameless)
}

/// Whether a stream has one ending, and a good one if it is to be complete.
fn ends_once(to: Protocol, out: &[u8], complete: bool) -> Result<(), String> {
    let told = || String::from_utf8(out.to_vec()).unwrap_or_else(|_| format!("{out:?}"));
    match ending(to, out) {
        Ok(Some(good)) if good == complete => Ok(()),
        Ok(Some(good)) => Err(format!("ended well: {complete}, as read: {good}: {}", told())),
        Ok(None) => Err(format!("no ending: {}", told())),
        Err(what) => Err(format!("{what}: {}", told())),
    }
}

fn piped<'c>(
    from: Protocol,
    to: Protocol,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Result<(Vec<u8>, bool), String> {
    let mut pipe =
        Pipe::new(from, to, &Options::new()).map_err(|error| format!("{from} to {to}: {error}"))?;
    let mut out = Vec::new();
    for chunk in chunks {
        pipe.push(chunk, &mut out);
    }
    pipe.finish(&mut out);
    if !pipe.is_done() {
        return Err("it never ends".to_owned());
    }
    let length = out.len();
    pipe.push(b"data: {}\n\n", &mut out);
    pipe.finish(&mut out);
    if out.len() != length {
        return Err("bytes after the last".to_owned());
    }
    Ok((out, pipe.summary().complete))
}

/// How a stream ended: well, badly, or not at all.
fn ending(protocol: Protocol, bytes: &[u8]) -> Result<Option<bool>, String> {
    let mut reader = (codec(protocol).stream_reader)();
    let mut last = Last { ending: None, ledger: Ledger::default() };
    let mut frames = Frames::default();
    let mut wrong = None;
    let each = |frame: Frame<'_>| {
        if !frame.data.is_empty()
            && last.ending.is_none()
            && let Err(error) = reader.read(&frame, &mut last)
        {
            wrong.get_or_insert(error.to_string());
        }
        ControlFlow::Continue(())
    };
    frames.push(bytes, each).map_err(|error| error.to_string())?;
    if !frames.is_between_events() {
        return Err("it ends inside an event".to_owned());
    }
    match wrong {
        Some(wrong) => Err(wrong),
        None => Ok(last.ending),
    }
}

struct Last {
    ending: Option<bool>,
    ledger: Ledger,
}

impl EventSink for Last {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::End => self.ending = self.ending.or(Some(true)),
            Event::Error(_) => self.ending = self.ending.or(Some(false)),
            Event::Start(_)
            | Event::Open { block: _, head: _ }
            | Event::Delta { block: _, piece: _ }
            | Event::Close { block: _, tail: _ }
            | Event::Whole(_)
            | Event::About { tier: _, extra: _ }
            | Event::Usage(_)
            | Event::Stop { stop: _, extra: _ } => {}
        }
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}
