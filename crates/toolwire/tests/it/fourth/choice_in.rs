//! Which tools the model may call: from the protocol into the model.

use toolwire::model::{Choice, Mode, Subset, ToolRef, ToolRefKind};
use toolwire::wire::{At, Extra, Kind, Pos, Raw, Read, ReadError, Str};

use super::wire::{List, Must};

/// Reads `must`, `only` and `alone`.
pub(super) fn decode<'a>(
    must: Option<Raw<'a>>,
    only: Option<Raw<'a>>,
    alone: Option<At<bool>>,
) -> Result<Choice<'a>, ReadError> {
    let mut choice = Choice::default();
    if let Some(raw) = must {
        choice.mode = Some(At::new(raw.pos(), decode_mode(raw)?));
    }
    if let Some(raw) = only {
        match (&choice.mode, raw.source_reader()) {
            // A tool that must be called is the only one that may be.
            (Some(At { pos: _, value: Mode::Named(_) }), _) | (_, None) => {
                choice.extra.push(Extra { key: Str::plain("only"), value: raw });
            }
            (_, Some(mut reader)) => {
                let List { at, items } = List::<Str<'_>>::read(&mut reader)?;
                let tools = items.into_iter().map(|name| reference(name.pos(), name, Vec::new()));
                choice.subset = Some(Subset { at, tools: tools.collect() });
            }
        }
    }
    choice.parallel = alone.map(|alone| At::new(alone.pos, !alone.value));
    Ok(choice)
}

fn decode_mode(raw: Raw<'_>) -> Result<Mode<'_>, ReadError> {
    if raw.kind() == Kind::Object
        && let Some(mut reader) = raw.source_reader()
    {
        let Must { at, tool, extra } = Must::read(&mut reader)?;
        let name = tool.ok_or_else(|| ReadError::missing(at, "tool"))?;
        return Ok(Mode::Named(reference(at, name, extra)));
    }
    Ok(match raw.text() {
        "\"free\"" => Mode::Auto,
        "\"never\"" => Mode::None,
        "\"some\"" => Mode::Any,
        _other => Mode::Other(raw),
    })
}

fn reference<'a>(at: Pos, name: Str<'a>, extra: Vec<Extra<'a>>) -> ToolRef<'a> {
    ToolRef { at, kind: ToolRefKind::Any, name, namespace: None, extra }
}
