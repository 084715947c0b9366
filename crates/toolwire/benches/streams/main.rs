//! What an event of a stream costs, for every pair of protocols, beside the
//! plainest thing one could do with the same bytes: frame them, parse every
//! event into a `serde_json::Value` and write that out again.
//!
//! `streams` alone measures wall-clock time, `streams --instructions` counts
//! instructions, `streams --growth` counts those of long calls. What is
//! allocated is counted by the test `memory`.

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
use std::ops::ControlFlow;

use inputs::Case;
use toolwire::Protocol;
use toolwire::pipe::Pipe;
use toolwire::translate::Options;
use toolwire::wire::sse::{Frames, write_event};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--run", case, from, to, times] => {
            let (from, to) = (Protocol::parse(from).unwrap(), Protocol::parse(to));
            let (bytes, _) = Case::parse(case).stream(from);
            for _ in 0..times.parse().unwrap() {
                once(&bytes, from, to);
            }
        }
        ["--instructions"] => {
            table("instructions", |case, from, to| {
                measure::instructions(&["--run", case.name(), from.as_str(), name(to)])
            });
        }
        ["--replay", path, from, to, times] => {
            let (from, to) = (Protocol::parse(from).unwrap(), Protocol::parse(to));
            let bytes = std::fs::read(path).unwrap();
            for _ in 0..times.parse().unwrap() {
                once(&bytes, from, to);
            }
        }
        ["--growth"] => growth(),
        [] => table("nanoseconds", |case, from, to| {
            let (bytes, _) = case.stream(from);
            measure::nanoseconds(|| once(&bytes, from, to))
        }),
        other => panic!("unknown arguments {other:?}"),
    }
}

fn name(to: Option<Protocol>) -> &'static str {
    to.map_or("baseline", Protocol::as_str)
}

/// Prints a row per case and pair.
fn table(unit: &str, cost: fn(Case, Protocol, Option<Protocol>) -> u64) {
    println!("| case | events | pair | {unit} per event | baseline | ratio | limit |");
    println!("|---|--:|---|--:|--:|--:|--:|");
    for case in [Case::Arguments, Case::Text, Case::Unlike] {
        for from in Protocol::ALL {
            let events = case.stream(from).1 as u64;
            let baseline = cost(case, from, None);
            for to in Protocol::ALL {
                let cost = cost(case, from, Some(to));
                let ratio = cost as f64 / baseline as f64;
                let limit = match (case == Case::Unlike, from == to) {
                    (true, _) => 0.5,
                    (false, true) => 0.15,
                    (false, false) => 0.4,
                };
                let mark = if ratio > limit { " **over**" } else { "" };
                println!(
                    "| {} | {events} | {from} → {to} | {} | {} | {ratio:.3} | {limit}{mark} |",
                    case.name(),
                    cost / events,
                    baseline / events,
                );
            }
        }
    }
}

/// What ten times the length costs. The streams are read from files, since
/// making them would take callgrind many times as long as translating them.
fn growth() {
    println!("| a call in fragments of 16 bytes | 1 MB, instructions | 10 MB | × | limit |");
    println!("|---|--:|--:|--:|--:|");
    for from in Protocol::ALL {
        let files = [Case::Big, Case::Huge].map(|case| {
            let name = format!("toolwire-{}-{from}-{}", case.name(), std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, case.stream(from).0).unwrap();
            path.into_os_string().into_string().unwrap()
        });
        for to in Protocol::ALL {
            let [one, ten] = files
                .each_ref()
                .map(|path| measure::instructions(&["--replay", path, from.as_str(), to.as_str()]));
            let growth = ten as f64 / one as f64;
            let mark = if growth > 11.0 { " **over**" } else { "" };
            println!("| {from} → {to} | {one} | {ten} | {growth:.2} | 11{mark} |");
        }
        files.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
}

fn once(bytes: &[u8], from: Protocol, to: Option<Protocol>) {
    // A network gives a few kilobytes at a time, and takes what is ready.
    let mut out = Vec::new();
    let Some(to) = to else {
        let mut frames = Frames::default();
        for chunk in bytes.chunks(CHUNK) {
            let each = |frame: toolwire::wire::sse::Frame<'_>| {
                match serde_json::from_slice::<serde_json::Value>(frame.data.as_bytes()) {
                    Ok(value) => write_event(frame.name, &mut out, |out| {
                        out.extend_from_slice(&serde_json::to_vec(&value).unwrap());
                    }),
                    Err(_done) => out.extend_from_slice(frame.raw),
                }
                ControlFlow::Continue(())
            };
            frames.push(black_box(chunk), each).unwrap();
            black_box(&out);
            out.clear();
        }
        return;
    };
    let mut pipe = Pipe::new(from, to, &Options::new()).unwrap();
    for chunk in bytes.chunks(CHUNK) {
        let mut rest = black_box(chunk);
        while pipe.step(&mut rest, &mut out) {
            black_box(&out);
            out.clear();
        }
        black_box(&out);
        out.clear();
    }
    pipe.finish(&mut out);
    assert!(pipe.summary().complete, "{from} to {to}");
}

const CHUNK: usize = 4096;
