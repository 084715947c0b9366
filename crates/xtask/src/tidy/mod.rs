//! `cargo xtask tidy`: the house rules that a machine can check. A rule nobody checks does not hold.
//!
//! Each rule is a function from the tree to the problems it sees. It also runs as a test, so that
//! `cargo test` alone catches a breach.

mod codecs;
mod crates;
mod errors;
mod lexer;
mod links;
mod protocols;
mod security;
mod size;
mod text;
mod tree;
mod vectors;

#[cfg(test)]
mod tests;

use std::fmt;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cmd;
use tree::Tree;

/// Checks the workspace and prints what is wrong with it.
pub(crate) fn run() -> Result<ExitCode> {
    check_workspace()?;
    Ok(ExitCode::SUCCESS)
}

/// Checks the workspace; an error says how many problems were printed.
pub(crate) fn check_workspace() -> Result<()> {
    let tree = Tree::read(cmd::root())?;
    let problems: Vec<_> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("{} breaches of the house rules; CONTRIBUTING.md gives the reasons", problems.len());
    }
    println!("{} rules hold in {} files.", RULES.len(), tree.len());
    Ok(())
}

const RULES: &[fn(&Tree) -> Vec<Problem>] = &[
    size::files_are_rooms,
    codecs::same_file_names,
    codecs::every_field_decided,
    protocols::few_files_name_a_protocol,
    protocols::no_codec_names_another,
    crates::dependencies_point_one_way,
    crates::library_stays_pure,
    crates::no_tool_is_executed,
    crates::named_crates_exist,
    vectors::every_cell_has_a_vector,
    vectors::text_is_utf8,
    text::no_unfinished_work,
    text::no_machine_paths,
    text::no_banners,
    links::links_lead_somewhere,
    security::rules_have_tests,
    errors::every_error_is_documented,
];

/// A breach of a rule: where, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    path: String,
    line: Option<usize>,
    what: String,
}

impl Problem {
    fn in_file(path: &str, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, what: what.into() }
    }

    fn on_line(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what } = self;
        match line {
            Some(line) => write!(f, "{path}:{line}: {what}"),
            None => write!(f, "{path}: {what}"),
        }
    }
}
