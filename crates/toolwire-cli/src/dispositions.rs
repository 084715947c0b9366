//! `toolwire dispositions`: what happens to each field of a request or an answer
//! in every other protocol.

use std::collections::BTreeMap;
use std::io::{self, Write};

use toolwire::disposition::{self, Disposition, Row};
use toolwire::wire::{Object, glob};
use toolwire::{Code, Protocol};

use crate::error::CommandError;
use crate::protocols::title;
use crate::terminal::{Style, Terminal, escape_controls, wrap};

/// Show what happens to each field in every other protocol
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Show the fields of answers, streams and errors instead of requests
    #[arg(long)]
    answers: bool,

    /// Show only the rows about one field, by its path or its name
    #[arg(conflicts_with = "markdown")]
    field: Option<String>,

    /// Print a JSON array with one object per row
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print a Markdown document
    #[arg(long)]
    markdown: bool,
}

const AFTER_HELP: &str = "\
A field is named by its path. * matches any run of characters. The first row
that matches a field applies.

Example:
  toolwire dispositions parallel_tool_calls";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let table = if args.answers { disposition::answers } else { disposition::table };
    let is_wanted = |row: &Row| args.field.as_ref().is_none_or(|field| is_about(row, field));
    if let Some(field) = &args.field
        && !Protocol::ALL.iter().any(|protocol| table(*protocol).iter().any(is_wanted))
    {
        return Err(unknown_field(field, args.answers));
    }
    let text = if args.json {
        json(table, &is_wanted)
    } else if args.markdown {
        markdown(if args.answers { ANSWERS } else { REQUESTS }, table)
    } else {
        plain(table, &is_wanted, Terminal::of(&io::stdout())).into_bytes()
    };
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    Ok(out.flush()?)
}

/// The rows of a protocol.
type Table = fn(Protocol) -> &'static [Row];

/// Whether a row is about a field: its whole path, or one of the names in it.
fn is_about(row: &Row, field: &str) -> bool {
    let mut names = row.field.split(['.', '[', ']', '(', ')', '=']);
    glob::matches(row.field, field) || names.any(|name| name == field)
}

fn unknown_field(field: &str, answers: bool) -> CommandError {
    let (kind, other) = if answers {
        ("an answer", "Without --answers, the fields of requests are shown.")
    } else {
        ("a request", "With --answers, the fields of answers are shown.")
    };
    CommandError::Rejected(format!(
        "no field of {kind} is called {}\n{other}",
        escape_controls(field)
    ))
}

fn json(table: Table, is_wanted: &dyn Fn(&Row) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    for protocol in Protocol::ALL {
        for row in table(protocol).iter().filter(|row| is_wanted(row)) {
            out.extend_from_slice(if out.is_empty() { b"[\n" } else { b",\n" });
            write_row(protocol, row, &mut out);
        }
    }
    out.extend_from_slice(b"\n]\n");
    out
}

fn write_row(protocol: Protocol, row: &Row, out: &mut Vec<u8>) {
    let Row { group, field, toward, note } = row;
    let mut object = Object::new(out);
    object.put("protocol", protocol.as_str());
    object.put("group", *group);
    object.put("field", *field);
    {
        let mut targets = object.object("toward");
        for (target, disposition) in toward.iter() {
            write_disposition(disposition, &mut targets.object(target.as_str()));
        }
    }
    object.put("note", note);
}

fn write_disposition(disposition: &Disposition, object: &mut Object<'_>) {
    let codes: Vec<String> = disposition.codes().iter().map(Code::to_string).collect();
    object.put("disposition", disposition.as_str());
    object.put("codes", &codes);
    if let Disposition::SaysNothing(why) = disposition {
        object.put("why", *why);
    }
    if let Disposition::Depends(possible, when) = disposition {
        object.put("when", *when);
        let mut any = object.array("any_of");
        for disposition in *possible {
            write_disposition(disposition, &mut any.object());
        }
    }
}

fn markdown(introduction: &str, table: Table) -> Vec<u8> {
    let mut text = String::from(introduction);
    let mut codes = BTreeMap::new();
    for protocol in Protocol::ALL {
        text.push_str(&format!("\n## {}\n", title(protocol)));
        let mut group = "";
        for row in table(protocol) {
            if row.group != group {
                group = row.group;
                let heading = format!("{}: {}", title(protocol), lower(group));
                text.push_str(&format!("\n### {heading}\n\n{}", markdown_header(row)));
            }
            text.push_str(&markdown_row(row));
            for (_, disposition) in row.toward.iter() {
                let found = disposition.codes();
                codes.extend(found.iter().map(|code| (name(code), code.meaning())));
            }
        }
    }
    text.push_str("\n## Codes\n\n| Code | Meaning |\n|---|---|\n");
    for (code, meaning) in codes {
        text.push_str(&format!("| `{code}` | {meaning} |\n"));
    }
    text.into_bytes()
}

fn markdown_header(row: &Row) -> String {
    let (mut titles, mut rule) = ("| Field |".to_owned(), "|---|".to_owned());
    for (target, _) in row.toward.iter() {
        titles.push_str(&format!(" To {} |", title(*target)));
        rule.push_str("---|");
    }
    format!("{titles}\n{rule}\n")
}

fn markdown_row(row: &Row) -> String {
    let note = row.note.map(|note| format!("<br>{note}")).unwrap_or_default();
    let mut line = format!("| `{}`{note} |", row.field);
    let mut last = None;
    for (_, disposition) in row.toward.iter() {
        // A long condition is not repeated.
        let is_long = matches!(disposition, Disposition::Depends(..) | Disposition::SaysNothing(_));
        let is_repeated = is_long && last == Some(disposition);
        let cell = if is_repeated { "the same".to_owned() } else { phrase(disposition, "`") };
        line.push_str(&format!(" {cell} |"));
        last = Some(disposition);
    }
    line + "\n"
}

const REQUESTS: &str = "\
# What happens to every request field

<!-- Generated by `toolwire dispositions --markdown`. To update it, run `cargo xtask bless`. -->

Each request field is carried to the other protocol, emulated there by something
that means exactly the same, reported as lost, or refused together with its
request. The words after *emulated*, *lost* and *refused* are the codes in the
ledger. A test translates every field that the vendors publish and fails if this
page omits it or is wrong about it. [Fields of answers](answer-dispositions.md)
have a page of their own.

A field is named by its path. `[type=image]` selects elements of a list,
`(type=image)` selects one of the shapes of a value, and `*` matches any run of
characters. The first row that matches a field applies.
";

const ANSWERS: &str = "\
# What happens to every field of an answer

<!-- Generated by `toolwire dispositions --answers --markdown`. To update it, run `cargo xtask bless`. -->

Each field of an answer is carried to the client's protocol, emulated there by
something that means exactly the same, reported as lost, or refused together
with its answer. The words after *emulated*, *lost* and *refused* are the codes
in the ledger. Fields that *say nothing* tell a client nothing that it does not
know anyway, and the ledger does not mention them. A test translates every field
that the vendors publish, whole and streamed, and fails if this page omits it or
is wrong about it. [Request fields](dispositions.md) have a page of their own.

A field is named by its path. `[type=image]` selects elements of a list,
`(type=image)` selects one of the shapes of a value, and `*` matches any run of
characters. The first row that matches a field applies.

The events of a stream hold pieces of an answer. A field that belongs to the
answer has the same name in both: `output[type=function_call].name` is also the
`item.name` of `response.output_item.done`. Fields that only an event has begin
with `event`, and those of an error's body with `error_body`. Progress events
repeat what their item has at its end.
";

fn plain(table: Table, is_wanted: &dyn Fn(&Row) -> bool, terminal: Terminal) -> String {
    let mut text = String::new();
    for protocol in Protocol::ALL {
        let mut group = "";
        for row in table(protocol).iter().filter(|row| is_wanted(row)) {
            if row.group != group {
                group = row.group;
                let gap = if text.is_empty() { "" } else { "\n" };
                let heading = format!("{}: {}", title(protocol), lower(group));
                text.push_str(&format!("{gap}{}\n", terminal.paint(&heading, Style::Bold)));
            }
            text.push_str(&format!("  {}\n", row.field));
            for (target, disposition) in row.toward.iter() {
                let line = format!("to {target}: {}", phrase(disposition, ""));
                indented(&line, style(disposition), terminal, &mut text);
            }
            if let Some(note) = row.note {
                indented(note, Style::Faint, terminal, &mut text);
            }
        }
    }
    text
}

fn indented(paragraph: &str, style: Style, terminal: Terminal, text: &mut String) {
    for line in wrap(paragraph, terminal.width.saturating_sub(6)) {
        text.push_str(&format!("      {}\n", terminal.paint(&line, style)));
    }
}

fn style(disposition: &Disposition) -> Style {
    match disposition {
        Disposition::Carried | Disposition::Emulated(_) => Style::Green,
        Disposition::Lost(_) | Disposition::Only(_) => Style::Yellow,
        Disposition::Refused(_) => Style::Red,
        Disposition::SaysNothing(_) | Disposition::Depends(..) => Style::Faint,
    }
}

/// The disposition in words, with `quote` around codes.
fn phrase(disposition: &Disposition, quote: &str) -> String {
    match disposition {
        Disposition::Carried => disposition.as_str().to_owned(),
        Disposition::SaysNothing(why) => format!("{}: {why}", disposition.as_str()),
        Disposition::Emulated(code) | Disposition::Lost(code) | Disposition::Refused(code) => {
            format!("{} {quote}{code}{quote}", disposition.as_str())
        }
        Disposition::Only(field) => format!("{} {quote}only:{field}{quote}", disposition.as_str()),
        Disposition::Depends(possible, when) => {
            let phrases: Vec<_> = possible.iter().map(|one| phrase(one, quote)).collect();
            format!("{}: {when}", phrases.join(" or "))
        }
    }
}

/// The code without its argument.
fn name(code: &Code) -> String {
    let text = code.to_string();
    text.split_once(':').map_or(text.clone(), |(name, _)| format!("{name}:…"))
}

fn lower(heading: &str) -> String {
    let mut characters = heading.chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
