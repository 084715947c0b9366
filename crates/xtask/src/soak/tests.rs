//! The list of parts is complete.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use super::PARTS;
use crate::cmd;

/// Proves that a test of load which nobody put into the list is noticed.
#[test]
fn every_test_of_load_is_a_part() {
    let folder = cmd::root().join("crates/toolwire-gateway/tests/it/soak");
    let mut tests = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for after in text.split("#[tokio::test").skip(1) {
            let (_, name) = after.split_once("fn ").unwrap();
            tests.push(format!("{module}::{}", name.split('(').next().unwrap()));
        }
    }
    let mut listed: Vec<_> = PARTS.iter().map(|(_, test)| (*test).to_owned()).collect();
    listed.sort();
    tests.sort();
    assert_eq!(listed, tests);
}
