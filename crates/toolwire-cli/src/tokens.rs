//! `toolwire tokens`: counts the tokens of a request, item by item.

use std::io::{self, IsTerminal, Read, Write};

use toolwire::facts::{self, ModelFacts};
use toolwire::guess::{DocumentKind, guess};
use toolwire::protocol::PathMatch;
use toolwire::translate::RequestHead;
use toolwire::wire::Object;
use toolwire::{Error, Protocol};
use toolwire_tokens::budget::context_budget;
use toolwire_tokens::{Part, RequestCount, Tokenizer};

use crate::error::CommandError;
use crate::protocols::{self, title};
use crate::terminal::{Style, Terminal, escape_controls};

/// Count the tokens of a request from standard input, item by item
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Protocol of the request; detected by default
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols::value_parser())]
    protocol: Option<Protocol>,

    /// The model to count for; the request's own by default
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Text is counted exactly for OpenAI's models up to GPT-5, with the vocabularies
that OpenAI publishes. For all other models the number is an estimate that errs
on the high side, and so is what surrounds messages, tools and images.

Examples:
  toolwire tokens < request.json
  toolwire tokens --model claude-sonnet-4-5 --json < request.json";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let body = read_stdin()?;
    let counted = Counted::new(args, &body)?;
    let text = if args.json {
        counted.json()
    } else {
        counted.table(Terminal::of(&io::stdout())).into_bytes()
    };
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    Ok(out.flush()?)
}

/// A counted request.
struct Counted {
    protocol: Protocol,
    model: Option<String>,
    tokenizer: Tokenizer,
    facts: ModelFacts,
    count: RequestCount,
}

impl Counted {
    fn new(args: &Args, body: &[u8]) -> Result<Self, CommandError> {
        let protocol = match args.protocol {
            Some(protocol) => protocol,
            None => detect(body)?,
        };
        let head = RequestHead::read(protocol, &PathMatch::default(), body).map_err(unreadable)?;
        let model = args.model.clone().or(head.model);
        let name = model.as_deref().unwrap_or_default();
        let tokenizer = Tokenizer::for_model(name);
        let facts = facts::lookup(name);
        let count = RequestCount::of(protocol, body, tokenizer).map_err(unreadable)?;
        Ok(Self { protocol, model, tokenizer, facts, count })
    }

    fn json(&self) -> Vec<u8> {
        let Self { protocol, model, tokenizer, facts, count } = self;
        let mut out = Vec::new();
        let mut object = Object::new(&mut out);
        object.put("protocol", protocol.as_str());
        object.put("model", model);
        object.put("vocabulary", tokenizer.vocabulary());
        object.put("exact_text", &tokenizer.is_exact());
        object.put("tokens", &count.total);
        object.put("context_window", &facts.context_window.map(|fact| fact.value));
        object.put("max_output", &facts.max_output.map(|fact| fact.value));
        let mut parts = object.array("parts");
        for Part { section, turn, kind, name, tokens } in &count.parts {
            let mut part = parts.object();
            part.put("section", *section);
            part.put("turn", &turn.map(|turn| turn as u64));
            part.put("kind", *kind);
            part.put("name", name);
            part.put("tokens", tokens);
        }
        drop(parts);
        drop(object);
        out.push(b'\n');
        out
    }

    fn table(&self, terminal: Terminal) -> String {
        let mut rows = Vec::new();
        let mut last = None;
        for part in &self.count.parts {
            let place = (part.section, part.turn);
            if last != Some(place) {
                rows.push(Row::heading(part.section));
                last = Some(place);
            }
            rows.push(Row::new(format!("  {}", label(part)), part.tokens));
        }
        rows.push(Row::heading(""));
        rows.push(Row { style: Style::Bold, ..Row::new("total".to_owned(), self.count.total) });
        if let Some(window) = self.facts.context_window {
            rows.push(Row::new("context window".to_owned(), window.value));
            let longest = self.facts.max_output.map(|fact| fact.value);
            let left = context_budget(window.value, self.count.total, longest).unwrap_or(0);
            rows.push(Row::new("longest answer".to_owned(), left));
        }
        let mut text = terminal.paint(&self.heading(), Style::Bold) + "\n\n";
        let width = Widths::of(&rows, terminal.width);
        for row in rows {
            text.push_str(&row.line(&width, terminal));
        }
        text
    }

    fn heading(&self) -> String {
        let model = self.model.as_deref().unwrap_or("a model without a name");
        let how = if self.tokenizer.is_exact() { "counted" } else { "estimated" };
        format!("{} request, {how} for {}", title(self.protocol), escape_controls(model))
    }
}

/// A line of the table.
struct Row {
    label: String,
    tokens: Option<String>,
    style: Style,
}

impl Row {
    fn new(label: String, tokens: u64) -> Self {
        Self { label, tokens: Some(grouped(tokens)), style: Style::Faint }
    }

    fn heading(text: &str) -> Self {
        Self { label: text.to_owned(), tokens: None, style: Style::Green }
    }

    fn line(&self, width: &Widths, terminal: Terminal) -> String {
        let Self { label, tokens, style } = self;
        let Some(tokens) = tokens else { return terminal.paint(label, *style) + "\n" };
        let label = shortened(label, width.label);
        let gap = " ".repeat(width.label - label.chars().count());
        let line = format!("{label}{gap}  {tokens:>0$}", width.tokens);
        if matches!(style, Style::Bold) {
            terminal.paint(&line, *style) + "\n"
        } else {
            line + "\n"
        }
    }
}

struct Widths {
    label: usize,
    tokens: usize,
}

impl Widths {
    fn of(rows: &[Row], terminal: usize) -> Self {
        let counted = || rows.iter().filter(|row| row.tokens.is_some());
        let widest =
            counted().filter_map(|row| Some(row.tokens.as_ref()?.len())).max().unwrap_or(0);
        let longest = counted().map(|row| row.label.chars().count()).max().unwrap_or(0);
        let room = terminal.saturating_sub(widest + 2);
        Self { label: longest.max(SHORTEST_LABEL).min(room), tokens: widest }
    }
}

fn label(part: &Part) -> String {
    match &part.name {
        Some(name) if part.kind == "tool" => escape_controls(name),
        Some(name) => format!("{} {}", part.kind, escape_controls(name)),
        None => part.kind.to_owned(),
    }
}

fn shortened(label: &str, width: usize) -> String {
    if label.chars().count() <= width {
        return label.to_owned();
    }
    let start: String = label.chars().take(width.saturating_sub(1)).collect();
    start + "…"
}

/// A number with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn detect(body: &[u8]) -> Result<Protocol, CommandError> {
    let detected = guess(body).map_err(unreadable)?;
    match (detected.document, detected.protocol) {
        (Some(DocumentKind::Request) | None, Some(protocol)) => Ok(protocol),
        (Some(DocumentKind::Request) | None, None) => Err(CommandError::Usage(
            "cannot detect the protocol of this request; pass --protocol".to_owned(),
        )),
        (Some(other), _) => Err(CommandError::Rejected(format!(
            "only requests are counted, and this looks like {}; if it is a request, pass --protocol",
            match other {
                DocumentKind::Request => "a request",
                DocumentKind::Response => "a response",
                DocumentKind::Error => "an error",
                DocumentKind::Tools => "a list of tools",
            }
        ))),
    }
}

fn unreadable(error: Error) -> CommandError {
    let error = escape_controls(&error.to_string());
    CommandError::Rejected(format!("cannot read the request: {error}"))
}

fn read_stdin() -> Result<Vec<u8>, CommandError> {
    let mut input = io::stdin().lock();
    if input.is_terminal() && io::stderr().is_terminal() {
        writeln!(io::stderr().lock(), "Type or paste the request, then press Ctrl-D.")?;
    }
    let mut body = Vec::new();
    input.read_to_end(&mut body).map_err(CommandError::stdin)?;
    if body.trim_ascii().is_empty() {
        return Err(CommandError::Rejected(EMPTY.to_owned()));
    }
    Ok(body)
}

const EMPTY: &str = "\
standard input is empty
Pass a request: toolwire tokens < request.json";

/// Numbers of a short request stand near its labels.
const SHORTEST_LABEL: usize = 24;
