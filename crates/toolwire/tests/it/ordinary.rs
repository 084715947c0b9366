//! An ordinary answer of each vendor, with every member that its API sends,
//! crosses without a loss, whole and streamed: a client that wants no loss gets
//! it.

use toolwire::translate::{self, Options};
use toolwire::{Entry, LossPolicy, Protocol};

use crate::streams;
use crate::vectors::inputs;

#[test]
fn an_ordinary_answer_is_not_refused() {
    let options = Options::new().on_loss(LossPolicy::Refuse);
    let mut seen = 0;
    for (folder, from, body) in inputs("responses") {
        if !folder.to_string_lossy().contains("-ordinary-") {
            continue;
        }
        for to in Protocol::ALL {
            seen += 1;
            let crossed = translate::response(from, to, &body, &options);
            assert!(crossed.is_ok(), "{} to {to}: {crossed:?}", folder.display());
        }
    }
    assert_eq!(seen, 2 * 3 * 3, "a text and a call of each protocol to each");
}

#[test]
fn an_ordinary_stream_loses_nothing() {
    let mut seen = 0;
    for stream in streams::recorded() {
        if !stream.name().contains("-ordinary-") {
            continue;
        }
        for to in Protocol::ALL {
            seen += 1;
            let (_, ledger) = streams::translated(stream.from, to, None, [stream.bytes.as_slice()]);
            let losses: Vec<&Entry> = ledger.iter().filter(|entry| entry.is_loss()).collect();
            assert!(losses.is_empty(), "{} to {to}: {losses:?}", stream.name());
        }
    }
    assert_eq!(seen, 2 * 3 * 3, "a text and a call of each protocol to each");
}
