//! `toolwire init`: writes a configuration file to start from.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::error::CommandError;

/// Write a commented configuration file to start from
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// File to write
    #[arg(default_value = DEFAULT_FILE)]
    path: PathBuf,
}

/// The usual name of a configuration file.
pub(crate) const DEFAULT_FILE: &str = "toolwire.toml";

const AFTER_HELP: &str = "\
Upstreams whose API key is in the environment are enabled. The others are
commented out. An existing file is never overwritten.

Example:
  toolwire init && toolwire serve --config toolwire.toml";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let name = args.path.display();
    let opened = OpenOptions::new().write(true).create_new(true).open(&args.path);
    let mut file = opened.map_err(|error| {
        CommandError::Start(if error.kind() == io::ErrorKind::AlreadyExists {
            format!(
                "{name} already exists and was not changed\n\
                 Choose another name: toolwire init other.toml"
            )
        } else {
            format!("cannot write {name}: {error}")
        })
    })?;
    file.write_all(
        template(|name| env::var_os(name).is_some_and(|key| !key.is_empty())).as_bytes(),
    )?;
    let mut out = io::stdout().lock();
    writeln!(out, "Wrote {name}. Next:\n\n  toolwire check --config {name}")?;
    writeln!(out, "  toolwire serve --config {name}")?;
    out.flush()?;
    Ok(())
}

/// The content of the file. An upstream whose key is not set is commented out.
fn template(is_set: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for paragraph in TEMPLATE.split_inclusive("\n\n") {
        let key = paragraph.split_once("env = \"").and_then(|(_, rest)| rest.split_once('"'));
        let is_disabled =
            paragraph.starts_with("[[upstream]]") && key.is_some_and(|(key, _)| !is_set(key));
        if !is_disabled {
            text.push_str(paragraph);
            continue;
        }
        for line in paragraph.lines() {
            text.push_str(if line.is_empty() { "" } else { "# " });
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

const TEMPLATE: &str = include_str!("init.toml");

#[cfg(test)]
mod tests;
