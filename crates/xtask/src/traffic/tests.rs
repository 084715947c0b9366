//! The whole chore, over recordings that were made up for it and over our own vectors.

use std::path::PathBuf;

use toolwire::Protocol;
use toolwire::translate::Error;

use super::case::{Case, Kind};
use super::check::{Output, translate};
use super::{examine, examine_files, read};
use crate::cmd;

fn made_up() -> PathBuf {
    cmd::root().join("crates/xtask/tests/traffic")
}

#[test]
fn recordings_in_every_format_pass() {
    let report = examine(&made_up(), translate).unwrap();
    let text = report.text();
    assert_eq!(report.failures(), 0, "{text}");
    // Two of each kind but errors: a document that is missing here was not found.
    assert!(
        text.starts_with("8 files, 15 distinct documents of the three protocols, 45 translations."),
        "{text}"
    );
    for line in ["har ", "python ", "ruby "] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}: {text}");
    }
}

#[test]
fn our_own_vectors_pass() {
    for kind in ["requests", "responses", "streams", "errors"] {
        let folder = cmd::root().join("vectors").join(kind);
        let mut files = read::files(&folder).unwrap();
        // What came out is for a client, not from a vendor.
        files.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("in."));
        let report = examine_files(&folder, &files, translate).unwrap();
        assert!(report.cases() > 20, "{kind}");
        assert_eq!(report.failures(), 0, "{}", report.text());
    }
}

/// Loses the question mark of every text, without a word.
fn careless(case: &Case, to: Protocol) -> Result<Output, Error> {
    let mut output = translate(case, to)?;
    if case.kind == Kind::Response && case.protocol != to {
        output.body.retain(|byte| *byte != b'?');
    }
    Ok(output)
}

#[test]
fn a_defect_is_found_and_cut_down_to_what_shows_it() {
    let report = examine(&made_up(), careless).unwrap();
    assert_eq!(report.failures(), 2, "{}", report.text());
    let json = report.json();
    let classes = json["classes"].as_array().unwrap();
    let differs = classes.iter().find(|class| class["class"] == "the text differs").unwrap();
    assert_eq!(differs["count"], 2);
    let reproduction = differs["reproduction"].as_str().unwrap();
    assert!(reproduction.contains('?'), "{reproduction}");
    assert!(reproduction.len() < 120, "{reproduction}");
}

/// Fails as a defect of the library would.
fn broken(_: &Case, _: Protocol) -> Result<Output, Error> {
    panic!("oh")
}

#[test]
fn a_panic_is_a_finding() {
    let report = examine(&made_up().join("har"), broken).unwrap();
    assert!(report.failures() > 0);
    assert!(report.text().contains("panics"), "{}", report.text());
}
