//! The stream: observing it as it passes from Chat to Chat.

use memchr::memmem;

use super::text_delta::{self, DeltaText};
use crate::codec::chat::wire::Usage;
use crate::codec::chat::{Chat, stop_in, usage_in};
use crate::codec::{Codec, EventOutcome, StreamObserver};
use crate::model::{Own, ResponseSummary, Start};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{Kind, ReadError, Reader};

/// Observes a stream that passes.
#[derive(Debug, Default)]
pub(crate) struct ChatStreamObserver {
    /// The bytes around the text of the last chunk, if it had nothing else.
    last: Stencil<DeltaText>,
    /// Whether there was a `finish_reason`.
    finished: bool,
}

impl StreamObserver for ChatStreamObserver {
    fn frame(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<EventOutcome, ReadError> {
        if self.last.fit(frame).is_some() {
            return Ok(EventOutcome::GoesOn);
        }
        let repeats = self.last.forget();
        if frame.data.trim() == "[DONE]" {
            let ended = || stop_in::of_word(None, summary.calls > 0, false).as_str();
            summary.stop = Some(summary.stop.unwrap_or_else(ended));
            return Ok(EventOutcome::End);
        }
        let mut reader = Reader::new(frame.data);
        let mut failed = false;
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            let name = key.decode();
            if name == "choices" && reader.peek() == Kind::Array {
                self.read_choices(&mut reader, summary)?;
            } else if name == "usage" && reader.peek() == Kind::Object {
                let counts = reader.nullable::<Usage<'_>>()?;
                summary.usage = counts.map(|counts| usage_in::read(counts).into_owned());
            } else {
                failed |= name == "error" && reader.peek() != Kind::Null;
                reader.skip()?;
            }
        }
        reader.finish()?;
        if failed {
            summary.error = Chat.decode_error(None, frame.data).ok();
            return Ok(EventOutcome::Failed);
        }
        if repeats {
            self.last.cut(frame, text_delta::find);
        }
        Ok(EventOutcome::GoesOn)
    }

    fn is_complete(&self) -> bool {
        self.finished
    }

    fn begun(&self) -> Option<(Start<'_>, u64)> {
        None
    }
}

impl ChatStreamObserver {
    fn read_choices(
        &mut self,
        reader: &mut Reader<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<(), ReadError> {
        let mut choices = reader.array()?;
        while choices.more(reader)? {
            if reader.peek() != Kind::Object {
                reader.skip()?;
                continue;
            }
            let mut members = reader.object()?;
            while let Some(key) = members.next(reader)? {
                let name = key.decode();
                if name == "delta" && reader.peek() == Kind::Object {
                    count_calls(reader, summary)?;
                } else {
                    let value = reader.raw()?;
                    let is_filled = value.kind() == Kind::String && value.text() != "\"\"";
                    if name == "finish_reason" && is_filled {
                        self.finished = true;
                        let word = value.reader().string().ok();
                        let has_calls = summary.calls > 0;
                        summary.stop = Some(stop_in::of_word(word, has_calls, false).as_str());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a chunk only has the role, before the model says anything.
pub(crate) fn opens_stream(frame: &Frame<'_>) -> bool {
    let has = |text: &str| memmem::find(frame.data.as_bytes(), text.as_bytes()).is_some();
    has(r#""role":"assistant""#)
        && has(r#""finish_reason":null"#)
        && (has(r#""content":"""#) || has(r#""content":null"#))
        && !has(r#""tool_calls""#)
        && !has(r#""reasoning"#)
}

/// Counts the calls that begin, which are those with a name.
fn count_calls(reader: &mut Reader<'_>, summary: &mut ResponseSummary) -> Result<(), ReadError> {
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        if key != "tool_calls" || reader.peek() != Kind::Array {
            reader.skip()?;
            continue;
        }
        let mut calls = reader.array()?;
        while calls.more(reader)? {
            if reader.peek() == Kind::Object {
                summary.calls += usize::from(has_name(reader)?);
            } else {
                reader.skip()?;
            }
        }
    }
    Ok(())
}

/// Whether a call, or the function of one, has a name.
fn has_name(reader: &mut Reader<'_>) -> Result<bool, ReadError> {
    let mut named = false;
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        let name = key.decode();
        if matches!(name.as_ref(), "function" | "custom") && reader.peek() == Kind::Object {
            named |= has_name(reader)?;
        } else {
            let value = reader.raw()?;
            let is_filled = value.kind() == Kind::String && value.text() != "\"\"";
            named |= name == "name" && is_filled;
        }
    }
    Ok(named)
}
