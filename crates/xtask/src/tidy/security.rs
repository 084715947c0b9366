//! Every rule of the security document names tests, and every test it names exists.

use super::{Problem, Tree};

/// Each row of a table about tests names at least one as `path::name`, which is a function there.
pub(super) fn rules_have_tests(tree: &Tree) -> Vec<Problem> {
    let Some((path, text)) = tree.texts().find(|(path, _)| *path == DOCUMENT) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let mut is_test_table = false;
    for (line, row) in (1..).zip(text.lines()) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        if !row.starts_with('|') || row.starts_with("|---") {
            is_test_table &= row.starts_with("|---");
            continue;
        }
        if cells == ["rule", "tests"] {
            is_test_table = true;
            continue;
        }
        let Some(tests) = cells.last().filter(|_| is_test_table) else { continue };
        let named: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            problems.push(Problem::on_line(path, line, "the rule names no test"));
        }
        for name in named.into_iter().filter(|name| !exists(tree, name)) {
            let what = format!("there is no test {name}");
            problems.push(Problem::on_line(path, line, what));
        }
    }
    problems
}

fn exists(tree: &Tree, test: &str) -> bool {
    let Some((file, name)) = test.split_once("::") else { return false };
    let functions = [format!("fn {name}("), format!("def {name}(")];
    tree.texts()
        .filter(|(path, _)| *path == file)
        .any(|(_, text)| functions.iter().any(|function| text.contains(function.as_str())))
}

const DOCUMENT: &str = "docs/security.md";
