//! `cargo xtask soak`: the gateway's tests of load and faults, of which `cargo xtask test` takes a
//! sample, at their full sizes. Prints a table and writes nothing.

use std::process::ExitCode;

use anyhow::Result;

use crate::cmd;

/// Runs the tests one after the other, so that none disturbs the times of another.
pub(crate) fn run() -> Result<ExitCode> {
    let line = "cargo test --locked --release --package toolwire-gateway --test it soak:: -- \
                --nocapture --test-threads=1";
    let mut rows = Vec::new();
    let mut command = cmd::command(line);
    command.env("TOOLWIRE_SOAK", "1");
    let status = cmd::run_watched(&mut command, |line| {
        // The name of the test may be on the same line.
        if let Some(start) = line.find("| ") {
            rows.push(line.get(start..).unwrap_or_default().trim_end().to_owned());
        }
    })?;
    println!("\n| what | count | p50 | p99 | findings |\n|---|---|---|---|---|");
    for row in rows {
        println!("{row}");
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
