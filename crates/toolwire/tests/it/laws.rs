//! The laws of translation, over every vector and every pair of protocols.

use toolwire::{Code, Ledger, Protocol, codec};
use toolwire_laws as laws;
use toolwire_laws::{self, diff, meaning};

use crate::PROTOCOLS;
use crate::documents::documents;

#[test]
fn nothing_is_lost_in_silence() {
    check_pairs("requests", laws::nothing_is_lost_between);
}

#[test]
fn the_same_bytes_every_time() {
    check_pairs("requests", laws::the_same_bytes_between);
}

#[test]
fn only_foreign_reasoning_is_cut() {
    check("requests", laws::only_foreign_reasoning_is_cut);
}

#[test]
fn answers_are_readable() {
    for kind in ["responses", "errors", "tools"] {
        check_pairs(kind, laws::answers_are_readable_between);
    }
}

/// The diff can fail: a loss without a ledger line is found, and one with a
/// line is not.
#[test]
fn a_loss_without_a_ledger_line_is_found() {
    let source = r#"{"model":"m","seed":7,"messages":[{"role":"user","content":"hello"}]}"#;
    let before = meaning::request(&codec(Protocol::Chat).decode_request(source).unwrap());
    let after: Vec<_> = before.iter().filter(|atom| atom.class != "seed").cloned().collect();
    let gone = diff::lost(&before, &after, source, &[]);
    assert_eq!(
        gone.iter().map(|(atom, path)| (atom.class, path.as_str())).collect::<Vec<_>>(),
        [("seed", "/seed")]
    );

    let mut ledger = Ledger::default();
    let seed = before.iter().find(|atom| atom.class == "seed").unwrap();
    ledger.dropped(seed.pos, Code::Sampling);
    assert!(diff::lost(&before, &after, source, &ledger.entries(source)).is_empty());
}

fn check(kind: &str, law: fn(Protocol, &str) -> Result<(), String>) {
    let mut wrong = Vec::new();
    for (folder, from, body) in documents(kind) {
        if let Err(what) = law(from, std::str::from_utf8(&body).unwrap()) {
            wrong.push(format!("{} {from} {what}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

fn check_pairs(kind: &str, law: fn(Protocol, Protocol, &str) -> Result<(), String>) {
    let mut wrong = Vec::new();
    for (folder, from, body) in documents(kind) {
        for to in PROTOCOLS.into_iter().filter(|to| *to != from) {
            if let Err(what) = law(from, to, std::str::from_utf8(&body).unwrap()) {
                wrong.push(format!("{} {from} {what}", folder.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
