//! The stream: from Messages into events.

mod blocks;
mod observer;
mod text_delta;

use self::blocks::Blocks;
pub(super) use self::observer::Watching;
use self::text_delta::Grows;
use super::wire::{Answer, MessageDelta, MessageStart, MessageStop, StopDelta, Usage};
use super::{error_in, stop_in, usage_in};
use crate::codec::{EventSink, StreamReader};
use crate::ledger::Code;
use crate::model::{ApiError, ErrorKind, Event, Own, Protocol, Start};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{Extra, Kind, Pos, Raw, Read, ReadError, Reader, Str};

/// A stream being read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    phase: Phase,
    /// How the last event was spelled, if all it had was a text.
    last: Stencil<Grows>,
    blocks: Blocks,
    /// The counts so far. Later ones leave out what has not changed.
    usage: Option<Usage<'static>>,
}

/// How far the message has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Before,
    Begun,
    /// The model has said why it stopped.
    Stopped,
    Over,
}

impl StreamReader for Reading {
    fn read(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        let data = frame.data;
        // Relays that speak Chat too put its end marker behind every stream.
        if self.phase == Phase::Over || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        if let Some((grows, text)) = self.last.fit(frame) {
            self.blocks.grow(grows, text, sink);
            return Ok(());
        }
        let repeats = self.last.forget();
        let mut reader = Reader::new(data);
        let tag = reader.tag("type")?;
        let kind = tag.as_ref().map(Str::decode);
        match kind.as_deref().or(frame.name).unwrap_or_default() {
            "content_block_delta" => {
                let event = whole(reader)?;
                if self.goes_on(sink) {
                    let fits = self.blocks.delta(event, sink);
                    if fits && repeats {
                        self.last.cut(frame, text_delta::find);
                    }
                }
            }
            "content_block_start" => {
                let event = whole(reader)?;
                if self.goes_on(sink) {
                    self.blocks.start(event, sink)?;
                }
            }
            "content_block_stop" => {
                let event = whole(reader)?;
                if self.goes_on(sink) {
                    self.blocks.stop(event, sink);
                }
            }
            "message_start" => self.start(whole(reader)?, sink)?,
            "message_delta" => self.delta(whole(reader)?, sink)?,
            "message_stop" => self.stop(whole(reader)?, sink),
            // What is broken may have swallowed another event. Some servers
            // write what they like into a ping, and that says nothing.
            "ping" if reader.peek() == Kind::Object => {
                whole::<Raw<'_>>(reader)?;
            }
            "ping" => {}
            "error" => self.fail(error_in::decode(None, data)?, sink),
            other => self.unknown(other, reader, data, sink)?,
        }
        Ok(())
    }

    /// Only `message_stop` ends a message well, and it has been read then.
    fn finish(&mut self, _sink: &mut dyn EventSink) {}
}

impl Reading {
    fn start(
        &mut self,
        event: MessageStart<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let MessageStart { at, kind: _, message, extra } = event;
        sink.ledger().only(&extra);
        if self.phase != Phase::Before {
            let note = sink.ledger().dropped(at, Code::UnknownItem);
            note.detail("The upstream began its message a second time.");
            return Ok(());
        }
        self.phase = Phase::Begun;
        let Some(message) = message else {
            sink.event(Event::Start(nameless()));
            return Ok(());
        };
        // Why it stopped is not known before `message_delta`.
        let Answer {
            at: _,
            kind: _,
            role: _,
            id,
            model,
            content,
            stop_reason: _,
            stop_sequence: _,
            stop_details: _,
            usage,
            extra,
        } = message;
        sink.event(Event::Start(Start { origin: Protocol::Messages, id, model, created: None }));
        if let Some(content) = content.filter(|content| !content.items.is_empty()) {
            let note = sink.ledger().dropped(content.at, Code::UnknownItem);
            note.detail("Content that came before the first block was passed over.");
        }
        let tier = self.count(usage, sink)?;
        about(tier, extra, sink);
        Ok(())
    }

    fn delta(
        &mut self,
        event: MessageDelta<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let MessageDelta { at, kind: _, delta, usage, mut extra } = event;
        self.begin(sink);
        let tier = self.count(usage, sink)?;
        let Some(delta) = delta else {
            about(tier, extra, sink);
            return Ok(());
        };
        let StopDelta { at: _, stop_reason, stop_sequence, stop_details, extra: more } = delta;
        extra.extend(more);
        about(tier, extra, sink);
        // Counts may come alone, before the reason or behind it.
        if stop_reason.is_none() || self.phase == Phase::Stopped {
            return Ok(());
        }
        self.blocks.stop_all(sink);
        self.phase = Phase::Stopped;
        let mut extra = Vec::new();
        let calls = self.blocks.called();
        let stop = stop_in::stop(at, stop_reason, stop_sequence, stop_details, calls, &mut extra)?;
        sink.event(Event::Stop { stop, extra });
        Ok(())
    }

    fn stop(&mut self, event: MessageStop<'_>, sink: &mut dyn EventSink) {
        let MessageStop { at: _, kind: _, extra } = event;
        if self.phase != Phase::Stopped {
            let cut = "The upstream ended its stream without saying why the model stopped.";
            return self.fail(ApiError::new(ErrorKind::Truncated, cut), sink);
        }
        about(None, extra, sink);
        self.phase = Phase::Over;
        sink.event(Event::End);
    }

    fn fail(&mut self, error: ApiError, sink: &mut dyn EventSink) {
        self.phase = Phase::Over;
        sink.event(Event::Error(error));
    }

    fn unknown(
        &mut self,
        kind: &str,
        mut reader: Reader<'_>,
        data: &str,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        // Proxies in front of the vendor say an error without its type.
        if kind.is_empty() && has_error(reader.clone())? {
            self.fail(error_in::decode(None, data)?, sink);
            return Ok(());
        }
        reader.skip()?;
        reader.finish()?;
        sink.ledger().dropped(Pos::START, Code::UnknownItem);
        Ok(())
    }

    /// Begins a message that the upstream did not begin.
    fn begin(&mut self, sink: &mut dyn EventSink) {
        if self.phase == Phase::Before {
            self.phase = Phase::Begun;
            sink.event(Event::Start(nameless()));
        }
    }

    /// Whether content may still come.
    fn goes_on(&mut self, sink: &mut dyn EventSink) -> bool {
        self.begin(sink);
        if self.phase == Phase::Begun {
            return true;
        }
        let note = sink.ledger().dropped(Pos::START, Code::UnknownItem);
        note.detail("The upstream sent content behind the reason why the model stopped.");
        false
    }

    /// Hands on the counts so far, and gives the tier that stands among them.
    fn count<'e>(
        &mut self,
        usage: Option<Usage<'e>>,
        sink: &mut dyn EventSink,
    ) -> Result<Option<Str<'e>>, ReadError> {
        let Some(usage) = usage else { return Ok(None) };
        let merged = match self.usage.take() {
            Some(before) => merge(before, usage),
            None => usage,
        };
        let said_now = merged.service_tier.is_some();
        self.usage = Some(kept(&merged));
        let (counts, tier) = usage_in::counts(merged)?;
        if let Some(counts) = counts {
            sink.event(Event::Usage(counts));
        }
        Ok(tier.filter(|_| said_now))
    }
}

/// Reads an event to its end.
fn whole<'e, T: Read<'e>>(mut reader: Reader<'e>) -> Result<T, ReadError> {
    let event = T::read(&mut reader)?;
    reader.finish()?;
    Ok(event)
}

fn nameless() -> Start<'static> {
    Start { origin: Protocol::Messages, id: None, model: None, created: None }
}

fn about<'e>(tier: Option<Str<'e>>, extra: Vec<Extra<'e>>, sink: &mut dyn EventSink) {
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

/// Counts are running totals, so a later one replaces an earlier one; what is
/// left out stands as it was.
fn merge<'e>(before: Usage<'static>, later: Usage<'e>) -> Usage<'e> {
    let Usage {
        at,
        input_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        output_tokens,
        output_tokens_details,
        service_tier,
        mut extra,
    } = later;
    for field in before.extra {
        if !extra.iter().any(|newer| newer.key == field.key) {
            extra.push(field);
        }
    }
    Usage {
        at,
        input_tokens: input_tokens.or(before.input_tokens),
        cache_read_input_tokens: cache_read_input_tokens.or(before.cache_read_input_tokens),
        cache_creation_input_tokens: cache_creation_input_tokens
            .or(before.cache_creation_input_tokens),
        output_tokens: output_tokens.or(before.output_tokens),
        output_tokens_details: output_tokens_details.or(before.output_tokens_details),
        service_tier,
        extra,
    }
}

/// The counts without the bytes they were read from. The tier is not kept: it
/// has been handed on.
fn kept(usage: &Usage<'_>) -> Usage<'static> {
    let Usage {
        at: _,
        input_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        output_tokens,
        output_tokens_details,
        service_tier: _,
        extra,
    } = usage;
    let unplaced = |field: &Extra<'_>| Extra {
        key: field.key.clone().into_owned(),
        value: field.value.clone().into_owned().at(Pos::NONE),
    };
    Usage {
        at: Pos::NONE,
        input_tokens: *input_tokens,
        cache_read_input_tokens: *cache_read_input_tokens,
        cache_creation_input_tokens: *cache_creation_input_tokens,
        output_tokens: *output_tokens,
        output_tokens_details: output_tokens_details.clone().into_owned(),
        service_tier: None,
        extra: extra.iter().map(unplaced).collect(),
    }
}
