//! `--kind stream`: translates a stream event by event as it arrives.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use toolwire::pipe::Pipe;
use toolwire::wire::sse::{Frame, Frames};
use toolwire::wire::{Reader, Str, Write as _};
use toolwire::{Entry, Options, Protocol, guess};

use super::document::REQUEST_HELP;
use super::json_lines::TranslatedLine;
use super::stream_input::StreamInput;
use super::{Args, text_tools};
use crate::error::CommandError;

/// The translation of a stream.
pub(super) struct StreamTranslation<'a> {
    args: &'a Args,
    /// The protocol of the input. Without one, its first event tells.
    from: Option<Protocol>,
    to: Protocol,
    /// The request that the client sent.
    request: Option<Vec<u8>>,
    options: &'a Options<'a>,
    /// Whether the stream says what was lost.
    loss_comment: bool,
    /// Whether to replay the timing of a recording.
    pace: bool,
    /// Where to save the input with its timing.
    record: Option<&'a Path>,
}

impl<'a> StreamTranslation<'a> {
    pub(super) fn new(args: &'a Args, request: Option<Vec<u8>>, options: &'a Options<'a>) -> Self {
        Self {
            args,
            from: args.from,
            to: args.to,
            request,
            options,
            loss_comment: args.loss_comment,
            pace: args.pace,
            record: args.record.as_deref(),
        }
    }

    /// Translates a line that holds a whole stream as a JSON string.
    pub(super) fn line(&self, line: &[u8]) -> Result<TranslatedLine, CommandError> {
        let text = std::str::from_utf8(line).ok();
        let stream = text.and_then(|text| Reader::new(text).document::<Str<'_>>().ok());
        let Some(stream) = stream.as_ref().map(Str::decode) else {
            let problem = "the line is not a JSON string that contains a stream";
            return Err(CommandError::Rejected(problem.to_owned()));
        };
        let from = match self.from {
            Some(from) => from,
            None => first_event(stream.as_bytes(), &mut Frames::default())
                .flatten()
                .ok_or_else(|| CommandError::Usage(UNDETECTED.to_owned()))?,
        };
        let mut pipe = self.pipe(from)?;
        let (mut out, mut body) = (Vec::new(), Vec::new());
        pipe.push(stream.as_bytes(), &mut out);
        pipe.finish(&mut out);
        std::str::from_utf8(&out).unwrap_or_default().write(&mut body);
        Ok(TranslatedLine {
            body: Some(body),
            ledger: pipe.take_ledger(),
            error: pipe.summary().error.as_ref().map(|error| error.message.clone()),
            status: None,
        })
    }

    /// Translates standard input to standard output, and returns the ledger.
    pub(super) fn run(&self) -> Result<Vec<Entry>, CommandError> {
        let mut input = StreamInput::new(self.pace, self.record)?;
        let mut chunk = Vec::new();
        let from = match self.from {
            Some(from) => from,
            None => detect_protocol(&mut input, &mut chunk)?,
        };
        let mut pipe = self.pipe(from)?;
        let mut out = Vec::new();
        loop {
            let mut rest = chunk.as_slice();
            while pipe.step(&mut rest, &mut out) {
                write_out(&mut out)?;
            }
            write_out(&mut out)?;
            if pipe.is_done() || !input.read(&mut chunk)? {
                break;
            }
        }
        pipe.finish(&mut out);
        write_out(&mut out)?;
        let ledger = pipe.take_ledger();
        match &pipe.summary().error {
            Some(error) => Err(CommandError::Stream { ledger, message: error.message.clone() }),
            None => Ok(ledger),
        }
    }

    fn pipe(&self, from: Protocol) -> Result<Pipe, CommandError> {
        let to = self.to;
        let mut options = self.options.clone();
        options.request = self.request.as_deref();
        options.profile = text_tools::profile(self.args, from);
        let pipe = Pipe::new(from, to, &options).map_err(|error| {
            CommandError::Rejected(format!(
                "cannot read the file of --request as a {to} request: {error}\n{REQUEST_HELP}"
            ))
        })?;
        Ok(if self.loss_comment { pipe.with_loss_comment(COMMENT_LIMIT) } else { pipe })
    }
}

/// Reads up to the end of the first event, which tells the protocol. What was
/// read goes to `head`.
fn detect_protocol(input: &mut StreamInput, head: &mut Vec<u8>) -> Result<Protocol, CommandError> {
    let mut frames = Frames::default();
    let mut found = None;
    let mut chunk = Vec::new();
    while found.is_none() && input.read(&mut chunk)? {
        head.extend_from_slice(&chunk);
        found = first_event(&chunk, &mut frames);
    }
    if head.is_empty() {
        return Err(CommandError::Rejected("standard input is empty".to_owned()));
    }
    found.flatten().ok_or_else(|| CommandError::Usage(UNDETECTED.to_owned()))
}

/// What the first event of a stream says about its protocol, once it is complete.
fn first_event(chunk: &[u8], frames: &mut Frames) -> Option<Option<Protocol>> {
    let mut found = None;
    let on_frame = |frame: Frame<'_>| {
        if frame.data.is_empty() {
            return ControlFlow::Continue(());
        }
        found = Some(guess::stream(frame.name, frame.data));
        ControlFlow::Break(())
    };
    match frames.push(chunk, on_frame) {
        // The pipe reports what is wrong with the framing.
        Err(_) => Some(None),
        Ok(_) => found,
    }
}

const UNDETECTED: &str = "cannot detect the protocol of this stream; pass --from";

/// Writes `out` to standard output at once, and clears it.
fn write_out(out: &mut Vec<u8>) -> io::Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(out)?;
    stdout.flush()?;
    out.clear();
    Ok(())
}

/// The longest comment: the gateway's default.
const COMMENT_LIMIT: usize = 2048;
