//! The golden vectors cover every cell, and every tool of every language can read them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Problem, Tree};

/// For each kind there is a vector from each protocol to each other one: a folder
/// `vectors/<kind>/<name>` with `in.<from>.json` and `out.<to>.json`. Within one protocol the bytes
/// pass, so every input is its own expected output there.
pub(super) fn every_cell_has_a_vector(tree: &Tree) -> Vec<Problem> {
    if !tree.has("vectors/requests") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for kind in KINDS {
        let seen = cells(tree, kind);
        for from in PROTOCOLS {
            let missing = |to: &&&str| **to != from && !seen.contains(&(from, **to));
            for to in PROTOCOLS.iter().filter(missing) {
                let what = format!("no vector goes from {from} to {to}");
                problems.push(Problem::in_file(&format!("vectors/{kind}"), what));
            }
        }
    }
    problems
}

/// Text is UTF-8; a vector that is broken on purpose says so by its name.
pub(super) fn text_is_utf8(tree: &Tree) -> Vec<Problem> {
    let broken = tree.files().filter(|(path, bytes)| {
        path.starts_with("vectors/") && !path.ends_with(".bin") && str::from_utf8(bytes).is_err()
    });
    broken.map(|(path, _)| Problem::in_file(path, "is not UTF-8; name it *.bin")).collect()
}

fn cells<'a>(tree: &'a Tree, kind: &str) -> BTreeSet<(&'a str, &'a str)> {
    let mut vectors: BTreeMap<&str, Sides<'_>> = BTreeMap::new();
    for (_, file, _) in tree.texts_in(&format!("vectors/{kind}/")) {
        let Some((vector, file)) = file.split_once('/') else { continue };
        let Some((side, protocol)) = file.strip_suffix(".json").and_then(|f| f.split_once('.'))
        else {
            continue;
        };
        let sides = vectors.entry(vector).or_default();
        match side {
            "in" => sides.from.push(protocol),
            "out" => sides.to.push(protocol),
            _ => {}
        }
    }
    let pairs = vectors.values().flat_map(|Sides { from, to }| {
        from.iter().flat_map(move |from| to.iter().map(move |to| (*from, *to)))
    });
    pairs.collect()
}

#[derive(Default)]
struct Sides<'a> {
    from: Vec<&'a str>,
    to: Vec<&'a str>,
}

const KINDS: [&str; 4] = ["requests", "responses", "errors", "tools"];
const PROTOCOLS: [&str; 3] = ["chat", "responses", "messages"];
