//! `cargo xtask test`: every check, one after the other, with a summary that CI can read.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::cost::Comparison;
use crate::tally::Tally;
use crate::{cmd, cost, fuzz, growth, packages, public_api, setup, tidy};

/// The inner loop: no installation, no network, no nightly compiler.
pub(crate) const FAST: &[Step] = &[FORMAT, LINTS, TIDY, PACKAGES, QUICK_TESTS];

/// Everything.
pub(crate) const FULL: &[Step] =
    &[SETUP, FORMAT, LINTS, TIDY, PACKAGES, TESTS, DOCS, API, MSRV, COST, GROWTH, E2E, FUZZ];

/// Runs all the steps, also after one has failed, so that one run shows everything there is to fix.
pub(crate) fn run(steps: &[Step]) -> Result<ExitCode> {
    let mut reports = Vec::new();
    for (number, step) in (1..).zip(steps) {
        println!("\n[{number}/{}] {}: {}", steps.len(), step.name, step.what);
        let start = Instant::now();
        let outcome = (step.run)().unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Outcome::Ran(Tally::ONE_FAILED)
        });
        reports.push(Report { name: step.name, outcome, time: start.elapsed() });
    }
    Ok(summarise(&reports))
}

/// One named part of the test run.
pub(crate) struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<Outcome>,
}

/// How a step ended, unless with an error.
pub(crate) enum Outcome {
    Ran(Tally),
    Skipped(String),
}

struct Report {
    name: &'static str,
    outcome: Outcome,
    time: Duration,
}

/// Prints a line per step and, last and alone on its line, the totals that CI looks for.
fn summarise(reports: &[Report]) -> ExitCode {
    let mut total = Tally::default();
    println!("\nSummary");
    for Report { name, outcome, time } in reports {
        let seconds = time.as_secs_f64();
        let result = match outcome {
            Outcome::Ran(tally) => {
                total += *tally;
                match tally {
                    Tally { passed: 1, failed: 0 } => "ok".to_owned(),
                    Tally { passed, failed: 0 } => format!("ok, {passed} passed"),
                    Tally { passed: 0, failed: 1 } => "FAILED".to_owned(),
                    Tally { passed, failed } => format!("FAILED, {failed} of {}", passed + failed),
                }
            }
            Outcome::Skipped(reason) => format!("skipped: {reason}"),
        };
        println!("  {name:<8} {seconds:>7.1} s  {result}");
    }
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const SETUP: Step = Step {
    name: "setup",
    what: "install what the tests need",
    run: || {
        setup::rust_components()?;
        setup::python_packages()?;
        setup::model_packages()?;
        setup::node_packages()?;
        setup::agents()?;
        setup::aider()?;
        setup::browser();
        setup::postgres()?;
        PASSED
    },
};

const FORMAT: Step = Step {
    name: "format",
    what: "the code is formatted",
    run: || {
        cmd::run(&mut cmd::command("cargo fmt --all --check"))?;
        PASSED
    },
};

const LINTS: Step = Step {
    name: "lints",
    what: "the code has no warnings",
    run: || {
        let line = "cargo clippy --workspace --all-targets --locked -- -D warnings";
        cmd::run(&mut cmd::command(line))?;
        PASSED
    },
};

const TIDY: Step = Step {
    name: "tidy",
    what: "the tree keeps the house rules",
    run: || {
        tidy::check_workspace()?;
        PASSED
    },
};

const PACKAGES: Step = Step {
    name: "packages",
    what: "each crate can be packaged, with everything its page needs",
    run: || {
        packages::check()?;
        PASSED
    },
};

/// Without the tests that a later step runs under callgrind.
const TESTS: Step = Step {
    name: "tests",
    what: "unit tests, vectors and laws",
    run: || counted(&workspace_tests(&[]), &[]).map(Outcome::Ran),
};

/// Without the tests that take seconds each: what long inputs cost, every change of every byte, and
/// the gateway under load.
const QUICK_TESTS: Step = Step {
    name: "tests",
    what: "unit tests, vectors and laws, without those that take long",
    run: || {
        let command = &workspace_tests(&[
            "any_byte_changed",
            "every_request_goes_up_without_tools",
            "recover::random",
            "soak::",
        ]);
        if setup::has_postgres() {
            return counted(command, &[]).map(Outcome::Ran);
        }
        println!("Postgres is not installed, so the store is tested without it.");
        counted(command, &[("TOOLWIRE_WITHOUT_POSTGRES", "1")]).map(Outcome::Ran)
    },
};

const DOCS: Step = Step {
    name: "docs",
    what: "the documentation builds without warnings",
    run: || {
        // The binary and the library are both called toolwire; only the library has readers.
        let mut doc = cmd::command("cargo doc --workspace --lib --no-deps --locked");
        cmd::run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
        PASSED
    },
};

const API: Step = Step {
    name: "api",
    what: "the public API of the library is the one that was agreed on",
    run: || {
        public_api::check()?;
        PASSED
    },
};

const MSRV: Step = Step {
    name: "msrv",
    what: "the library builds with the oldest compiler that it promises to build with",
    run: || match packages::check_oldest_compiler()? {
        None => PASSED,
        Some(reason) => Ok(Outcome::Skipped(reason)),
    },
};

const COST: Step = Step {
    name: "cost",
    what: "no translation has become dearer, in instructions",
    run: || match cost::check()? {
        Comparison::Done(tally) => Ok(Outcome::Ran(tally)),
        Comparison::OtherCompiler(reason) => Ok(Outcome::Skipped(reason)),
    },
};

const GROWTH: Step = Step {
    name: "growth",
    what: "ten times the input costs at most eleven times the instructions",
    run: || growth::check().map(Outcome::Ran),
};

const E2E: Step = Step {
    name: "e2e",
    what: "real clients, from e2e/",
    run: || {
        cmd::run(&mut cmd::command("cargo build --locked --package toolwire-cli"))?;
        let binary = cmd::target_dir().join("debug/toolwire").display().to_string();
        let environment = [("TOOLWIRE_BIN", binary.as_str())];
        let pytest = format!("{} -m pytest e2e -q", setup::VENV_PYTHON);
        let mut tally = counted(&pytest, &environment)?;
        tally += counted("node e2e/node/test_streams.mjs", &environment)?;
        tally += counted("node e2e/node/test_losses.mjs", &environment)?;
        tally += counted("node e2e/node/test_models.mjs", &environment)?;
        tally += counted("node e2e/node/test_uploads.mjs", &environment)?;
        tally += counted("node e2e/node/test_clients.mjs", &environment)?;
        tally += counted("node e2e/node/test_sessions.mjs", &environment)?;
        Ok(Outcome::Ran(tally))
    },
};

const FUZZ: Step = Step {
    name: "fuzz",
    what: "a short run of every fuzz target",
    run: || {
        let targets = fuzz::targets()?;
        if targets.is_empty() {
            return Ok(Outcome::Skipped("fuzz/ holds no targets".to_owned()));
        }
        if let Err(error) = setup::nightly() {
            return Ok(Outcome::Skipped(format!("{error:#}")));
        }
        let failed = fuzz::run_each(&targets, &SHORT_FUZZ.map(str::to_owned))?.len();
        Ok(Outcome::Ran(Tally { passed: targets.len() - failed, failed }))
    },
};

/// The command that runs all tests but those of growth and those with such names.
fn workspace_tests(skipped: &[&'static str]) -> String {
    let mut line = "cargo test --workspace --locked --no-fail-fast --".to_owned();
    for test in growth::tests().chain(skipped.iter().copied()) {
        line.push_str(" --skip ");
        line.push_str(test);
    }
    line
}

/// Runs a test program and counts the tests it reports.
fn counted(line: &str, environment: &[(&str, &str)]) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut command = cmd::command(line);
    command.envs(environment.iter().copied());
    let status = cmd::run_watched(&mut command, |line| tally.read(line))?;
    Ok(tally.settled(status.success()))
}

const PASSED: Result<Outcome> = Ok(Outcome::Ran(Tally::ONE_PASSED));
/// Every vector and many thousand inputs made of them, in half a minute for all targets together,
/// from a fixed seed: what fails here fails because of the change. New ground is for
/// `cargo xtask fuzz`.
const SHORT_FUZZ: [&str; 2] = ["-runs=20000", "-seed=1"];
