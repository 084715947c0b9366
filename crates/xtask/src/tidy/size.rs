//! A file is one room: small enough to be read in one sitting.

use super::{Problem, Tree};

/// No source file is over 500 lines, unless it is only tests or only a table.
pub(super) fn files_are_rooms(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_source(path)) {
        let lines = text.lines().count();
        if lines > MOST_LINES && !is_tests(path) && !is_table(text) {
            let what = format!("{lines} lines; split it, {MOST_LINES} is the most a reader holds");
            problems.push(Problem::in_file(path, what));
        }
    }
    problems
}

/// Whether a file holds nothing but tests, judged by its name.
pub(super) fn is_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs") || path.contains("/tests/")
}

fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs")
}

fn is_table(text: &str) -> bool {
    let first = text.lines().find(|line| line.starts_with("//!"));
    first.is_some_and(|line| line.to_lowercase().contains("table only"))
}

const MOST_LINES: usize = 500;
