//! A protocol is one description: what is true of one protocol only is in its codec's folder.

use super::codecs::{CODECS, folder_and_file};
use super::lexer::{Token, tokens};
use super::size::is_tests;
use super::{Problem, Tree};

/// Outside the codecs and their list, few files name a protocol. Whatever else must know something
/// of a protocol asks its description, so that a new protocol is a new folder.
pub(super) fn few_files_name_a_protocol(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, file, text) in tree.texts_in("crates/") {
        let is_source = file.contains("/src/") && file.ends_with(".rs") && !is_tests(path);
        if !is_source || path.starts_with(CODECS) || path == LIST {
            continue;
        }
        if let Some((line, name)) = variants(&tokens(text)).first() {
            let what = format!("names Protocol::{name}; ask the protocol's description instead");
            problems.push(Problem::on_line(path, *line, what));
        }
    }
    if problems.len() <= MOST_FILES { Vec::new() } else { problems }
}

/// No codec names another protocol, neither as a variant nor by its folder. What the protocols of
/// one vendor share lies in a folder beside theirs, which names none.
pub(super) fn no_codec_names_another(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, file, text) in tree.texts_in(CODECS) {
        let Some((folder, _)) = folder_and_file(file) else { continue };
        if !file.ends_with(".rs") || is_tests(path) {
            continue;
        }
        let tokens = tokens(text);
        let mut named = variants(&tokens);
        named.extend(folders(&tokens));
        named.sort_unstable();
        named.dedup();
        for (line, name) in named.into_iter().filter(|(_, name)| name.to_lowercase() != folder) {
            let what = format!("{folder} names {name}; make it a property of the model");
            problems.push(Problem::on_line(path, line, what));
        }
    }
    problems
}

/// The variants of `Protocol` in a file: `Protocol::Chat`, or in the braces of
/// `use …::Protocol::{…}`. A glob names them all.
fn variants<'a>(tokens: &[Token<'a>]) -> Vec<(usize, &'a str)> {
    named_below(tokens, |word| word == "Protocol", |word| word == "*" || VARIANTS.contains(&word))
}

/// The folders of codecs in a file: `codec::chat`, `super::chat`, or in the braces of
/// `use crate::codec::{…}`.
fn folders<'a>(tokens: &[Token<'a>]) -> Vec<(usize, &'a str)> {
    named_below(tokens, |word| word == "codec" || word == "super", is_protocol)
}

/// The words that `wanted` picks directly below a path segment that `parent` picks.
fn named_below<'a>(
    tokens: &[Token<'a>],
    parent: impl Fn(&str) -> bool,
    wanted: impl Fn(&str) -> bool,
) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let [first, second, rest @ ..] = rest else { continue };
        if !parent(token.text) || (first.text, second.text) != (":", ":") {
            continue;
        }
        let [next, list @ ..] = rest else { continue };
        let names = if next.text == "{" { top_level(list) } else { vec![next] };
        found.extend(
            names.iter().filter(|name| wanted(name.text)).map(|name| (name.line, name.text)),
        );
    }
    found
}

/// The first word of each element of a list in braces.
fn top_level<'t, 'a>(list: &'t [Token<'a>]) -> Vec<&'t Token<'a>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut is_first = true;
    for token in list {
        match token.text {
            "{" => depth += 1,
            "}" if depth == 0 => break,
            "}" => depth -= 1,
            "," if depth == 0 => {
                is_first = true;
                continue;
            }
            _ if is_first => found.push(token),
            _ => {}
        }
        is_first = false;
    }
    found
}

fn is_protocol(word: &str) -> bool {
    VARIANTS.iter().any(|variant| variant.to_lowercase() == word)
}

const MOST_FILES: usize = 6;
/// Where the protocols are listed, which must name them all.
const LIST: &str = "crates/toolwire/src/protocol.rs";
const VARIANTS: [&str; 3] = ["Chat", "Responses", "Messages"];
