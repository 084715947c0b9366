//! `cargo xtask bless`: accept what the library does today as what the tests expect: the vectors,
//! what the examples print, the public API, and the pages that are generated.

use std::process::ExitCode;

use anyhow::Result;

use crate::{cmd, public_api};

/// Rewrites the expected files, then shows which changed: blessing without reading the difference
/// turns a golden test into a mirror.
pub(crate) fn run() -> Result<ExitCode> {
    let mut tests = cmd::command("cargo test --package toolwire --test it vectors");
    cmd::run(tests.env("TOOLWIRE_BLESS", "1"))?;
    let mut examples = cmd::command("cargo test --package toolwire --test it examples");
    cmd::run(examples.env("TOOLWIRE_BLESS", "1"))?;
    public_api::bless()?;
    for pages in ["dispositions", "the_readme_has_every_vendor"] {
        let mut pages =
            cmd::command(&format!("cargo test --package toolwire-cli --test it {pages}"));
        cmd::run(pages.env("TOOLWIRE_BLESS", "1"))?;
    }
    cmd::run(&mut cmd::command(&format!("git --no-pager diff --stat -- {BLESSED}")))?;
    cmd::run(&mut cmd::command(&format!("git status --short -- {BLESSED}")))?;
    println!("Read the difference before you commit it: `git diff {BLESSED}`.");
    Ok(ExitCode::SUCCESS)
}

const BLESSED: &str =
    "vectors docs README.md crates/toolwire/examples crates/toolwire/tests/public_api.txt";
