//! `toolwire demo`: one request in every protocol.

use std::env;
use std::io::{self, Write};

use toolwire::guess::guess;
use toolwire::{Options, Protocol, translate};

use crate::explain;
use crate::pretty_json::pretty_print;
use crate::protocols::title;
use crate::terminal::{Style, Terminal};

/// A request with a strict function, a freeform tool, a call and its result.
const REQUEST: &str = include_str!("demo.json");

/// Prints the request, its translations, and what changed in each.
pub(crate) fn run() -> io::Result<()> {
    let terminal = Terminal { width: 80, ..Terminal::of(&io::stdout()) };
    let bold = |text: &str| terminal.paint(text, Style::Bold);
    let from = guess(REQUEST.as_bytes()).map_err(io::Error::other)?.protocol;
    let from = from.ok_or_else(|| io::Error::other("the example has no known protocol"))?;
    let mut out = io::stdout().lock();
    writeln!(out, "{INTRODUCTION}\n")?;
    let heading = format!("A {} request with two tools, a call and its result", title(from));
    writeln!(out, "{}\n", bold(&heading))?;
    writeln!(out, "{REQUEST}")?;
    for to in Protocol::ALL.into_iter().filter(|to| *to != from) {
        let done = translate::request(from, to, REQUEST.as_bytes(), &Options::default())
            .map_err(io::Error::other)?;
        let body = String::from_utf8(done.body).map_err(io::Error::other)?;
        let body = pretty_print(&body, terminal.width).map_err(io::Error::other)?;
        writeln!(out, "{}\n\n{body}\n", bold(&format!("The same request for {}", title(to))))?;
        if body.contains('…') {
            writeln!(out, "Long texts are cut short with … to fit here.\n")?;
        }
        writeln!(out, "{}", explain::report("Changes", &done.ledger, terminal))?;
    }
    writeln!(out, "{}\n", bold("Next steps"))?;
    let program = program();
    writeln!(out, "  echo '{EXAMPLE}' |\n    {program} translate --to messages --explain\n")?;
    writeln!(out, "  {program} translate --help")?;
    out.flush()
}

const INTRODUCTION: &str = "\
toolwire translates tool calling between OpenAI Chat Completions, OpenAI
Responses and Anthropic Messages, and reports what it could not carry.";

const EXAMPLE: &str = r#"{"messages": [{"role": "user", "content": "Hi"}], "seed": 7}"#;

/// The program as the user called it, so that the commands work when copied.
fn program() -> String {
    env::args().next().filter(|name| name.len() <= 30).unwrap_or_else(|| "toolwire".to_owned())
}
