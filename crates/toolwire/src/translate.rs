//! Unary translation: decode, encode, and the ledger of what happened between.
//!
//! Each function here does one thing with one document. Who relays a request
//! and its answer has [`PreparedRequest`], which reads the request once for both.

mod prepared;

use std::ops::Range;

#[doc(hidden)]
pub use self::prepared::{PreparedRequest as Prepared, ResponseTranslator as Back};
pub use self::prepared::{PreparedRequest, ResponseTranslator};
use crate::codec::codec;
use crate::ledger::{Action, Entry, Ledger, LossPolicy};
use crate::model::Protocol;
use crate::profile::Profile;
use crate::wire::{Pos, Read, ReadError, Reader, Str, What, pointer, write_str};

/// How to translate.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to do about losses.
    pub policy: LossPolicy,
    /// What the upstream accepts; the default of its protocol if not given.
    pub profile: Option<Profile>,
    /// The model's name in what is written, if not the one in what is read: in
    /// a request the name toward the upstream, in an answer the name toward the
    /// client. Within one protocol an answer that names no model still names
    /// none.
    pub model: Option<String>,
    /// How many tokens the request may have, for a stream to a client that
    /// wants to know before the upstream has counted them (Messages).
    pub input_estimate: Option<u64>,
}

impl Options {
    pub(crate) fn profile(&self, protocol: Protocol) -> Profile {
        self.profile.clone().unwrap_or_else(|| Profile::of(protocol))
    }
}

/// A translated document and what happened to it on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// The document.
    pub body: Vec<u8>,
    /// What changed or could not be carried.
    pub ledger: Vec<Entry>,
    /// The features of the upstream's API that the document needs. The vendor's
    /// feature header switches them on.
    pub required_features: Vec<&'static str>,
}

impl Translated {
    /// A document that needs no features of its API.
    pub(crate) fn new(body: Vec<u8>, ledger: Vec<Entry>) -> Self {
        Self { body, ledger, required_features: Vec::new() }
    }
}

/// Why a document was not translated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error("{}{message} (byte {offset})", at(pointer))]
    Invalid {
        /// The JSON Pointer of the value at fault.
        pointer: String,
        /// The byte offset of the fault.
        offset: usize,
        /// What is wrong.
        message: String,
    },
    /// It cannot be carried and the policy, or its own meaning, forbids to go
    /// on without.
    #[error("{}", refusal(entries))]
    Refused {
        /// What cannot be carried.
        entries: Vec<Entry>,
    },
}

/// Translates a client's request for an upstream.
pub fn request(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    options: &Options,
) -> Result<Translated, Error> {
    PreparedRequest::new(from, to, body)?.write(options)
}

/// Translates an upstream's answer for a client. `request` is what the client
/// had sent, in the client's protocol; with it, tools that went up renamed or
/// wrapped come back as the client declared them.
pub fn response(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    request: Option<&[u8]>,
    options: &Options,
) -> Result<Translated, Error> {
    let asked = match request.filter(|_| from != to) {
        Some(bytes) => {
            let text = utf8(bytes)?;
            Some(codec(to).decode_request(text).map_err(|error| invalid(text, error))?)
        }
        None => None,
    };
    ResponseTranslator::new(from, to, asked.as_ref(), options).translate(body)
}

/// Translates an upstream's error body for a client, and says which HTTP
/// status belongs to it. `status` is the one it came with, if known.
pub fn error(
    from: Protocol,
    to: Protocol,
    status: Option<u16>,
    body: &[u8],
) -> Result<(Translated, u16), Error> {
    let source = utf8(body)?;
    let error = codec(from).decode_error(status, source).map_err(|error| invalid(source, error))?;
    let mut out = Vec::with_capacity(body.len());
    let status = codec(to).encode_error(&error, &mut out);
    Ok((Translated::new(out, Vec::new()), status))
}

/// Translates a bare array of tool definitions.
pub fn tools(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    options: &Options,
) -> Result<Translated, Error> {
    let source = utf8(body)?;
    let tools = codec(from).decode_tools(source).map_err(|error| invalid(source, error))?;
    if from == to {
        return Ok(Translated::new(body.to_vec(), Vec::new()));
    }
    let mut ledger = Ledger::default();
    let mut out = Vec::with_capacity(body.len() + body.len() / 8);
    codec(to).encode_tools(&tools, from, &options.profile(to), &mut out, &mut ledger);
    settle(source, out, &ledger, options.policy)
}

fn settle(
    source: &str,
    body: Vec<u8>,
    ledger: &Ledger,
    policy: LossPolicy,
) -> Result<Translated, Error> {
    if ledger.is_empty() {
        return Ok(Translated::new(body, Vec::new()));
    }
    judge(body, ledger.entries(source), policy)
}

/// Applies the policy to a document that has been written.
pub(crate) fn judge(
    body: Vec<u8>,
    entries: Vec<Entry>,
    policy: LossPolicy,
) -> Result<Translated, Error> {
    let refused: Vec<Entry> = entries
        .iter()
        .filter(|entry| {
            entry.action == Action::Refused || (policy == LossPolicy::Refuse && entry.is_loss())
        })
        .cloned()
        .collect();
    if !refused.is_empty() {
        return Err(Error::Refused { entries: refused });
    }
    let ledger = match policy {
        LossPolicy::Ignore => Vec::new(),
        LossPolicy::Report | LossPolicy::Refuse => entries,
    };
    Ok(Translated::new(body, ledger))
}

/// Copies a request with another model name and nothing else changed.
fn splice_model(source: &str, model: Option<&str>) -> Result<Translated, Error> {
    let span = model_span(source).map_err(|error| invalid(source, error))?;
    let body = match (model, span) {
        (Some(model), Some(span)) => spliced(source, span, model),
        (Some(model), None) => {
            let mut body = Vec::with_capacity(source.len() + model.len() + 16);
            // The object's opening brace is the first byte that is no space.
            let open = source.find('{').unwrap_or_default() + 1;
            let rest = source.get(open..).unwrap_or_default();
            body.extend_from_slice(source.get(..open).unwrap_or_default().as_bytes());
            body.extend_from_slice(b"\"model\":");
            write_str(model, &mut body);
            if !rest.trim_start().starts_with('}') {
                body.push(b',');
            }
            body.extend_from_slice(rest.as_bytes());
            body
        }
        (None, _) => source.as_bytes().to_vec(),
    };
    Ok(Translated::new(body, Vec::new()))
}

/// The document with another literal in one place.
fn spliced(source: &str, span: Range<usize>, text: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(source.len() + text.len() + 16);
    body.extend_from_slice(source.get(..span.start).unwrap_or_default().as_bytes());
    write_str(text, &mut body);
    body.extend_from_slice(source.get(span.end..).unwrap_or_default().as_bytes());
    body
}

/// Where the model's name stands, after a look at the whole document: a
/// malformed body or a second `model` is refused here as everywhere.
fn model_span(source: &str) -> Result<Option<Range<usize>>, ReadError> {
    let mut reader = Reader::new(source);
    let mut members = reader.object()?;
    let mut span = None;
    while let Some(key) = members.next(&mut reader)? {
        if key != "model" {
            reader.skip()?;
            continue;
        }
        if span.is_some() {
            return Err(reader.error(What::Duplicate("model".to_owned())));
        }
        let name = Str::read(&mut reader)?;
        // The literal's quotes stand around what `size_hint` counts.
        span = name.pos().offset().map(|start| start..start + name.size_hint() + 2);
    }
    reader.finish()?;
    Ok(span)
}

pub(crate) fn utf8(body: &[u8]) -> Result<&str, Error> {
    if let Ok(text) = simdutf8::basic::from_utf8(body) {
        return Ok(text);
    }
    // The fast check does not say where the fault is.
    std::str::from_utf8(body).map_err(|error| {
        let valid = body.get(..error.valid_up_to()).unwrap_or_default();
        let readable = std::str::from_utf8(valid).unwrap_or_default();
        invalid(readable, ReadError::new(Pos::new(error.valid_up_to()), What::Utf8))
    })
}

pub(crate) fn invalid(source: &str, error: ReadError) -> Error {
    let offset = error.pos.offset().unwrap_or_default();
    Error::Invalid { pointer: pointer(source, error.pos), offset, message: error.to_string() }
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}

fn refusal(entries: &[Entry]) -> String {
    let mut text = String::from("refused, because it cannot be carried without loss:");
    for entry in entries {
        let path = if entry.path.is_empty() { "the request" } else { &entry.path };
        text.push_str(&format!(" {path} ({}): {}", entry.code, entry.detail));
    }
    text
}
