//! What it costs to follow the calls of an answer and to answer them, for many
//! calls at once.
//!
//! `tools` alone measures time, `tools --instructions` counts instructions.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark talks and fails plainly"
)]

#[path = "../common/measure.rs"]
mod measure;

use std::hint::black_box;
use std::time::Duration;

use toolwire::calls::{self, Input, ToolCall, ToolOutput};
use toolwire::tracker::{Tracker, answer_all};
use toolwire::{Options, Protocol, translate};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--run", what, protocol, count, times] => {
            let input = Prepared::new(Protocol::parse(protocol).unwrap(), count.parse().unwrap());
            for _ in 0..times.parse().unwrap() {
                input.run(what);
            }
        }
        ["--instructions"] => table("instructions", |what, protocol, count| {
            let count = count.to_string();
            measure::instructions(&["--run", what, protocol.as_str(), &count])
        }),
        [] => table("nanoseconds", |what, protocol, count| {
            let input = Prepared::new(protocol, count);
            measure::nanoseconds(|| input.run(what))
        }),
        other => panic!("unknown arguments {other:?}"),
    }
}

fn table(unit: &str, measure: impl Fn(&str, Protocol, usize) -> u64) {
    println!("| what | protocol | calls | {unit} | per call |");
    println!("|---|---|--:|--:|--:|");
    for what in ["track", "answer", "track and answer", "read, track and answer", "answer all"] {
        for protocol in Protocol::ALL {
            for count in [10, 100, 1_000, 10_000] {
                let cost = measure(what, protocol, count);
                println!("| {what} | {protocol} | {count} | {cost} | {} |", cost / count as u64);
            }
        }
    }
}

const REQUEST: &[u8] = br#"{"model":"m","messages":[{"role":"user","content":"Weather?"}]}"#;

/// A request, an answer with many calls, and their outputs in the opposite order.
struct Prepared {
    protocol: Protocol,
    request: Vec<u8>,
    answer: Vec<u8>,
    made: Vec<ToolCall>,
    outputs: Vec<ToolOutput>,
}

impl Prepared {
    fn new(protocol: Protocol, count: usize) -> Self {
        let call = |n: usize| {
            format!(
                r#"{{"id":"call_{n}","type":"function","function":{{"name":"get_weather","arguments":"{{\"city\":\"Paris {n}\"}}"}}}}"#
            )
        };
        let list: Vec<String> = (0..count).map(call).collect();
        let answer = format!(
            r#"{{"id":"a","model":"m","choices":[{{"index":0,"finish_reason":"tool_calls","message":{{"role":"assistant","content":null,"tool_calls":[{}]}}}}]}}"#,
            list.join(",")
        );
        let options = Options::new();
        let request = translate::request(Protocol::Chat, protocol, REQUEST, &options).unwrap().body;
        let answer = translate::response(Protocol::Chat, protocol, answer.as_bytes(), &options)
            .unwrap()
            .body;
        let made = calls::parse(protocol, &answer).unwrap();
        assert_eq!(made.len(), count);
        assert!(matches!(made.first().unwrap().input, Input::Arguments(_)));
        let output = |call: &ToolCall| ToolOutput::text(&call.id, "sunny, 21 degrees");
        let outputs = made.iter().rev().map(output).collect();
        Self { protocol, request, answer, made, outputs }
    }

    fn run(&self, what: &str) {
        match what {
            "track" => {
                let mut tracker = Tracker::new();
                for call in &self.made {
                    tracker.call(call, Duration::ZERO);
                }
                self.finish(&mut tracker);
            }
            "answer" => self.answer(),
            "track and answer" => {
                self.run("track");
                self.answer();
            }
            "read, track and answer" => {
                let mut tracker = Tracker::new();
                tracker.answer(self.protocol, &self.answer, Duration::ZERO).unwrap();
                self.finish(&mut tracker);
                self.answer();
            }
            "answer all" => drop(black_box(answer_all(&self.made, self.outputs.clone()))),
            other => panic!("unknown case {other}"),
        }
    }

    fn answer(&self) {
        let Self { protocol, request, answer, made: _, outputs } = self;
        black_box(calls::next_request(*protocol, request, answer, outputs).unwrap());
    }

    fn finish(&self, tracker: &mut Tracker) {
        for output in &self.outputs {
            tracker.result(output, Duration::from_secs(1));
        }
        assert_eq!(tracker.end_turn(), 0);
        black_box(tracker);
    }
}
