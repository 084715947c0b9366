//! `toolwire translate`: translates standard input to standard output.

mod document;
mod input;
mod json_lines;
mod planned;
mod stream;
mod stream_input;
mod text_tools;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{ArgPredicate, PossibleValuesParser, TypedValueParser};
use toolwire::guess::DocumentKind;
use toolwire::text_tools::Dialect;
use toolwire::wire::Write as _;
use toolwire::{Entry, LossPolicy, Options, Protocol};

use self::document::DocumentTranslation;
use self::stream::StreamTranslation;
use self::text_tools::ToolCallMode;
use crate::error::CommandError;
use crate::explain;
use crate::protocols::{self, title};
use crate::terminal::Terminal;

/// Translate a document or a stream from standard input to standard output
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Protocol of the input; detected by default
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols::value_parser())]
    from: Option<Protocol>,

    /// Protocol to translate to
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols::value_parser())]
    #[arg(required = false, required_unless_present = "config", conflicts_with = "config")]
    #[arg(default_value_if("config", ArgPredicate::IsPresent, Protocol::ALL.map(Protocol::as_str)[0]))]
    to: Protocol,

    /// For a request: show what a gateway with this configuration would send,
    /// and where, without sending it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lines", "kind", "request", "model"])]
    config: Option<PathBuf>,

    /// What the input is; a document is detected by default
    #[arg(long, value_parser = kind_parser())]
    kind: Option<Kind>,

    /// What to do if something is lost: report it, refuse the document, or
    /// ignore it
    #[arg(long, value_name = "POLICY", default_value = "report")]
    on_loss: OnLoss,

    /// Print the changes as a table instead of JSON lines
    #[arg(long)]
    explain: bool,

    /// Translate many documents, one per line
    #[arg(long, conflicts_with = "explain")]
    lines: bool,

    /// For a response or a stream: the client's request, to give renamed and
    /// wrapped tools back as the client declared them
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,

    /// How the model calls tools: as its protocol says, in text, or in text and
    /// by announcing it in plain words
    #[arg(long, value_name = "MODE", default_value = "native")]
    tool_calls: ToolCallMode,

    /// With --tool-calls text or intent: how the model is asked to write a call;
    /// hermes by default
    #[arg(long, value_name = "NAME", value_parser = text_tools::dialect_parser())]
    tool_dialect: Option<Dialect>,

    /// For a request: the model to request instead of the client's
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// For an error: its HTTP status
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=599))]
    status: Option<u16>,

    /// For a stream: write the losses into it too, as a comment before the last
    /// event, as the gateway does
    #[arg(long)]
    loss_comment: bool,

    /// For a stream: replay it with the timing that --record saved
    #[arg(long)]
    pace: bool,

    /// For a stream: save the input with its timing, for --pace
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// What standard input contains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A whole document.
    DocumentKind(DocumentKind),
    /// Server-sent events, translated as they arrive.
    Stream,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnLoss {
    Report,
    Refuse,
    Ignore,
}

const AFTER_HELP: &str = "\
Changes and losses go to standard error, one JSON object per line: path, code,
action, detail, and level if it is info.

The exit code is 0 if the document was translated, 1 if it was refused or could
not be read, and 2 if the flags are wrong.

Examples:
  toolwire translate --to messages --explain < request.json

  toolwire translate --from messages --to chat --kind response \\
      --request request.json < answer.json

  curl -N … | toolwire translate --kind stream --to messages

With --config, the request is planned as a gateway would plan it: the output is
JSON with the upstream, the URL, the headers with secrets masked, the body and
the ledger. Nothing is sent.

  toolwire translate --config toolwire.toml < request.json

A stream is translated event by event as it arrives. If it ends with an error,
the translated stream does too, and the exit code is 1.

With --tool-calls text, the request is sent without tools, and the model is told
about them in its instructions. With the same flag and --request, the calls in
the text of a response or a stream become calls.

  toolwire translate --to chat --tool-calls text < request.json

With --lines, each line of output belongs to the same line of input and contains
{\"body\", \"ledger\", \"error\"}. If a document is refused or cannot be read, its
body is null and \"error\" gives the reason. The other documents are translated.
A line of --kind stream is a JSON string that contains a stream, and so is its
body. If the stream ends with an error, \"error\" has its message. The request
of --request is the same for all lines.

  toolwire translate --to messages --lines < requests.jsonl > translated.jsonl";

pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    if let Some(path) = &args.config {
        return planned::run(path, args.from);
    }
    match (args.kind == Some(Kind::Stream), args.lines) {
        (true, true) => run_stream_lines(args),
        (true, false) => run_stream(args),
        (false, true) => run_document_lines(args),
        (false, false) => run_document(args),
    }
}

fn run_document_lines(args: &Args) -> Result<(), CommandError> {
    let request = args.request.as_deref().map(input::read_file).transpose()?;
    json_lines::run(|body| {
        let translation = DocumentTranslation::new(args, body)?;
        Ok(translation.attempt(body, request.as_deref()).into())
    })
}

fn run_stream_lines(args: &Args) -> Result<(), CommandError> {
    let options = stream_options(args)?;
    let request = args.request.as_deref().map(input::read_file).transpose()?;
    let translation = StreamTranslation::new(args, request, &options);
    json_lines::run(|line| translation.line(line))
}

fn run_document(args: &Args) -> Result<(), CommandError> {
    let body = input::read_stdin()?;
    let translation = DocumentTranslation::new(args, &body)?;
    let request = args.request.as_deref().map(input::read_file).transpose()?;
    let translated = translation.run(&body, request.as_deref())?;
    let written = write_document(&translated.body);
    // The ledger is printed even if nobody reads the document.
    print_ledger(args, &translation.heading(), &translated.ledger)?;
    if let Some(status) = translated.status.filter(|_| args.explain) {
        writeln!(io::stderr().lock(), "The HTTP status is {status}.")?;
    }
    Ok(written?)
}

fn run_stream(args: &Args) -> Result<(), CommandError> {
    let options = stream_options(args)?;
    let request = args.request.as_deref().map(input::read_file).transpose()?;
    let translation = StreamTranslation::new(args, request, &options);
    let heading = format!("Stream to {}", title(args.to));
    match translation.run() {
        Ok(ledger) => Ok(print_ledger(args, &heading, &ledger)?),
        Err(CommandError::Stream { ledger, message }) => {
            print_ledger(args, &heading, &ledger)?;
            Err(CommandError::Stream { ledger, message })
        }
        Err(error) => Err(error),
    }
}

/// The options of a stream. Checks that the flags are for streams.
fn stream_options(args: &Args) -> Result<Options<'static>, CommandError> {
    for (flag, is_given, with) in [
        ("--model", args.model.is_some(), "--kind stream"),
        ("--status", args.status.is_some(), "--kind stream"),
        ("--pace", args.pace && args.lines, "--lines"),
        ("--record", args.record.is_some() && args.lines, "--lines"),
    ] {
        if is_given {
            return Err(CommandError::Usage(format!("{flag} cannot be used with {with}")));
        }
    }
    text_tools::check_flags(args, text_tools::Direction::FromUpstream)?;
    Ok(Options::new().on_loss(args.policy()))
}

/// Prints changes and losses to standard error.
fn print_ledger(args: &Args, heading: &str, ledger: &[Entry]) -> io::Result<()> {
    let mut err = io::stderr().lock();
    if args.explain {
        let terminal = Terminal::of(&io::stderr());
        return err.write_all(explain::report(heading, ledger, terminal).as_bytes());
    }
    let mut lines = Vec::new();
    for entry in ledger {
        entry.write(&mut lines);
        lines.push(b'\n');
    }
    err.write_all(&lines)
}

/// Writes the document and one line end, whether or not it came with one.
fn write_document(body: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(body.trim_ascii_end())?;
    out.write_all(b"\n")?;
    out.flush()
}

impl Args {
    fn policy(&self) -> LossPolicy {
        match self.on_loss {
            // An explanation lists the losses even if they are ignored.
            OnLoss::Ignore if self.explain => LossPolicy::Report,
            OnLoss::Ignore => LossPolicy::Ignore,
            OnLoss::Report => LossPolicy::Report,
            OnLoss::Refuse => LossPolicy::Refuse,
        }
    }
}

fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(
        DocumentKind::ALL.map(DocumentKind::as_str).into_iter().chain([STREAM]),
    )
    .try_map(|name| match DocumentKind::parse(&name) {
        Some(document) => Ok(Kind::DocumentKind(document)),
        None if name == STREAM => Ok(Kind::Stream),
        None => Err("no such kind"),
    })
}

const STREAM: &str = "stream";
