//! Dependencies point one way, and the library stays free of I/O. Development dependencies are
//! exempt: a test may use whatever shows that the code is right.

use std::collections::BTreeSet;

use super::{Problem, Tree};

/// Our crates depend on each other only as the table allows.
pub(super) fn dependencies_point_one_way(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, file, text) in tree.texts_in("crates/") {
        let Some(name) = file.strip_suffix("/Cargo.toml") else { continue };
        let Some((_, allowed)) = MAY_USE.iter().find(|(ours, _)| *ours == name) else {
            let what = "is not in the table of crates; say in xtask what it may depend on";
            problems.push(Problem::in_file(path, what));
            continue;
        };
        for Dependency { line, package } in dependencies(text) {
            let ours = MAY_USE.iter().any(|(ours, _)| *ours == package);
            if ours && !allowed.contains(&package) {
                let what = format!("{name} must not depend on {package}");
                problems.push(Problem::on_line(path, line, what));
            }
        }
    }
    problems
}

/// toolwire never executes a tool: what a model calls reaches the library, the demo model and the
/// gateway, and none of these can start a program. Tests may.
pub(super) fn no_tool_is_executed(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, file, text) in tree.texts_in("crates/") {
        let Some((name, source)) = file.split_once("/src/") else { continue };
        let is_test = source.ends_with("tests.rs") || source.contains("tests/");
        if !source.ends_with(".rs") || is_test || MAY_START_PROGRAMS.contains(&name) {
            continue;
        }
        for (line, text) in (1..).zip(text.lines()) {
            if text.contains("process::Command") || text.contains("process::{") {
                let what = format!("{name} must not start programs; toolwire executes no tools");
                problems.push(Problem::on_line(path, line, what));
            }
        }
    }
    problems
}

/// The library does no I/O, keeps no clock, logs nothing, and never rewrites a number. Conveniences
/// for users of other crates are features that nobody gets unasked.
pub(super) fn library_stays_pure(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, _, text) in tree.texts_in("crates/toolwire/Cargo.toml") {
        for Dependency { line, package } in dependencies(text) {
            let is_optional = text.lines().nth(line - 1).is_some_and(is_optional);
            if is_optional && MAY_BE_OPTIONAL.contains(&package) {
                continue;
            }
            if let Some((_, reason)) = IMPURE.iter().find(|(name, _)| *name == package) {
                let what = format!("the library must not depend on {package}: {reason}");
                problems.push(Problem::on_line(path, line, what));
            }
        }
        for (line, text) in (1..).zip(text.lines()) {
            if text.split_once('=').is_some_and(|(key, _)| key.trim() == "default") {
                let what = "the library has no default features; users ask for what they need";
                problems.push(Problem::on_line(path, line, what));
            }
        }
    }
    problems
}

/// The tables of this file name crates that exist.
pub(super) fn named_crates_exist(tree: &Tree) -> Vec<Problem> {
    if !tree.has(HERE) {
        return Vec::new();
    }
    let named = MAY_USE.iter().flat_map(|(name, allowed)| std::iter::once(name).chain(*allowed));
    let named: BTreeSet<&str> = named.chain(MAY_START_PROGRAMS).copied().collect();
    let gone = named.into_iter().filter(|name| !tree.has(&format!("crates/{name}/Cargo.toml")));
    gone.map(|name| Problem::in_file(HERE, format!("there is no crate {name}"))).collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Dependency<'a> {
    line: usize,
    package: &'a str,
}

/// The packages a manifest depends on, other than for development. Renamed packages are given by
/// their real name.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut section = Section::Other;
    for (line, text) in (1..).zip(manifest.lines()) {
        let text = text.trim();
        if let Some(header) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            section = Section::named(header);
            if let Section::One(package) = section {
                found.push(Dependency { line, package });
            }
            continue;
        }
        let Some((key, value)) = text.split_once('=') else { continue };
        match section {
            Section::All => {
                let key = key.split('.').next().unwrap_or(key).trim().trim_matches('"');
                found.push(Dependency { line, package: renamed(value).unwrap_or(key) });
            }
            Section::One(_) if key.trim() == "package" => {
                found.pop();
                found.push(Dependency { line, package: value.trim().trim_matches('"') });
            }
            Section::One(_) | Section::Other => {}
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Section<'a> {
    /// A table of dependencies.
    All,
    /// The table of one dependency.
    One(&'a str),
    /// Anything else, development dependencies among it.
    Other,
}

impl<'a> Section<'a> {
    fn named(header: &'a str) -> Self {
        // The part before is a platform: `target.'cfg(unix)'.dependencies`.
        let is_kind = |text: &str| {
            ["dependencies", "build-dependencies"]
                .iter()
                .any(|kind| text == *kind || text.ends_with(&format!(".{kind}")))
        };
        match header.rsplit_once('.') {
            _ if is_kind(header) => Self::All,
            Some((kind, package)) if is_kind(kind) => Self::One(package),
            Some(_) | None => Self::Other,
        }
    }
}

/// Whether the dependency on this line is only there if a feature asks for it.
fn is_optional(line: &str) -> bool {
    let (_, after) = line.split_once("optional").unwrap_or_default();
    after.trim_start().strip_prefix('=').is_some_and(|value| value.trim_start().starts_with("true"))
}

/// The `X` of `{ package = "X", … }`.
fn renamed(value: &str) -> Option<&str> {
    let (_, after) = value.split_once("package")?;
    after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?.split('"').next()
}

/// What each of our crates may use of the others.
const MAY_USE: &[(&str, &[&str])] = &[
    ("toolwire", &[]),
    ("toolwire-demo", &["toolwire"]),
    ("toolwire-laws", &["toolwire"]),
    ("toolwire-store", &[]),
    ("toolwire-tokens", &["toolwire"]),
    ("toolwire-gateway", &["toolwire", "toolwire-demo", "toolwire-store", "toolwire-tokens"]),
    // The only crate that runs tools. Nothing of ours may use it.
    ("toolwire-runner", &["toolwire"]),
    ("toolwire-cli", &["toolwire", "toolwire-gateway", "toolwire-store", "toolwire-tokens"]),
    ("xtask", &["toolwire"]),
];

/// The crates that may start programs: the command starts agents, the chores start compilers and
/// tests.
const MAY_START_PROGRAMS: &[&str] = &["toolwire-cli", "xtask"];

/// What a feature of the library may bring in.
const MAY_BE_OPTIONAL: &[&str] = &["serde_json"];

const HERE: &str = "crates/xtask/src/tidy/crates.rs";

const IMPURE: &[(&str, &str)] = &[
    ("axum", "it does no I/O"),
    ("http", "it knows no transport"),
    ("hyper", "it does no I/O"),
    ("log", "it logs nothing; what happened is in the ledger"),
    ("reqwest", "it does no I/O"),
    ("serde_json", "its values rewrite numbers and re-sort or drop keys"),
    ("tokio", "it does no I/O and spawns nothing"),
    ("tracing", "it logs nothing; what happened is in the ledger"),
];
