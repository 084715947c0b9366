//! An answer that passes: what a log says of it.

use super::wire::Usage;
use super::{stop_in, turns_in, usage_in};
use crate::model::{Item, ResponseGlance};
use crate::wire::{Pos, Reader, Str, glance};

/// Takes a glance at an answer. `None` if it is unusual.
pub(super) fn response(body: &str) -> Option<ResponseGlance<'_>> {
    let mut reader = Reader::new(body);
    let (mut model, mut usage, mut reason) = (None, None, None);
    let (mut blocks, mut calls) = (0, 0);
    glance::members(&mut reader, |key, reader| {
        match key {
            "model" => model = glance::value(reader)?,
            "content" => glance::elements(reader, |reader| {
                blocks += 1;
                calls += usize::from(is_call(reader)?);
                Some(())
            })?,
            "stop_reason" => reason = glance::value::<Str<'_>>(reader)?,
            "usage" => {
                let counts = glance::value::<Usage<'_>>(reader)?.map(usage_in::counts);
                usage = counts.transpose().ok()?.map(|(counts, _tier)| counts);
            }
            "type" | "role" | "id" | "stop_sequence" => _ = glance::has_text(reader)?,
            "stop_details" => glance::absent(reader)?,
            _other => glance::anything(reader)?,
        }
        Some(())
    })?;
    reader.finish().ok()?;
    // Whether an answer that says nothing is one is for others to decide.
    (blocks > 0).then_some(())?;
    let stop = stop_in::stop(Pos::START, reason, None, None, calls > 0, &mut Vec::new()).ok()?;
    Some(ResponseGlance { model, usage, calls, stop: stop.value.as_str() })
}

/// Passes over a block. Whether it is a call.
fn is_call(reader: &mut Reader<'_>) -> Option<bool> {
    let kind = reader.tag("type").ok()??;
    let (essential, is_call) = match kind.decode().as_ref() {
        "text" => ("text", false),
        "tool_use" => ("name", true),
        _other => return Some(matches!(turns_in::block(reader).ok()?, Item::Call(_))),
    };
    let mut is_whole = false;
    glance::members(reader, |key, reader| {
        match key {
            key if key == essential => is_whole = glance::has_text(reader)?,
            "type" => _ = glance::has_text(reader)?,
            "id" if is_call => _ = glance::has_text(reader)?,
            "cache_control" => glance::absent(reader)?,
            _other => glance::anything(reader)?,
        }
        Some(())
    })?;
    is_whole.then_some(is_call)
}
