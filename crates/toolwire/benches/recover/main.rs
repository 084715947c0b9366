//! What it costs to find the calls in a model's text, beside a validating scan
//! of the same bytes by serde_json.
//!
//! `recover` alone prints how many times as long as that scan each text takes,
//! whole and in pieces; `recover --growth` how the time grows from 100 KB to
//! 1 MB at pieces of seven bytes.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark talks and fails plainly"
)]

#[path = "../common/measure.rs"]
#[allow(dead_code, reason = "shared with benchmarks that count instructions")]
mod measure;

use std::hint::black_box;
use std::time::Instant;

use serde::de::IgnoredAny;
use toolwire::recover::{Detector, Event, Tools};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => table(),
        ["--growth"] => growth(),
        other => panic!("unknown arguments {other:?}"),
    }
}

fn table() {
    println!("| text | bytes | pieces | ns per KB | times serde_json | limit |");
    println!("|---|--:|--:|--:|--:|--:|");
    let tools = tools();
    for (name, text) in [
        ("prose", prose(130 << 10)),
        ("Markdown", markdown(130 << 10)),
        ("JSON argument", argument(129 << 10)),
        ("tagged argument", tagged(129 << 10)),
    ] {
        let scanned = serde_json::to_string(&text).unwrap();
        for (size, limit) in [(usize::MAX, 2.0), (64, 3.0), (7, 15.0)] {
            let (scan, ours) = interleaved(
                || {
                    black_box(serde_json::from_str::<IgnoredAny>(&scanned).unwrap());
                },
                || {
                    black_box(read(&tools, &text, size));
                },
            );
            let ratio = ours as f64 / scan as f64;
            let pieces = if size == usize::MAX { "whole".to_owned() } else { size.to_string() };
            let per_kb = ours as usize * 1024 / text.len();
            println!("| {name} | {} | {pieces} | {per_kb} | {ratio:.2} | {limit} |", text.len());
        }
    }
}

/// The least time of each of two jobs, taken by turns so that both see the same
/// machine.
fn interleaved(mut first: impl FnMut(), mut second: impl FnMut()) -> (u64, u64) {
    let mut least = (u64::MAX, u64::MAX);
    for _ in 0..40 {
        let begin = Instant::now();
        first();
        least.0 = least.0.min(begin.elapsed().as_nanos() as u64);
        let begin = Instant::now();
        second();
        least.1 = least.1.min(begin.elapsed().as_nanos() as u64);
    }
    least
}

fn growth() {
    println!("| text | 100 KB, ms | 1 MB, ms | times |");
    println!("|---|--:|--:|--:|");
    let tools = tools();
    for (name, make) in TEXTS {
        let (short, long) = (make(100 << 10), make(1000 << 10));
        let (short, long) = interleaved(
            || {
                black_box(read(&tools, &short, 7));
            },
            || {
                black_box(read(&tools, &long, 7));
            },
        );
        let (ms, times) = (1e6, long as f64 / short as f64);
        println!("| {name} | {:.1} | {:.1} | {times:.1} |", short as f64 / ms, long as f64 / ms);
    }
}

type Make = fn(usize) -> String;

const TEXTS: [(&str, Make); 7] = [
    ("prose", prose),
    ("JSON argument", argument),
    ("tagged argument", tagged),
    ("opening markers", |length| repeated("<tool_call>", length)),
    ("opening tokens", |length| repeated("<｜tool▁calls▁begin｜>", length)),
    ("opening brackets", |length| repeated("[", length)),
    ("opening calls", |length| repeated("<invoke name=\"write_file\">", length)),
];

/// How many bytes of events a text gives.
fn read(tools: &Tools, text: &str, size: usize) -> usize {
    let mut bytes = 0;
    let mut sink = |event: Event<'_>| {
        if let Event::Text(piece) | Event::Reasoning(piece) | Event::Arguments(piece) = event {
            bytes += piece.len();
        }
    };
    let mut detector = Detector::new(tools.clone());
    let mut rest = text;
    while !rest.is_empty() {
        let mut length = size.min(rest.len());
        while !rest.is_char_boundary(length) {
            length += 1;
        }
        let (piece, after) = rest.split_at(length);
        detector.push(piece, &mut sink);
        rest = after;
    }
    detector.finish(&mut sink);
    bytes
}

fn tools() -> Tools {
    let mut tools = Tools::default();
    let schema =
        r#"{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}}}"#;
    tools.add("write_file", "Writes a file", Some(schema));
    tools
}

fn prose(length: usize) -> String {
    let paragraph = "The gateway reads each answer as it arrives, and passes on what it knows. \
        Nothing is held back longer than needed, whatever it is: naïve or not. What a model \
        says about its tools is text like any other, until it calls one of them; \"quoted\" or \
        not, that is for the text around it to say.\n\n";
    paragraph.chars().cycle().take(length).collect()
}

/// Text with something in every line that may begin a call.
fn markdown(length: usize) -> String {
    let paragraph = "A list [like this one](https://example.com) is text; so is a < b, and `code`.\n\
        - Two [links](#a) and [more](#b): `x[0]` <br> or **none**.\n\n";
    paragraph.chars().cycle().take(length).collect()
}

fn repeated(marker: &str, length: usize) -> String {
    marker.repeat(length / marker.len())
}

fn code(length: usize) -> String {
    let line = "    if (values[index] < limit && name != \"none\") { total += values[index]; }\n";
    line.chars().cycle().take(length).collect()
}

fn argument(length: usize) -> String {
    let content = serde_json::to_string(&code(length * 9 / 10)).unwrap();
    format!(
        "<tool_call>\n{{\"name\": \"write_file\", \"arguments\": {{\"path\": \"a.c\", \"content\": {content}}}}}\n</tool_call>"
    )
}

fn tagged(length: usize) -> String {
    format!(
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.c\n</parameter>\n<parameter=content>\n{}\n</parameter>\n</function>\n</tool_call>",
        code(length)
    )
}
