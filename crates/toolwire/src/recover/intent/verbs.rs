//! Verbs, and which of them stand for each other.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::fill::Phrase;
use super::lexicon::{GENERIC, NOT_OBJECTS, PARTICLES, TALK, VERB_GROUPS};
use super::stem::stem;
use super::tokens::{Kind, Token, TokenSlice};

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
        let stem = if token.is("using") { "us".to_owned() } else { token.stem.clone() };
        let rest = tokens.get(at + 1..end).unwrap_or_default();
        let next = rest.first().filter(|next| next.any(PARTICLES));
        let with = |particle: &Token<'_>| format!("{stem} {}", particle.lower);
        let mut phrasal = next.map(with).filter(|phrase| GROUPS.contains_key(phrase));
        if phrasal.is_none() && matches!(stem.as_str(), "turn" | "switch") {
            let particle = rest.iter().enumerate().find(|(index, token)| {
                token.any(&["on", "off"])
                    && rest.get(index + 1).is_none_or(|next| {
                        next.is_mark() || next.any(BEHIND_PARTICLES) || next.kind == Kind::Number
                    })
            });
            phrasal = particle.map(|(_, token)| with(token));
            phrasal = phrasal.filter(|phrase| GROUPS.contains_key(phrase));
        }
        // "do a search", "take a look at".
        if matches!(stem.as_str(), "do" | "perform" | "tak" | "hav" | "mak" | "run" | "conduct") {
            let is_led = rest
                .first()
                .is_some_and(|next| next.any(&["a", "an", "another", "the", "some", "one"]));
            let noun = rest
                .iter()
                .take(5)
                .position(|token| token.kind == Kind::Word && token.any(ACTS))
                .filter(|_| is_led);
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

    /// The verb with its particle, if it has one.
    pub(super) fn text(&self) -> &str {
        self.phrasal.as_deref().unwrap_or(&self.stem)
    }

    /// Whether two verbs are the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.text() == other.text() || (other.phrasal.is_none() && self.is(&other.stem))
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
        || FURTHER_VERBS.contains(&stem)
        || TALK_STEMS.iter().any(|talk| talk == stem)
}

/// Whether a stem is that of a verb that says little about what is done.
pub(super) fn is_generic(stem: &str) -> bool {
    GENERIC_STEMS.iter().any(|generic| generic == stem)
}

/// The verb that says what is done: in "use the weather tool to check the
/// forecast" the second.
pub(super) fn head<'a, 't>(phrase: Phrase<'a, 't>) -> Option<(Verb, Phrase<'a, 't>)> {
    let Phrase { tokens, verb: at, end, .. } = phrase;
    let verb = Verb::at(tokens, at, end)?;
    let next = tokens.get(at + 1).filter(|_| at + 1 < end);
    // "run through" is not to run.
    if verb.phrasal.is_none() && next.is_some_and(|next| next.any(NOT_OBJECTS)) {
        return None;
    }
    let idiom =
        next.is_some_and(|next| IDIOMS.contains(&(verb.stem.as_str(), next.lower.as_str())));
    if idiom {
        return None;
    }
    // "I'll add that the"
    let states = next.is_some_and(|next| next.is("that")) && tokens.any_at(at + 2, SUBJECTS);
    if states {
        return None;
    }
    // "I am writing to tell you"
    let second = tokens.get(at + 2).filter(|_| at + 2 < end);
    let talks = next.is_some_and(|next| next.is("to"))
        && second.is_some_and(|second| TALK_STEMS.contains(&second.stem));
    if talks {
        return None;
    }
    let said = tokens.get(at + 1..end).unwrap_or_default();
    let teaches = said.windows(2).any(|pair| matches!(pair, [a, b] if a.is("how") && b.is("to")));
    if teaches && !matches!(verb.stem.as_str(), "search" | "look" | "find") {
        return None;
    }
    if verb.stem == "us" {
        let to = said.iter().position(|token| token.is("to"));
        let second = to.and_then(|to| Verb::at(tokens, at + 2 + to, end));
        let has_tool = said
            .iter()
            .take(to.unwrap_or(0))
            .any(|token| matches!(token.kind, Kind::Identifier | Kind::Code));
        if let Some(second) = second
            && !has_tool
        {
            return Some((second, phrase));
        }
    }
    Some((verb, phrase))
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
        "comparison" => "compar",
        noun => noun,
    }
}

/// Nouns that are acts.
const ACTS: &[&str] = &[
    "search", "look", "lookup", "check", "query", "request", "calculation", "conversion",
    "translation", "reservation", "booking", "transfer", "deployment", "call", "scan", "peek",
    "run", "restart", "reset", "rollback", "refund", "backup", "export", "import", "upload",
    "download", "test", "review", "comparison", "vacuum",
];

/// What may follow "on" in "turn the lights on", where it leads to nothing.
const BEHIND_PARTICLES: &[&str] = &[
    "at", "in", "to", "now", "and", "for", "with", "again", "then", "right", "so", "until",
    "first", "please", "immediately", "before",
];

/// Verbs, by their stems, with what makes something else of them: "run with it".
const IDIOMS: &[(&str, &str)] = &[
    ("run", "with"),
    ("run", "you"),
    ("run", "into"),
    ("mov", "on"),
    ("return", "to"),
    ("turn", "to"),
    ("com", "to"),
    ("read", "between"),
    ("read", "into"),
    ("read", "you"),
    ("writ", "you"),
    ("open", "up"),
    ("back", "you"),
    ("clear", "up"),
    ("play", "along"),
    ("play", "devil's"),
    ("play", "it"),
    ("check", "with"),
    ("check", "in"),
    ("look", "forward"),
    ("look", "after"),
    ("put", "it"),
    ("put", "this"),
    ("put", "myself"),
    ("set", "aside"),
    ("set", "out"),
    ("set", "expectation"),
    ("show", "you"),
    ("send", "you"),
    ("draw", "your"),
    ("call", "it"),
    ("mak", "it"),
    ("mak", "this"),
    ("mak", "that"),
    ("tak", "it"),
    ("tak", "that"),
    ("tak", "this"),
    ("get", "this"),
    ("get", "it"),
    ("get", "to"),
    ("open", "with"),
    ("start", "with"),
    ("clos", "with"),
    ("end", "with"),
];

/// What a statement begins with.
const SUBJECTS: &[&str] = &[
    "the", "a", "an", "this", "you", "you're", "it", "it's", "i", "we", "they", "he", "she",
    "your", "my", "our", "there", "no", "all", "some",
];

/// Verbs, as stems, that stand for no other.
const FURTHER_VERBS: &[&str] = &[
    "look", "cal", "invok", "us", "merg", "commit", "push", "sort", "filter", "squash", "perform",
];
