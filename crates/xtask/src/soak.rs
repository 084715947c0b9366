//! `cargo xtask soak`: the gateway's tests of load and faults, of which `cargo xtask test` takes a
//! sample, at their full sizes.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::cmd;

/// The tests by the names that `--only` takes, in the order in which they run. Each has a process to
/// itself, so that none disturbs the times and the memory of another.
const PARTS: &[(&str, &str)] = &[
    ("slow-streams", "streams::memory_is_given_back"),
    ("stalled-readers", "stalled::readers_that_stall_are_cut_off"),
    ("uploads", "uploads::memory_stays_within_the_budget"),
    ("reloads", "reloads::no_request_fails"),
    ("disconnects", "disconnects::every_pair_in_every_phase"),
    ("timeouts", "timeouts::every_phase_fires_at_its_value"),
    ("retries", "retries::no_request_runs_twice"),
    ("outage", "retries::a_full_outage_adds_a_fifth"),
    ("goaway", "retries::connections_that_go_away_lose_nothing"),
    ("drains", "draining::streams_end_well_or_with_an_error"),
    ("overload", "overload::goodput_stays_and_refusals_are_fast"),
    ("floods", "hostile::floods_of_frames"),
    ("compressed", "encodings::each_event_arrives_when_it_is_sent"),
    ("bombs", "encodings::a_bomb_in_a_stream_is_cut"),
    ("marks", "mixup::marks_come_back_to_who_sent_them"),
    ("kills", "kills::nothing_acknowledged_is_lost"),
    ("mixed", "mixed::nothing_grows"),
];

/// Runs all parts, or those that are named. The report goes to a file, too, if there is one to
/// write, after each part: a run that is interrupted leaves what it has found.
pub(crate) fn run(only: &[String], out: Option<&Path>) -> Result<ExitCode> {
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
    let parts: Vec<_> = PARTS.iter().filter(|(name, _)| is_wanted(name)).collect();
    if parts.is_empty() {
        let names: Vec<_> = PARTS.iter().map(|(name, _)| *name).collect();
        bail!("there is no such part; the parts are {}", names.join(", "));
    }
    cmd::run(&mut cmd::command(&format!("{TEST} --no-run")))?;
    let load_before = load();
    let began = Instant::now();
    let (mut rows, mut failed, mut report) = (Vec::new(), Vec::new(), String::new());
    for (number, (name, test)) in (1..).zip(&parts) {
        println!("\n[{number}/{}] {name}, after {} s", parts.len(), began.elapsed().as_secs());
        let line = format!("{TEST} -- --exact soak::{test} --nocapture --test-threads=1");
        let mut command = cmd::command(&line);
        command.env("TOOLWIRE_SOAK", "1");
        let status = cmd::run_watched(&mut command, |line| {
            // The name of the test may be on the same line.
            if let Some(start) = line.find("| ") {
                rows.push(line.get(start..).unwrap_or_default().trim_end().to_owned());
            }
        })?;
        if !status.success() {
            failed.push(*name);
        }
        let failures = if failed.is_empty() { "none".to_owned() } else { failed.join(", ") };
        report = format!(
            "{HEAD}\n{}\n\n{number} of {} parts in {} s. Failed: {failures}.\n",
            rows.join("\n"),
            parts.len(),
            began.elapsed().as_secs()
        );
        if let Some(path) = out {
            let path = cmd::root().join(path);
            let text = format!("{}\n{report}", preamble(only, &load_before));
            std::fs::write(&path, text)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    println!("\n{report}");
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a reader must know about a run: when, of what, on what, and by which command.
fn preamble(only: &[String], load_before: &str) -> String {
    let only: String = only.iter().map(|only| format!(" --only {only}")).collect();
    let of =
        |line: &str| cmd::output(&mut cmd::command(line)).unwrap_or_default().trim().to_owned();
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |model| model.trim_start_matches(['\t', ' ', ':']));
    let count = processors.lines().filter(|line| line.starts_with("processor")).count();
    let (date, commit) = (of("date --utc +%Y-%m-%d"), of("git rev-parse --short HEAD"));
    let (rustc, kernel) = (of("rustc --version"), of("uname -sr"));
    let load_after = load();
    format!(
        "# The gateway under load and with faults, {date}\n\n\
         Commit {commit}, release profile, {rustc}, {kernel}, {count} processors ({model}). \
         The load of the machine was {load_before} at the start and {load_after} at the end.\n\n\
         ```text\ncargo xtask soak{only}\n```\n"
    )
}

/// The load of the machine over the last minute.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

const TEST: &str = "cargo test --locked --release --package toolwire-gateway --test it";
const HEAD: &str = "| what | count | p50 | p99 | memory each | wrong endings | lost requests | secrets seen | remarks |\n\
                    |---|--:|--:|--:|--:|--:|--:|--:|---|";

#[cfg(test)]
mod tests;
