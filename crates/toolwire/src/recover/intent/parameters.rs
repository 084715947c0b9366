//! What a parameter asks for, by its schema, its name and its description.

use super::roles::{CODE, DAYS, EMAILS, LINKS, PATHS, PLACES, QUERIES, TEXT};
use super::stem::{name_words, stem};
use crate::recover::schema::{Schema, Type};

/// A parameter of a tool.
#[derive(Debug)]
pub(super) struct Parameter<'s> {
    pub(super) name: &'s str,
    pub(super) schema: &'s Schema,
    pub(super) is_required: bool,
    /// The object that it is a member of.
    pub(super) parent: Option<Parent<'s>>,
    /// The words of its name.
    pub(super) words: Vec<String>,
    /// Their stems.
    pub(super) stems: Vec<String>,
    /// The words of its description.
    described: Vec<String>,
    /// Their stems.
    pub(super) described_stems: Vec<String>,
}

/// An object among the parameters of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent<'s> {
    pub(super) name: &'s str,
    /// Whether the object needs the member, if it is given at all.
    pub(super) needs_member: bool,
}

impl<'s> Parameter<'s> {
    /// The parameters of a tool. The members of an object are parameters by
    /// themselves.
    pub(super) fn all(schema: &'s Schema) -> Vec<Self> {
        let mut found = Vec::new();
        for (name, property) in &schema.properties {
            let is_required = schema.required.contains(name);
            let is_object = property.names(Type::Object) && !property.names(Type::String);
            if !is_object || property.properties.is_empty() {
                found.push(Self::new(name, property, is_required));
                continue;
            }
            for (member, inner) in &property.properties {
                let needs_member = property.required.contains(member);
                let mut parameter = Self::new(member, inner, is_required && needs_member);
                parameter.parent = Some(Parent { name, needs_member });
                parameter.described_stems.extend(name_words(name).iter().map(|word| stem(word)));
                found.push(parameter);
            }
        }
        found
    }

    fn new(name: &'s str, schema: &'s Schema, is_required: bool) -> Self {
        let mut words = name_words(name);
        // `username` is the name of a user.
        for word in words.clone() {
            if let Some(thing) = word.strip_suffix("name").filter(|thing| thing.len() > 2) {
                words.push(thing.to_owned());
            }
        }
        let described: Vec<String> =
            name_words(super::shape::prefix(&schema.description, LONGEST_DESCRIPTION))
                .into_iter()
                .filter(|word| {
                    word.len() > 2
                        && !matches!(
                            word.as_str(),
                            "the" | "and" | "for" | "with" | "this" | "that" | "all"
                        )
                })
                .collect();
        Self {
            name,
            schema,
            is_required,
            parent: None,
            stems: words.iter().map(|word| stem(word)).collect(),
            described_stems: described.iter().map(|word| stem(word)).collect(),
            words,
            described,
        }
    }

    /// Whether its name has one of the words, in the singular or the plural.
    pub(super) fn named(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| has(words, word))
    }

    /// Whether its name or its description has one of the words.
    pub(super) fn about(&self, words: &[&str]) -> bool {
        self.named(words) || self.described.iter().any(|word| has(words, word))
    }

    pub(super) fn is_list(&self) -> bool {
        self.schema.names(Type::Array) && self.item().is_some_and(|item| item.takes(Type::String))
    }

    pub(super) fn is_number_list(&self) -> bool {
        self.schema.names(Type::Array)
            && self.item().is_some_and(|item| {
                item.names(Type::Number) || (item.names(Type::Integer) && !item.names(Type::String))
            })
    }

    fn item(&self) -> Option<&Schema> {
        self.schema.items.as_deref()
    }

    pub(super) fn is_text(&self) -> bool {
        self.schema.choices.is_empty() && (self.schema.takes(Type::String) || self.is_list())
    }

    pub(super) fn is_number(&self) -> bool {
        self.schema.choices.is_empty()
            && !self.schema.types.is_empty()
            && !self.schema.names(Type::String)
            && (self.schema.names(Type::Integer) || self.schema.names(Type::Number))
    }

    pub(super) fn is_integer(&self) -> bool {
        !self.schema.names(Type::Number)
    }

    pub(super) fn is_flag(&self) -> bool {
        self.schema.names(Type::Boolean) && !self.schema.names(Type::String)
    }

    /// Whether it wants a day in digits.
    pub(super) fn is_day(&self) -> bool {
        self.schema.format == "date"
            || self.schema.description.to_uppercase().contains("YYYY-MM-DD")
            || (self.named(DAYS) && !self.is_clock())
            || (self.schema.format.is_empty() && self.about(&["date"]) && !self.named(TEXT))
    }

    /// Whether only a day in digits will do.
    pub(super) fn is_strict_day(&self) -> bool {
        self.schema.format.starts_with("date")
            || self.schema.description.to_uppercase().contains("YYYY")
    }

    pub(super) fn is_clock(&self) -> bool {
        self.schema.format == "time"
            || self.schema.description.to_uppercase().contains("HH:MM")
            || (self.named(&["time", "hour", "clock"])
                && !self.named(&["zone", "timezone", "timeout", "date"])
                && self.schema.format.is_empty())
    }

    /// Whether it takes a moment in one's own words: "tomorrow at nine".
    pub(super) fn is_moment(&self) -> bool {
        !self.is_strict_day()
            && !self.schema.description.to_uppercase().contains("HH:MM")
            && self.schema.format.is_empty()
            && (self.named(&["when", "datetime"])
                || (self.named(&["time", "at", "due", "date"]) && self.about(&["free", "natural"])))
    }

    /// Whether it takes a day and a time in one: `2026-03-04T10:00`.
    pub(super) fn is_timestamp(&self) -> bool {
        self.schema.format == "date-time"
            || (self.schema.format.is_empty()
                && self.named(&[
                    "start", "end", "from", "to", "time", "when", "at", "datetime", "timestamp",
                    "since", "until", "begin", "date", "due",
                ]))
    }

    /// Whether its description gives an example in digits: "such as 644".
    pub(super) fn shows_digits(&self) -> bool {
        self.schema.description.bytes().any(|byte| byte.is_ascii_digit())
            && !self.is_day()
            && !self.is_clock()
    }

    pub(super) fn is_path(&self) -> bool {
        self.named(PATHS)
            || (self.about(&["path", "file", "directory", "folder"])
                && !self.named(TEXT)
                && !self.named(QUERIES)
                && !self.named(CODE))
    }

    pub(super) fn is_link(&self) -> bool {
        self.schema.format.starts_with("uri")
            || self.named(LINKS)
            || (self.about(&["url", "uri", "link"])
                && !self.named(&["name", "title", "text", "alias"]))
    }

    pub(super) fn is_email(&self) -> bool {
        self.schema.format == "email"
            || self.named(EMAILS)
            || (self.about(&["email", "mail"]) && !self.named(TEXT) && !self.is_id())
    }

    /// Whether nothing but an e-mail address will do: a recipient may be a name.
    pub(super) fn is_only_email(&self) -> bool {
        self.schema.format == "email"
            || self.named(&["email", "mail", "cc", "bcc"])
            || (self.is_email() && self.about(&["email", "mail", "address"]))
    }

    /// Whether it names a thing that has an id: `message_id`.
    pub(super) fn is_id(&self) -> bool {
        self.words.last().is_some_and(|word| matches!(word.as_str(), "id" | "key" | "number"))
    }

    pub(super) fn is_code(&self) -> bool {
        self.named(CODE)
    }

    pub(super) fn is_query(&self) -> bool {
        self.named(QUERIES)
    }

    pub(super) fn is_place(&self) -> bool {
        self.named(PLACES)
    }
}

fn has(words: &[&str], word: &str) -> bool {
    words.contains(&word)
        || word.strip_suffix('s').is_some_and(|singular| words.contains(&singular))
}

/// The rest of a longer description is not read.
const LONGEST_DESCRIPTION: usize = 400;
