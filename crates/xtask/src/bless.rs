//! `cargo xtask bless`: accept what the library says today as what the vectors expect.

use std::process::ExitCode;

use anyhow::Result;

use crate::cmd;

/// Rewrites the expected files, then shows which changed: blessing without reading the difference
/// turns a golden test into a mirror.
pub(crate) fn run() -> Result<ExitCode> {
    let mut tests = cmd::command("cargo test --package toolwire --test it vectors");
    cmd::run(tests.env("TOOLWIRE_BLESS", "1"))?;
    cmd::run(&mut cmd::command("git --no-pager diff --stat -- vectors"))?;
    cmd::run(&mut cmd::command("git status --short -- vectors"))?;
    println!("Read the difference before you commit it: `git diff vectors`.");
    Ok(ExitCode::SUCCESS)
}
