//! What a unary translation costs, for every pair of protocols, beside the
//! plainest thing one could do with the same bytes: parse them into a
//! `serde_json::Value` and write that out again.
//!
//! `cells` alone measures wall-clock time and `cells --instructions` counts
//! instructions under callgrind, which does not depend on what else the machine
//! does. Both print one table with the ratio to the baseline of the same run.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark talks and fails plainly"
)]

mod inputs;
#[path = "../common/measure.rs"]
mod measure;

use std::hint::black_box;

use inputs::Case;
use toolwire::Protocol;
use toolwire::translate::{self, Options};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--run", case, from, to, times] => run(case, from, to, times.parse().unwrap()),
        ["--instructions"] => table("instructions", instructions),
        [] => table("nanoseconds", nanoseconds),
        other => panic!("unknown arguments {other:?}"),
    }
}

/// Prints a row per case and pair.
fn table(unit: &str, measure: fn(Case, Protocol, Option<Protocol>) -> u64) {
    println!("| case | bytes | pair | {unit} | baseline | ratio | limit |");
    println!("|---|--:|---|--:|--:|--:|--:|");
    for case in [Case::Tools, Case::Agent] {
        for from in Protocol::ALL {
            let baseline = measure(case, from, None);
            for to in Protocol::ALL {
                let cost = measure(case, from, Some(to));
                let ratio = cost as f64 / baseline as f64;
                let limit = if from == to { 0.15 } else { 0.4 };
                let mark = if ratio > limit { " **over**" } else { "" };
                let bytes = case.body(from).len();
                println!(
                    "| {} | {bytes} | {from} → {to} | {cost} | {baseline} | {ratio:.3} | {limit}{mark} |",
                    case.name()
                );
            }
        }
    }
    println!();
    println!("| growth: turns × 10 | {unit} × |");
    println!("|---|--:|");
    for from in Protocol::ALL {
        for to in Protocol::ALL {
            let growth = measure(Case::AgentLong, from, Some(to)) as f64
                / measure(Case::Agent, from, Some(to)) as f64;
            // Memory fresh from the system costs time that no instruction shows,
            // so only instructions are held to the limit.
            let mark = if unit == "instructions" && growth > 11.0 { " **over**" } else { "" };
            println!("| {from} → {to} | {growth:.2}{mark} |");
        }
    }
}

fn instructions(case: Case, from: Protocol, to: Option<Protocol>) -> u64 {
    let to = to.map_or("baseline", Protocol::as_str);
    measure::instructions(&["--run", case.name(), from.as_str(), to])
}

fn nanoseconds(case: Case, from: Protocol, to: Option<Protocol>) -> u64 {
    let body = case.body(from);
    measure::nanoseconds(|| once(&body, from, to))
}

fn run(case: &str, from: &str, to: &str, times: u32) {
    let case = Case::parse(case);
    let from = Protocol::parse(from).unwrap();
    let body = case.body(from);
    for _ in 0..times {
        once(&body, from, Protocol::parse(to));
    }
}

fn once(body: &[u8], from: Protocol, to: Option<Protocol>) {
    let Some(to) = to else {
        let value: serde_json::Value = serde_json::from_slice(black_box(body)).unwrap();
        black_box(serde_json::to_vec(&value).unwrap());
        return;
    };
    let options = Options::new().model("another-model");
    black_box(translate::request(from, to, black_box(body), &options).unwrap());
}
