//! The project's chores, as `cargo xtask <chore>`: one program instead of a folder of scripts.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the terminal")]

mod bench;
mod bless;
mod cmd;
mod cost;
mod fuzz;
mod growth;
mod packages;
mod public_api;
mod setup;
mod soak;
mod sweep;
mod tally;
mod test;
mod tidy;
mod traffic;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

fn main() -> ExitCode {
    run(Chores::parse().chore).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(chore: Chore) -> anyhow::Result<ExitCode> {
    match chore {
        Chore::Test { fast: true } => test::run(test::FAST),
        Chore::Test { fast: false } => test::run(test::FULL),
        Chore::Tidy => tidy::run(),
        Chore::Bless => bless::run(),
        Chore::Api { bless: true } => public_api::bless().map(|()| ExitCode::SUCCESS),
        Chore::Api { bless: false } => public_api::check().map(|()| ExitCode::SUCCESS),
        Chore::Bench { gateway: true, store: _, args } => bench::run_gateway(&args),
        Chore::Bench { gateway: false, store: true, args } => bench::run_store(&args),
        Chore::Bench { gateway: false, store: false, args } => bench::run(&args),
        Chore::Cost { record } => cost::run(record),
        Chore::Growth => growth::run(),
        Chore::Sweep { rounds } => sweep::run(rounds),
        Chore::Soak { only, out } => soak::run(&only, out.as_deref()),
        Chore::Traffic { folder, json } => traffic::run(&folder, json),
        Chore::Fuzz { target, seconds } => fuzz::run(target.as_deref(), seconds),
    }
}

/// The project's chores.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Chores {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install what the tests need, then run every check there is.
    Test {
        /// Only formatting, lints, house rules and Rust tests; installs nothing.
        #[arg(long)]
        fast: bool,
    },
    /// Check the house rules that a machine can check.
    Tidy,
    /// Rewrite what the tests expect (vectors, examples, public API, generated pages), and show what
    /// changed.
    Bless,
    /// Compare the library's public API with the one that was agreed on.
    Api {
        /// Accept it as it is. `cargo xtask bless` does that too.
        #[arg(long)]
        bless: bool,
    },
    /// Run the benchmarks of the library, or of the gateway.
    Bench {
        /// The processor time of a request through the gateway, beside nginx and a proxy of hyper
        /// alone. ARGS are a number of rounds, `--beside PROGRAM` for another build, `--program PROGRAM`
        /// instead of a new build, `--only WORDS` for some of the cells, and `--instructions` to count
        /// these instead.
        #[arg(long)]
        gateway: bool,
        /// What a stored response costs beside one that is not stored. ARGS are a number of
        /// rounds, `--postgres URL`, `--only WORD` for some of the stores, and `--program PROGRAM` instead
        /// of a new build.
        #[arg(long, conflicts_with = "gateway")]
        store: bool,
        /// Passed to `cargo bench`, for example `--bench NAME -- FILTER`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Compare what each translation costs, in instructions, with the record in bench/.
    Cost {
        /// Write the record anew.
        #[arg(long)]
        record: bool,
    },
    /// Count what ten times the input costs, in instructions: at most eleven times as many.
    Growth,
    /// Every fault at every byte of every recorded stream, and a million lists of calls.
    Sweep {
        /// How often, each time with other line ends and other noise.
        #[arg(long, default_value_t = 3)]
        rounds: u32,
    },
    /// The gateway under load and with faults: slow streams, stalled readers, uploads, disconnects,
    /// retries, drains, floods, reloads, overload, mixed traffic. Prints a table.
    Soak {
        /// One part, for example `slow-streams`. Can be repeated.
        #[arg(long, value_name = "NAME")]
        only: Vec<String>,
        /// Also write the report to this file, as Markdown.
        #[arg(long, value_name = "PATH")]
        out: Option<PathBuf>,
    },
    /// Translate recorded traffic between all protocols, and check what comes out.
    Traffic {
        /// A folder of recordings: cassettes (YAML or JSON), HAR, JSON, JSON lines, event streams.
        folder: PathBuf,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Fuzz every target, or one, starting from the vectors.
    Fuzz {
        /// One target of `fuzz/fuzz_targets`, without `.rs`.
        target: Option<String>,
        /// How long each target runs.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
}
