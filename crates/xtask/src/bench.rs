//! `cargo xtask bench`: the benchmarks of the library, with what they need to run.

use std::process::ExitCode;

use anyhow::Result;

use crate::{cmd, setup};

/// Hands `args` to `cargo bench` unchanged.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    setup::gungraun()?;
    cmd::run(cmd::command("cargo bench --locked --package toolwire").args(args))?;
    Ok(ExitCode::SUCCESS)
}
