//! What a native tool answered, as text.

use std::borrow::Cow;

use crate::model::{Item, NativeKind, ResultKind, ToolResult};
use crate::wire::{Extra, Kind, Raw, read_fields};

/// A native result as text: what a shell printed, how a patch went. `None` for
/// the result of an ordinary call, and for one with media in it, which crosses
/// as any other.
pub fn result_text(result: &ToolResult<'_>) -> Option<String> {
    let ResultKind::Native(kind) = result.kind else { return None };
    let mut text = String::new();
    for item in &result.content {
        if let Item::Text(part) = item {
            line(&mut text, &part.text.decode());
        } else if let Item::Json(output) = item {
            outputs(&mut text, output);
        } else {
            return None;
        }
    }
    // A patch may go well or badly without a word.
    if kind == NativeKind::ApplyPatch && text.is_empty() {
        text.push_str(&status(result));
    }
    Some(text)
}

/// The chunks of Responses' `shell_call_output`.
fn outputs(text: &mut String, output: &Raw<'_>) {
    let mut reader = output.reader();
    let Ok(mut members) = reader.array() else { return value(text, output) };
    while let Ok(true) = members.more(&mut reader) {
        let Ok(chunk) = reader.raw() else { return };
        match read_fields(&mut chunk.reader()) {
            Ok(fields) => printed(text, &fields),
            Err(_) => value(text, &chunk),
        }
    }
}

/// What one command printed: its output, its errors, and how it ended. Members
/// of other names follow under theirs, so that nothing goes unsaid.
fn printed(text: &mut String, fields: &[Extra<'_>]) {
    let member = |name: &str| fields.iter().find(|field| field.key == *name);
    if let Some(stdout) = member("stdout") {
        value(text, &stdout.value);
    }
    if let Some(stderr) = member("stderr")
        && stderr.value.text() != r#""""#
    {
        line(text, "stderr:");
        value(text, &stderr.value);
    }
    if let Some(outcome) = member("outcome") {
        ended(text, &outcome.value);
    }
    for field in fields {
        match field.key.decode().as_ref() {
            "stdout" | "stderr" | "outcome" => {}
            other => labelled(text, other, &field.value),
        }
    }
}

fn ended(text: &mut String, outcome: &Raw<'_>) {
    let Ok(fields) = read_fields(&mut outcome.reader()) else { return value(text, outcome) };
    for field in &fields {
        match (field.key.decode().as_ref(), field.value.text()) {
            // The exit code says it.
            ("type", r#""exit""#) => {}
            ("type", r#""timeout""#) => line(text, "timed out"),
            (other, _) => labelled(text, other, &field.value),
        }
    }
}

/// How a patch went, in the word of the vendor.
fn status(result: &ToolResult<'_>) -> String {
    let said = result.extra.iter().find(|field| field.key == "status");
    if let Some(word) = said.and_then(|field| field.value.reader().string().ok()) {
        return word.into_decoded().into_owned();
    }
    match &result.is_error {
        Some(failed) if failed.value => "failed".to_owned(),
        Some(_) | None => "completed".to_owned(),
    }
}

fn labelled(text: &mut String, label: &str, value: &Raw<'_>) {
    line(text, &format!("{label}: {}", plain(value)));
}

fn value(text: &mut String, value: &Raw<'_>) {
    line(text, &plain(value));
}

/// A string as its text, anything else as it is spelled.
fn plain<'v>(value: &'v Raw<'_>) -> Cow<'v, str> {
    if value.kind() == Kind::String
        && let Ok(text) = value.reader().string()
    {
        return text.into_decoded();
    }
    Cow::Borrowed(value.text())
}

/// Begins a line unless one has just begun. What a command printed usually
/// ends its own last line.
fn line(text: &mut String, added: &str) {
    if added.is_empty() {
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(added);
}
