//! Verbs, and which of them stand for each other.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lexicon::{GENERIC, PARTICLES, TALK, VERB_GROUPS};
use super::stem::stem;
use super::tokens::{Kind, Token};

/// The groups of every verb, by the stem of the verb. Those of several words are
/// joined by spaces.
static GROUPS: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, verbs) in VERB_GROUPS.iter().enumerate() {
        for verb in *verbs {
            groups.entry(phrase_stem(verb)).or_default().push(index);
        }
    }
    groups
});

static GENERIC_STEMS: LazyLock<Vec<String>> =
    LazyLock::new(|| GENERIC.iter().map(|verb| stem(verb)).collect());

static TALK_STEMS: LazyLock<Vec<String>> =
    LazyLock::new(|| TALK.iter().map(|verb| stem(verb)).collect());

/// A verb of a sentence: alone, and with the particle behind it.
#[derive(Clone, Debug)]
pub(super) struct Verb {
    pub(super) stem: String,
    /// "look up", or "turn … off".
    pub(super) phrasal: Option<String>,
}

impl Verb {
    /// The verb at a place.
    pub(super) fn at(tokens: &[Token<'_>], at: usize, end: usize) -> Option<Self> {
        let token = tokens.get(at)?;
        let stem = token.stem.clone();
        let rest = tokens.get(at + 1..end).unwrap_or_default();
        let next = rest.first().filter(|next| next.any(PARTICLES));
        let with = |particle: &Token<'_>| format!("{stem} {}", particle.lower);
        let mut phrasal = next.map(with).filter(|phrase| GROUPS.contains_key(phrase));
        if phrasal.is_none() && matches!(stem.as_str(), "turn" | "switch") {
            phrasal = rest.iter().find(|token| token.any(&["on", "off"])).map(with);
            phrasal = phrasal.filter(|phrase| GROUPS.contains_key(phrase));
        }
        // "do a search", "take a look at".
        if matches!(stem.as_str(), "do" | "perform" | "tak" | "hav" | "mak" | "run" | "conduct") {
            let noun =
                rest.iter().take(5).position(|token| token.kind == Kind::Word && token.any(ACTS));
            if let Some(noun) = noun {
                return Self::at(tokens, at + 1 + noun, end).map(|verb| Self {
                    stem: act_stem(&verb.stem).to_owned(),
                    phrasal: verb.phrasal,
                });
            }
        }
        Some(Self { stem, phrasal })
    }

    /// Whether the verb is one of talk and delay.
    pub(super) fn is_talk(&self) -> bool {
        self.phrasal.is_none() && TALK_STEMS.contains(&self.stem)
    }

    /// Whether the verb says little about what is done.
    pub(super) fn is_generic(&self) -> bool {
        is_generic(&self.stem)
            && (self.phrasal.is_none() || matches!(self.stem.as_str(), "look" | "check" | "find"))
    }

    /// Whether the verb is this one.
    pub(super) fn is(&self, other: &str) -> bool {
        match &self.phrasal {
            Some(phrasal) => {
                let joined: String = phrasal.split(' ').collect();
                phrasal == other
                    || joined == other
                    || (self.stem == other && !matches!(other, "look" | "turn" | "put" | "check"))
            }
            None => self.stem == other,
        }
    }

    /// Whether the verb can stand for another.
    pub(super) fn stands_for(&self, other: &str) -> bool {
        let Some(theirs) = GROUPS.get(other) else { return false };
        let shares = |verb: &str| {
            GROUPS.get(verb).is_some_and(|ours| ours.iter().any(|group| theirs.contains(group)))
        };
        match &self.phrasal {
            Some(phrasal) => shares(phrasal),
            None => shares(&self.stem),
        }
    }
}

/// Whether a stem is that of a verb in the table.
pub(super) fn is_known(stem: &str) -> bool {
    GROUPS.contains_key(stem)
        || matches!(
            stem,
            "look"
                | "cal"
                | "invok"
                | "us"
                | "merg"
                | "commit"
                | "push"
                | "sort"
                | "filter"
                | "squash"
                | "perform"
        )
        || TALK_STEMS.iter().any(|talk| talk == stem)
}

/// Whether a stem is that of a verb that says little about what is done.
pub(super) fn is_generic(stem: &str) -> bool {
    GENERIC_STEMS.iter().any(|generic| generic == stem)
}

fn phrase_stem(phrase: &str) -> String {
    match phrase.split_once(' ') {
        Some((verb, particle)) => format!("{} {particle}", stem(verb)),
        None => stem(phrase),
    }
}

/// The verb of an act: a conversion converts.
fn act_stem(noun: &str) -> &str {
    match noun {
        "calculation" => "calculat",
        "conversion" => "convert",
        "translation" => "translat",
        "reservation" | "booking" => "book",
        "deployment" => "deploy",
        noun => noun,
    }
}

/// Nouns that are acts.
const ACTS: &[&str] = &[
    "search",
    "look",
    "lookup",
    "check",
    "query",
    "request",
    "calculation",
    "conversion",
    "translation",
    "reservation",
    "booking",
    "transfer",
    "deployment",
    "call",
    "scan",
    "peek",
];
