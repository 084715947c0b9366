//! What a stream takes of memory, counted allocation by allocation.
//!
//! A program of its own, because it counts in the allocator, and one test,
//! because everything in the program is counted.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and this one shows what it counted"
)]

#[path = "../benches/streams/inputs.rs"]
mod inputs;

use inputs::Case;
use toolwire::Protocol;
use toolwire::pipe::Pipe;
use toolwire::translate::Options;

#[global_allocator]
static COUNTED: dhat::Alloc = dhat::Alloc;

/// A long call needs at most three times its size, in whichever direction it
/// goes, and an event more needs no allocation more.
#[test]
fn a_long_call_fits_into_three_times_its_size() {
    let huge = std::env::var_os("TOOLWIRE_HUGE").is_some();
    let call = if huge { Case::Huge } else { Case::Long };
    println!(
        "| pair | blocks, 64 events | blocks, 256 events | peak of the {}, × its size |",
        call.name()
    );
    println!("|---|--:|--:|--:|");
    let mut over = Vec::new();
    for from in Protocol::ALL {
        let streams = [Case::Arguments, Case::Text, call].map(|case| case.stream(from).0);
        for to in Protocol::ALL {
            let [few, many, long] = streams.each_ref().map(|bytes| counted(bytes, from, to));
            let peak = long.max_bytes as f64 / call.size() as f64;
            let (few, many) = (few.total_blocks, many.total_blocks);
            println!("| {from} → {to} | {few} | {many} | {peak:.2} |");
            if peak > 3.0 || many > few + 20 {
                over.push(format!(
                    "{from} to {to}: {peak:.2} times the size, {few} and {many} blocks"
                ));
            }
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// What the way of a stream allocates, its input not counted.
fn counted(bytes: &[u8], from: Protocol, to: Protocol) -> dhat::HeapStats {
    let profiler = dhat::Profiler::builder().testing().build();
    let mut out = Vec::new();
    let mut pipe = Pipe::new(from, to, &Options::new()).unwrap();
    for chunk in bytes.chunks(CHUNK) {
        let mut rest = chunk;
        while pipe.step(&mut rest, &mut out) {
            out.clear();
        }
        out.clear();
    }
    pipe.finish(&mut out);
    assert!(pipe.summary().complete, "{from} to {to}");
    let stats = dhat::HeapStats::get();
    drop(profiler);
    stats
}

/// A network gives a few kilobytes at a time, and takes what is ready.
const CHUNK: usize = 4096;
