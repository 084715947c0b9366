//! `toolwire demo`: one request, worked through.

use std::env;
use std::io::{self, Write};

use toolwire::{Options, Protocol, translate};

use crate::explain;
use crate::pretty_json::pretty;
use crate::terminal::{Screen, Style};

/// A strict function, a freeform tool, a call and its result.
const REQUEST: &str = include_str!("demo.json");

/// Prints the request, and what becomes of it in the other protocols.
pub(crate) fn run() -> io::Result<()> {
    let screen = Screen { width: 80, ..Screen::of(&io::stdout()) };
    let bold = |text| screen.paint(text, Style::Bold);
    let mut out = io::stdout().lock();
    writeln!(out, "{INTRODUCTION}\n")?;
    writeln!(out, "{}\n", bold("A Chat request with two tools, a call and its result"))?;
    writeln!(out, "{REQUEST}")?;
    for (to, heading) in [
        (Protocol::Responses, "The same for Responses"),
        (Protocol::Messages, "The same for Messages"),
    ] {
        let done = translate::request(Protocol::Chat, to, REQUEST.as_bytes(), &Options::default())
            .map_err(io::Error::other)?;
        let body = String::from_utf8(done.body).map_err(io::Error::other)?;
        let body = pretty(&body, screen.width).map_err(io::Error::other)?;
        writeln!(out, "{}\n\n{body}\n", bold(heading))?;
        if body.contains('…') {
            writeln!(out, "Where it says … a long text was cut to fit here.\n")?;
        }
        writeln!(out, "{}", explain::report("What happened on the way", &done.ledger, screen))?;
    }
    writeln!(out, "{}\n", bold("Try next"))?;
    let program = program();
    writeln!(out, "  echo '{TRY}' |\n    {program} translate --to messages --explain\n")?;
    writeln!(out, "  {program} translate --help")?;
    out.flush()
}

const INTRODUCTION: &str = "\
toolwire translates tool calling between OpenAI Chat Completions, OpenAI
Responses and Anthropic Messages, and says what it could not carry.";

const TRY: &str = r#"{"messages": [{"role": "user", "content": "Hi"}], "seed": 7}"#;

/// The program as it was called, so that the commands work when copied.
fn program() -> String {
    env::args().next().filter(|name| name.len() <= 30).unwrap_or_else(|| "toolwire".to_owned())
}
