//! `tool_choice`: wire to model.

use super::wire::{AllowedTools, ChoiceRef};
use crate::model::{Choice, Mode, Subset, ToolRef, ToolRefKind};
use crate::wire::{At, Extra, Kind, Raw, Read, ReadError, Reader, Str};

/// `tool_choice` in any of its shapes, and how it was spelled.
#[derive(Debug)]
pub(super) struct ToolChoice<'a> {
    pub(super) choice: Choice<'a>,
    pub(super) raw: Raw<'a>,
}

impl<'a> Read<'a> for ToolChoice<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let start = reader.clone();
        let mut choice = Choice::default();
        if reader.peek() == Kind::String {
            choice.mode = Some(At::new(at, mode(&reader.string()?)));
            return Ok(Self { choice, raw: reader.raw_since(&start) });
        }
        let tag = reader.tag("type")?;
        match tag.as_ref().map(Str::decode).as_deref() {
            Some("allowed_tools") => {
                let AllowedTools { at, kind: _, mode: word, tools, extra } =
                    AllowedTools::read(reader)?;
                choice.mode = word.map(|word| At::new(word.pos(), mode(&word)));
                let tools = tools.unwrap_or_default().into_iter().map(reference).collect();
                choice.subset = Some(Subset { at, tools });
                choice.extra = extra;
            }
            Some(_kind) => {
                let wanted = reference(ChoiceRef::read(reader)?);
                choice.mode = Some(At::new(at, Mode::Named(wanted)));
            }
            None => choice.mode = Some(At::new(at, Mode::Other(reader.raw()?))),
        }
        Ok(Self { choice, raw: reader.raw_since(&start) })
    }
}

fn mode<'a>(word: &Str<'a>) -> Mode<'a> {
    match word.decode().as_ref() {
        "auto" => Mode::Auto,
        "none" => Mode::None,
        "required" => Mode::Any,
        _unknown => Mode::Other(Raw::literal(word)),
    }
}

fn reference(wanted: ChoiceRef<'_>) -> ToolRef<'_> {
    let ChoiceRef { at, kind, name, namespace, server_label, mut extra } = wanted;
    let word = kind.as_ref().map(Str::decode);
    let (kind, name) = match (word.as_deref(), name, server_label) {
        (Some("function"), Some(name), None) => (ToolRefKind::Function, name),
        (Some("custom"), Some(name), None) => (ToolRefKind::Freeform, name),
        (Some("mcp"), name, Some(label)) => {
            extra.extend(name.map(tool_of_server));
            (ToolRefKind::Mcp, label)
        }
        (Some(word), name, label) => {
            extra.extend(name.map(tool_of_server));
            extra.extend(label.map(|label| member("server_label", label)));
            (ToolRefKind::Typed, Str::plain(word.to_owned()).at(at))
        }
        (None, name, label) => {
            extra.extend(label.map(|label| member("server_label", label)));
            (ToolRefKind::Any, name.unwrap_or(Str::plain("")))
        }
    };
    ToolRef { at, kind, name, namespace, extra }
}

/// The one tool of an MCP server that is meant.
fn tool_of_server(name: Str<'_>) -> Extra<'_> {
    member("name", name)
}

fn member<'a>(key: &'static str, text: Str<'a>) -> Extra<'a> {
    Extra { key: Str::plain(key), value: Raw::literal(&text) }
}
