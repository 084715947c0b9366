//! Values as a tool's schema wants them. Only what converts without loss is
//! converted: `"3"` where a number is wanted, `3` where a text is wanted.

use std::collections::HashSet;

use super::escape::push_escaped_str;
use super::lexer::{Lexed, Lexer};
use super::schema::{Schema, Type};
use super::text::from;
use super::value::{Progress, ValueWriter, literal};
use crate::wire::{Raw, Reader};

/// A strict JSON value, aligned with its schema. `None` if it stays as it is.
pub(super) fn value(schema: &Schema, json: &str) -> Option<String> {
    aligned(schema, &Raw::parse(json).ok()?, 0)
}

/// Text from between tags as JSON. `None` if there is no value: an empty tag
/// where no text is wanted.
pub(super) fn raw_text(schema: Option<&Schema>, text: &str) -> Option<String> {
    let Some(schema) = schema else {
        // Nothing is known about the parameter, so JSON is taken for what it is.
        let value = lenient(text.trim()).filter(|json| !json.starts_with('"'));
        return Some(value.unwrap_or_else(|| quoted(text)));
    };
    let only_text = schema.names(Type::String) && !schema.names(Type::Null);
    if only_text && schema.types.iter().all(|kind| *kind == Type::String) {
        return Some(quoted(text));
    }
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return schema.takes(Type::String).then(|| quoted(text));
    }
    if let Some(json) = lenient(trimmed) {
        let fits = schema.takes(kind_of(&json));
        let is_text = json.starts_with('"');
        if fits && !is_text {
            return Some(value(schema, &json).unwrap_or(json));
        }
        if let Some(aligned) = value(schema, &json) {
            return Some(aligned);
        }
    }
    // A value that was escaped once too often.
    if !schema.takes(Type::String)
        && let Ok(plain) = Reader::new(&format!("\"{trimmed}\"")).string()
        && let Some(json) =
            lenient(plain.decode().trim()).filter(|json| schema.takes(kind_of(json)))
    {
        return Some(value(schema, &json).unwrap_or(json));
    }
    let quoted = quoted(if schema.names(Type::String) { text } else { trimmed });
    Some(value(schema, &quoted).unwrap_or(quoted))
}

/// Whether a strict JSON value fits the schema, as far as types and required
/// members go.
pub(super) fn fits(schema: &Schema, json: &Raw<'_>, depth: usize) -> bool {
    let kind = kind_of(json.text());
    if !schema.takes(kind) {
        return false;
    }
    if depth > DEEPEST {
        return true;
    }
    match kind {
        Type::Object => {
            let mut reader = json.reader();
            let Ok(mut members) = reader.object() else { return false };
            let mut missing: HashSet<&str> = schema.required.iter().map(String::as_str).collect();
            while let Ok(Some(key)) = members.next(&mut reader) {
                let Ok(member) = reader.raw() else { return false };
                let key = key.decode();
                missing.remove(&*key);
                if let Some(property) = schema.property(&key)
                    && !fits(property, &member, depth + 1)
                {
                    return false;
                }
            }
            missing.is_empty()
        }
        Type::Array => {
            let Some(items) = &schema.items else { return true };
            let elements = json.elements().unwrap_or_default();
            elements.iter().all(|element| fits(items, element, depth + 1))
        }
        Type::String if !schema.choices.is_empty() => {
            let text = Reader::new(json.text()).string();
            text.is_ok_and(|text| schema.choices.iter().any(|choice| *choice == text.decode()))
        }
        Type::Null | Type::Boolean | Type::Integer | Type::Number | Type::String => true,
    }
}

fn aligned(schema: &Schema, json: &Raw<'_>, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let kind = kind_of(json.text());
    match kind {
        Type::Object if schema.takes(Type::Object) => object(schema, json, depth),
        Type::Array if schema.takes(Type::Array) => array(schema, json, depth),
        Type::String => from_text(schema, &Reader::new(json.text()).string().ok()?.decode()),
        Type::Integer | Type::Number | Type::Boolean if !schema.takes(kind) => {
            let whole = json.text().strip_suffix(".0").unwrap_or(json.text());
            if schema.names(Type::Integer)
                && kind == Type::Number
                && kind_of(whole) == Type::Integer
            {
                return Some(whole.to_owned());
            }
            schema.names(Type::String).then(|| quoted(json.text()))
        }
        Type::Null | Type::Boolean | Type::Integer | Type::Number | Type::Array | Type::Object => {
            None
        }
    }
}

/// A text where the schema may want something else.
fn from_text(schema: &Schema, text: &str) -> Option<String> {
    if schema.takes(Type::String) {
        if schema.choices.is_empty() || schema.choices.iter().any(|choice| choice == text) {
            return None;
        }
        let mut same =
            schema.choices.iter().filter(|choice| choice.eq_ignore_ascii_case(text.trim()));
        return match (same.next(), same.next()) {
            (Some(choice), None) => Some(quoted(choice)),
            _ => None,
        };
    }
    let trimmed = text.trim();
    if schema.names(Type::Boolean) {
        for word in ["true", "false"] {
            if trimmed.eq_ignore_ascii_case(word) {
                return Some(word.to_owned());
            }
        }
    }
    let json = lenient(without_zeros(trimmed))?;
    let kind = kind_of(&json);
    let found = match kind {
        Type::String => return None,
        kind if schema.takes(kind) => json,
        Type::Number if schema.names(Type::Integer) => {
            let whole = json.strip_suffix(".0")?;
            whole.to_owned()
        }
        Type::Null | Type::Boolean | Type::Integer | Type::Number | Type::Array | Type::Object => {
            return None;
        }
    };
    Some(value(schema, &found).unwrap_or(found))
}

/// A number without the zeros that it is padded with.
fn without_zeros(text: &str) -> &str {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.trim_start_matches('0') {
        "" if is_whole => "0",
        digits if is_whole => digits,
        _ => text,
    }
}

fn object(schema: &Schema, json: &Raw<'_>, depth: usize) -> Option<String> {
    let mut reader = json.reader();
    let mut members = reader.object().ok()?;
    let mut text = String::from("{");
    let mut changed = false;
    while let Some(key) = members.next(&mut reader).ok()? {
        let member = reader.raw().ok()?;
        let property = schema.property(&key.decode());
        let new = property.and_then(|property| aligned(property, &member, depth + 1));
        changed |= new.is_some();
        if text.len() > 1 {
            text.push(',');
        }
        text.extend(["\"", key.spelled(), "\":", new.as_deref().unwrap_or(member.text())]);
    }
    text.push('}');
    changed.then_some(text)
}

fn array(schema: &Schema, json: &Raw<'_>, depth: usize) -> Option<String> {
    let items = schema.items.as_deref()?;
    let mut text = String::from("[");
    let mut changed = false;
    for element in json.elements().ok()? {
        let new = aligned(items, &element, depth + 1);
        changed |= new.is_some();
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(new.as_deref().unwrap_or(element.text()));
    }
    text.push(']');
    changed.then_some(text)
}

/// Text that is one value, read leniently, as strict JSON.
pub(super) fn lenient(text: &str) -> Option<String> {
    if let Some((word, _)) = literal(text) {
        return Some(word);
    }
    let mut lexer = Lexer::default();
    let mut writer = ValueWriter::default();
    let mut out = String::new();
    let mut rest = text;
    loop {
        let (length, lexed) = lexer.next(rest, true);
        rest = from(rest, length);
        let Lexed::Token(token) = lexed else { return None };
        match writer.token(token, &mut out) {
            Progress::More => {}
            Progress::Done => return rest.trim().is_empty().then_some(out),
            Progress::Bad => return None,
        }
    }
}

/// The members of an object.
pub(super) fn members(object: &str) -> Option<Vec<(String, String)>> {
    let mut reader = Reader::new(object);
    let mut members = reader.object().ok()?;
    let mut found = Vec::new();
    while let Some(key) = members.next(&mut reader).ok()? {
        found.push((key.decode().into_owned(), reader.raw().ok()?.text().to_owned()));
    }
    Some(found)
}

/// Text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    push_escaped_str(text, &mut out);
    out.push('"');
    out
}

/// The type of a strict JSON value.
pub(super) fn kind_of(json: &str) -> Type {
    match json.as_bytes().first() {
        Some(b'{') => Type::Object,
        Some(b'[') => Type::Array,
        Some(b'"') => Type::String,
        Some(b't' | b'f') => Type::Boolean,
        Some(b'-' | b'0'..=b'9') => {
            let fraction = json.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
            if fraction { Type::Number } else { Type::Integer }
        }
        Some(_) | None => Type::Null,
    }
}

const DEEPEST: usize = 32;
