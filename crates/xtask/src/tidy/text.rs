//! What no file may say, wherever it stands.

use super::{Problem, Tree};

/// Work is finished or not begun; what is left to do belongs in the issue tracker.
pub(super) fn no_unfinished_work(tree: &Tree) -> Vec<Problem> {
    let said = |text: &str| {
        let word = MARKERS.iter().find(|marker| has_word(text, marker));
        let call = CALLS.iter().find(|call| text.contains(*call));
        word.or(call).map(|found| format!("`{found}` marks unfinished work; finish it"))
    };
    // Vectors repeat what clients and models say, and they may say anything.
    lines_where(tree, |path| !path.starts_with("vectors/"), said)
}

/// A path that exists on one machine only means nothing to a reader.
pub(super) fn no_machine_paths(tree: &Tree) -> Vec<Problem> {
    let said = |text: &str| {
        let found = MACHINE_PATHS.iter().find(|path| has_absolute_path(text, path));
        found.map(|found| format!("`{found}` is a place on somebody's machine; say it otherwise"))
    };
    lines_where(tree, |_| true, said)
}

/// A file that needs banners is more than one room.
pub(super) fn no_banners(tree: &Tree) -> Vec<Problem> {
    let code = |path: &str| CODE.iter().any(|ending| path.ends_with(ending));
    let said = |text: &str| {
        let rest = COMMENTS.iter().find_map(|mark| text.trim_start().strip_prefix(mark))?;
        let rule = ["====", "----", "****", "####", "////", "~~~~"];
        let banner = rule.iter().any(|rule| rest.trim_start().starts_with(rule));
        banner.then(|| "a banner; split the file or let the names speak".to_owned())
    };
    lines_where(tree, code, said)
}

/// Looks at each line of each file that `wanted` picks, other than of these rules themselves.
fn lines_where(
    tree: &Tree,
    wanted: impl Fn(&str) -> bool,
    said: impl Fn(&str) -> Option<String>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| wanted(path) && !path.starts_with(HERE)) {
        for (line, text) in (1..).zip(text.lines()) {
            problems.extend(said(text).map(|what| Problem::on_line(path, line, what)));
        }
    }
    problems
}

/// Whether the word stands on its own, so that random letters in a signature are not taken for it.
fn has_word(text: &str, word: &str) -> bool {
    let is_edge = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || "_+/=".contains(c));
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + word.len()..));
        is_edge(before.and_then(|before| before.chars().next_back()))
            && is_edge(after.and_then(|after| after.chars().next()))
    })
}

/// Whether the path begins here: `example.com/home/` and `src/work/` are not places on a machine.
fn has_absolute_path(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~*})>".contains(c))
    })
}

const HERE: &str = "crates/xtask/src/tidy/";
const MARKERS: &[&str] = &["FIXME", "TODO", "XXX"];
const CALLS: &[&str] = &["todo!(", "unimplemented!(", "dbg!("];
const MACHINE_PATHS: &[&str] = &["/home/", "/root/", "/work/"];
const CODE: &[&str] = &[".rs", ".py", ".ts", ".js", ".mjs", ".toml", ".css"];
const COMMENTS: &[&str] = &["//", "#", "/*"];
