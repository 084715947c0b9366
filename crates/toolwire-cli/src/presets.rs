//! `toolwire presets`: the vendors that need no settings.

use std::io::{self, Write};

use toolwire::wire::Array;
use toolwire_gateway::config::preset::{Address, Vendor};

use crate::error::CommandError;
use crate::protocols::title;
use crate::terminal::{Style, Terminal, wrap};

/// Show the vendors that need nothing but a key
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Print a JSON array with one object per vendor
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

const AFTER_HELP: &str = "\
If the variable of a vendor is set, `toolwire` alone serves its models, and
`toolwire init` writes it into the configuration. In a configuration, the name
of a preset is all that an upstream needs:

  [[upstream]]
  preset = \"openrouter\"";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let text = if args.json {
        json()
    } else if args.markdown {
        markdown().into_bytes()
    } else {
        plain(Terminal::of(&io::stdout())).into_bytes()
    };
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    Ok(out.flush()?)
}

fn json() -> Vec<u8> {
    let mut out = Vec::new();
    {
        let mut list = Array::new(&mut out);
        for vendor in Vendor::all() {
            let mut object = list.object();
            object.put("preset", vendor.name);
            object.put("title", vendor.title);
            object.put("base_url", &vendor.url());
            let mut variables = object.array("key_variables");
            for variable in vendor.key_variables {
                variables.push(*variable);
            }
            drop(variables);
            object.put("url_variable", vendor.url_variable);
            let mut protocols = object.array("protocols");
            for api in vendor.apis {
                protocols.push(api.protocol.as_str());
            }
            drop(protocols);
            object.put("local", &is_local(vendor));
            object.put("note", vendor.note);
        }
    }
    out.push(b'\n');
    out
}

/// The table in the README.
fn markdown() -> String {
    let mut text = String::from(
        "| vendor | preset | set | API | models | what is taken care of |\n|---|---|---|---|---|---|\n",
    );
    for vendor in Vendor::all() {
        let [name, protocols, models] =
            [vendor.title.to_owned(), protocols(vendor), models(vendor)];
        let note = vendor.note;
        let set = set(vendor, |variable| format!("`{variable}`"));
        text.push_str(&format!(
            "| {name} | `{}` | {set} | {protocols} | {models} | {note} |\n",
            vendor.name
        ));
    }
    text
}

fn plain(terminal: Terminal) -> String {
    let mut text = String::new();
    for vendor in Vendor::all() {
        let name = terminal.paint(vendor.name, Style::Bold);
        text.push_str(&format!("{name}  {}, {}\n", vendor.title, protocols(vendor)));
        text.push_str(&format!("  {}\n", set(vendor, str::to_owned)));
        for line in wrap(vendor.note, terminal.width.saturating_sub(2)) {
            if !line.is_empty() {
                text.push_str(&format!("  {}\n", terminal.paint(&line, Style::Faint)));
            }
        }
    }
    text
}

/// What a user has to do.
fn set(vendor: &Vendor, show: impl Fn(&str) -> String) -> String {
    let keys: Vec<String> = vendor.key_variables.iter().map(|variable| show(variable)).collect();
    match vendor.address {
        Address::Remote(_) => keys.join(" or "),
        Address::Resource(_) => format!("{} and {}", keys.join(" or "), show(vendor.url_variable)),
        Address::Local { url, .. } => {
            let place = url.trim_start_matches("http://").trim_end_matches("/v1");
            format!("nothing, if it runs at {}", show(place))
        }
    }
}

fn protocols(vendor: &Vendor) -> String {
    let titles: Vec<String> = vendor.apis.iter().map(|api| title(api.protocol)).collect();
    titles.join(", ")
}

fn models(vendor: &Vendor) -> String {
    let patterns = vendor.apis.first().map(|api| api.models).unwrap_or_default();
    let shown: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
    match patterns {
        ["*"] if vendor.lists_models => "all that it lists".to_owned(),
        ["*"] => "any name".to_owned(),
        _ => shown.join(", "),
    }
}

fn is_local(vendor: &Vendor) -> bool {
    match vendor.address {
        Address::Local { .. } => true,
        Address::Remote(_) | Address::Resource(_) => false,
    }
}
