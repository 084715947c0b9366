//! `cargo xtask sweep`: the tests of streams of which `cargo xtask test` takes a sample.

use std::process::ExitCode;

use anyhow::Result;

use crate::cmd;

/// Every cut and a thousand random splits of every stream, every fault at every byte, `rounds`
/// times, and a million random lists of calls.
pub(crate) fn run(rounds: u32) -> Result<ExitCode> {
    let test = "cargo test --locked --release --package toolwire --test it";
    let mut cuts = cmd::command(&format!("{test} streams::laws::any_chunking -- --nocapture"));
    cmd::run(cuts.env("TOOLWIRE_SWEEP", rounds.to_string()))?;
    let mut faults = cmd::command(&format!("{test} streams::faults -- --nocapture"));
    cmd::run(faults.env("TOOLWIRE_SWEEP", rounds.to_string()))?;
    let mut calls = cmd::command(&format!("{test} streams::identity -- --nocapture"));
    cmd::run(calls.env("TOOLWIRE_ROUNDS", "1000000"))?;
    Ok(ExitCode::SUCCESS)
}
