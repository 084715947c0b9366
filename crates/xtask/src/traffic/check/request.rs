//! Requests: what one says before and after.

use super::{Failure, Pair, answer, leaves, valid};
use crate::traffic::extract::{self, CallResult};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Failure> {
    let before = extract::request(pair.case.protocol, &pair.before);
    let after = extract::request(pair.to, &pair.after);
    let reported = |words: &[&str]| {
        let codes = pair.ledger.iter().map(|entry| entry.code.to_string());
        codes.into_iter().any(|code| words.iter().any(|word| code.contains(word)))
    };
    let mut failures = Vec::new();
    // Calls without results, results without calls and ids that occur twice are put in order, and
    // every such repair is in the ledger.
    if !reported(&[
        "_result",
        "legacy",
        "hosted",
        "native",
        "interleaving",
        "computer",
        "unknown",
        "tool_search",
    ]) {
        let mut calls = after.calls.clone();
        calls.retain(|call| {
            before.calls.iter().any(|was| was.name == call.name) || !call.name.is_empty()
        });
        failures.extend(answer::calls(&before.calls, &calls, pair.ledger));
        failures.extend(results(&before.results, &after.results));
    }
    let is_excused = reported(&["tool_name", "tool", "namespace", "legacy", "hosted", "choice"]);
    let missing = before.tools.iter().find(|name| !after.tools.contains(name));
    if let Some(name) = missing.filter(|_| !is_excused) {
        failures.push(Failure::new("a tool is gone", name.clone()));
    }
    failures.extend(leaves::lost(pair));
    failures.extend(valid::document(pair.to, "request", &pair.after));
    failures
}

fn results(before: &[CallResult], after: &[CallResult]) -> Option<Failure> {
    let is_kept = |was: &&CallResult| {
        let said = answer::packed(&was.text);
        after.iter().any(|is| answer::packed(&is.text).contains(&said))
    };
    let missing = before.iter().find(|was| !is_kept(was))?;
    Some(Failure::new("a result is gone", format!("{missing:?}")))
}
