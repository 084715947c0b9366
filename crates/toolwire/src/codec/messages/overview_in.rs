//! An answer that passes: what a log says of it.

use super::wire::Usage;
use super::{stop_in, turns_in, usage_in};
use crate::model::{Item, ResponseOverview};
use crate::wire::{Pos, Reader, Str, overview};

/// Reads what a log says of an answer. `None` if it is unusual.
pub(super) fn response(body: &str) -> Option<ResponseOverview<'_>> {
    let mut reader = Reader::new(body);
    let (mut model, mut usage, mut reason) = (None, None, None);
    let (mut blocks, mut calls) = (0, 0);
    overview::members(&mut reader, |key, reader| {
        match key {
            "model" => model = overview::value(reader)?,
            "content" => overview::elements(reader, |reader| {
                blocks += 1;
                calls += usize::from(is_call(reader)?);
                Some(())
            })?,
            "stop_reason" => reason = overview::value::<Str<'_>>(reader)?,
            "usage" => {
                let counts = overview::value::<Usage<'_>>(reader)?.map(usage_in::counts);
                usage = counts.transpose().ok()?.map(|(counts, _tier)| counts);
            }
            "type" | "role" | "id" | "stop_sequence" => _ = overview::has_text(reader)?,
            "stop_details" => overview::absent(reader)?,
            _other => overview::anything(reader)?,
        }
        Some(())
    })?;
    reader.finish().ok()?;
    // Whether an answer that says nothing is one is for others to decide.
    (blocks > 0).then_some(())?;
    let stop = stop_in::stop(Pos::START, reason, None, None, calls > 0, &mut Vec::new()).ok()?;
    Some(ResponseOverview { model, usage, calls, stop: stop.value.as_str() })
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
    overview::members(reader, |key, reader| {
        match key {
            key if key == essential => is_whole = overview::has_text(reader)?,
            "type" => _ = overview::has_text(reader)?,
            "id" if is_call => _ = overview::has_text(reader)?,
            "cache_control" => overview::absent(reader)?,
            _other => overview::anything(reader)?,
        }
        Some(())
    })?;
    is_whole.then_some(is_call)
}
