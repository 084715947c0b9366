//! Formats of strings: dates, addresses and the like.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::prompt::Prompt;

/// A format of strings.
pub(super) struct StringFormat {
    /// Its name in JSON Schema, and in the names of properties.
    name: &'static str,
    /// Whether a word has the format.
    matches: fn(&str) -> bool,
    /// What to give if no word of the prompt has it.
    example: &'static str,
}

/// The first format whose name fits.
pub(super) fn find(fits: impl Fn(&str) -> bool) -> Option<&'static StringFormat> {
    FORMATS.iter().find(|format| fits(format.name))
}

impl StringFormat {
    /// The first word of the prompt that has the format, or the example.
    pub(super) fn value(&self, prompt: &Prompt) -> String {
        prompt.find_word(self.matches).unwrap_or_else(|| self.example.to_owned())
    }
}

const FORMATS: &[StringFormat] = &[
    StringFormat { name: "date", matches: is_date, example: "2026-01-01" },
    StringFormat {
        name: "date-time",
        matches: |word| word.contains('T') && word.get(..10).is_some_and(is_date),
        example: "2026-01-01T12:00:00Z",
    },
    StringFormat {
        name: "time",
        matches: |word| word.split(':').count() == 3 && is_digits(&word.replace(':', "")),
        example: "12:00:00",
    },
    StringFormat {
        name: "email",
        matches: |word| word.contains('@') && word.contains('.'),
        example: "ada@example.com",
    },
    StringFormat { name: "uri", matches: is_url, example: "https://example.com/" },
    StringFormat { name: "url", matches: is_url, example: "https://example.com/" },
    StringFormat {
        name: "uuid",
        matches: |word| word.len() == 36 && word.split('-').count() == 5,
        example: "00000000-0000-4000-8000-000000000000",
    },
    StringFormat {
        name: "ipv4",
        matches: |word| word.parse::<Ipv4Addr>().is_ok(),
        example: "192.0.2.1",
    },
    StringFormat {
        name: "ipv6",
        matches: |word| word.parse::<Ipv6Addr>().is_ok(),
        example: "2001:db8::1",
    },
    StringFormat { name: "hostname", matches: |word| word.contains('.'), example: "example.com" },
    StringFormat {
        name: "duration",
        matches: |word| word.starts_with('P') && word.len() > 2,
        example: "PT1H",
    },
];

fn is_url(word: &str) -> bool {
    word.contains("://")
}

fn is_date(word: &str) -> bool {
    let parts: Vec<_> = word.split('-').map(|part| (part.len(), is_digits(part))).collect();
    parts == [(4, true), (2, true), (2, true)]
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}
