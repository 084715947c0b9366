//! Reads the tables of a TOML file strictly: every key is read or reported.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::hints;
use super::problem::Problem;
use super::values::{self, nearest};

/// A value and its place in the file.
pub(super) type Value<'v, 't> = &'v Spanned<DeValue<'t>>;

/// The keys of one table, which are read one by one.
pub(super) struct Fields<'v, 't> {
    table: &'v DeTable<'t>,
    /// The name of the table in messages: "an upstream".
    table_name: &'static str,
    known: Vec<&'static str>,
}

impl<'v, 't> Fields<'v, 't> {
    pub(super) fn new(table: &'v DeTable<'t>, table_name: &'static str) -> Self {
        Self { table, table_name, known: Vec::new() }
    }

    /// The value of a key. The key counts as known from now on.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value<'v, 't>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// Reports every unknown key.
    pub(super) fn finish(self, problems: &mut Vec<Problem>) {
        for (key, value) in self.table.iter() {
            let name: &str = key.get_ref();
            if self.known.contains(&name) {
                continue;
            }
            // The header of a table has no span of its own as a key.
            let span = if key.span().is_empty() { value.span() } else { key.span() };
            let hint = hints::setting(name, &self.known);
            let help = match (hint, nearest(name, self.known.iter().copied())) {
                (Some(hint), _) => hint.to_owned(),
                (None, Some(known)) => format!("did you mean `{known}`?"),
                (None, None) => format!("the settings are {}", self.known.join(", ")),
            };
            problems.push(Problem {
                message: format!("unknown setting `{name}`"),
                span,
                label: format!("not a setting of {}", self.table_name),
                help,
            });
        }
    }
}

/// The entries of a table in the order of the file.
pub(super) fn in_order<'v, 't>(
    table: &'v DeTable<'t>,
) -> Vec<(&'v Spanned<Cow<'t, str>>, Value<'v, 't>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Reports an invalid value and returns `None`.
pub(super) fn refuse<T>(
    problems: &mut Vec<Problem>,
    span: Range<usize>,
    message: impl Into<String>,
    label: impl Into<String>,
    help: impl Into<String>,
) -> Option<T> {
    let (message, label, help) = (message.into(), label.into(), help.into());
    problems.push(Problem { message, span, label, help });
    None
}

/// Starts reading the setting `name`.
pub(super) fn setting<'p>(name: &'static str, problems: &'p mut Vec<Problem>) -> Setting<'p> {
    Setting { name, problems }
}

/// A setting that is being read.
pub(super) struct Setting<'p> {
    name: &'static str,
    problems: &'p mut Vec<Problem>,
}

impl Setting<'_> {
    /// A string.
    pub(super) fn text<'v>(&mut self, value: Value<'v, '_>) -> Option<&'v str> {
        match value.get_ref().as_str() {
            Some(text) if hints::variable(text).is_some() => refuse(
                self.problems,
                value.span(),
                format!("`{}` holds a variable", self.name),
                "not replaced by its value",
                "write the value itself; only keys and headers can name a variable, as { env = \"NAME\" }",
            ),
            Some(text) => Some(text),
            None => self.invalid(value, "a string in quotes"),
        }
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, value: Value<'_, '_>) -> Option<bool> {
        match value.get_ref().as_bool() {
            Some(boolean) => Some(boolean),
            None => self.invalid(value, "true or false"),
        }
    }

    /// A whole number of at least `least`.
    pub(super) fn whole(&mut self, value: Value<'_, '_>, least: u64) -> Option<u64> {
        let number = value.get_ref().as_integer().and_then(|number| {
            let digits = number.as_str().replace('_', "");
            u64::from_str_radix(&digits, number.radix()).ok()
        });
        match number {
            Some(number) if number >= least => Some(number),
            Some(_) | None => self.invalid(value, &format!("a whole number of at least {least}")),
        }
    }

    /// A time such as `"10s"`.
    pub(super) fn duration(&mut self, value: Value<'_, '_>) -> Option<std::time::Duration> {
        match value.get_ref().as_str().map(values::duration) {
            Some(Some(duration)) => Some(duration),
            Some(None) | None => self.invalid(
                value,
                "a duration above zero, such as \"300ms\", \"10s\", \"5m\" or \"1h\"",
            ),
        }
    }

    /// A number of bytes such as `"32MiB"`.
    pub(super) fn size(&mut self, value: Value<'_, '_>) -> Option<usize> {
        match value.get_ref().as_str().map(values::size) {
            Some(Some(size)) => Some(size),
            Some(None) | None => {
                self.invalid(value, "a size above zero, such as \"512B\", \"64KiB\" or \"32MiB\"")
            }
        }
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(
        &mut self,
        value: Value<'_, '_>,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let found = value.get_ref().as_str();
        if let Some((_, meaning)) = words.iter().find(|(word, _)| found == Some(word)) {
            return Some(*meaning);
        }
        let list: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let help = match found.and_then(|found| nearest(found, words.iter().map(|(word, _)| *word)))
        {
            Some(word) => format!("did you mean \"{word}\"?"),
            None => String::new(),
        };
        let name = self.name;
        refuse(
            self.problems,
            value.span(),
            format!("invalid value for `{name}`"),
            format!("expected {}", values::either(&list)),
            help,
        )
    }

    /// A table.
    pub(super) fn table<'v, 't>(&mut self, value: Value<'v, 't>) -> Option<&'v DeTable<'t>> {
        match value.get_ref().as_table() {
            Some(table) => Some(table),
            None => self.invalid(value, "a table"),
        }
    }

    /// The elements of a list.
    pub(super) fn list<'v, 't>(&mut self, value: Value<'v, 't>) -> Option<Vec<Value<'v, 't>>> {
        match value.get_ref().as_array() {
            Some(list) => Some(list.iter().collect()),
            None => self.invalid(value, "a list in square brackets"),
        }
    }

    /// Reports that the value has the wrong type or form.
    pub(super) fn invalid<T>(&mut self, value: Value<'_, '_>, expected: &str) -> Option<T> {
        let help = match value.get_ref() {
            DeValue::Integer(_) if expected.starts_with("a duration") => {
                "add a unit: s, ms, m or h"
            }
            DeValue::Integer(_) if expected.starts_with("a size") => {
                "add a unit: B, KiB, MiB or GiB"
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => "",
        };
        let name = self.name;
        let label = match value.get_ref() {
            DeValue::String(_) => format!("expected {expected}"),
            DeValue::Integer(number) if number.radix() == 10 => {
                format!("expected {expected}, found `{}`", number.as_str())
            }
            other @ (DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_)) => {
                format!("expected {expected}, found {}", values::with_article(other.type_str()))
            }
        };
        refuse(self.problems, value.span(), format!("invalid value for `{name}`"), label, help)
    }
}
