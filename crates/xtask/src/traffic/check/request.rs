//! Requests: what one says before and after.

use serde_json::Value;

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
        "_result", "legacy", "hosted", "native", "interleaving", "computer", "unknown",
        "tool_search",
    ]) {
        failures.extend(answer::calls(&before.calls, &after.calls, pair.ledger));
        failures.extend(results(&before.results, &after.results));
    }
    let is_gone = |(place, name): &&(String, String)| {
        let is_declared = after.tools.iter().any(|(_, declared)| declared == name);
        !is_declared && !leaves::is_named(pair.ledger, place)
    };
    if let Some((place, name)) = before.tools.iter().find(is_gone) {
        failures.push(Failure::new("a tool is gone", format!("{place}: {name}")));
    }
    failures.extend(leaves::lost(pair));
    // A stored prompt may name the model; then the request names none.
    let mut after = pair.after.clone();
    if let Some(members) = after.as_object_mut().filter(|_| pair.before.get("model").is_none()) {
        members.insert("model".to_owned(), Value::String(String::new()));
    }
    failures.extend(valid::document(pair.to, "request", &after));
    failures
}

/// Every text of a result is in a result.
fn results(before: &[CallResult], after: &[CallResult]) -> Option<Failure> {
    let says: String = after.iter().map(|is| answer::packed(&is.texts.concat())).collect();
    let is_kept =
        |was: &&CallResult| was.texts.iter().all(|text| says.contains(&answer::packed(text)));
    let missing = before.iter().find(|was| !is_kept(was))?;
    Some(Failure::new("a result is gone", format!("{missing:?}")))
}
