//! `cargo xtask traffic DIR`: recorded traffic, translated between all protocols and checked.
//!
//! Recordings come in the formats that projects keep them in. Whatever is a request, an answer, a
//! stream or an error of one of the protocols is translated into every protocol, its own too, and
//! what comes out is compared with what went in by code that shares nothing with the codecs.

mod case;
mod check;
mod extract;
mod read;
mod report;
mod shrink;
mod sse;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use toolwire::Protocol;

use self::check::{Translate, translate};
use self::report::Report;

/// Checks every recording below a folder and prints what it found.
pub(crate) fn run(folder: &Path, as_json: bool) -> Result<ExitCode> {
    // A panic of the library is a finding, with a place in the report.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let examined = examine(folder, translate).map(|report| {
        let text = if as_json { format!("{:#}", report.json()) } else { report.text() };
        (report, text)
    });
    std::panic::set_hook(hook);
    let (report, text) = examined?;
    println!("{text}");
    if report.cases() == 0 {
        bail!("{} holds no recording of the three protocols", folder.display());
    }
    Ok(if report.failures() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Translates and checks everything in a folder. A document that was recorded twice counts once.
fn examine(folder: &Path, translate: Translate) -> Result<Report> {
    examine_files(folder, &read::files(folder)?, translate)
}

fn examine_files(folder: &Path, files: &[PathBuf], translate: Translate) -> Result<Report> {
    let mut report = Report::new(translate);
    let mut seen = BTreeSet::new();
    for path in files {
        let content =
            std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let name = read::relative(path, folder);
        let Some(exchanges) = read::exchanges(&name, &content) else {
            report.unknown_files += 1;
            continue;
        };
        report.files += 1;
        for exchange in exchanges {
            let bodies = exchange.bodies();
            let cases = case::cases(&name, exchange);
            report.foreign += bodies.saturating_sub(cases.len());
            for case in cases {
                let mut hasher = DefaultHasher::new();
                (case.kind, case.protocol, &case.body).hash(&mut hasher);
                if !seen.insert(hasher.finish()) {
                    report.repeated += 1;
                    continue;
                }
                let toward = |to: &Protocol| (*to, check::check(translate, &case, *to));
                let results: Vec<_> = Protocol::ALL.iter().map(toward).collect();
                report.add(&case, &results);
            }
        }
    }
    Ok(report)
}
