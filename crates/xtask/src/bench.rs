//! `cargo xtask bench`: what the library costs, in instructions and in time, and what the gateway
//! costs beside nginx and with a store.

mod gateway;

use std::process::ExitCode;

use anyhow::Result;

pub(crate) use self::gateway::run as run_gateway;
pub(crate) use self::gateway::store::run as run_store;
use crate::{cmd, setup};

/// Without arguments, every table; otherwise `args` go to `cargo bench`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    setup::valgrind()?;
    let bench = "cargo bench --locked --package toolwire";
    if args.is_empty() {
        // Instructions first: they do not depend on what else the machine does.
        cmd::run(&mut cmd::command(&format!("{bench} --bench cells -- --instructions")))?;
        cmd::run(&mut cmd::command(&format!("{bench} --bench streams -- --instructions")))?;
        cmd::run(&mut cmd::command(&format!("{bench} --bench streams -- --growth")))?;
        cmd::run(cmd::command(MEMORY).env("TOOLWIRE_HUGE", "1"))?;
        cmd::run(&mut cmd::command(&format!("{bench} --bench cells")))?;
        cmd::run(&mut cmd::command(&format!("{bench} --bench streams")))?;
        cmd::run(&mut cmd::command(&format!("{bench} --bench recover")))?;
        cmd::run(&mut cmd::command(STORE))?;
    } else {
        cmd::run(cmd::command(bench).args(args))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many durable writes a second, and how long each takes.
const STORE: &str = "cargo bench --locked --package toolwire-store --bench writes";

/// What a stream allocates is a test, because it has a limit.
const MEMORY: &str =
    "cargo test --locked --release --package toolwire --test memory -- --nocapture";
