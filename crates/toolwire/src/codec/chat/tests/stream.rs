//! Streams in short: what the tests of both directions share.

use std::ops::ControlFlow;

use super::super::CODEC;
use crate::codec::EventSink;
use crate::ledger::{Ledger, Level};
use crate::model::{CallForm, Event, Head, Item, Piece};
use crate::wire::Str;
use crate::wire::sse::Frames;

/// Every event in a line of its own.
#[derive(Default)]
pub(super) struct EventLog {
    pub(super) lines: Vec<String>,
    pub(super) ledger: Ledger,
}

impl EventSink for EventLog {
    fn event(&mut self, event: Event<'_>) {
        self.lines.push(line(&event));
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// Reads a stream, and what is in the ledger at the end.
pub(super) fn read(stream: &str) -> Vec<String> {
    let mut log = EventLog::default();
    let mut reader = (CODEC.stream_reader)();
    let mut each = |frame: crate::wire::sse::Frame<'_>| {
        if let Err(error) = reader.read(&frame, &mut log) {
            log.lines.push(format!("unreadable: {error}"));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let mut frames = Frames::default();
    frames.push(stream.as_bytes(), &mut each).unwrap();
    frames.finish(&mut each).unwrap();
    reader.finish(&mut log);
    let EventLog { mut lines, ledger } = log;
    lines.extend(notes(&ledger));
    lines
}

/// The answer that a stream amounts to.
pub(super) fn collect(stream: &str) -> String {
    let mut accumulator = (CODEC.stream_accumulator)();
    let mut frames = Frames::default();
    let mut each = |frame: crate::wire::sse::Frame<'_>| {
        accumulator.frame(&frame).unwrap();
        ControlFlow::Continue(())
    };
    frames.push(stream.as_bytes(), &mut each).unwrap();
    frames.finish(&mut each).unwrap();
    String::from_utf8(accumulator.response()).unwrap()
}

pub(super) fn notes(ledger: &Ledger) -> Vec<String> {
    let entries = ledger.entries("{}");
    let line = |entry: &crate::ledger::Entry| {
        let info = if entry.level == Level::Info { " (info)" } else { "" };
        format!("{} {}{info}", entry.action.as_str(), entry.code)
    };
    entries.iter().map(line).collect()
}

fn line(event: &Event<'_>) -> String {
    let text = |text: &Option<Str<'_>>| {
        text.as_ref().map_or("-".to_owned(), |text| text.decode().into_owned())
    };
    match event {
        Event::Start(start) => format!("start {} {}", text(&start.id), text(&start.model)),
        Event::Open { block, head } => match head {
            Head::Text(_) => format!("{block} text"),
            Head::Refusal(_) => format!("{block} refusal"),
            Head::Reasoning { id: _ } => format!("{block} thinks"),
            Head::Call(call) => {
                let form = if call.form == CallForm::Freeform { " freeform" } else { "" };
                let extra: String = call.extra.iter().map(|e| format!(" {:?}", e.key)).collect();
                format!("{block} calls {} {}{form}{extra}", call.name.decode(), text(&call.id))
            }
        },
        Event::Delta { block, piece } => match piece {
            Piece::Text { text, logprobs: None } => format!("{block} {text:?}"),
            Piece::Text { text, logprobs: Some(list) } => format!("{block} {text:?} {list:?}"),
            Piece::Citation(raw) => format!("{block} cites {raw:?}"),
            Piece::Summary { part, text } => format!("{block} s{part} {text:?}"),
            Piece::Reasoning { part, text } => format!("{block} r{part} {text:?}"),
            Piece::Arguments(text) => format!("{block} {}", text.decode()),
        },
        Event::Close { block, tail } => match &tail.sealed {
            Some(sealed) => {
                format!("{block} closed by {} {}", sealed.issuer.as_str(), text(&sealed.blob))
            }
            None => format!("{block} closed"),
        },
        Event::Whole(turn) => match turn.items.as_slice() {
            [Item::Opaque(opaque)] => format!("whole {}", opaque.raw.text()),
            [Item::Reasoning(thought)] => {
                format!("whole thought {:?} {:?}", thought.summary, thought.sealed)
            }
            other => format!("whole {other:?}"),
        },
        Event::About { tier, extra } => {
            let extra: String =
                extra.iter().map(|e| format!(" {}={:?}", e.key.decode(), e.value)).collect();
            format!("about {}{extra}", text(tier))
        }
        Event::Usage(usage) => format!("usage {}+{}", usage.input, usage.output),
        Event::Stop { stop, extra: _ } => format!("stop {:?}", stop.value),
        Event::End => "end".to_owned(),
        Event::Error(error) => format!("error {:?}: {}", error.kind, error.message),
    }
}
