//! A stream of Messages that passes unchanged.

use super::super::error_in;
use super::super::stop_in::stop;
use super::super::usage_in::counts;
use super::super::wire::Usage;
use super::text_delta::{self, TextDelta};
use crate::codec::{EventOutcome, StreamObserver};
use crate::model::{Own, ResponseSummary, Start};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{Kind, Pos, Raw, Read, ReadError, Reader, Str, value_under};

/// Observes a stream of Messages.
#[derive(Debug, Default)]
pub(in super::super) struct MessagesStreamObserver {
    /// How the last event was spelled, if it was a text delta.
    last: Stencil<TextDelta>,
    /// Whether a stop reason has come.
    has_stopped: bool,
}

impl StreamObserver for MessagesStreamObserver {
    fn frame(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<EventOutcome, ReadError> {
        if self.last.fit(frame).is_some() {
            return Ok(EventOutcome::GoesOn);
        }
        let repeats = self.last.forget();
        let mut reader = Reader::new(frame.data);
        let named = || Str::plain(frame.name.unwrap_or_default());
        let kind = reader.tag("type")?.unwrap_or_else(named);
        let outcome = match kind.decode().as_ref() {
            "message_stop" if self.has_stopped => EventOutcome::End,
            "message_stop" => EventOutcome::Cut,
            "error" => {
                summary.error = error_in::decode(None, frame.data).ok();
                EventOutcome::Failed
            }
            // Proxies in front of the vendor send errors without a type. The
            // client does not recognize one, so it gets its own when the stream
            // ends.
            "" if super::has_error(reader.clone())? => {
                summary.error = error_in::decode(None, frame.data).ok();
                EventOutcome::GoesOn
            }
            "message_start" | "message_delta" | "content_block_start" => {
                self.observe(reader, summary)?;
                return Ok(EventOutcome::GoesOn);
            }
            _other => EventOutcome::GoesOn,
        };
        let is_delta = kind == "content_block_delta";
        reader.skip()?;
        reader.finish()?;
        if is_delta && repeats {
            self.last.cut(frame, text_delta::find);
        }
        Ok(outcome)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn begun(&self) -> Option<(Start<'_>, u64)> {
        None
    }
}

impl MessagesStreamObserver {
    /// Records the calls, the counts and the end that an event tells of.
    fn observe(
        &mut self,
        mut reader: Reader<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<(), ReadError> {
        let mut counts = None;
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            match key.decode().as_ref() {
                "message" => {
                    let [nested, content, reason] =
                        reader.pick(["usage", "content", "stop_reason"])?;
                    counts = counts.or(nested);
                    summary.calls += content.as_ref().map_or(0, count_calls);
                    self.stopped(reason, summary);
                }
                "usage" => counts = reader.nullable::<Raw<'_>>()?.or(counts),
                "delta" => {
                    let [reason] = reader.pick(["stop_reason"])?;
                    self.stopped(reason, summary);
                }
                "content_block" => {
                    summary.calls += usize::from(is_call(&mut reader)?);
                }
                _other => reader.skip()?,
            }
        }
        reader.finish()?;
        if let Some(counts) = counts {
            record_counts(counts, summary);
        }
        Ok(())
    }

    /// Records why the model stopped, if an event says so.
    fn stopped(&mut self, reason: Option<Raw<'_>>, summary: &mut ResponseSummary) {
        let Some(reason) = reason.filter(|reason| reason.kind() != Kind::Null) else { return };
        self.has_stopped = true;
        let word = reason.reader().string().ok();
        let mut extra = Vec::new();
        let stop = stop(Pos::START, word, None, None, summary.calls > 0, &mut extra);
        summary.stop = stop.ok().map(|stop| stop.value.as_str());
    }
}

/// How many calls there are in a list of blocks.
fn count_calls(content: &Raw<'_>) -> usize {
    let mut reader = content.reader();
    let mut calls = 0;
    let mut read = || -> Result<(), ReadError> {
        let mut blocks = reader.array()?;
        while blocks.more(&mut reader)? {
            calls += usize::from(is_call(&mut reader)?);
        }
        Ok(())
    };
    // The event passes, whatever it holds.
    let _ = read();
    calls
}

fn is_call(reader: &mut Reader<'_>) -> Result<bool, ReadError> {
    let [kind] = reader.pick(["type"])?;
    let kind = kind.as_ref().map(|kind| kind.reader().string());
    Ok(matches!(kind, Some(Ok(kind)) if kind == "tool_use"))
}

/// Counts come twice, the second time only with what has changed.
fn record_counts(raw: Raw<'_>, summary: &mut ResponseSummary) {
    if raw.kind() != Kind::Object {
        return;
    }
    let read = Usage::read(&mut raw.reader()).and_then(counts);
    let Ok((found, _)) = read else { return };
    let mut found = found.into_owned();
    if let Some(before) = &summary.usage {
        found.input = found.input.max(before.input);
        found.cache_read = found.cache_read.or(before.cache_read);
        found.cache_write = found.cache_write.or(before.cache_write);
    }
    summary.usage = Some(found);
}

/// Whether an event comes before the model says anything.
pub(crate) fn opens_stream(frame: &Frame<'_>) -> bool {
    let tag = Reader::new(frame.data).tag("type").ok().flatten();
    let kind = tag.as_ref().map(Str::decode);
    match kind.as_deref().or(frame.name) {
        Some("ping") => true,
        // One that brings all of its content opens no stream.
        Some("message_start") => value_under(frame.data, &["message", "content"])
            .is_none_or(|content| content.says_nothing()),
        Some(_) | None => false,
    }
}
