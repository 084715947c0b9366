//! Every codec folder looks the same, and no codec leaves a field undecided.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::{Token, tokens};
use super::size::is_tests;
use super::{Problem, Tree};

/// Who knows one codec knows them all: each folder has these files. A protocol may have files of its
/// own beside them, for what the others do not have, and their names still say whether they read or
/// write.
pub(super) fn same_file_names(tree: &Tree) -> Vec<Problem> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, file, _) in tree.texts_in(CODECS) {
        if let Some((folder, name)) = folder_and_file(file) {
            folders.entry(folder).or_default().insert(name);
        }
    }
    let mut problems = Vec::new();
    for (folder, names) in folders.iter().filter(|(folder, _)| !SHARED.contains(folder)) {
        for name in REQUIRED.iter().filter(|name| !names.contains(**name)) {
            let what = format!("has no {name}; every codec has the same file names");
            problems.push(Problem::in_file(&format!("{CODECS}{folder}"), what));
        }
        for name in names.iter().filter(|name| !REQUIRED.contains(name) && !says_direction(name)) {
            let what = "does not say whether it reads or writes; end its name in _in or _out, or \
                        move it to stream_in/ or stream_out/";
            problems.push(Problem::in_file(&format!("{CODECS}{folder}/{name}"), what));
        }
    }
    problems
}

/// The folder of a protocol and what lies in it, for a path below `codec/`.
pub(super) fn folder_and_file(file: &str) -> Option<(&str, &str)> {
    file.split_once('/')
}

/// Whether the path says that the file reads, that it writes, or that it tests.
fn says_direction(file: &str) -> bool {
    let mut steps = file.trim_end_matches(".rs").split('/');
    let is_test = |step: &str| step == "tests" || step.ends_with("_tests");
    steps.any(|step| step.ends_with("_in") || step.ends_with("_out") || is_test(step))
}

/// In codecs a field is never skipped with `..` and a variant never with `_`: whoever adds one to
/// the model must be stopped by the compiler in every codec. Tests may skip what they do not test.
pub(super) fn every_field_decided(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, file, text) in tree.texts_in(CODECS) {
        if file.ends_with(".rs") && !is_tests(path) {
            let undecided = undecided(&tokens(text)).into_iter();
            problems.extend(undecided.map(|(line, what)| Problem::on_line(path, line, what)));
        }
    }
    problems
}

fn undecided(tokens: &[Token<'_>]) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", text_at);
        let after = text_at(at + 1);
        match token.text {
            "(" | "[" | "{" => open.push(Open { delimiter: token.text, owner: before }),
            ")" | "]" | "}" => {
                open.pop();
            }
            "_" if after == "=>" || after == "if" => found.push((token.line, WILDCARD)),
            ".." => {
                let rest = tokens.get(at + 1..).unwrap_or_default();
                let skipped = open.last().and_then(|open| open.skipped_by_dots(before, rest));
                found.extend(skipped.map(|what| (token.line, what)));
            }
            _ => {}
        }
    }
    found
}

/// An open bracket and the token in front of it.
struct Open<'a> {
    delimiter: &'a str,
    owner: &'a str,
}

impl Open<'_> {
    /// What is wrong with a `..` directly inside this bracket, if it is not a range.
    fn skipped_by_dots(&self, before: &str, rest: &[Token<'_>]) -> Option<&'static str> {
        let after = rest.first().map_or("", |token| token.text);
        let first = before == self.delimiter || before == ",";
        match self.delimiter {
            "{" if first && after == "}" => Some(REST),
            "{" if first && !starts_an_arm(rest) => Some(UPDATE),
            // `Call(id, ..)` takes a variant apart; `drain(..)` is a range given to a function.
            "(" if first && matches!(after, ")" | ",") && is_type_name(self.owner) => Some(REST),
            _ => None,
        }
    }
}

/// Whether what follows `..` is the end of a range and then the body of a match arm: `..10 => x`.
fn starts_an_arm(rest: &[Token<'_>]) -> bool {
    let stop = rest.iter().find(|token| matches!(token.text, "=>" | "," | "}" | "("));
    stop.is_some_and(|token| token.text == "=>")
}

fn is_type_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_uppercase())
}

pub(super) const CODECS: &str = "crates/toolwire/src/codec/";
/// Folders that belong to no protocol: what the protocols of one vendor share.
const SHARED: &[&str] = &["openai"];
pub(super) const REQUIRED: [&str; 34] = [
    "mod.rs",
    "description.rs",
    "answer_dispositions.rs",
    "dispositions.rs",
    "wire.rs",
    "recognize_in.rs",
    "request_in.rs",
    "request_out.rs",
    "turns_in.rs",
    "turns_out.rs",
    "content_in.rs",
    "content_out.rs",
    "calls_out.rs",
    "results_out.rs",
    "continuation_out.rs",
    "reasoning_in.rs",
    "reasoning_out.rs",
    "tools_in.rs",
    "tools_out.rs",
    "choice_in.rs",
    "choice_out.rs",
    "response_in.rs",
    "response_out.rs",
    "stop_in.rs",
    "stop_out.rs",
    "usage_in.rs",
    "usage_out.rs",
    "error_in.rs",
    "error_out.rs",
    "stream_in/mod.rs",
    "stream_in/text_delta.rs",
    "stream_in/observer.rs",
    "stream_out/mod.rs",
    "stream_out/from_response.rs",
];
const WILDCARD: &str = "`_` as a match arm; name every variant, or bind what is left (`other =>`)";
const REST: &str = "`..` in a pattern; name every field and decide what becomes of it";
const UPDATE: &str = "`..` fills in fields; set every field, so that a new one is decided here too";
