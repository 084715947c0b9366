//! `toolwire models`: every model, what is known about it, and who says so.

use std::io::{self, Write};
use std::path::PathBuf;

use toolwire::facts::{Listed, Origin};
use toolwire::wire::{Array, Object, glob};
use toolwire_gateway::{ModelReport, Report, UpstreamReport, report};

use crate::config;
use crate::error::CommandError;
use crate::serve::runtime;
use crate::terminal::{Style, Terminal, escape_controls, wrap};

/// Show the models, what is known about each, and who says so
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Show only models whose names match; * matches any run of characters
    #[arg(value_name = "MODEL")]
    names: Vec<String>,

    /// Configuration file; without one, the API keys in the environment are used
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Every upstream is asked for its list of models. A fact comes from what is
published about the model, from the upstream's list, or from the configuration;
each counts for more than the ones before it. What is not known is not shown,
and changes nothing.

Examples:
  toolwire models
  toolwire models 'claude-*' --config toolwire.toml
  toolwire models --json | jq '.models[].name'";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let loaded = config::load(args.config.as_deref(), None)?;
    let found = runtime()?.block_on(report(loaded.config));
    let mut found = found.map_err(|error| config::start_error(&error))?;
    if !args.names.is_empty() {
        let is_wanted = |name: &str| args.names.iter().any(|wanted| glob::matches(wanted, name));
        found.models.retain(|model| is_wanted(&model.name));
    }
    let text = if args.json {
        json(&found)
    } else {
        plain(&found, Terminal::of(&io::stdout())).into_bytes()
    };
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    Ok(out.flush()?)
}

fn json(report: &Report) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Object::new(&mut out);
    {
        let mut models = object.array("models");
        for ModelReport { name, upstream_model, upstream, protocol, facts } in &report.models {
            let mut model = models.object();
            model.put("name", name);
            model.put("upstream", upstream);
            model.put("upstream_model", upstream_model);
            model.put("protocol", protocol.as_str());
            let mut list = model.object("facts");
            for Listed { name, value, origin } in facts.list() {
                let mut fact = list.object(name);
                match (value.parse::<u64>(), value.parse::<bool>()) {
                    (Ok(number), _) => fact.put("value", &number),
                    (_, Ok(yes)) => fact.put("value", &yes),
                    (Err(_), Err(_)) => fact.put("value", &value),
                }
                fact.put("origin", kind(origin));
                fact.put("source", &document(origin));
            }
        }
    }
    let mut upstreams: Array<'_> = object.array("upstreams");
    for UpstreamReport { name, listed } in &report.upstreams {
        let mut upstream = upstreams.object();
        upstream.put("name", name);
        let count = listed.as_ref().and_then(|listed| listed.as_ref().ok());
        upstream.put("listed", &count.map(|count| *count as u64));
        let error = listed.as_ref().and_then(|listed| listed.as_ref().err());
        upstream.put("error", &error);
    }
    drop(upstreams);
    drop(object);
    out.push(b'\n');
    out
}

fn plain(report: &Report, terminal: Terminal) -> String {
    let mut text = String::new();
    for model in &report.models {
        let ModelReport { name, upstream_model, upstream, protocol, facts } = model;
        let alias =
            if name == upstream_model { String::new() } else { format!(" as {upstream_model}") };
        let target = escape_controls(&format!("{upstream}{alias}, {protocol}"));
        let name = terminal.paint(&escape_controls(name), Style::Bold);
        text.push_str(&format!("{name}  {}\n", terminal.paint(&target, Style::Faint)));
        let facts: Vec<_> =
            facts.list().into_iter().filter(|fact| fact.name != "protocols").collect();
        let width = facts.iter().map(|fact| shown(fact).chars().count()).max().unwrap_or(0);
        let mut published = None;
        for fact in &facts {
            let value = shown(fact);
            let origin = match fact.origin {
                Origin::Table(document) => {
                    published = Some(document);
                    "published"
                }
                Origin::Upstream => "upstream",
                Origin::Operator => "configuration",
            };
            let origin = terminal.paint(origin, Style::Faint);
            text.push_str(&format!("  {:<26}{value:<width$}  {origin}\n", title(fact.name)));
        }
        if let Some(document) = published {
            for line in wrap(&format!("published in {document}"), terminal.width.saturating_sub(2))
            {
                text.push_str(&format!("  {}\n", terminal.paint(&line, Style::Faint)));
            }
        }
        if facts.is_empty() {
            text.push_str(&format!("  {}\n", terminal.paint("nothing is known", Style::Faint)));
        }
        text.push('\n');
    }
    let count = report.models.len();
    let models = if count == 1 { "model" } else { "models" };
    text.push_str(&format!("{count} {models}\n"));
    for UpstreamReport { name, listed } in &report.upstreams {
        if let Some(Err(reason)) = listed {
            let line = format!("{name} does not list its models: {reason}");
            text.push_str(&format!("{}\n", terminal.paint(&line, Style::Yellow)));
        }
    }
    text
}

/// The fact's name in words.
fn title(name: &str) -> String {
    name.replace('_', " ")
}

/// The fact's value, with its thousands apart.
fn shown(fact: &Listed) -> String {
    let is_number = !fact.value.is_empty() && fact.value.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return match fact.value.as_str() {
            "true" => "yes".to_owned(),
            "false" => "no".to_owned(),
            other => other.to_owned(),
        };
    }
    let mut grouped = String::new();
    for (index, digit) in fact.value.chars().enumerate() {
        if index > 0 && (fact.value.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn kind(origin: Origin) -> &'static str {
    match origin {
        Origin::Table(_) => "table",
        Origin::Upstream => "upstream",
        Origin::Operator => "operator",
    }
}

fn document(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Table(document) => Some(document),
        Origin::Upstream | Origin::Operator => None,
    }
}
