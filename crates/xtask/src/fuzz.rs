//! `cargo xtask fuzz`: hostile bytes for every target, starting from the vectors.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{cmd, setup};

/// Runs one target, or all of them.
pub(crate) fn run(target: Option<&str>, seconds: u32) -> Result<ExitCode> {
    let mut targets = targets()?;
    if targets.is_empty() {
        bail!("fuzz/fuzz_targets holds no targets");
    }
    if let Some(target) = target {
        if !targets.iter().any(|known| known == target) {
            bail!("there is no fuzz target {target}; the targets are: {}", targets.join(", "));
        }
        targets = vec![target.to_owned()];
    }
    setup::nightly()?;
    let failed = run_each(&targets, &[format!("-max_total_time={seconds}")])?;
    if failed.is_empty() {
        println!("\n{} targets, {seconds} s each, nothing found.", targets.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nFound something: {}. The inputs are in fuzz/artifacts.", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// The targets of `fuzz/fuzz_targets`, by name.
pub(crate) fn targets() -> Result<Vec<String>> {
    let folder = cmd::root().join("fuzz/fuzz_targets");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut targets = Vec::new();
    for entry in folder.read_dir()? {
        let name = entry?.file_name();
        if let Some(target) = name.to_str().and_then(|name| name.strip_suffix(".rs")) {
            targets.push(target.to_owned());
        }
    }
    targets.sort();
    Ok(targets)
}

/// Runs the targets one after the other; gives the names of those that found something. `bounds`
/// are libFuzzer's flags that say when to stop.
pub(crate) fn run_each(targets: &[String], bounds: &[String]) -> Result<Vec<String>> {
    setup::cargo_fuzz()?;
    cmd::run(&mut cmd::command(&format!("cargo +nightly fuzz build {SANITIZER}")))?;
    let mut failed = Vec::new();
    for (number, target) in (1..).zip(targets) {
        println!("\nFuzzing {target} ({number} of {}).", targets.len());
        // libFuzzer writes what it finds to the first folder, and reads the others recursively.
        let corpus = cmd::root().join("fuzz/corpus").join(target);
        std::fs::create_dir_all(&corpus)
            .with_context(|| format!("{} cannot be created", corpus.display()))?;
        let vectors = cmd::root().join("vectors");
        let mut fuzz = cmd::command(&format!("cargo +nightly fuzz run {SANITIZER} {target}"));
        fuzz.arg(corpus).args(vectors.is_dir().then_some(vectors));
        fuzz.arg("--").args(bounds).arg(HANG).args(QUIET);
        if let Err(error) = cmd::run(&mut fuzz) {
            eprintln!("error: {error:#}");
            failed.push(target.clone());
        }
    }
    Ok(failed)
}

/// There is no unsafe code here for an address sanitizer to watch, and without one the laws are
/// held to ten times as many inputs.
const SANITIZER: &str = "--sanitizer none";
/// One input that takes this many seconds counts as a hang.
const HANG: &str = "-timeout=10";
/// Only what was found and the closing counts, instead of a line for every input that is kept.
const QUIET: [&str; 3] = ["-verbosity=0", "-print_funcs=0", "-print_final_stats=1"];
