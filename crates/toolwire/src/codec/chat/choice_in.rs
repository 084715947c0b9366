//! `tool_choice`, its deprecated ancestor `function_call`, and
//! `parallel_tool_calls`: reading them.

use super::wire::{AllowedTools, Named, NamedChoice, nest, reread, string};
use crate::model::{Choice, Mode, Subset, ToolRef, ToolRefKind};
use crate::wire::{At, Kind, Pos, Raw, ReadError, Str, read_fields};

/// Reads `tool_choice`.
pub(super) fn read<'a>(raw: Raw<'a>, choice: &mut Choice<'a>) -> Result<(), ReadError> {
    let at = raw.pos();
    if raw.kind() != Kind::Object {
        choice.mode = Some(At::new(at, word(&raw)));
        return Ok(());
    }
    let Some(read) = reread::<NamedChoice<'a>>(&raw) else { return Ok(()) };
    let NamedChoice { at, kind, function, custom, allowed_tools, name, extra } = read?;
    if let Some(AllowedTools { at: inner, mode, tools, extra: nested }) = allowed_tools {
        choice.mode = Some(At::new(at, mode.as_ref().map_or(Mode::Auto, word)));
        let mut references = Vec::new();
        for raw in tools.unwrap_or_default() {
            if let Some(named) = reread(&raw).transpose()? {
                references.push(reference(&raw, named)?);
            }
        }
        choice.subset = Some(Subset { at: inner, tools: references });
        choice.extra = extra;
        nest(&mut choice.extra, "allowed_tools", nested);
        return Ok(());
    }
    let mode = if function.is_none() && custom.is_none() && name.is_none() {
        Mode::Other(raw)
    } else {
        let named = NamedChoice { at, kind, function, custom, allowed_tools: None, name, extra };
        Mode::Named(reference(&raw, named)?)
    };
    choice.mode = Some(At::new(at, mode));
    Ok(())
}

/// Reads the deprecated `function_call`.
pub(super) fn read_legacy<'a>(raw: Raw<'a>, choice: &mut Choice<'a>) -> Result<(), ReadError> {
    let at = raw.pos();
    choice.mode = Some(match reread::<Named<'a>>(&raw).filter(|_| raw.kind() == Kind::Object) {
        Some(read) => {
            let Named { at, name, extra: nested } = read?;
            let name = name.ok_or_else(|| ReadError::missing(at, "name"))?;
            let kind = ToolRefKind::Function;
            let mut extra = Vec::new();
            nest(&mut extra, "function", nested);
            At::new(at, Mode::Named(ToolRef { at, kind, name, namespace: None, extra }))
        }
        None => At::new(at, word(&raw)),
    });
    Ok(())
}

fn word<'a>(raw: &Raw<'a>) -> Mode<'a> {
    match string(raw).as_ref().map(Str::decode).as_deref() {
        Some("auto") => Mode::Auto,
        Some("none") => Mode::None,
        // Mistral's word is `any`.
        Some("required" | "any") => Mode::Any,
        Some(_) | None => Mode::Other(raw.clone()),
    }
}

fn reference<'a>(raw: &Raw<'a>, named: NamedChoice<'a>) -> Result<ToolRef<'a>, ReadError> {
    let NamedChoice { at, kind, function, custom, allowed_tools: _, name, mut extra } = named;
    let word = kind.as_ref().map(Str::decode);
    let (kind, under, inner) = match (word.as_deref(), function, custom) {
        (Some("function"), inner, None) => (ToolRefKind::Function, "function", inner),
        (Some("custom"), None, inner) => (ToolRefKind::Freeform, "custom", inner),
        (None, None, Some(inner)) => (ToolRefKind::Freeform, "custom", Some(inner)),
        (None, inner, None) => (ToolRefKind::Function, "function", inner),
        (other, _, _) => return Ok(typed(at, other.unwrap_or_default(), raw)),
    };
    // Some clients write the name flat, as in Responses.
    let (mut found, mut inside) = (name, at);
    if let Some(Named { at, name, extra: nested }) = inner {
        (found, inside) = (name.or(found), at);
        nest(&mut extra, under, nested);
    }
    let name = found.ok_or_else(|| ReadError::missing(inside, "name"))?;
    Ok(ToolRef { at, kind, name, namespace: None, extra })
}

/// A tool that is chosen by its type. OpenAI does not document this for Chat,
/// so the other members are kept as they came.
fn typed<'a>(at: Pos, kind: &str, raw: &Raw<'a>) -> ToolRef<'a> {
    let fields = raw.source_reader().and_then(|mut reader| read_fields(&mut reader).ok());
    let mut extra = fields.unwrap_or_default();
    extra.retain(|field| field.key != "type");
    let name = Str::plain(kind.to_owned()).at(at);
    ToolRef { at, kind: ToolRefKind::Typed, name, namespace: None, extra }
}
