//! An answer that passes: what a log says of it.

use super::stop_in::Said;
use super::wire::Usage;
use super::{stop_in, usage_in};
use crate::model::{ResponseOverview, Stop};
use crate::wire::{At, Kind, Reader, Str, overview};

/// Reads what a log says of an answer. `None` if it is unusual.
pub(super) fn response(body: &str) -> Option<ResponseOverview<'_>> {
    let mut reader = Reader::new(body);
    let (mut model, mut usage) = (None, None);
    let mut choices = Choices::default();
    overview::members(&mut reader, |key, reader| {
        match key {
            "model" => model = overview::value(reader)?,
            "choices" => choices.read(reader)?,
            "usage" => usage = overview::value::<Usage<'_>>(reader)?.map(usage_in::read),
            "id" | "object" | "service_tier" => _ = overview::has_text(reader)?,
            "created" => _ = overview::value::<At<u64>>(reader)?,
            "error" => overview::absent(reader)?,
            _other => overview::anything(reader)?,
        }
        Some(())
    })?;
    reader.finish().ok()?;
    // Whether an answer that says nothing is one is for others to decide.
    let Choices { stop, calls, has_content } = choices;
    Some(ResponseOverview { model, usage, calls, stop: stop.filter(|_| has_content)? })
}

/// The choices of an answer.
#[derive(Default)]
struct Choices {
    /// Why the first one ended.
    stop: Option<&'static str>,
    calls: usize,
    has_content: bool,
}

impl Choices {
    fn read(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        overview::elements(reader, |reader| {
            let (mut calls, mut word) = (None, None);
            overview::members(reader, |key, reader| {
                match key {
                    "message" => calls = Some(self.read_message(reader)?),
                    "finish_reason" => word = overview::value::<Str<'_>>(reader)?,
                    "index" => _ = overview::value::<At<u64>>(reader)?,
                    "error" => overview::absent(reader)?,
                    _other => overview::anything(reader)?,
                }
                Some(())
            })?;
            let calls = calls?;
            self.calls += calls;
            if self.stop.is_none() {
                let said = Said { calls: calls > 0, cut: false, refused: false };
                let stop = stop_in::of_word(word, said);
                // Whether an answer was broken off is for the reader of all there is.
                let is_usual = !matches!(stop, Stop::Failed(_) | Stop::Other(_));
                self.stop = Some(is_usual.then(|| stop.as_str())?);
            }
            Some(())
        })
    }

    /// Reads a message of text and calls. How many calls it has.
    fn read_message(&mut self, reader: &mut Reader<'_>) -> Option<usize> {
        let mut calls = 0;
        overview::members(reader, |key, reader| {
            match key {
                "role" => {
                    let role = overview::value::<Str<'_>>(reader)?;
                    role.is_none_or(|role| role == "assistant").then_some(())?;
                }
                "content" => self.has_content |= overview::has_text(reader)?,
                "tool_calls" if reader.peek() == Kind::Array => {
                    overview::elements(reader, |reader| {
                        calls += 1;
                        read_call(reader)
                    })?;
                }
                "tool_calls" | "refusal" | "audio" | "function_call" | "name" | "tool_call_id" => {
                    overview::absent(reader)?;
                }
                // Reasoning, annotations and what only a vendor knows are neither text
                // nor calls.
                _other => overview::anything(reader)?,
            }
            Some(())
        })?;
        self.has_content |= calls > 0;
        Some(calls)
    }
}

/// Reads the call of a function.
fn read_call(reader: &mut Reader<'_>) -> Option<()> {
    let mut is_named = false;
    overview::members(reader, |key, reader| {
        match key {
            "id" | "type" => _ = overview::has_text(reader)?,
            "function" => overview::members(reader, |key, reader| {
                match key {
                    "name" => is_named = overview::has_text(reader)?,
                    "arguments" => _ = overview::has_text(reader)?,
                    _other => overview::anything(reader)?,
                }
                Some(())
            })?,
            "custom" => overview::absent(reader)?,
            _other => overview::anything(reader)?,
        }
        Some(())
    })?;
    is_named.then_some(())
}
