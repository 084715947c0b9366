//! Translation of whole documents: requests, answers, errors, tool definitions.
//!
//! Each function translates one document. A program that relays a request and
//! its answer uses [`PreparedRequest`], which reads the request once for both.

mod head;
mod output_limit;
mod prepared;
mod response;
mod session;

use std::ops::Range;

pub(crate) use self::head::{KnownTools, WrittenTools};
pub use self::head::{RequestHead, ToolLists};
use self::prepared::AnswerUse;
pub use self::prepared::PreparedRequest;
pub(crate) use self::response::is_not_an_answer;
pub use self::response::{FailedAnswer, ResponseTranslator, TranslatedResponse};
use crate::codec::codec;
use crate::facts::{self, ModelFacts};
use crate::ledger::{Action, Entry, Ledger, LossPolicy};
pub use crate::model::KeptState;
use crate::model::{Protocol, Request};
use crate::profile::Profile;
pub use crate::protocol::PathMatch;
use crate::wire::{Pos, ReadError, What, pointer, shorten, write_str};

/// How to translate.
///
/// ```
/// use toolwire::{LossPolicy, Options};
///
/// let options = Options::new().on_loss(LossPolicy::Refuse).model("claude-sonnet-4-5");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options<'r> {
    /// What to do about losses.
    pub loss_policy: LossPolicy,
    /// What the upstream accepts; the default of its protocol if not given.
    pub profile: Option<Profile>,
    /// The model's name in what is written, if not the one in what is read: in
    /// a request the name toward the upstream, in an answer the name toward the
    /// client. Within one protocol an answer that names no model still names
    /// none.
    pub model: Option<String>,
    /// How many tokens the answer may have, for a request that does not say. A
    /// limit that the client has set stays as it is.
    pub output_limit: Option<u64>,
    /// How many tokens the request may have, for a stream to a client that
    /// wants to know before the upstream has counted them (Messages).
    pub input_estimate: Option<u64>,
    /// What the client had sent, in its own protocol, when an answer is
    /// translated. With it, tools that went up renamed or wrapped come back as
    /// the client declared them.
    pub request: Option<&'r [u8]>,
    /// The HTTP status that an error came with.
    pub status: Option<u16>,
    /// What the caller keeps of the conversation, if the client expects that
    /// somebody does (Responses).
    pub kept_state: Option<KeptState>,
    /// The time, in seconds since 1970, for answers of upstreams that do not say
    /// when they were made. The library reads no clock.
    pub created: Option<u64>,
    /// A name that no other answer has, for answers of upstreams that give them no id. The
    /// ids of the answer, of its items and of its calls are made from it; without it, those
    /// of all such answers are the same. The library makes up nothing random.
    pub fallback_id: Option<String>,
    /// What the model accepts, if the caller knows better than the library's own
    /// table ([`facts::lookup`]).
    pub facts: Option<ModelFacts>,
}

impl<'r> Options<'r> {
    /// The defaults: losses are reported, the upstream is the vendor's own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides what to do about losses.
    #[must_use]
    pub fn on_loss(mut self, policy: LossPolicy) -> Self {
        self.loss_policy = policy;
        self
    }

    /// Says what the upstream accepts.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Gives the model another name in what is written.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Limits the answer to a request that sets no limit itself.
    #[must_use]
    pub fn output_limit(mut self, tokens: u64) -> Self {
        self.output_limit = Some(tokens);
        self
    }

    /// Estimates the tokens of the request.
    #[must_use]
    pub fn input_estimate(mut self, tokens: u64) -> Self {
        self.input_estimate = Some(tokens);
        self
    }

    /// Says what time it is, in seconds since 1970.
    #[must_use]
    pub fn created(mut self, seconds: u64) -> Self {
        self.created = Some(seconds);
        self
    }

    /// Gives answers a name whose upstream gives them no id.
    #[must_use]
    pub fn fallback_id(mut self, id: impl Into<String>) -> Self {
        self.fallback_id = Some(id.into());
        self
    }

    /// Says which request of the client is answered.
    #[must_use]
    pub fn request(mut self, body: &'r [u8]) -> Self {
        self.request = Some(body);
        self
    }

    /// Says which HTTP status an error came with.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Says what the caller keeps of the conversation.
    #[must_use]
    pub fn kept_state(mut self, state: KeptState) -> Self {
        self.kept_state = Some(state);
        self
    }

    /// Says what the model accepts.
    #[must_use]
    pub fn facts(mut self, facts: ModelFacts) -> Self {
        self.facts = Some(facts);
        self
    }

    /// What the upstream accepts for a model of this name.
    pub(crate) fn profile_for(&self, protocol: Protocol, model: Option<&str>) -> Profile {
        let known = || model.map(facts::lookup).unwrap_or_default();
        self.profile_of(protocol).for_model(self.facts.unwrap_or_else(known))
    }

    pub(crate) fn profile_of(&self, protocol: Protocol) -> Profile {
        self.profile.clone().unwrap_or_else(|| Profile::of(protocol))
    }

    /// Reads the request that is answered, if there is one.
    pub(crate) fn decode_request(&self, client: Protocol) -> Result<Option<Request<'r>>, Error> {
        let Some(body) = self.request else { return Ok(None) };
        let source = utf8(body)?;
        codec(client).decode_request(source).map(Some).map_err(|error| invalid(source, error))
    }
}

/// A translated document and what happened to it on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Translated {
    /// The document.
    pub body: Vec<u8>,
    /// What changed or could not be carried.
    pub ledger: Vec<Entry>,
    /// Features that the upstream must switch on for it, in the vendor's own
    /// header for them: Anthropic's `anthropic-beta`.
    pub required_features: Vec<&'static str>,
}

impl Translated {
    /// A document that lost nothing and needs nothing.
    pub(crate) fn unchanged(body: Vec<u8>) -> Self {
        Self { body, ledger: Vec::new(), required_features: Vec::new() }
    }
}

/// A translated error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranslatedError {
    /// The body.
    pub body: Vec<u8>,
    /// The HTTP status that belongs to it.
    pub status: u16,
}

/// Why a document was not translated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
    /// It is an error, where an answer was expected.
    #[error("the document is an error, not an answer")]
    NotAnAnswer,
}

/// Translates a client's request for an upstream.
pub fn request(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    options: &Options<'_>,
) -> Result<Translated, Error> {
    PreparedRequest::new(from, to, body)?.encode(options, AnswerUse::Ignored)
}

/// Translates an upstream's answer for a client.
pub fn response(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    options: &Options<'_>,
) -> Result<Translated, Error> {
    let passes = from == to && options.profile_of(from).tool_calls.is_native();
    let request = if passes { None } else { options.decode_request(to)? };
    let translator = ResponseTranslator::new(from, to, request.as_ref(), options);
    let TranslatedResponse { body, ledger, summary: _, written: _ } =
        translator.translate_any(body)?;
    Ok(Translated { body: body.into_owned(), ledger, required_features: Vec::new() })
}

/// Translates an upstream's error body for a client.
pub fn error(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    options: &Options<'_>,
) -> Result<TranslatedError, Error> {
    let source = utf8(body)?;
    let error = (codec(from).decode_error)(options.status, source)
        .map_err(|error| invalid(source, error))?;
    let mut out = Vec::with_capacity(body.len());
    let status = (codec(to).encode_error)(&error, &mut out);
    if from == to {
        let status = options.status.unwrap_or(status);
        return Ok(TranslatedError { body: body.to_vec(), status });
    }
    Ok(TranslatedError { body: out, status })
}

/// Translates a bare array of tool definitions.
pub fn tools(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    options: &Options<'_>,
) -> Result<Translated, Error> {
    let source = utf8(body)?;
    let tools = (codec(from).decode_tools)(source).map_err(|error| invalid(source, error))?;
    if from == to {
        return Ok(Translated::unchanged(body.to_vec()));
    }
    let mut ledger = Ledger::default();
    let mut out = Vec::with_capacity(body.len() + body.len() / 8);
    (codec(to).encode_tools)(&tools, from, &options.profile_of(to), &mut out, &mut ledger);
    settle(source, out, &ledger, options.loss_policy)
}

fn settle(
    source: &str,
    body: Vec<u8>,
    ledger: &Ledger,
    policy: LossPolicy,
) -> Result<Translated, Error> {
    let mut translated = if ledger.is_empty() {
        Translated::unchanged(body)
    } else {
        judge(body, ledger.entries(source), policy)?
    };
    translated.required_features = ledger.required_features().to_vec();
    Ok(translated)
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
    Ok(Translated { body, ledger, required_features: Vec::new() })
}

/// Copies a request with another model name and nothing else changed.
fn splice_model(
    protocol: Protocol,
    source: &str,
    model: Option<&str>,
) -> Result<Translated, Error> {
    // A malformed body or a second `model` is refused here as everywhere.
    let head = RequestHead::scan(&ToolLists::default(), protocol, &PathMatch::default(), source);
    let span = head.map_err(|error| invalid(source, error))?.model_span;
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
    Ok(Translated::unchanged(body))
}

/// The document with another literal in one place.
fn spliced(source: &str, span: Range<usize>, text: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(source.len() + text.len() + 16);
    body.extend_from_slice(source.get(..span.start).unwrap_or_default().as_bytes());
    write_str(text, &mut body);
    body.extend_from_slice(source.get(span.end..).unwrap_or_default().as_bytes());
    body
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
    // The message may repeat a name or a number of the document.
    let message = shorten(&error.to_string(), LONGEST_MESSAGE).into_owned();
    Error::Invalid { pointer: pointer(source, error.pos), offset, message }
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}

fn refusal(entries: &[Entry]) -> String {
    let mut text = String::from("refused, because it cannot be carried without loss:");
    for entry in entries.iter().take(MOST_REASONS) {
        let path = if entry.path.is_empty() { "the request" } else { &entry.path };
        text.push_str(&format!(" {path} ({}): {}", entry.code, entry.detail));
    }
    if entries.len() > MOST_REASONS {
        text.push_str(&format!(" And {} more.", entries.len() - MOST_REASONS));
    }
    text
}

/// How much an error says of what is wrong with a document.
const LONGEST_MESSAGE: usize = 512;

/// How many of the losses are named in the text of a refusal.
const MOST_REASONS: usize = 16;
