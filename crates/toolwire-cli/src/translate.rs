//! `toolwire translate`: one document from standard input to standard output.

mod input;
mod json_lines;
mod stream;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolwire::guess::Document;
use toolwire::wire::Write as _;
use toolwire::{Action, Entry, Error, Options, Policy, Protocol, Translated, codec, translate};

use crate::error::Failure;
use crate::explain;
use crate::terminal::{Screen, visible};

use self::input::Source;

/// Translate one document from standard input to standard output
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Protocol of the document; guessed from its fields if not given
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols())]
    from: Option<Protocol>,

    /// Protocol to translate into
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols())]
    to: Protocol,

    /// What the document is; guessed from its fields if not given
    #[arg(long, value_parser = kinds())]
    kind: Option<Kind>,

    /// Go on and report losses, refuse a document that has any, or go on and
    /// say nothing
    #[arg(long, value_name = "POLICY", default_value = "report")]
    on_loss: OnLoss,

    /// Say on standard error what happened as a table instead of JSON lines
    #[arg(long)]
    explain: bool,

    /// Translate many documents: one on each line, in and out
    #[arg(long, conflicts_with_all = ["explain", "request"])]
    lines: bool,

    /// For a response or a stream: the client's own request, so that renamed
    /// and wrapped tools come back as it declares them
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,

    /// For a request: the model to ask for, if not the client's
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// For an error: the HTTP status that it came with
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=599))]
    status: Option<u16>,

    /// For a stream: wait as the comments of --record say
    #[arg(long)]
    pace: bool,

    /// For a stream: save it with its timing, for --pace
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// What standard input holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A whole document.
    Document(Document),
    /// Server-sent events, as they come.
    Stream,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnLoss {
    Report,
    Refuse,
    Ignore,
}

const AFTER_HELP: &str = "\
What was changed or could not be carried goes to standard error, one JSON
object on each line: path, code, action, detail, and level where it is info.

The exit code is 0 when the document was translated, 1 when it was refused or
could not be read, and 2 when the flags are wrong.

Examples:
  toolwire translate --to messages --explain < request.json

  toolwire translate --from messages --to chat --kind response \\
      --request request.json < answer.json

  curl -N … | toolwire translate --kind stream --to messages

A stream is translated event by event as it arrives. The exit code is 1 when it
ended in an error, which the translated stream says too.

With --lines, each line of standard output belongs to the same line of standard
input and holds {\"body\", \"ledger\", \"error\"}. A document that is refused or
cannot be read has a null body and says why in \"error\"; the others go on.

  toolwire translate --to messages --lines < requests.jsonl > translated.jsonl";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.lines {
        return json_lines::run(|body| {
            let job = Job::new(args, body)?;
            Ok(job.attempt(body, None))
        });
    }
    if args.kind == Some(Kind::Stream) {
        return run_stream(args);
    }
    let body = input::standard_input()?;
    let job = Job::new(args, &body)?;
    let request = args.request.as_deref().map(input::file).transpose()?;
    let (done, status) = job.translate(&body, request.as_deref())?;

    let written = write_document(&done.body);
    // The ledger is owed even when nobody reads the document.
    job.report(&done.ledger, status)?;
    Ok(written?)
}

/// A stream is translated as it comes; what it lost is told at its end.
fn run_stream(args: &Args) -> Result<(), Failure> {
    for (flag, given) in [
        ("--model", args.model.is_some()),
        ("--status", args.status.is_some()),
        ("--lines", args.lines),
    ] {
        if given {
            return Err(Failure::Usage(format!("{flag} does not go with --kind stream")));
        }
    }
    let options = Options { policy: args.policy(), ..Options::default() };
    let request = args.request.as_deref().map(input::file).transpose()?;
    let plan = stream::Plan {
        from: args.from,
        to: args.to,
        request,
        options: &options,
        pace: args.pace,
        record: args.record.as_deref(),
    };
    let heading = format!("Stream to {}", title(args.to));
    match stream::run(&plan) {
        Ok(ledger) => Ok(report(args, &heading, &ledger)?),
        Err(Failure::Stream { ledger, message }) => {
            report(args, &heading, &ledger)?;
            Err(Failure::Stream { ledger, message })
        }
        Err(failure) => Err(failure),
    }
}

/// Says on standard error what was changed or could not be carried.
fn report(args: &Args, heading: &str, ledger: &[Entry]) -> io::Result<()> {
    let mut err = io::stderr().lock();
    if args.explain {
        let screen = Screen::of(&io::stderr());
        return err.write_all(explain::report(heading, ledger, screen).as_bytes());
    }
    let mut lines = Vec::new();
    for entry in ledger {
        entry.write(&mut lines);
        lines.push(b'\n');
    }
    err.write_all(&lines)
}

impl Args {
    fn policy(&self) -> Policy {
        match self.on_loss {
            // Who asks for an explanation wants to see the losses.
            OnLoss::Ignore if self.explain => Policy::Report,
            OnLoss::Ignore => Policy::Ignore,
            OnLoss::Report => Policy::Report,
            OnLoss::Refuse => Policy::Refuse,
        }
    }
}

/// One translation, with everything that was not given filled in.
struct Job<'a> {
    args: &'a Args,
    source: Source,
    options: Options,
}

impl<'a> Job<'a> {
    fn new(args: &'a Args, body: &[u8]) -> Result<Self, Failure> {
        let kind = match args.kind {
            Some(Kind::Document(document)) => Some(document),
            Some(Kind::Stream) | None => None,
        };
        let source = Source::find(args.from, kind, body)?;
        for (flag, given) in [("--pace", args.pace), ("--record", args.record.is_some())] {
            if given {
                return Err(Failure::Usage(format!("{flag} goes with --kind stream")));
            }
        }
        for (flag, given, wanted) in [
            ("--request", args.request.is_some(), Document::Response),
            ("--model", args.model.is_some(), Document::Request),
            ("--status", args.status.is_some(), Document::Error),
        ] {
            if given && source.document != wanted {
                return Err(Failure::Usage(format!(
                    "{flag} goes with --kind {}, but this is a {source}",
                    wanted.as_str(),
                )));
            }
        }
        let options =
            Options { policy: args.policy(), model: args.model.clone(), ..Options::default() };
        Ok(Self { args, source, options })
    }

    /// What is done, as the heading of its explanation.
    fn heading(&self) -> String {
        let Source { protocol, document } = self.source;
        format!("{} {} to {}", title(protocol), document.as_str(), title(self.args.to))
    }

    /// The document in the other protocol, and the HTTP status that belongs to
    /// it if it is an error.
    fn translate(
        &self,
        body: &[u8],
        request: Option<&[u8]>,
    ) -> Result<(Translated, Option<u16>), Failure> {
        self.attempt(body, request).map_err(|error| self.rejected(error, request))
    }

    fn attempt(
        &self,
        body: &[u8],
        request: Option<&[u8]>,
    ) -> Result<(Translated, Option<u16>), Error> {
        let (from, to, options) = (self.source.protocol, self.args.to, &self.options);
        match self.source.document {
            Document::Request => translate::request(from, to, body, options).map(without_status),
            Document::Response => {
                translate::response(from, to, body, request, options).map(without_status)
            }
            Document::Error => translate::error(from, to, self.args.status, body)
                .map(|(done, status)| (done, Some(status))),
            Document::Tools => translate::tools(from, to, body, options).map(without_status),
        }
    }

    fn report(&self, ledger: &[Entry], status: Option<u16>) -> io::Result<()> {
        report(self.args, &self.heading(), ledger)?;
        match status.filter(|_| self.args.explain) {
            Some(status) => {
                writeln!(io::stderr().lock(), "The HTTP status that belongs to it is {status}.")
            }
            None => Ok(()),
        }
    }

    fn rejected(&self, error: Error, request: Option<&[u8]>) -> Failure {
        match error {
            Error::Invalid { .. } => self.unreadable(&error, request),
            Error::Refused { entries } => self.refused(&entries),
        }
    }

    fn unreadable(&self, error: &Error, request: Option<&[u8]>) -> Failure {
        let error = visible(&error.to_string());
        let readable = |bytes| {
            std::str::from_utf8(bytes)
                .is_ok_and(|text| codec(self.args.to).decode_request(text).is_ok())
        };
        if let (Some(path), Some(bytes)) = (&self.args.request, request)
            && !readable(bytes)
        {
            return Failure::Rejected(format!(
                "cannot read {} as a {} request: {error}\n\
                 --request takes what the client had sent, in the protocol of --to.",
                path.display(),
                self.args.to,
            ));
        }
        let hint = if self.args.from.is_some() && self.args.kind.is_some() {
            "Correct that place, or give the --from and --kind that the document has."
        } else {
            "Correct that place. If the document is something else, say so with --from and --kind."
        };
        let source = self.source;
        Failure::Rejected(format!("cannot read standard input as a {source}: {error}\n{hint}"))
    }

    fn refused(&self, entries: &[Entry]) -> Failure {
        let (source, to) = (self.source, self.args.to);
        let table = explain::table(entries, Screen::of(&io::stderr()));
        let (why, remedy) = if !entries.iter().any(|entry| entry.action == Action::Refused) {
            (
                " without loss",
                "Remove these fields, or give --on-loss report to go on without them.",
            )
        } else if source.document == Document::Response {
            (", because of these fields", "This is no finished answer; ask again.")
        } else {
            (
                ", because of these fields",
                "Remove or change them; without them the rest would mean something else.",
            )
        };
        Failure::Rejected(format!("this {source} cannot go to {to}{why}:\n\n{table}\n{remedy}"))
    }
}

fn without_status(done: Translated) -> (Translated, Option<u16>) {
    (done, None)
}

/// The document and one line end, whether or not it came with one.
fn write_document(body: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(body.trim_ascii_end())?;
    out.write_all(b"\n")?;
    out.flush()
}

fn title(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "Chat",
        Protocol::Responses => "Responses",
        Protocol::Messages => "Messages",
    }
}

fn protocols() -> impl TypedValueParser<Value = Protocol> {
    PossibleValuesParser::new(Protocol::ALL.map(Protocol::as_str))
        .try_map(|name| Protocol::parse(&name).ok_or("no such protocol"))
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Document::ALL.map(Document::as_str).into_iter().chain([STREAM]))
        .try_map(|name| match Document::parse(&name) {
            Some(document) => Ok(Kind::Document(document)),
            None if name == STREAM => Ok(Kind::Stream),
            None => Err("no such kind"),
        })
}

const STREAM: &str = "stream";
