//! An answer that passes: what a log says of it.

use super::wire::Usage;
use super::{turns_in, usage_in};
use crate::model::{Item, ResponseOverview, Stop};
use crate::wire::{Kind, Reader, Str, overview};

/// Reads what a log says of an answer. `None` if it is unusual.
pub(super) fn response(body: &str) -> Option<ResponseOverview<'_>> {
    let mut reader = Reader::new(body);
    let (mut model, mut usage) = (None, None);
    let mut output = Output::default();
    overview::members(&mut reader, |key, reader| {
        match key {
            "model" => model = overview::value(reader)?,
            "output" => overview::elements(reader, |reader| output.read_item(reader))?,
            "usage" => usage = overview::value::<Usage<'_>>(reader)?.map(usage_in::decode),
            "status" => {
                let status = overview::value::<Str<'_>>(reader)?;
                status.is_none_or(|status| status == "completed").then_some(())?;
            }
            "error" | "incomplete_details" => overview::absent(reader)?,
            "id" | "service_tier" => _ = overview::has_text(reader)?,
            _other => overview::anything(reader)?,
        }
        Some(())
    })?;
    reader.finish().ok()?;
    // Whether an answer that says nothing is one is for others to decide.
    let Output { calls, has_content } = output;
    has_content.then_some(())?;
    let stop = if calls > 0 { Stop::ToolCalls } else { Stop::EndTurn };
    Some(ResponseOverview { model, usage, calls, stop: stop.as_str() })
}

/// The items of an answer.
#[derive(Default)]
struct Output {
    calls: usize,
    has_content: bool,
}

impl Output {
    fn read_item(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        match reader.tag("type").ok()??.decode().as_ref() {
            "message" => self.read_message(reader),
            "function_call" => {
                self.calls += 1;
                self.has_content = true;
                read_call(reader)
            }
            _other => {
                // A call that has its result in the same answer is not the client's.
                let turn = turns_in::item_alone(reader).ok()?;
                let is_usual = |item| matches!(item, &Item::Reasoning(_) | &Item::Hosted(_));
                turn.items.iter().all(is_usual).then_some(())
            }
        }
    }

    /// Reads a message of texts.
    fn read_message(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        overview::members(reader, |key, reader| {
            match key {
                "type" | "role" | "id" | "status" | "phase" => _ = overview::has_text(reader)?,
                "content" => {
                    (reader.peek() == Kind::Array).then_some(())?;
                    overview::elements(reader, |reader| {
                        self.has_content = true;
                        read_text(reader)
                    })?;
                }
                _other => overview::anything(reader)?,
            }
            Some(())
        })
    }
}

fn read_text(reader: &mut Reader<'_>) -> Option<()> {
    (reader.tag("type").ok()?? == "output_text").then_some(())?;
    let mut is_whole = false;
    overview::members(reader, |key, reader| {
        match key {
            "text" => is_whole = overview::has_text(reader)?,
            "type" => _ = overview::has_text(reader)?,
            "prompt_cache_breakpoint" => overview::absent(reader)?,
            _other => overview::anything(reader)?,
        }
        Some(())
    })?;
    is_whole.then_some(())
}

/// Reads the call of a function.
fn read_call(reader: &mut Reader<'_>) -> Option<()> {
    let mut is_named = false;
    overview::members(reader, |key, reader| {
        match key {
            "name" => is_named = overview::has_text(reader)?,
            "type" | "id" | "call_id" | "namespace" | "arguments" | "status" => {
                _ = overview::has_text(reader)?;
            }
            "input" | "action" | "operation" | "execution" => overview::absent(reader)?,
            _other => overview::anything(reader)?,
        }
        Some(())
    })?;
    is_named.then_some(())
}
