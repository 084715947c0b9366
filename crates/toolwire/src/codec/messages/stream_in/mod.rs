//! A stream: from Messages into events.

pub(super) mod accumulator;
mod block;
mod blocks;
pub(super) mod observer;
mod text_delta;

use self::blocks::OpenContentBlocks;
use self::text_delta::TextDelta;
use super::wire::{MessageDelta, MessageStart, MessageStop, StartedMessage, StopDelta, Usage};
use super::{error_in, stop_in, usage_in};
use crate::codec::{EventSink, StreamReader};
use crate::ledger::Code;
use crate::model::{ApiError, ErrorKind, Event, Own, Protocol, Start, Stop};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{At, Extra, Kind, Pos, Raw, ReadError, Reader, Str, keep_meaningful};

/// A stream of Messages while it is read.
#[derive(Debug, Default)]
pub(super) struct MessagesStreamReader {
    phase: ReadPhase,
    /// How the last event was spelled, if it was a text delta.
    last: Stencil<TextDelta>,
    blocks: OpenContentBlocks,
    /// The counts so far. Later events leave out what has not changed.
    usage: Option<Usage<'static>>,
    /// Why the model stopped, if the first event says it already.
    early_stop: Option<Stop<'static>>,
}

/// How far the message has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReadPhase {
    #[default]
    Before,
    Begun,
    /// A stop reason has come.
    Stopped,
    Over,
}

impl StreamReader for MessagesStreamReader {
    fn read(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        let data = frame.data;
        // Relays that also serve other protocols put an end marker of theirs
        // behind every stream.
        if self.phase == ReadPhase::Over || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        if let Some((delta, text)) = self.last.fit(frame)
            && self.blocks.text_delta(delta, text, sink)
        {
            return Ok(());
        }
        let repeats = self.last.forget();
        if self.phase == ReadPhase::Begun
            && let Some((delta, text)) = text_delta::read(data)
            && self.blocks.text_delta(delta, text, sink)
        {
            if repeats {
                self.last.cut(frame, text_delta::find);
            }
            return Ok(());
        }
        let mut reader = Reader::new(data);
        let tag = reader.tag("type")?;
        let kind = tag.as_ref().map(Str::decode);
        match kind.as_deref().or(frame.name).unwrap_or_default() {
            "content_block_delta" => {
                let event = reader.document()?;
                if self.accepts_content(sink) {
                    self.blocks.delta(event, sink);
                }
            }
            "content_block_start" => {
                let event = reader.document()?;
                if self.accepts_content(sink) {
                    self.blocks.start(event, sink)?;
                }
            }
            "content_block_stop" => {
                let event = reader.document()?;
                if self.accepts_content(sink) {
                    self.blocks.stop(event, sink);
                }
            }
            "message_start" => self.start(reader.document()?, sink)?,
            "message_delta" => self.delta(reader.document()?, sink)?,
            "message_stop" => self.stop(reader.document()?, sink),
            // A broken object may have swallowed another event, so it is an
            // error. Some servers put other values into a ping, which mean
            // nothing.
            "ping" if reader.peek() == Kind::Object => {
                reader.document::<Raw<'_>>()?;
            }
            "ping" => {}
            "error" => self.fail(error_in::decode(None, data)?, sink),
            other => self.unknown(other, reader, data, sink)?,
        }
        Ok(())
    }

    /// Does nothing: only `message_stop` ends a message, and it has been read.
    fn finish(&mut self, _sink: &mut dyn EventSink) {}
}

impl MessagesStreamReader {
    fn start(
        &mut self,
        event: MessageStart<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let MessageStart { at, kind: _, message, extra } = event;
        sink.ledger().only(&extra);
        // What has come so far has no end, so it must not look like an answer.
        if self.phase != ReadPhase::Before {
            let twice = "The upstream began a second message in the middle of the first.";
            self.fail(ApiError::new(ErrorKind::Truncated, twice), sink);
            return Ok(());
        }
        self.phase = ReadPhase::Begun;
        let Some(message) = message else {
            sink.event(Event::Start(unnamed_start()));
            return Ok(());
        };
        let StartedMessage {
            at: _,
            kind: _,
            role: _,
            id,
            model,
            content,
            stop_reason,
            stop_sequence,
            stop_details,
            usage,
            extra,
        } = message;
        sink.event(Event::Start(Start { origin: Protocol::Messages, id, model, created: None }));
        // A program of the model's that goes on with its calls repeats the
        // message as far as it has come, and may add nothing to it.
        // vectors/streams/messages-content-in-message-start.
        if let Some(content) = content {
            self.blocks.whole(&content, sink)?;
        }
        let tier = self.count(usage, sink)?;
        send_about(tier, extra, sink);
        if stop_reason.is_some() {
            let mut extra = Vec::new();
            let has_calls = self.blocks.has_calls();
            let stop =
                stop_in::stop(at, stop_reason, stop_sequence, stop_details, has_calls, &mut extra)?;
            sink.ledger().only(&extra);
            self.early_stop = Some(stop.value.into_owned());
        } else {
            // Without a reason these belong to nothing.
            sink.ledger().lost(&stop_sequence, Code::StopReason);
            sink.ledger().lost(&stop_details, Code::StopReason);
        }
        Ok(())
    }

    fn delta(
        &mut self,
        event: MessageDelta<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let MessageDelta { at, kind: _, delta, usage, mut extra } = event;
        self.ensure_started(sink);
        let tier = self.count(usage, sink)?;
        let Some(delta) = delta else {
            send_about(tier, extra, sink);
            return Ok(());
        };
        let StopDelta { at: _, stop_reason, stop_sequence, stop_details, extra: more } = delta;
        extra.extend(more);
        send_about(tier, extra, sink);
        // Counts may come alone, before the stop reason or after it.
        if stop_reason.is_none() || self.phase == ReadPhase::Stopped {
            return Ok(());
        }
        self.blocks.stop_all(sink);
        self.phase = ReadPhase::Stopped;
        let mut extra = Vec::new();
        let has_calls = self.blocks.has_calls();
        let stop =
            stop_in::stop(at, stop_reason, stop_sequence, stop_details, has_calls, &mut extra)?;
        sink.event(Event::Stop { stop, extra });
        Ok(())
    }

    fn stop(&mut self, event: MessageStop<'_>, sink: &mut dyn EventSink) {
        let MessageStop { at: _, kind: _, extra } = event;
        if self.phase == ReadPhase::Begun
            && let Some(stop) = self.early_stop.take()
        {
            self.blocks.stop_all(sink);
            self.phase = ReadPhase::Stopped;
            sink.event(Event::Stop { stop: At::made(stop), extra: Vec::new() });
        }
        if self.phase != ReadPhase::Stopped {
            let cut = "The upstream ended its stream without saying why the model stopped.";
            return self.fail(ApiError::new(ErrorKind::Truncated, cut), sink);
        }
        send_about(None, extra, sink);
        self.phase = ReadPhase::Over;
        sink.event(Event::End);
    }

    fn fail(&mut self, error: ApiError, sink: &mut dyn EventSink) {
        self.phase = ReadPhase::Over;
        sink.event(Event::Error(error));
    }

    fn unknown(
        &mut self,
        kind: &str,
        mut reader: Reader<'_>,
        data: &str,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        // Proxies in front of the vendor send errors without a type.
        if kind.is_empty() && has_error(reader.clone())? {
            self.fail(error_in::decode(None, data)?, sink);
            return Ok(());
        }
        reader.skip()?;
        reader.finish()?;
        sink.ledger().dropped(Pos::START, Code::UnknownItem);
        Ok(())
    }

    /// Starts a message that the upstream did not start.
    fn ensure_started(&mut self, sink: &mut dyn EventSink) {
        if self.phase == ReadPhase::Before {
            self.phase = ReadPhase::Begun;
            sink.event(Event::Start(unnamed_start()));
        }
    }

    /// Whether content may still come. Reports it otherwise.
    fn accepts_content(&mut self, sink: &mut dyn EventSink) -> bool {
        self.ensure_started(sink);
        if self.phase == ReadPhase::Begun {
            return true;
        }
        let note = sink.ledger().dropped(Pos::START, Code::UnknownItem);
        note.detail("The upstream sent content behind the reason why the model stopped.");
        false
    }

    /// Passes on the counts so far, and returns the tier that is among them.
    fn count<'e>(
        &mut self,
        usage: Option<Usage<'e>>,
        sink: &mut dyn EventSink,
    ) -> Result<Option<Str<'e>>, ReadError> {
        let Some(usage) = usage else { return Ok(None) };
        let own = usage.extra.len();
        let mut merged = match self.usage.take() {
            Some(before) => usage_in::merge_counts(before, usage),
            None => usage,
        };
        // Every count is passed on with all before it, so they must be few.
        let surplus = merged.extra.len().saturating_sub(MOST_COUNTS).min(own);
        let lost: Vec<_> = merged.extra.drain(own - surplus..own).collect();
        sink.ledger().only(&lost);
        let is_tier_new = merged.service_tier.is_some();
        self.usage = Some(usage_in::to_owned_counts(&merged));
        let (counts, tier) = usage_in::counts(merged)?;
        sink.event(Event::Usage(counts));
        Ok(tier.filter(|_| is_tier_new))
    }
}

/// How many counts that the model has no room for are kept until the end.
const MOST_COUNTS: usize = 64;

fn unnamed_start() -> Start<'static> {
    Start { origin: Protocol::Messages, id: None, model: None, created: None }
}

fn send_about<'e>(tier: Option<Str<'e>>, mut extra: Vec<Extra<'e>>, sink: &mut dyn EventSink) {
    keep_meaningful(&mut extra);
    if tier.is_some() || !extra.is_empty() {
        sink.event(Event::About { tier, extra });
    }
}

fn has_error(mut reader: Reader<'_>) -> Result<bool, ReadError> {
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if key == *"error" {
            return Ok(true);
        }
        reader.skip()?;
    }
    Ok(false)
}
