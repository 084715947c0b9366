//! How the benchmarks measure: instructions under valgrind, which do
//! not depend on what else the machine does, and the median of the time that
//! the thread spends on the processor.

use std::process::Command;
use std::time::{Duration, Instant};

use toolwire_laws::growth::processor_time;

/// What callgrind says of this program run with `arguments`.
fn callgrind(arguments: &[&str]) -> String {
    let program = std::env::current_exe().unwrap();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("valgrind: {error}"));
    assert!(output.status.success(), "{arguments:?} failed");
    String::from_utf8(output.stderr).unwrap()
}

/// Instructions of one run: the difference between three and one. `run` is
/// followed by how often.
pub(crate) fn instructions(run: &[&str]) -> u64 {
    let count = |times: &str| {
        let report = callgrind(&[run, &[times]].concat());
        let line = report.lines().find_map(|line| line.split("Collected : ").nth(1));
        let line = line.unwrap_or_else(|| panic!("no count in: {report}"));
        line.trim().parse::<u64>().unwrap()
    };
    (count("3") - count("1")) / 2
}

/// The median of many short runs, in nanoseconds.
pub(crate) fn nanoseconds(mut once: impl FnMut()) -> u64 {
    let mut runs = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(300) || runs.len() < 20 {
        runs.push(processor_time(&mut once).as_nanos() as u64);
    }
    runs.sort_unstable();
    runs.get(runs.len() / 2).copied().unwrap_or_default()
}
