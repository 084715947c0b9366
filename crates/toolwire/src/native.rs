//! Tools whose shape one vendor fixed, as ordinary functions of any protocol.
//!
//! Responses' `local_shell`, `shell`, `apply_patch` and client-run
//! `tool_search`, and Messages' `bash`, `text_editor` and `memory` are run by
//! the client. Toward another protocol they become functions that say the same,
//! and calls come back in the vendor's shape.

mod functions;
mod result;

pub use functions::{Function, function};
pub use result::result_text;

use crate::model::NativeKind;
use crate::wire::{Extra, Kind, Object, Raw, Write, read_fields};

/// The function's arguments that say what a native action says. Members keep
/// their bytes and their order.
pub fn arguments<'r>(kind: NativeKind, action: &'r Raw<'_>) -> Raw<'r> {
    match kind {
        NativeKind::LocalShell => local_shell_arguments(action),
        NativeKind::ApplyPatch => {
            rebuilt(action, |object| object.put("operation", action)).unwrap_or(action.borrowed())
        }
        // The action of these is an object of arguments already.
        NativeKind::Shell
        | NativeKind::ToolSearch
        | NativeKind::Bash
        | NativeKind::TextEditor
        | NativeKind::Memory
        | NativeKind::Computer => action.borrowed(),
    }
}

/// The native action that says what the function's arguments say. `None` if
/// they do not fit, in which case the call stays a function call.
pub fn action(kind: NativeKind, arguments: &str) -> Option<Raw<'static>> {
    let arguments = Raw::parse(arguments).ok()?;
    let fields = read_fields(&mut arguments.reader()).ok()?;
    match kind {
        NativeKind::LocalShell => local_shell_action(&fields),
        NativeKind::ApplyPatch => patch_action(&fields),
        NativeKind::Shell => {
            let fits = fields.iter().all(|field| match field.key.decode().as_ref() {
                "commands" => is_texts(&field.value),
                "timeout_ms" | "max_output_length" => is_optional(&field.value, Kind::Number),
                _other => true,
            });
            (fits && has(&fields, "commands")).then(|| arguments.borrowed().into_owned())
        }
        NativeKind::ToolSearch | NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory => {
            Some(arguments.borrowed().into_owned())
        }
        NativeKind::Computer => None,
    }
}

/// Without the `type`, which is always `exec`, and without the `env` that the
/// way back puts in when the model names none.
fn local_shell_arguments<'r>(action: &'r Raw<'_>) -> Raw<'r> {
    let Ok(fields) = read_fields(&mut action.reader()) else { return action.borrowed() };
    let kept = |field: &&Extra<'_>| match field.key.decode().as_ref() {
        "type" => field.value.text() != EXEC,
        "env" => !is_empty_object(&field.value),
        _other => true,
    };
    rebuilt(action, |object| {
        for field in fields.iter().filter(kept) {
            field.value.write(object.foreign_key(&field.key));
        }
    })
    .unwrap_or(action.borrowed())
}

fn local_shell_action(fields: &[Extra<'_>]) -> Option<Raw<'static>> {
    let fits = fields.iter().all(|field| match field.key.decode().as_ref() {
        "command" => is_texts(&field.value),
        "env" => is_optional(&field.value, Kind::Object),
        "timeout_ms" => is_optional(&field.value, Kind::Number),
        "user" | "working_directory" => is_optional(&field.value, Kind::String),
        "type" => false,
        _other => true,
    });
    if !fits || !has(fields, "command") {
        return None;
    }
    let named = fields.iter().any(|field| field.key == "env" && field.value.kind() == Kind::Object);
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("type", "exec");
        for field in fields.iter().filter(|field| field.key != "env" || named) {
            field.value.write(object.foreign_key(&field.key));
            if field.key == "command" && !named {
                object.key("env").extend_from_slice(b"{}");
            }
        }
    }
    String::from_utf8(out).ok().map(Raw::made)
}

/// What the one member `operation` holds, if it is an operation.
fn patch_action(fields: &[Extra<'_>]) -> Option<Raw<'static>> {
    let [Extra { key, value }] = fields else { return None };
    if *key != "operation" {
        return None;
    }
    let members = read_fields(&mut value.reader()).ok()?;
    let text = |name: &str| {
        let found = members.iter().find(|member| member.key == *name)?;
        found.value.reader().string().ok().map(|text| text.into_decoded().into_owned())
    };
    text("path")?;
    match text("type")?.as_str() {
        "create_file" | "update_file" => text("diff").map(drop)?,
        "delete_file" => {}
        _other => return None,
    }
    Some(value.borrowed().into_owned())
}

/// A value made of parts of `source`, reported under its position.
fn rebuilt<'r>(source: &Raw<'_>, write: impl FnOnce(&mut Object<'_>)) -> Option<Raw<'r>> {
    let mut out = Vec::with_capacity(source.text().len() + 16);
    write(&mut Object::new(&mut out));
    Some(Raw::made(String::from_utf8(out).ok()?).at(source.pos()))
}

fn has(fields: &[Extra<'_>], key: &str) -> bool {
    fields.iter().any(|field| field.key == *key)
}

fn is_optional(value: &Raw<'_>, kind: Kind) -> bool {
    value.kind() == kind || value.kind() == Kind::Null
}

fn is_texts(value: &Raw<'_>) -> bool {
    let mut reader = value.reader();
    let Ok(mut members) = reader.array() else { return false };
    while let Ok(more) = members.more(&mut reader) {
        if !more {
            return true;
        }
        if reader.string().is_err() {
            return false;
        }
    }
    false
}

fn is_empty_object(value: &Raw<'_>) -> bool {
    let inside = value.text().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

const EXEC: &str = r#""exec""#;

#[cfg(test)]
mod tests;
