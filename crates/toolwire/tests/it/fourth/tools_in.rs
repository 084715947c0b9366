//! Tool definitions: from the protocol into the model.

use toolwire::model::{Grammar, Tool, ToolKind};
use toolwire::wire::{Extra, Read, ReadError, Reader, Str};

use super::wire::{Instrument, Writes};

/// Reads a bare array of definitions.
pub(super) fn decode_list(body: &str) -> Result<Vec<Tool<'_>>, ReadError> {
    let mut reader = Reader::new(body);
    let list = Vec::<Instrument<'_>>::read(&mut reader)?;
    reader.finish()?;
    list.into_iter().map(decode).collect()
}

/// Reads one entry of `instruments`.
pub(super) fn decode(instrument: Instrument<'_>) -> Result<Tool<'_>, ReadError> {
    let Instrument { at, tool, about, takes, writes, exact, mut extra } = instrument;
    let name = tool.ok_or_else(|| ReadError::missing(at, "tool"))?;
    let kind = match writes {
        Some(writes) => {
            extra.extend(takes.map(|value| Extra { key: Str::plain("takes"), value }));
            ToolKind::Freeform { grammar: grammar(writes) }
        }
        None => ToolKind::Function { schema: takes },
    };
    let mut tool = Tool::new(at, name, kind);
    tool.description = about;
    tool.strict = exact;
    tool.extra = extra;
    Ok(tool)
}

fn grammar(writes: Writes<'_>) -> Option<Grammar<'_>> {
    let Writes { at, syntax, rules, extra } = writes;
    let any_text = syntax.is_none() && rules.is_none() && extra.is_empty();
    (!any_text).then_some(Grammar { at, syntax, definition: rules, extra })
}
