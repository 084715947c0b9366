//! Vectors spliced into each other and damaged keep every law.

#![no_main]

#[path = "../../crates/toolwire/tests/it/splice.rs"]
mod splice;

use std::sync::LazyLock;

use arbitrary::Unstructured;
use libfuzzer_sys::{Corpus, fuzz_target};
use serde_json::Value;
use toolwire::Protocol;
use toolwire_laws as laws;

static REQUESTS: LazyLock<Vec<(Protocol, Value)>> = LazyLock::new(|| splice::documents("requests"));
static ANSWERS: LazyLock<Vec<(Protocol, Value)>> = LazyLock::new(|| splice::documents("responses"));

fuzz_target!(|data: &[u8]| -> Corpus {
    let mut random = Unstructured::new(data);
    let Ok((from, text)) = splice::document(&mut random, &REQUESTS) else { return Corpus::Reject };
    for law in [
        laws::nothing_is_lost_in_silence,
        laws::only_foreign_reasoning_is_cut,
        laws::the_same_bytes_every_time,
    ] {
        if let Err(what) = law(from, &text) {
            panic!("{from}: {what}\n{text}");
        }
    }
    if let Ok((from, text)) = splice::document(&mut random, &ANSWERS)
        && let Err(what) = laws::answers_are_readable(from, &text)
    {
        panic!("{from}: {what}\n{text}");
    }
    Corpus::Keep
});
