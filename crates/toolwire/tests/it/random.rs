//! Random documents keep the laws.

use arbitrary::Unstructured;
use serde_json::Value;
use toolwire::Protocol;
use toolwire_laws as laws;

use crate::{PROTOCOLS, documents, splice};

#[test]
fn spliced_requests_keep_the_laws() {
    check(
        "requests",
        &[
            laws::nothing_is_lost_in_silence,
            laws::only_foreign_reasoning_is_cut,
            laws::the_same_bytes_every_time,
        ],
    );
}

#[test]
fn spliced_answers_are_readable() {
    check("responses", &[laws::answers_are_readable, laws::stream::a_whole_answer_ends_once]);
}

type Law = fn(Protocol, &str) -> Result<(), String>;

/// The same documents on every run, so that a failure is the change's and not
/// the day's. The fuzzer looks further, from these same bytes.
fn check(kind: &str, laws: &[Law]) {
    let documents = splice::documents(kind);
    let mut made = 0;
    for seed in 0..4_000 {
        let noise = noise(seed);
        let Ok((from, text)) = splice::document(&mut Unstructured::new(&noise), &documents) else {
            continue;
        };
        made += 1;
        for law in laws {
            if let Err(what) = law(from, &text) {
                panic!("seed {seed}: {from}: {what}\n{text}");
            }
        }
    }
    assert!(made > 3_500, "only {made} documents");
}

#[test]
fn spliced_requests_keep_the_laws_in_every_pair() {
    check_pairs("requests", &[laws::nothing_is_lost_between, laws::the_same_bytes_between]);
}

#[test]
fn spliced_answers_are_readable_in_every_pair() {
    let ends_once = laws::stream::a_whole_answer_ends_once_between;
    check_pairs("responses", &[laws::answers_are_readable_between, ends_once]);
}

type PairLaw = fn(Protocol, Protocol, &str) -> Result<(), String>;

/// The pairs of built-in protocols are checked above, so these are the others.
fn check_pairs(kind: &str, laws: &[PairLaw]) {
    let tree = |(_, from, body): documents::Document| {
        (from, serde_json::from_slice::<Value>(&body).unwrap())
    };
    let documents: Vec<_> = documents::documents(kind).into_iter().map(tree).collect();
    let is_built_in = |protocol: Protocol| Protocol::ALL.contains(&protocol);
    let mut made = 0;
    for seed in 0..2_000 {
        let noise = noise(seed);
        let Ok((from, text)) = splice::document(&mut Unstructured::new(&noise), &documents) else {
            continue;
        };
        made += 1;
        let other = |to: &Protocol| *to != from && !(is_built_in(from) && is_built_in(*to));
        for to in PROTOCOLS.into_iter().filter(other) {
            for law in laws {
                if let Err(what) = law(from, to, &text) {
                    panic!("seed {seed}: {from}: {what}\n{text}");
                }
            }
        }
    }
    assert!(made > 1_750, "only {made} documents");
}

/// SplitMix64, which is enough to be unlike everything else.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let word = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some((mixed ^ (mixed >> 31)).to_le_bytes())
    };
    std::iter::from_fn(word).take(64).flatten().collect()
}
