//! `toolwire import`: takes over the configuration of another gateway.

mod claude_code_router;
mod document;
mod draft;
mod keys;
mod litellm;
mod litellm_models;
mod output;
mod providers;
mod section;
mod servers;

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolwire_gateway::config::file;

use crate::error::CommandError;
use crate::init::DEFAULT_FILE;

use self::document::Document;
use self::draft::{Draft, EverySecret};
use self::keys::Reference;

/// Write a configuration file from that of LiteLLM or claude-code-router
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// LiteLLM's config.yaml or claude-code-router's config.json
    file: PathBuf,

    /// File to write
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    output: PathBuf,
}

const AFTER_HELP: &str = "\
Settings that toolwire doesn't have are listed, here and in the file. Keys are
not copied: the file refers to environment variables, and lists those that you
have to set. An existing file is never overwritten.

Example:
  toolwire import config.yaml && toolwire check --config toolwire.toml";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let source = args.file.display().to_string();
    let text =
        read(&args.file).map_err(|error| CommandError::Input { name: source.clone(), error })?;
    let rejected = |why: String| CommandError::Rejected(format!("cannot import {source}: {why}"));
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let draft = draft(&text, &variable).map_err(rejected)?;
    let written = output::write(&draft);
    if draft.upstreams.is_empty() {
        let mut why = "none of its models can be taken over".to_owned();
        for left_out in &draft.left_out {
            why.push_str(&format!("\n  {}", output::left_out_line(left_out)));
        }
        return Err(rejected(why));
    }
    if let Err(problems) = file::parse(&args.output.display().to_string(), &written, &EverySecret) {
        return Err(rejected(format!("toolwire would not accept the result\n{problems}")));
    }
    write(&args.output, &written)?;
    report(&args.output, &draft)?;
    Ok(())
}

/// Reads at most a little more than is allowed, so that the size can be refused.
fn read(path: &Path) -> io::Result<String> {
    let limit = u64::try_from(document::MAX_SIZE).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    // The limit may cut a character, and such a file is refused for its size.
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().len() > document::MAX_SIZE => {
            Ok(" ".repeat(document::MAX_SIZE + 1))
        }
        Err(_) => Err(io::Error::other("it is not UTF-8 text")),
    }
}

/// What the configuration of another gateway amounts to.
fn draft(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Draft, String> {
    let Document { value, repeated } = document::parse(text)?;
    let unknown = "it is not a configuration of LiteLLM (with model_list) or of \
                   claude-code-router (with Providers)";
    let Value::Object(root) = &value else { return Err(unknown.to_owned()) };
    let mut draft = Draft::default();
    if claude_code_router::is_it(root) {
        start(&value, "claude-code-router", Reference::ClaudeCodeRouter, &mut draft);
        claude_code_router::convert(root, &mut draft);
    } else if litellm::is_it(root) {
        start(&value, "LiteLLM", Reference::LiteLlm, &mut draft);
        litellm::convert(root, variable, &mut draft);
    } else {
        return Err(unknown.to_owned());
    }
    for key in repeated {
        draft.leave_out(&key, "", "it is there twice in one object; the last one counts");
    }
    // An alias that is there twice would be a mistake.
    let mut names = std::collections::HashSet::new();
    draft.aliases.retain(|alias| names.insert(alias.name.clone()));
    Ok(draft)
}

/// Begins the file, and keeps the names of the variables that the configuration
/// refers to from being used for anything else.
fn start(value: &Value, format: &str, reference: Reference, draft: &mut Draft) {
    draft.remarks.push(format!("toolwire configuration, imported from {format}."));
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                if let Some(name) = reference.variable(text) {
                    draft.reserve_variable(name);
                }
            }
            Value::Array(list) => open.extend(list),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    let name = path.display();
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|error| {
        CommandError::Start(if error.kind() == io::ErrorKind::AlreadyExists {
            format!(
                "{name} already exists and was not changed\n\
                 Choose another name: --output other.toml"
            )
        } else {
            format!("cannot write {name}: {error}")
        })
    })?;
    file.write_all(text.as_bytes())?;
    Ok(())
}

/// Says what was left out and what to do, on standard error, and what was written.
fn report(path: &Path, draft: &Draft) -> io::Result<()> {
    let mut err = io::stderr().lock();
    if !draft.left_out.is_empty() {
        writeln!(err, "Not taken over:")?;
        for left_out in &draft.left_out {
            writeln!(err, "  {}", output::left_out_line(left_out))?;
        }
        writeln!(err)?;
    }
    if !draft.variables.is_empty() {
        writeln!(err, "Set these variables, because keys are not copied:")?;
        for variable in &draft.variables {
            writeln!(err, "  {}", output::variable_line(variable))?;
        }
        writeln!(err)?;
    }
    let name = path.display();
    let mut out = io::stdout().lock();
    let (upstreams, aliases) = (draft.upstreams.len(), draft.aliases.len());
    let plural = |count: usize, one: &'static str, many: &'static str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    writeln!(
        out,
        "Wrote {name} with {} and {}. Next:\n\n  toolwire check --config {name}",
        plural(upstreams, "upstream", "upstreams"),
        plural(aliases, "alias", "aliases"),
    )?;
    writeln!(out, "  toolwire serve --config {name}")?;
    out.flush()
}

#[cfg(test)]
mod tests;
