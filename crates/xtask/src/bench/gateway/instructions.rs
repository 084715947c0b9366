//! `cargo xtask bench --gateway --instructions`: how many instructions a request takes in the gateway.
//!
//! The gateway runs under callgrind, which counts what its threads do outside the system. What else the
//! machine does changes nothing, so two builds can be told apart by less than a percent. It says
//! nothing about the system's own part, nor about waiting for memory.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::documents::{self, Kind, Pair, Speaks};
use super::load::{self, Load, Pace, Wait};
use super::subject::{Runs, Subject};
use crate::{cmd, setup};

/// Counts every kind of request through each program, and prints them as Markdown.
pub(super) fn run<'p>(
    programs: impl Iterator<Item = (&'static str, &'p Path)>,
    bare: &Path,
    model: SocketAddr,
    folder: &Path,
) -> Result<()> {
    setup::valgrind()?;
    println!("| request | through | instructions |\n|---|---|--:|");
    let folder = &folder.join("instructions");
    // What earlier runs have stored and counted would be read too.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let counts = folder.join("hyper.counts");
    let hyper = Counter::new(Subject::bare(Runs::Counted(&counts), bare, model)?, counts);
    hyper.count(&Request::new(Kind::Whole, Pair::PLAIN, bare)?)?;
    for (name, program) in programs {
        let store = format!("engine = \"sqlite\"\npath = \"{name}.db\"");
        let counts = folder.join(format!("{name}.counts"));
        let runs = Runs::Counted(&counts);
        let subject = Subject::storing(runs, name, program, model, folder, &store)?;
        let toolwire = Counter::new(subject, counts);
        for kind in [Kind::Whole, Kind::Large, Kind::Burst] {
            for pair in Pair::all() {
                toolwire.count(&Request::new(kind, pair, program)?)?;
            }
        }
        toolwire.count(&Request::stored(program)?)?;
    }
    Ok(())
}

/// A program under callgrind.
struct Counter {
    subject: Subject,
    /// Where it writes its counts. Each time it is asked it writes to a new file, with a number behind
    /// this name.
    counts: PathBuf,
    written: Cell<u32>,
}

impl Counter {
    fn new(subject: Subject, counts: PathBuf) -> Self {
        Self { subject, counts, written: Cell::new(0) }
    }

    /// Prints how many instructions a request takes.
    fn count(&self, request: &Request) -> Result<()> {
        let load = |requests| Load {
            address: self.subject.address,
            request: load::request(request.path, &request.body),
            connections: 1,
            requests,
            ending: request.ending,
            pace: Pace::AtOnce,
            wait: Wait::LastByte,
        };
        // What is done once for a list of tools or for the first connection is not the request's.
        load(WARM_UP).run()?;
        self.control("--zero")?;
        load(COUNTED).run()?;
        let instructions = self.total()? / COUNTED as u64;
        println!("| {} | {} | {instructions} |", request.name, self.subject.name);
        Ok(())
    }

    /// What was counted since it was set to zero.
    fn total(&self) -> Result<u64> {
        self.control("--dump")?;
        self.written.set(self.written.get() + 1);
        let file = format!("{}.{}", self.counts.display(), self.written.get());
        let text = fs::read_to_string(&file).with_context(|| format!("{file} cannot be read"))?;
        let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
        total.and_then(|total| total.trim().parse().ok()).context("callgrind writes a summary")
    }

    fn control(&self, order: &str) -> Result<()> {
        let process = self.subject.process_id().context("the program runs")?;
        let mut control = Command::new("callgrind_control");
        control.arg(order).arg(process.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = control.status().context("`callgrind_control` cannot be started")?;
        cmd::succeed(&control, status)
    }
}

/// A request that is sent again and again.
struct Request {
    name: String,
    path: &'static str,
    body: Vec<u8>,
    ending: &'static str,
}

impl Request {
    /// One that asks not to be stored, if its protocol knows of that.
    fn new(kind: Kind, pair: Pair, program: &Path) -> Result<Self> {
        let name = format!("{}, {}", kind.name(), pair.name());
        let mut body = documents::request(kind, pair, program)?;
        if pair.client == Speaks::Responses {
            body = with_store(&body, false)?;
        }
        let (path, ending) = (pair.client.path(), kind.ending(pair));
        Ok(Self { name, path, body, ending })
    }

    fn stored(program: &Path) -> Result<Self> {
        let pair = Pair { client: Speaks::Responses, upstream: Speaks::Chat };
        let Self { name, path, body, ending } = Self::new(Kind::Whole, pair, program)?;
        Ok(Self { name: format!("{name}, stored"), path, body: with_store(&body, true)?, ending })
    }
}

/// A request that says whether it is stored.
fn with_store(request: &[u8], store: bool) -> Result<Vec<u8>> {
    let mut body: Value = serde_json::from_slice(request)?;
    body.as_object_mut()
        .context("a request is an object")?
        .insert("store".to_owned(), json!(store));
    Ok(body.to_string().into_bytes())
}

const WARM_UP: usize = 30;
const COUNTED: usize = 100;
