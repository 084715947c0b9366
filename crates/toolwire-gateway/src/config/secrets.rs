//! Keys and header values, from where they are kept.

use std::path::Path;

use super::Secret;
use super::fields::{Fields, Value, refuse, setting};
use super::problem::Problem;
use super::surroundings::Surroundings;

/// Whether the text itself may stand in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    /// It may: a header's value is seldom a secret.
    Allowed,
    /// It may not: files end up in repositories.
    Refused,
}

/// Reads `{ env = "NAME" }`, `{ file = "path" }`, or a text where that is
/// allowed.
pub(super) fn secret(
    name: &'static str,
    value: Value<'_, '_>,
    literal: Literal,
    around: &dyn Surroundings,
    problems: &mut Vec<Problem>,
) -> Option<Secret> {
    if let Some(text) = value.get_ref().as_str() {
        if literal == Literal::Allowed {
            return sendable(name, text.to_owned(), value, problems);
        }
        return refuse(
            problems,
            value.span(),
            format!("`{name}` does not stand in the file itself"),
            "a key in the open",
            "write { env = \"NAME\" } or { file = \"path\" }, and give this key a new value if the \
             file has been shared",
        );
    }
    let Some(table) = value.get_ref().as_table() else {
        return setting(name, problems).wrong(value, "{ env = \"NAME\" } or { file = \"path\" }");
    };
    let mut fields = Fields::new(table, "a key");
    let (env, file) = (fields.take("env"), fields.take("file"));
    fields.finish(problems);
    match (env, file) {
        (Some(variable), None) => {
            let variable_name = setting("env", problems).text(variable)?;
            match around.variable(variable_name) {
                Some(text) => sendable(name, text, variable, problems),
                None => refuse(
                    problems,
                    variable.span(),
                    format!("the environment variable {variable_name} is not set"),
                    "not set, or empty",
                    format!("set it before starting toolwire: export {variable_name}=…"),
                ),
            }
        }
        (None, Some(path)) => {
            let path_text = setting("file", problems).text(path)?;
            match around.file(Path::new(path_text)) {
                Ok(text) => sendable(name, text, path, problems),
                Err(error) => refuse(
                    problems,
                    path.span(),
                    format!("the file of `{name}` cannot be read"),
                    error.to_string(),
                    "a relative path counts from the folder of this configuration",
                ),
            }
        }
        (Some(_), Some(_)) | (None, None) => {
            setting(name, problems).wrong(value, "either { env = \"NAME\" } or { file = \"path\" }")
        }
    }
}

/// A text that can go into a header. Line ends around it come from editors and
/// `echo`, and belong to nobody.
fn sendable(
    name: &str,
    text: String,
    value: Value<'_, '_>,
    problems: &mut Vec<Problem>,
) -> Option<Secret> {
    let text = text.trim();
    let fits = |byte: u8| (0x20..0x7f).contains(&byte);
    if text.is_empty() || !text.bytes().all(fits) {
        return refuse(
            problems,
            value.span(),
            format!("`{name}` cannot be sent as a header"),
            if text.is_empty() { "empty" } else { "holds a line end or a character outside ASCII" },
            "give the key alone, without quotes or a second line",
        );
    }
    Some(Secret::new(text.to_owned()))
}
