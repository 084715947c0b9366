//! `toolwire dispositions`: what happens to every request field toward each
//! other protocol.

use std::collections::BTreeMap;
use std::io::{self, Write};

use toolwire::disposition::{Fate, Row, table};
use toolwire::wire::Object;
use toolwire::{Code, Protocol};

use crate::error::Failure;
use crate::terminal::{Screen, Style, wrap};

/// Say what happens to every request field toward each other protocol
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// As a JSON array with an object for each row
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// As a document in Markdown
    #[arg(long)]
    markdown: bool,
}

const AFTER_HELP: &str = "\
A field is named by its path. * stands for any run of characters, and the first
row that fits a field counts.";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let text = if args.json {
        json()
    } else if args.markdown {
        markdown()
    } else {
        plain(Screen::of(&io::stdout())).into_bytes()
    };
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    Ok(out.flush()?)
}

fn json() -> Vec<u8> {
    let mut out = Vec::new();
    for protocol in Protocol::ALL {
        for row in table(protocol) {
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
        for (target, fate) in toward {
            write_fate(fate, &mut targets.object(target.as_str()));
        }
    }
    object.put("note", note);
}

fn write_fate(fate: &Fate, object: &mut Object<'_>) {
    let codes: Vec<String> = fate.codes().iter().map(Code::to_string).collect();
    object.put("disposition", fate.as_str());
    object.put("codes", &codes);
    if let Fate::Depends(fates, when) = fate {
        object.put("when", *when);
        let mut any = object.array("any_of");
        for fate in *fates {
            write_fate(fate, &mut any.object());
        }
    }
}

fn markdown() -> Vec<u8> {
    let mut text = String::from(INTRODUCTION);
    let mut codes = BTreeMap::new();
    for protocol in Protocol::ALL {
        text.push_str(&format!("\n## {}\n", title(protocol)));
        let mut group = "";
        for row in table(protocol) {
            if row.group != group {
                group = row.group;
                let [one, two] = row.toward.each_ref().map(|(target, _)| title(*target));
                text.push_str(&format!(
                    "\n### {}: {}\n\n| Field | Toward {one} | Toward {two} |\n|---|---|---|\n",
                    title(protocol),
                    lower(group),
                ));
            }
            let [(_, first), (_, second)] = &row.toward;
            let one = phrase(first, "`");
            // A long condition need not be read twice.
            let same = first == second && matches!(first, Fate::Depends(..));
            let two = if same { "the same".to_owned() } else { phrase(second, "`") };
            let note = row.note.map(|note| format!("<br>{note}")).unwrap_or_default();
            text.push_str(&format!("| `{}`{note} | {one} | {two} |\n", row.field));
            for (_, fate) in &row.toward {
                codes.extend(fate.codes().into_iter().map(|code| (name(&code), code.meaning())));
            }
        }
    }
    text.push_str("\n## Codes\n\n| Code | Meaning |\n|---|---|\n");
    for (code, meaning) in codes {
        text.push_str(&format!("| `{code}` | {meaning} |\n"));
    }
    text.into_bytes()
}

const INTRODUCTION: &str = "\
# What happens to every request field

<!-- Written by `toolwire dispositions --markdown`; `cargo xtask bless` writes it anew. -->

Each field of a request is carried to the other protocol, emulated there by
something that says exactly the same, reported as lost, or a reason to refuse the
request. The words after *emulated*, *lost* and *refused* are the codes that the
ledger gives. A test translates every field that the vendors publish and fails
where this page is silent or wrong.

A field is named by its path. `[type=image]` chooses elements of a list,
`(type=image)` one of the shapes that a value may have, `*` stands for any run of
characters, and the first row that fits a field counts.
";

fn plain(screen: Screen) -> String {
    let mut text = String::new();
    for protocol in Protocol::ALL {
        let mut group = "";
        for row in table(protocol) {
            if row.group != group {
                group = row.group;
                let gap = if text.is_empty() { "" } else { "\n" };
                let heading = format!("{}: {}", title(protocol), lower(group));
                text.push_str(&format!("{gap}{}\n", screen.paint(&heading, Style::Bold)));
            }
            text.push_str(&format!("  {}\n", row.field));
            for (target, fate) in &row.toward {
                let said = format!("to {target}: {}", phrase(fate, ""));
                indented(&said, style(fate), screen, &mut text);
            }
            if let Some(note) = row.note {
                indented(note, Style::Faint, screen, &mut text);
            }
        }
    }
    text
}

fn indented(said: &str, style: Style, screen: Screen, text: &mut String) {
    for line in wrap(said, screen.width.saturating_sub(6)) {
        text.push_str(&format!("      {}\n", screen.paint(&line, style)));
    }
}

fn style(fate: &Fate) -> Style {
    match fate {
        Fate::Carried | Fate::Emulated(_) => Style::Green,
        Fate::Lost(_) | Fate::Only(_) => Style::Yellow,
        Fate::Refused(_) => Style::Red,
        Fate::Depends(..) => Style::Faint,
    }
}

/// The fate in words, with `quote` around codes.
fn phrase(fate: &Fate, quote: &str) -> String {
    match fate {
        Fate::Carried => fate.as_str().to_owned(),
        Fate::Emulated(code) | Fate::Lost(code) | Fate::Refused(code) => {
            format!("{} {quote}{code}{quote}", fate.as_str())
        }
        Fate::Only(field) => format!("{} {quote}only:{field}{quote}", fate.as_str()),
        Fate::Depends(fates, when) => {
            let fates: Vec<_> = fates.iter().map(|fate| phrase(fate, quote)).collect();
            format!("{}: {when}", fates.join(" or "))
        }
    }
}

/// The code without what it is about.
fn name(code: &Code) -> String {
    let text = code.to_string();
    text.split_once(':').map_or(text.clone(), |(name, _)| format!("{name}:…"))
}

fn lower(heading: &str) -> String {
    let mut characters = heading.chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

fn title(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "Chat",
        Protocol::Responses => "Responses",
        Protocol::Messages => "Messages",
    }
}
