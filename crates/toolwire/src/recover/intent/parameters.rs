//! What a parameter asks for, by its schema, its name and its description.

use super::candidates::{Candidate, Shape};
use super::lexicon::PREPOSITIONS;
use super::roles::{
    CODE, CURRENCIES, DAYS, EMAILS, HOSTS, IDS, LANGUAGE_ENDINGS, LANGUAGES, LINKS, PATHS, PEOPLE,
    PLACES, PROPER, QUERIES, TEXT,
};
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
        let words = name_words(name);
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
                    "start",
                    "end",
                    "from",
                    "to",
                    "time",
                    "when",
                    "at",
                    "datetime",
                    "timestamp",
                    "since",
                    "until",
                    "begin",
                    "date",
                    "due",
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
            || (self.about(&["email", "mail"]) && !self.named(TEXT))
    }

    /// Whether it names a thing that has an id: `message_id`.
    fn is_id(&self) -> bool {
        self.words.len() > 1
            && self
                .words
                .last()
                .is_some_and(|word| matches!(word.as_str(), "id" | "key" | "number"))
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

    /// How well a value of this shape suits. Zero if not at all.
    pub(super) fn suits(&self, candidate: &Candidate<'_>) -> f32 {
        let only = self.is_day()
            || self.is_clock()
            || (self.is_link() && !self.is_path())
            || self.named(&["phone"]);
        match candidate.shape {
            Shape::Date if self.is_day() => {
                if candidate.value.is_empty() && self.is_strict_day() {
                    0.0
                } else {
                    5.0
                }
            }
            Shape::Date if candidate.value.contains('T') && self.is_timestamp() => 5.0,
            Shape::Time if self.is_clock() || self.is_moment() => 5.0,
            Shape::Date | Shape::Time => 0.0,
            Shape::Url if self.is_link() => 5.0,
            Shape::Url
                if self.named(&[
                    "source",
                    "src",
                    "target",
                    "repo",
                    "repository",
                    "image",
                    "file",
                    "video",
                    "path",
                    "feed",
                    "host",
                    "domain",
                    "address",
                ]) =>
            {
                2.5
            }
            Shape::Email if self.is_email() => 5.0,
            Shape::Email if self.named(PEOPLE) => 2.5,
            Shape::Url | Shape::Email => 0.0,
            Shape::Phone if self.about(&["phone", "mobile", "telephone", "tel"]) => 5.0,
            Shape::Phone if self.named(&["number", "to", "recipient", "contact"]) => 3.0,
            Shape::Phone => 0.0,
            Shape::Path if self.named(PATHS) => 4.0,
            Shape::Path if self.is_path() => 3.5,
            Shape::Path if self.about(HOSTS) => 3.0,
            Shape::Path if self.is_link() => 2.0,
            Shape::Quoted | Shape::Code if only => 0.0,
            Shape::Code if self.is_code() => 4.0,
            Shape::Code if self.is_path() => 3.0,
            Shape::Code => 2.5,
            Shape::Quoted if self.is_id() => 2.0,
            Shape::Quoted if self.named(TEXT) || self.is_query() => 3.5,
            Shape::Quoted => 2.5,
            _ if only || self.is_email() => 0.0,
            Shape::Path if self.named(TEXT) || self.is_query() || self.is_code() => 0.3,
            Shape::Path => 1.0,
            Shape::Identifier if self.named(TEXT) && !self.named(&["name"]) => 0.4,
            Shape::Identifier if self.is_query() || self.is_code() => 0.5,
            Shape::Identifier
                if self.about(IDS) && self.takes_word(&candidate.text.to_lowercase()) =>
            {
                3.5
            }
            Shape::Identifier if self.is_path() => 1.5,
            Shape::Identifier if !self.takes_word(&candidate.text.to_lowercase()) => 0.0,
            Shape::Identifier => 2.0,
            Shape::Name if !self.takes_word(&candidate.text.to_lowercase()) => 0.0,
            Shape::Name if self.named(PLACES) || self.named(PEOPLE) || self.named(PROPER) => 3.5,
            Shape::Name if self.named(TEXT) && !self.named(&["name", "title"]) => 0.4,
            Shape::Name if self.is_code() || self.is_path() => 0.2,
            Shape::Name if self.named(IDS) && !self.about(PEOPLE) && !self.named(&["name"]) => 1.0,
            Shape::Name => 2.0,
            Shape::Number if self.about(IDS) || self.named(&["version"]) => 1.5,
            Shape::Number if self.shows_digits() => 1.5,
            Shape::Number => 0.0,
        }
    }

    /// How strongly the words around a value bind it to this parameter.
    pub(super) fn binds(&self, candidate: &Candidate<'_>) -> f32 {
        let mut score = 0.0;
        if candidate.before.iter().any(|stem| self.stems.contains(stem)) {
            score += 4.0;
        } else if candidate.before.iter().any(|stem| self.described_stems.contains(stem)) {
            score += 1.5;
        }
        if candidate.after.iter().any(|stem| self.stems.contains(stem)) {
            score += 3.0;
        }
        if self.takes_preposition(candidate.preposition) {
            score +=
                if self.words.iter().any(|word| word == candidate.preposition) { 4.0 } else { 2.0 };
        }
        score
    }

    /// Whether a word can be its value: a unit of measure is no currency, and the
    /// other way round.
    pub(super) fn takes_word(&self, word: &str) -> bool {
        let is_currency = CURRENCIES.contains(&word);
        if self.named(&["currency"]) {
            return is_currency || (word.len() == 3 && self.named(&["code"]));
        }
        if self.named(&["language", "lang"]) {
            return is_language(word);
        }
        !(is_currency && self.named(&["unit"]))
    }

    /// Whether a preposition leads to this parameter.
    pub(super) fn takes_preposition(&self, preposition: &str) -> bool {
        let preposition = preposition.to_lowercase();
        let is_start = self.named(&["from", "source", "src", "origin", "old", "current"]);
        let is_end = self.named(&["to", "target", "destination", "dest", "dst"]);
        if (is_start && matches!(preposition.as_str(), "to" | "into" | "with"))
            || (is_end && preposition == "from")
            || (self.is_id() && matches!(preposition.as_str(), "with" | "saying" | "says"))
        {
            return false;
        }
        let bound = PREPOSITIONS.iter().find(|(known, _)| *known == preposition);
        let leads_to_files = match preposition.as_str() {
            "in" | "inside" | "under" | "within" | "on" => !is_end,
            "from" => !is_end,
            "to" | "into" | "as" => is_end || self.named(&["output", "dst", "out"]),
            _ => false,
        };
        bound.is_some_and(|(_, words)| self.named(words))
            || (leads_to_files && self.is_text() && self.is_path())
    }
}

/// Whether a word is a language, by its ending or its code: Polish, Hindi, `de-AT`.
fn is_language(word: &str) -> bool {
    let code = word.split(['-', '_']).next().unwrap_or_default();
    LANGUAGE_ENDINGS.iter().any(|end| word.ends_with(end) && word.len() > end.len())
        || LANGUAGES.contains(&word)
        || (code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn has(words: &[&str], word: &str) -> bool {
    words.contains(&word)
        || word.strip_suffix('s').is_some_and(|singular| words.contains(&singular))
}

/// The rest of a longer description is not read.
const LONGEST_DESCRIPTION: usize = 400;
