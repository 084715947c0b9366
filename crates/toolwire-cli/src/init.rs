//! `toolwire init`: a configuration to begin with.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::error::Failure;

/// Write a configuration with comments, to begin with
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Where to write it
    #[arg(default_value = FILE)]
    path: PathBuf,
}

/// What a configuration is called where nobody says otherwise.
pub(crate) const FILE: &str = "toolwire.toml";

const AFTER_HELP: &str = "\
Upstreams whose key is in the environment are switched on, the others are there
as comments. A file that exists is left as it is.

Example:
  toolwire init && toolwire serve --config toolwire.toml";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let name = args.path.display();
    let opened = OpenOptions::new().write(true).create_new(true).open(&args.path);
    let mut file = opened.map_err(|error| {
        Failure::Start(if error.kind() == io::ErrorKind::AlreadyExists {
            format!(
                "{name} exists and is left as it is\n\
                 Give another name, as in: toolwire init other.toml"
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

/// The file. A paragraph that names a key which is not set becomes a comment.
fn template(is_set: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for paragraph in TEMPLATE.split_inclusive("\n\n") {
        let key = paragraph.split_once("env = \"").and_then(|(_, rest)| rest.split_once('"'));
        let missing =
            paragraph.starts_with("[[upstream]]") && key.is_some_and(|(key, _)| !is_set(key));
        if !missing {
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
