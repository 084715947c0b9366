//! `toolwire init`: writes a configuration file to start from.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use toolwire_gateway::config::preset::{Address, FoundVendor, Vendor, find_vendors};
use toolwire_gateway::config::{DEFAULT_LISTEN, Environment, ProcessEnvironment};

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
The file holds every vendor whose API key is in the environment, and every
server that runs on this machine: what `toolwire serve` would use without a
file. The others are commented out. An existing file is never overwritten.

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
    let mut notes = Vec::new();
    let (text, found) = template(&ProcessEnvironment::default(), &mut notes);
    file.write_all(text.as_bytes())?;
    let mut out = io::stdout().lock();
    for note in notes {
        writeln!(out, "{note}")?;
    }
    let found =
        if found.is_empty() { String::new() } else { format!(" with {}", found.join(", ")) };
    writeln!(out, "Wrote {name}{found}. Next:\n\n  toolwire check --config {name}")?;
    writeln!(out, "  toolwire serve --config {name}")?;
    out.flush()?;
    Ok(())
}

/// The content of the file, and the vendors that it enables.
fn template(environment: &dyn Environment, notes: &mut Vec<String>) -> (String, Vec<&'static str>) {
    let found = find_vendors(DEFAULT_LISTEN, environment, notes);
    let mut upstreams = String::new();
    for vendor in &found {
        upstreams.push_str(&block(vendor));
    }
    upstreams.push_str(
        "# Vendors that were not found. A key in its variable is all that each needs:\n#\n",
    );
    for vendor in Vendor::all() {
        if !found.iter().any(|found| found.vendor.name == vendor.name) {
            upstreams.push_str(&commented(vendor));
        }
    }
    let names = found.iter().map(|found| found.vendor.title).collect();
    (TEMPLATE.replace("FOUND\n", &upstreams), names)
}

/// The upstream of a vendor that was found.
fn block(found: &FoundVendor) -> String {
    let FoundVendor { vendor, key_variable, url, upstreams: _ } = found;
    let mut text = format!("# {}", vendor.title);
    if let Some(variable) = key_variable {
        text.push_str(&format!(", with the key in {variable}"));
    }
    text.push_str(&format!("\n[[upstream]]\npreset = \"{}\"\n", vendor.name));
    if let Some(url) = url {
        text.push_str(&format!(
            "base_url = \"{}\"\n",
            url.replace('\\', "\\\\").replace('"', "\\\"")
        ));
    }
    text.push('\n');
    text
}

/// The upstream of a vendor that was not found, as a comment.
fn commented(vendor: &Vendor) -> String {
    let mut text = format!("# [[upstream]]\n# preset = \"{}\"", vendor.name);
    if let Some(variable) = vendor.key_variables.first() {
        text.push_str(&format!("    # {variable}"));
    }
    if let Address::Resource(_) = vendor.address {
        text.push_str("\n# base_url = \"https://RESOURCE.openai.azure.com\"");
    }
    text.push_str("\n#\n");
    text
}

const TEMPLATE: &str = include_str!("init.toml");

#[cfg(test)]
mod tests;
