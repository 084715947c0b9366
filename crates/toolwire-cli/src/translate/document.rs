//! The translation of one document, and why it can fail.

use std::io;

use toolwire::guess::DocumentKind;
use toolwire::{Action, Entry, Error, Options, codec, translate};

use super::input::InputFormat;
use super::text_tools::{self, Direction};
use super::{Args, Kind};
use crate::error::CommandError;
use crate::explain;
use crate::protocols::title;
use crate::terminal::{Terminal, escape_controls};

/// A translated document.
pub(super) struct TranslatedDocument {
    pub(super) body: Vec<u8>,
    pub(super) ledger: Vec<Entry>,
    /// Its HTTP status, if it is an error.
    pub(super) status: Option<u16>,
}

/// The translation of one document.
pub(super) struct DocumentTranslation<'a> {
    args: &'a Args,
    input: InputFormat,
    options: Options<'static>,
}

impl<'a> DocumentTranslation<'a> {
    /// Detects what `args` leaves open, and checks that its flags fit the
    /// document.
    pub(super) fn new(args: &'a Args, body: &[u8]) -> Result<Self, CommandError> {
        let kind = match args.kind {
            Some(Kind::DocumentKind(document)) => Some(document),
            Some(Kind::Stream) | None => None,
        };
        let input = InputFormat::detect(args.from, kind, body)?;
        for (flag, is_given) in [
            ("--loss-comment", args.loss_comment),
            ("--pace", args.pace),
            ("--record", args.record.is_some()),
        ] {
            if is_given {
                return Err(CommandError::Usage(format!("{flag} requires --kind stream")));
            }
        }
        for (flag, is_given, wanted) in [
            ("--request", args.request.is_some(), DocumentKind::Response),
            ("--model", args.model.is_some(), DocumentKind::Request),
            ("--status", args.status.is_some(), DocumentKind::Error),
        ] {
            if is_given && input.document != wanted {
                return Err(CommandError::Usage(format!(
                    "{flag} requires --kind {}, but this is a {input}",
                    wanted.as_str(),
                )));
            }
        }
        let direction = Direction::of(input.document);
        text_tools::check_flags(args, direction)?;
        let upstream = if direction == Direction::ToUpstream { args.to } else { input.protocol };
        let mut options = Options::new().on_loss(args.policy());
        options.profile = text_tools::profile(args, upstream);
        options.model.clone_from(&args.model);
        options.status = args.status;
        Ok(Self { args, input, options })
    }

    /// The heading of an explanation: "Chat request to Messages".
    pub(super) fn heading(&self) -> String {
        let InputFormat { protocol, document } = self.input;
        format!("{} {} to {}", title(protocol), document.as_str(), title(self.args.to))
    }

    /// Translates the document.
    pub(super) fn run(
        &self,
        body: &[u8],
        request: Option<&[u8]>,
    ) -> Result<TranslatedDocument, CommandError> {
        self.attempt(body, request).map_err(|error| {
            if let Error::Refused { entries } = &error {
                self.refused(entries)
            } else {
                self.unreadable(&error, request)
            }
        })
    }

    /// The same, with the library's error.
    pub(super) fn attempt(
        &self,
        body: &[u8],
        request: Option<&[u8]>,
    ) -> Result<TranslatedDocument, Error> {
        let (from, to) = (self.input.protocol, self.args.to);
        let mut options = self.options.clone();
        options.request = request;
        let translated = match self.input.document {
            DocumentKind::Request => translate::request(from, to, body, &options)?,
            DocumentKind::Response => translate::response(from, to, body, &options)?,
            DocumentKind::Tools => translate::tools(from, to, body, &options)?,
            DocumentKind::Error => {
                let error = translate::error(from, to, body, &options)?;
                let (body, status) = (error.body, Some(error.status));
                return Ok(TranslatedDocument { body, ledger: Vec::new(), status });
            }
        };
        let (body, ledger) = (translated.body, translated.ledger);
        Ok(TranslatedDocument { body, ledger, status: None })
    }

    fn unreadable(&self, error: &Error, request: Option<&[u8]>) -> CommandError {
        let (input, to) = (self.input, self.args.to);
        let error = escape_controls(&error.to_string());
        let is_readable = |bytes| {
            std::str::from_utf8(bytes).is_ok_and(|text| codec(to).decode_request(text).is_ok())
        };
        if let (Some(path), Some(bytes)) = (&self.args.request, request)
            && !is_readable(bytes)
        {
            let name = path.display();
            return CommandError::Rejected(format!(
                "cannot read {name} as a {to} request: {error}\n{REQUEST_HELP}"
            ));
        }
        let help = if self.args.from.is_some() && self.args.kind.is_some() {
            "Correct this value, or pass the --from and --kind of the document."
        } else {
            "Correct this value. If the document is something else, pass --from and --kind."
        };
        CommandError::Rejected(format!("cannot read standard input as a {input}: {error}\n{help}"))
    }

    fn refused(&self, entries: &[Entry]) -> CommandError {
        let (input, to) = (self.input, self.args.to);
        let table = explain::table(entries, Terminal::of(&io::stderr()));
        let (reason, help) = if !entries.iter().any(|entry| entry.action == Action::Refused) {
            (
                "without loss",
                "Remove these fields, or pass --on-loss report to translate without them.",
            )
        } else if input.document == DocumentKind::Response {
            ("because of these fields", "The response is not complete. Send the request again.")
        } else {
            (
                "because of these fields",
                "Remove or change these fields. Without them, the rest would mean something else.",
            )
        };
        CommandError::Rejected(format!(
            "this {input} cannot be translated to {to} {reason}:\n\n{table}\n{help}"
        ))
    }
}

/// What to pass as `--request`.
pub(super) const REQUEST_HELP: &str =
    "--request takes the request that the client sent, in the protocol of --to.";
