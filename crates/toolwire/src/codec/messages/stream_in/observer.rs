//! The stream as it passes between two that both speak Messages.

use super::super::Messages;
use super::super::usage_in::counts;
use super::super::wire::Usage;
use super::text_delta::{self, Grows};
use crate::codec::{Codec, EventOutcome, StreamObserver};
use crate::model::{Own, ResponseSummary, Start};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{Kind, Raw, Read, ReadError, Reader, Str};

/// A stream being watched.
#[derive(Debug, Default)]
pub(in super::super) struct Watching {
    /// How the last event was spelled, if all it had was a text.
    last: Stencil<Grows>,
    /// Whether the model has said why it stopped.
    stopped: bool,
}

impl StreamObserver for Watching {
    fn frame(
        &mut self,
        frame: &Frame<'_>,
        seen: &mut ResponseSummary,
    ) -> Result<EventOutcome, ReadError> {
        if self.last.fit(frame).is_some() {
            return Ok(EventOutcome::GoesOn);
        }
        let repeats = self.last.forget();
        let mut reader = Reader::new(frame.data);
        let named = || Str::plain(frame.name.unwrap_or_default());
        let kind = reader.tag("type")?.unwrap_or_else(named);
        let watched = match kind.decode().as_ref() {
            "message_stop" if self.stopped => EventOutcome::End,
            "message_stop" => EventOutcome::Cut,
            "error" => {
                seen.error = Messages.decode_error(None, frame.data).ok();
                EventOutcome::Failed
            }
            "message_start" | "message_delta" | "content_block_start" => {
                self.notice(reader, seen)?;
                return Ok(EventOutcome::GoesOn);
            }
            _other => EventOutcome::GoesOn,
        };
        let grows = kind == "content_block_delta";
        reader.skip()?;
        reader.finish()?;
        if grows && repeats {
            self.last.cut(frame, text_delta::find);
        }
        Ok(watched)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn begun(&self) -> Option<(Start<'_>, u64)> {
        None
    }
}

impl Watching {
    /// Takes from an event what it says of calls, counts and the end.
    fn notice(
        &mut self,
        mut reader: Reader<'_>,
        seen: &mut ResponseSummary,
    ) -> Result<(), ReadError> {
        let mut counts = None;
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            match key.decode().as_ref() {
                "message" => {
                    let [nested] = reader.pick(["usage"])?;
                    counts = counts.or(nested);
                }
                "usage" => counts = reader.nullable::<Raw<'_>>()?.or(counts),
                "delta" => {
                    let [reason] = reader.pick(["stop_reason"])?;
                    self.stopped |= reason.is_some();
                }
                "content_block" => {
                    let [kind] = reader.pick(["type"])?;
                    let kind = kind.as_ref().map(|kind| kind.reader().string());
                    let call = matches!(kind, Some(Ok(kind)) if kind == "tool_use");
                    seen.calls += usize::from(call);
                }
                _other => reader.skip()?,
            }
        }
        reader.finish()?;
        if let Some(counts) = counts {
            note(counts, seen);
        }
        Ok(())
    }
}

/// Counts come twice, and the second time only what has changed.
fn note(raw: Raw<'_>, seen: &mut ResponseSummary) {
    if raw.kind() != Kind::Object {
        return;
    }
    let read = Usage::read(&mut raw.reader()).and_then(counts);
    let Ok((Some(found), _)) = read else { return };
    let mut found = found.into_owned();
    if let Some(before) = &seen.usage {
        found.input = found.input.max(before.input);
        found.cache_read = found.cache_read.or(before.cache_read);
        found.cache_write = found.cache_write.or(before.cache_write);
    }
    seen.usage = Some(found);
}
