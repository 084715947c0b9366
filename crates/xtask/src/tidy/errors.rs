//! Every error that a user can meet is in the guide.

use super::size::is_tests;
use super::{Problem, Tree};

/// The kinds of errors, the codes of the ledger, the codes of errors and the gateway's messages are
/// all in the document about them, so that nobody meets one that it does not explain.
pub(super) fn every_error_is_documented(tree: &Tree) -> Vec<Problem> {
    let Some((_, document)) = tree.texts().find(|(path, _)| *path == DOCUMENT) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    for (path, text) in tree.texts() {
        for (line, error) in errors(path, text) {
            if !document.contains(&error) {
                let what = format!("{DOCUMENT} does not explain {error}");
                problems.push(Problem::on_line(path, line, what));
            }
        }
    }
    problems
}

/// What the document must have because of a file, with the line it is on.
fn errors(path: &str, text: &str) -> Vec<(usize, String)> {
    let marked = |(line, name): (usize, &str)| (line, format!("`{name}`"));
    match path {
        KINDS => kinds(text).into_iter().map(marked).collect(),
        CODES => codes(text).into_iter().map(marked).collect(),
        _ if is_tests(path) || path.contains("growth") || !path.ends_with(".rs") => Vec::new(),
        OPENAI => given(text).into_iter().map(marked).collect(),
        _ if path.starts_with(LIBRARY) || path.starts_with(GATEWAY) => {
            let mut found: Vec<_> = assigned(text).into_iter().map(marked).collect();
            if path.starts_with(GATEWAY) && text.contains("ErrorKind::") {
                found.extend(sentences(text));
            }
            found
        }
        _ => Vec::new(),
    }
}

/// The variants of `ErrorKind`.
fn kinds(text: &str) -> Vec<(usize, &str)> {
    let lines = (1..).zip(text.lines());
    let body = lines.skip_while(|(_, line)| !line.starts_with("pub enum ErrorKind")).skip(1);
    let body = body.take_while(|(_, line)| *line != "}");
    body.filter_map(|(line, text)| Some((line, text.trim().strip_suffix(',')?))).collect()
}

/// The texts of the codes in the table `codes!`: `Name = "text", "meaning";`.
fn codes(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let row = text.trim().split_once(" = \"").filter(|_| text.ends_with("\";"));
        let named = row.filter(|(name, _)| name.starts_with(char::is_uppercase));
        found.extend(named.and_then(|(_, rest)| Some((line, rest.split_once('"')?.0))));
    }
    found
}

/// What stands in `code = Some("…"`.
fn assigned(text: &str) -> Vec<(usize, &str)> {
    between(text, "code = Some(\"")
}

/// What stands in `Some("…"`.
fn given(text: &str) -> Vec<(usize, &str)> {
    between(text, "=> Some(\"")
}

fn between<'t>(text: &'t str, before: &str) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let after = text.split_once(before).map(|(_, after)| after);
        found.extend(after.and_then(|after| after.split_once('"')).map(|(code, _)| (line, code)));
    }
    found
}

/// The longest fixed part of each literal that is a sentence for a user.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut pending: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.starts_with("//") {
            continue;
        }
        // A literal may go on in the next line, behind a backslash.
        let (start, joined) = match pending.take() {
            Some((start, before)) => (start, format!("{before}{line}")),
            None => (number, line.to_owned()),
        };
        if let Some(rest) = joined.strip_suffix('\\') {
            pending = Some((start, rest.to_owned()));
            continue;
        }
        for literal in joined.replace("\\\"", "'").split('"').skip(1).step_by(2) {
            let is_sentence = literal.starts_with(char::is_uppercase)
                && literal.contains(' ')
                && literal.ends_with('.');
            let parts = literal.split(['{', '}']).step_by(2);
            let longest = parts.max_by_key(|part| part.len()).unwrap_or_default().trim();
            if is_sentence {
                found.push((start, longest.to_owned()));
            }
        }
    }
    found
}

const DOCUMENT: &str = "docs/troubleshooting.md";
const KINDS: &str = "crates/toolwire/src/model/error.rs";
const CODES: &str = "crates/toolwire/src/ledger/code.rs";
const OPENAI: &str = "crates/toolwire/src/codec/openai/error_out.rs";
const LIBRARY: &str = "crates/toolwire/src/";
const GATEWAY: &str = "crates/toolwire-gateway/src/";
