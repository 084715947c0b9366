//! Which values suit a parameter, and which words bind them to it.

use super::candidates::{Candidate, Shape};
use super::lexicon::PREPOSITIONS;
use super::parameters::Parameter;
use super::roles::{
    CURRENCIES, CURRENCY_CODES, HOSTS, IDS, LANGUAGE_ENDINGS, LANGUAGES, PATHS, PEOPLE, PLACES,
    PROPER, TEXT,
};

impl Parameter<'_> {
    /// How well a value of this shape suits. Zero if not at all.
    pub(super) fn fit(&self, candidate: &Candidate<'_>) -> f32 {
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
                    "source", "src", "target", "repo", "repository", "image", "file", "video",
                    "path", "feed", "host", "domain", "address",
                ]) =>
            {
                2.5
            }
            Shape::Url if self.is_required && self.about(&["url", "link", "website"]) => 2.5,
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
            _ if only || self.is_only_email() => 0.0,
            Shape::Path if self.named(TEXT) || self.is_query() || self.is_code() => 0.3,
            Shape::Path => 1.0,
            Shape::Identifier if self.named(TEXT) && !self.named(&["name", "tag", "label"]) => 0.4,
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
            // A company's name is not the symbol that it trades under.
            Shape::Name if self.about(&["ticker"]) => 0.0,
            Shape::Name if self.is_id() => 0.5,
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

    /// A word as the parameter wants it: where it asks for a code, euros are EUR.
    pub(super) fn coded(&self, word: &str) -> String {
        let wants_code = self.about(&["code", "iso"]);
        let known = CURRENCY_CODES
            .iter()
            .find(|(names, _)| wants_code && names.contains(&word.to_lowercase().as_str()));
        known.map_or_else(|| word.to_owned(), |(_, code)| (*code).to_owned())
    }

    /// Whether it takes the currency that an amount is in.
    pub(super) fn is_source_currency(&self) -> bool {
        (self.named(&["currency"]) || self.about(&["currency"]))
            && !self.named(&["to", "target", "quote", "destination"])
    }

    /// Whether a preposition leads to this parameter.
    pub(super) fn takes_preposition(&self, preposition: &str) -> bool {
        let preposition = preposition.to_lowercase();
        let is_start =
            self.named(&["from", "source", "src", "origin", "old", "current", "min", "minimum"]);
        let is_end = self.named(&["to", "target", "destination", "dest", "dst", "max", "maximum"])
            || self.about(&["into"]);
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
            || (preposition == "into" && self.about(&["into"]))
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
