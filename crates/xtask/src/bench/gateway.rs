//! `cargo xtask bench --gateway`: the processor time of a request through toolwire, beside the same
//! request through nginx as a plain reverse proxy, and through a proxy of hyper alone.
//!
//! The programs take turns, and each round gives one ratio, so that whatever else the machine does
//! falls on all of them. Each runs on the first core. The clients and the model that answers are threads of
//! this process, which is not measured.

mod documents;
mod instructions;
mod load;
mod model;
mod report;
pub(super) mod store;
mod subject;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};

use self::documents::{Kind, Pair};
use self::load::{Load, Pace, Wait};
use self::subject::{Runs, Subject};
use crate::{cmd, setup};

/// Measures the gateway of this tree.
///
/// `args` are the number of rounds, `--beside PROGRAM` for another build of toolwire that takes part
/// in them, `--only WORDS` for the cells whose description has each of these words, `--program
/// PROGRAM` for a build to measure instead of a new one, and `--instructions` to count these instead.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let (mut rounds, mut other, mut only) = (ROUNDS, None, "");
    let (mut built, mut counts_instructions) = (None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("`{arg}` lacks its value"));
        match arg.as_str() {
            "--beside" => other = Some(Path::new(value()?)),
            "--only" => only = value()?,
            "--instructions" => counts_instructions = true,
            "--program" => built = Some(Path::new(value()?)),
            number => rounds = number.parse().context("the rounds are a number")?,
        }
    }
    let program = match built {
        Some(program) => program.to_owned(),
        None => {
            cmd::run(&mut cmd::command("cargo build --locked --release --package toolwire-cli"))?;
            cmd::target_dir().join("release/toolwire")
        }
    };
    let bare = cmd::target_dir().join("release/examples/bare_proxy");
    if built.is_none() || !bare.exists() {
        let build =
            "cargo build --locked --release --package toolwire-gateway --example bare_proxy";
        cmd::run(&mut cmd::command(build))?;
    }
    let folder = cmd::target_dir().join("bench-gateway");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let model = model::serve(&program)?;
    if counts_instructions {
        let programs = [("toolwire", Some(program.as_path())), ("other", other)];
        let programs = programs.into_iter().filter_map(|(name, program)| Some((name, program?)));
        instructions::run(programs, &bare, model, &folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    setup::nginx()?;
    subject::leave_first_core()?;
    let mut subjects = vec![
        Subject::direct(model),
        Subject::nginx(model, &folder)?,
        Subject::bare(Runs::Pinned, &bare, model)?,
        Subject::toolwire("toolwire", &program, model, &folder)?,
    ];
    if let Some(other) = other {
        subjects.push(Subject::toolwire("other", other, model, &folder)?);
    }
    let mut cells = cells(&subjects, &program)?;
    cells.retain(|cell| only.split(' ').all(|word| cell.description().contains(word)));
    for round in 1..=rounds {
        println!("Round {round} of {rounds}.");
        for cell in &mut cells {
            cell.measure()?;
        }
    }
    report::print(&cells, &subjects)?;
    Ok(ExitCode::SUCCESS)
}

/// One kind of request through one program, and what was measured of it.
struct Cell<'s> {
    subject: &'s Subject,
    pair: Pair,
    kind: Kind,
    load: Load,
    /// Processor time of one request in nanoseconds, by round.
    processor: Vec<f64>,
    /// How long clients waited for the first byte of an answer.
    waits: Vec<Duration>,
}

impl Cell<'_> {
    /// What it is, in words.
    fn description(&self) -> String {
        let Self { subject, pair, kind, load, .. } = self;
        let clients = load.connections;
        format!("{}, {clients} clients, {}, {}", kind.name(), subject.name, pair.name())
    }

    fn measure(&mut self) -> Result<()> {
        let before = self.subject.processor()?;
        let waits = self.load.run()?;
        let spent = self.subject.processor()?.saturating_sub(before);
        self.processor.push(spent.as_nanos() as f64 / self.load.requests as f64);
        self.waits.extend(waits);
        Ok(())
    }
}

/// Everything that is measured, in the order of a round: what is compared stands side by side.
fn cells<'s>(subjects: &'s [Subject], program: &Path) -> Result<Vec<Cell<'s>>> {
    let mut cells = Vec::new();
    for connections in [1, 32] {
        for kind in Kind::ALL {
            for pair in Pair::all() {
                let body = documents::request(kind, pair, program)?;
                let path = pair.client.path();
                // Only toolwire translates.
                let able = |subject: &&Subject| pair == Pair::PLAIN || subject.translates;
                for subject in subjects.iter().filter(able) {
                    let load = Load {
                        address: subject.address,
                        request: load::request(path, &body),
                        connections,
                        requests: kind.requests(connections),
                        ending: kind.ending(pair),
                        pace: Pace::AtOnce,
                        wait: Wait::FirstByte,
                    };
                    let (processor, waits) = (Vec::new(), Vec::new());
                    cells.push(Cell { subject, pair, kind, load, processor, waits });
                }
            }
        }
    }
    Ok(cells)
}

/// An odd number has a middle.
const ROUNDS: usize = 11;
