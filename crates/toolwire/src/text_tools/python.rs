//! Arguments in Python's syntax.

use super::dialect::quoted;
use super::escape::escape_json;
use crate::wire::{Kind, Reader};

/// Writes the members of a JSON object as keyword arguments. Anything else is the
/// one argument `value`.
pub(super) fn write_keywords(json: &str, out: &mut String) {
    let start = out.len();
    if keywords(&mut Reader::new(json), out).is_none() {
        out.truncate(start);
        out.push_str("value=");
        out.push_str(&quoted(&escape_json(json)));
    }
}

fn keywords(reader: &mut Reader<'_>, out: &mut String) -> Option<()> {
    if reader.peek() != Kind::Object {
        return None;
    }
    let mut members = reader.object().ok()?;
    let mut is_first = true;
    while let Some(key) = members.next(reader).ok()? {
        let key = key.decode().into_owned();
        let is_name = key.chars().all(|c| c.is_alphanumeric() || c == '_')
            && key.chars().next().is_some_and(|c| !c.is_numeric());
        if !is_name {
            return None;
        }
        if !std::mem::take(&mut is_first) {
            out.push_str(", ");
        }
        out.push_str(&key);
        out.push('=');
        value(reader, out)?;
    }
    Some(())
}

/// Writes a JSON value as a Python literal.
fn value(reader: &mut Reader<'_>, out: &mut String) -> Option<()> {
    match reader.peek() {
        Kind::Object => {
            let mut members = reader.object().ok()?;
            out.push('{');
            let mut is_first = true;
            while let Some(key) = members.next(reader).ok()? {
                if !std::mem::take(&mut is_first) {
                    out.push_str(", ");
                }
                out.push_str(&escape_json(&quoted(&key.decode())));
                out.push_str(": ");
                value(reader, out)?;
            }
            out.push('}');
        }
        Kind::Array => {
            let mut items = reader.array().ok()?;
            out.push('[');
            let mut is_first = true;
            while items.more(reader).ok()? {
                if !std::mem::take(&mut is_first) {
                    out.push_str(", ");
                }
                value(reader, out)?;
            }
            out.push(']');
        }
        Kind::Bool => out.push_str(if reader.boolean().ok()? { "True" } else { "False" }),
        Kind::Null => {
            reader.skip().ok()?;
            out.push_str("None");
        }
        Kind::String => out.push_str(&escape_json(&quoted(&reader.string().ok()?.decode()))),
        Kind::Number | Kind::Invalid | Kind::End => out.push_str(reader.raw().ok()?.text()),
    }
    Some(())
}
