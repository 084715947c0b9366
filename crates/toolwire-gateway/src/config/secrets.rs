//! Keys and header values, from the environment or from files.

use std::path::Path;

use super::fields::{Fields, Value, refuse, setting};
use super::hints;
use super::problem::Problem;
use super::{Environment, Secret, SecretPlace, SecretSource};

/// Whether the file may hold the value itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    /// Yes, because a header's value is rarely a secret.
    Allowed,
    /// No, because files end up in repositories.
    Refused,
}

/// Reads `{ env = "NAME" }`, `{ file = "path" }`, or a string if that is allowed.
pub(super) fn secret(
    name: &'static str,
    value: Value<'_, '_>,
    literal: Literal,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Secret> {
    if let Some(variable) = value.get_ref().as_str().and_then(hints::variable) {
        return refuse(
            problems,
            value.span(),
            format!("`{name}` is not read from the environment like this"),
            "not replaced by its value",
            format!("write {{ env = \"{variable}\" }}"),
        );
    }
    if let Some(text) = value.get_ref().as_str() {
        if literal == Literal::Allowed {
            return header_value(name, text.to_owned(), value, problems);
        }
        return refuse(
            problems,
            value.span(),
            format!("`{name}` must not be in the file itself"),
            "a key in plain text",
            "use { env = \"NAME\" } or { file = \"path\" }; if the file was shared, replace the key",
        );
    }
    let Some(table) = value.get_ref().as_table() else {
        return setting(name, problems).invalid(value, "{ env = \"NAME\" } or { file = \"path\" }");
    };
    let mut fields = Fields::new(table, "a key");
    let (env, file, own_name) = (fields.take("env"), fields.take("file"), fields.take("name"));
    fields.finish(problems);
    let own_name = own_name.and_then(|value| setting("name", problems).text(value));
    let source = |name: &str, place: SecretPlace| {
        let name = own_name.map_or_else(|| name.to_owned(), str::to_owned);
        SecretSource { name, place }
    };
    match (env, file) {
        (Some(variable), None) => {
            let variable_name = setting("env", problems).text(variable)?;
            match environment.variable(variable_name) {
                Some(text) => {
                    let place = SecretPlace::Variable(variable_name.to_owned());
                    let secret = header_value(name, text, variable, problems)?;
                    Some(secret.from_source(source(variable_name, place)))
                }
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
            match environment.read_file(Path::new(path_text)) {
                Ok(text) => {
                    let file_name = Path::new(path_text).file_name().and_then(|name| name.to_str());
                    let place = SecretPlace::File(path_text.to_owned());
                    let secret = header_value(name, text, path, problems)?;
                    Some(secret.from_source(source(file_name.unwrap_or("file"), place)))
                }
                Err(error) => refuse(
                    problems,
                    path.span(),
                    format!("cannot read the file of `{name}`"),
                    error.to_string(),
                    "relative paths start at the folder of this file",
                ),
            }
        }
        (Some(_), Some(_)) | (None, None) => setting(name, problems)
            .invalid(value, "either { env = \"NAME\" } or { file = \"path\" }"),
    }
}

/// Checks that a text can be sent in a header. Line breaks around it come from
/// editors and `echo`, and are removed.
fn header_value(
    name: &str,
    text: String,
    value: Value<'_, '_>,
    problems: &mut Vec<Problem>,
) -> Option<Secret> {
    let text = text.trim();
    let is_printable = |byte: u8| (0x20..0x7f).contains(&byte);
    if text.is_empty() || !text.bytes().all(is_printable) {
        return refuse(
            problems,
            value.span(),
            format!("`{name}` cannot be sent as a header"),
            if text.is_empty() {
                "empty"
            } else {
                "contains a line break or a non-ASCII character"
            },
            "the value must be the key alone, without quotes or a second line",
        );
    }
    Some(Secret::new(text.to_owned()))
}
