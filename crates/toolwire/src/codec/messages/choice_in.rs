//! Which tools the model may call: from Messages into the model.

use std::borrow::Cow;

use super::wire::ToolChoice;
use crate::model::{Choice, Mode, ToolRef, ToolRefKind};
use crate::wire::{At, Kind, Raw, Read, ReadError};

/// Reads `tool_choice`.
pub(super) fn decode(raw: Raw<'_>) -> Result<Choice<'_>, ReadError> {
    let at = raw.pos();
    let mut choice = Choice::default();
    let Some(mut reader) = raw.source_reader().filter(|_| raw.kind() == Kind::Object) else {
        choice.mode = Some(At::new(at, Mode::Other(raw)));
        return Ok(choice);
    };
    let kind = reader.tag("type")?;
    let kind = kind.as_ref().map_or(Cow::Borrowed(""), |kind| kind.decode());
    if !matches!(kind.as_ref(), "auto" | "any" | "none" | "tool") {
        choice.mode = Some(At::new(at, Mode::Other(raw)));
        return Ok(choice);
    }
    let ToolChoice { at, kind: _, name, disable_parallel_tool_use, extra } =
        ToolChoice::read(&mut reader)?;
    let mode = match (kind.as_ref(), name) {
        ("any", _) => Mode::Any,
        ("none", _) => Mode::None,
        ("tool", Some(name)) => {
            let kind = ToolRefKind::Any;
            Mode::Named(ToolRef { at, kind, name, namespace: None, extra: Vec::new() })
        }
        ("tool", None) => return Err(ReadError::missing(at, "name")),
        (_, _) => Mode::Auto,
    };
    choice.mode = Some(At::new(at, mode));
    choice.parallel = disable_parallel_tool_use.map(|disable| At::new(disable.pos, !disable.value));
    choice.extra = extra;
    Ok(choice)
}
