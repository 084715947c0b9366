//! `cargo xtask bless`: accept what the library says today as what the vectors expect,
//! and what it says of itself as what the guide prints.

use std::process::ExitCode;

use anyhow::Result;

use crate::cmd;

/// Rewrites the expected files, then shows which changed: blessing without reading the difference
/// turns a golden test into a mirror.
pub(crate) fn run() -> Result<ExitCode> {
    let mut tests = cmd::command("cargo test --package toolwire --test it vectors");
    cmd::run(tests.env("TOOLWIRE_BLESS", "1"))?;
    let mut pages = cmd::command("cargo test --package toolwire-cli --test it dispositions");
    cmd::run(pages.env("TOOLWIRE_BLESS", "1"))?;
    cmd::run(&mut cmd::command("git --no-pager diff --stat -- vectors docs"))?;
    cmd::run(&mut cmd::command("git status --short -- vectors docs"))?;
    println!("Read the difference before you commit it: `git diff vectors docs`.");
    Ok(ExitCode::SUCCESS)
}
