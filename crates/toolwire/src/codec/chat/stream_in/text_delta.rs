//! Chunks in which only one text is new.

use super::reasoning::ReasoningMember;
use crate::wire::stencil::Holes;
use crate::wire::{At, Kind, Read, Reader};

/// What the one text of a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaText {
    Content,
    Reasoning(ReasoningMember),
    /// The arguments of the call with that index.
    Arguments(Option<u64>),
}

/// Looks for the one text of a chunk that has been read. The chunk may also have
/// members that mean nothing when they are repeated, but no others.
pub(super) fn find(data: &str, holes: &mut Holes<'_>) -> Option<DeltaText> {
    let mut reader = Reader::new(data);
    let mut found_text = None;
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        match key.decode().as_ref() {
            "choices" => found_text = Some(find_in_choices(&mut reader, holes)?),
            "obfuscation" => skip_padding(&mut reader, holes)?,
            "usage" | "error" | "x_groq" => skip_null(&mut reader)?,
            // The name of the answer and of its model count once.
            _repeated => reader.skip().ok()?,
        }
    }
    found_text
}

fn find_in_choices(reader: &mut Reader<'_>, holes: &mut Holes<'_>) -> Option<DeltaText> {
    let mut found_text = None;
    let mut list = reader.array().ok()?;
    while list.more(reader).ok()? {
        if found_text.is_some() {
            return None;
        }
        let mut members = reader.object().ok()?;
        while let Some(key) = members.next(reader).ok()? {
            match key.decode().as_ref() {
                "index" => (At::<u64>::read(reader).ok()?.value == 0).then_some(())?,
                "delta" => found_text = Some(find_in_delta(reader, holes)?),
                "finish_reason" => skip_empty(reader)?,
                _silent => skip_null(reader)?,
            }
        }
    }
    found_text
}

fn find_in_delta(reader: &mut Reader<'_>, holes: &mut Holes<'_>) -> Option<DeltaText> {
    let mut found_text = None;
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(reader).ok()? {
        let kind = match key.decode().as_ref() {
            "role" => {
                reader.skip().ok()?;
                continue;
            }
            "content" => DeltaText::Content,
            "reasoning_content" => DeltaText::Reasoning(ReasoningMember::Content),
            "reasoning" => DeltaText::Reasoning(ReasoningMember::Reasoning),
            "tool_calls" if reader.peek() == Kind::Array && found_text.is_none() => {
                found_text = Some(find_in_calls(reader, holes)?);
                continue;
            }
            _silent => {
                skip_null(reader)?;
                continue;
            }
        };
        if reader.peek() == Kind::Null {
            reader.skip().ok()?;
            continue;
        }
        let text = reader.string().ok()?;
        if text.is_empty() {
            continue;
        }
        if found_text.replace(kind).is_some() {
            return None;
        }
        holes.text(&text)?;
    }
    found_text
}

fn find_in_calls(reader: &mut Reader<'_>, holes: &mut Holes<'_>) -> Option<DeltaText> {
    let mut found_text = None;
    let mut list = reader.array().ok()?;
    while list.more(reader).ok()? {
        if found_text.is_some() {
            return None;
        }
        let (mut index, mut found) = (None, false);
        let mut members = reader.object().ok()?;
        while let Some(key) = members.next(reader).ok()? {
            match key.decode().as_ref() {
                "index" => index = reader.nullable::<At<u64>>().ok()?,
                "type" => reader.skip().ok()?,
                "id" => skip_empty(reader)?,
                "function" => found = find_in_function(reader, holes)?,
                "custom" => skip_null(reader)?,
                _kept => return None,
            }
        }
        found.then_some(())?;
        found_text = Some(DeltaText::Arguments(index.map(|index| index.value)));
    }
    found_text
}

/// Whether the function of a call has arguments, and nothing else.
fn find_in_function(reader: &mut Reader<'_>, holes: &mut Holes<'_>) -> Option<bool> {
    let mut found = false;
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(reader).ok()? {
        match key.decode().as_ref() {
            "arguments" => {
                holes.text(&reader.string().ok()?)?;
                found = true;
            }
            "name" => skip_empty(reader)?,
            _kept => return None,
        }
    }
    Some(found)
}

fn skip_padding(reader: &mut Reader<'_>, holes: &mut Holes<'_>) -> Option<()> {
    if reader.peek() != Kind::String {
        return reader.skip().ok();
    }
    holes.padding(&reader.string().ok()?)
}

fn skip_null(reader: &mut Reader<'_>) -> Option<()> {
    (reader.peek() == Kind::Null).then_some(())?;
    reader.skip().ok()
}

fn skip_empty(reader: &mut Reader<'_>) -> Option<()> {
    if reader.peek() == Kind::String {
        return reader.string().ok()?.is_empty().then_some(());
    }
    skip_null(reader)
}
