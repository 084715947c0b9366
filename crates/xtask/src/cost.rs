//! `cargo xtask cost`: no translation has become dearer.
//!
//! What a translation costs is counted in instructions, as a multiple of what serde_json needs for
//! the same bytes in the same program. Neither the machine nor what else it does changes that much, so
//! it can be compared with a record.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::tally::Tally;
use crate::{cmd, setup};

/// The multiple of each cell, by its name.
type Costs = BTreeMap<String, f64>;

/// Compares, or writes the record anew.
pub(crate) fn run(record: bool) -> Result<ExitCode> {
    if record {
        let costs = measure()?;
        fs::write(record_path(), render(&costs)?).context("the record cannot be written")?;
        println!("{} cells recorded.", costs.len());
        return Ok(ExitCode::SUCCESS);
    }
    let failed = match check()? {
        Comparison::Done(tally) => tally.failed,
        Comparison::OtherCompiler(reason) => {
            println!("{reason}");
            0
        }
    };
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How a comparison ended.
pub(crate) enum Comparison {
    Done(Tally),
    /// Another compiler makes other code, so that nothing can be said.
    OtherCompiler(String),
}

/// Compares what is measured with the record.
pub(crate) fn check() -> Result<Comparison> {
    let text = fs::read_to_string(record_path()).context("there is no record")?;
    let (compiler, recorded) = parse(&text)?;
    let ours = rustc()?;
    if compiler != ours {
        let reason = format!("the record is of {compiler}, this is {ours}");
        return Ok(Comparison::OtherCompiler(reason));
    }
    let measured = measure()?;
    let faults = faults(&recorded, &measured);
    for fault in &faults {
        println!("{fault}");
    }
    let failed = faults.len();
    Ok(Comparison::Done(Tally { passed: measured.len().saturating_sub(failed), failed }))
}

/// What is wrong with the measured costs.
fn faults(recorded: &Costs, measured: &Costs) -> Vec<String> {
    let mut faults = Vec::new();
    for (cell, cost) in measured {
        match recorded.get(cell) {
            None => {
                faults.push(format!("{cell} is not in the record: `cargo xtask cost --record`"))
            }
            Some(before) if *cost > before * TOLERANCE => {
                faults
                    .push(format!("{cell} costs {cost:.3} times serde_json, and cost {before:.3}"));
            }
            Some(_) => {}
        }
    }
    let gone = recorded.keys().filter(|cell| !measured.contains_key(*cell));
    faults.extend(gone.map(|cell| format!("{cell} is in the record and was not measured")));
    faults
}

fn measure() -> Result<Costs> {
    setup::valgrind()?;
    let mut costs = Costs::new();
    for bench in ["cells", "streams"] {
        let line = format!("cargo bench --locked --package toolwire --bench {bench}");
        let mut command = cmd::command(&line);
        command.args(["--", "--instructions"]);
        let status = cmd::run_watched(&mut command, |line| {
            if let Some((cell, cost)) = read_row(bench, line) {
                costs.insert(cell, cost);
            }
        })?;
        cmd::succeed(&command, status)?;
    }
    if costs.is_empty() {
        bail!("the benchmarks print no costs");
    }
    Ok(costs)
}

/// Reads a row `| case | bytes | pair | instructions | baseline | ratio | limit |`.
fn read_row(bench: &str, line: &str) -> Option<(String, f64)> {
    let columns: Vec<&str> = line.split('|').map(str::trim).collect();
    let [_, case, _, pair, _, _, ratio, _, _] = columns.as_slice() else { return None };
    Some((format!("{bench}, {case}, {pair}"), ratio.parse().ok()?))
}

fn render(costs: &Costs) -> Result<String> {
    let mut text = format!("{}\n", rustc()?);
    for (cell, cost) in costs {
        let _ = writeln!(text, "{cost:.3}\t{cell}");
    }
    Ok(text)
}

/// The compiler of a record, and its costs.
fn parse(text: &str) -> Result<(String, Costs)> {
    let mut lines = text.lines();
    let compiler = lines.next().context("the record is empty")?;
    let costs = lines.map(|line| {
        let (cost, cell) = line.split_once('\t')?;
        Some((cell.to_owned(), cost.parse().ok()?))
    });
    let costs = costs.collect::<Option<Costs>>().context("the record cannot be read")?;
    Ok((compiler.to_owned(), costs))
}

fn rustc() -> Result<String> {
    let version =
        cmd::output(&mut cmd::command("rustc --version")).context("rustc does not run")?;
    // Without the date and the commit.
    Ok(version.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}

fn record_path() -> PathBuf {
    cmd::root().join("bench/cost.tsv")
}

/// A twentieth more is a regression.
const TOLERANCE: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_became_dearer_is_a_fault() {
        let row = "| tools | 11515 | chat → chat | 184336 | 1119995 | 0.165 | 0.25 |";
        assert_eq!(read_row("cells", row), Some(("cells, tools, chat → chat".to_owned(), 0.165)));
        let (cell, _) = read_row("cells", row).unwrap();
        let cost = |cost| Costs::from([(cell.clone(), cost)]);
        assert_eq!(faults(&cost(0.165), &cost(0.173)), Vec::<String>::new());
        assert_eq!(faults(&cost(0.165), &cost(0.174)).len(), 1);
        assert_eq!(faults(&cost(0.165), &Costs::new()).len(), 1, "gone");
        assert_eq!(faults(&Costs::new(), &cost(0.165)).len(), 1, "new");
    }

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let costs = Costs::from([("cells, tools, chat → chat".to_owned(), 0.165)]);
        let (compiler, read) = parse(&render(&costs).unwrap()).unwrap();
        assert_eq!((compiler, read), (rustc().unwrap(), costs));
    }
}
