//! What a document is, for callers who were not told.
//!
//! The top-level fields say almost always. A Chat and a Messages request look
//! alike there, so their conversation, tools and choice are looked at too.

mod shape;

use crate::model::Protocol;
use crate::translate::{Error, invalid, utf8};
use crate::wire::{Kind, ReadError, Reader, Str};

/// What a document seems to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guess {
    /// What it is about, where that can be told.
    pub document: Option<Document>,
    /// The protocol it is in, where that can be told. Chat and Responses have
    /// the same error bodies; those are taken for Chat.
    pub protocol: Option<Protocol>,
}

/// The documents that toolwire translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// What a client asks.
    Request,
    /// What an upstream answers.
    Response,
    /// Why an upstream did not answer.
    Error,
    /// A bare array of tool definitions.
    Tools,
}

impl Document {
    /// Every kind of document.
    pub const ALL: [Self; 4] = [Self::Request, Self::Response, Self::Error, Self::Tools];

    /// The document's name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Error => "error",
            Self::Tools => "tools",
        }
    }

    /// The document with that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|document| document.as_str() == name)
    }
}

/// Guesses what a document is. Fails only on what is not JSON.
pub fn guess(body: &[u8]) -> Result<Guess, Error> {
    let source = utf8(body)?;
    look(source).map_err(|error| invalid(source, error))
}

/// Guesses the protocol of a stream by its first event.
#[doc(hidden)]
pub fn stream(name: Option<&str>, data: &str) -> Option<Protocol> {
    let kind = match name {
        Some(name) => Str::plain(name),
        None => Reader::new(data).tag("type").ok()?.unwrap_or(Str::plain("")),
    };
    let kind = kind.decode();
    if kind.starts_with("response.") {
        return Some(Protocol::Responses);
    }
    if kind == "message_start" || kind == "ping" {
        return Some(Protocol::Messages);
    }
    let object = Reader::new(data).tag("object").ok()?;
    object.filter(|object| *object == "chat.completion.chunk").map(|_| Protocol::Chat)
}

fn look(source: &str) -> Result<Guess, ReadError> {
    let mut reader = Reader::new(source);
    let guess = if reader.peek() == Kind::Array {
        Guess { document: Some(Document::Tools), protocol: shape::tools(&mut reader)? }
    } else if reader.peek() == Kind::Object {
        object(&mut reader)?.guess()
    } else {
        reader.skip()?;
        Guess::default()
    };
    reader.finish()?;
    Ok(guess)
}

/// What the fields of an object have shown so far.
#[derive(Default)]
struct Signs {
    response: Option<Protocol>,
    error: Option<Protocol>,
    /// A request of Responses, by a field that only Responses asks with.
    input: bool,
    /// A request of Chat or Messages.
    messages: bool,
    /// Which of the two, by the first shape that only one of them has.
    shape: Option<Protocol>,
    /// How many fields have a name that only Chat knows, or only Messages.
    /// Vendors borrow each other's names, so a shape counts more.
    chat_names: usize,
    messages_names: usize,
    max_tokens: bool,
}

impl Signs {
    fn guess(&self) -> Guess {
        // A Responses answer repeats the request and has a field `error`, so
        // answers come first and requests last.
        if self.response.is_some() {
            return Guess { document: Some(Document::Response), protocol: self.response };
        }
        if self.error.is_some() {
            return Guess { document: Some(Document::Error), protocol: self.error };
        }
        if self.messages {
            return Guess { document: Some(Document::Request), protocol: Some(self.asked()) };
        }
        if self.input {
            let protocol = Some(Protocol::Responses);
            return Guess { document: Some(Document::Request), protocol };
        }
        Guess::default()
    }

    /// The protocol of a request that has `messages`.
    fn asked(&self) -> Protocol {
        let by_names = match self.chat_names.cmp(&self.messages_names) {
            std::cmp::Ordering::Greater => Protocol::Chat,
            std::cmp::Ordering::Less => Protocol::Messages,
            // Messages cannot do without `max_tokens` and Chat has retired it.
            std::cmp::Ordering::Equal if self.max_tokens => Protocol::Messages,
            std::cmp::Ordering::Equal => Protocol::Chat,
        };
        self.shape.unwrap_or(by_names)
    }

    /// Notes the shape of something. A flat tool beside `messages` is not a
    /// sign of Responses but a vendor's own.
    fn shape(&mut self, protocol: Option<Protocol>) {
        let told = protocol.filter(|protocol| *protocol != Protocol::Responses);
        self.shape = self.shape.or(told);
    }
}

fn object(reader: &mut Reader<'_>) -> Result<Signs, ReadError> {
    let mut signs = Signs::default();
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        let kind = reader.peek();
        match (key.decode().as_ref(), kind) {
            ("choices", Kind::Array) => signs.response = Some(Protocol::Chat),
            ("output", Kind::Array) => signs.response = Some(Protocol::Responses),
            ("stop_reason", _) => signs.response = Some(Protocol::Messages),
            (name @ ("object" | "type"), Kind::String) => {
                named(name, &reader.string()?, &mut signs);
                continue;
            }
            // `type: error` may stand before or behind and is Messages' own.
            // `detail` is how servers built on FastAPI say it.
            ("error", Kind::Object | Kind::String) | ("detail", _) => {
                signs.error = signs.error.or(Some(Protocol::Chat));
            }
            ("messages", Kind::Array) => {
                signs.messages = true;
                signs.shape(shape::turns(reader)?);
                continue;
            }
            ("tools", Kind::Array) => {
                signs.shape(shape::tools(reader)?);
                continue;
            }
            ("tool_choice", _) => {
                signs.shape(shape::choice(reader)?);
                continue;
            }
            ("system", _) => signs.shape(Some(Protocol::Messages)),
            ("max_tokens", _) => signs.max_tokens = true,
            ("conversation" | "input" | "instructions" | "previous_response_id", _)
            | ("prompt", Kind::Object) => signs.input = true,
            (name, _) if CHAT_NAMES.contains(&name) => signs.chat_names += 1,
            (name, _) if MESSAGES_NAMES.contains(&name) => signs.messages_names += 1,
            (_, _) => {}
        }
        reader.skip()?;
    }
    Ok(signs)
}

/// An object that says itself what it is.
fn named(key: &str, name: &Str<'_>, signs: &mut Signs) {
    match (key, name.decode().as_ref()) {
        ("object", "chat.completion") => signs.response = Some(Protocol::Chat),
        ("object", "response") => signs.response = Some(Protocol::Responses),
        ("type", "message") => signs.response = Some(Protocol::Messages),
        ("type", "error") => signs.error = Some(Protocol::Messages),
        // vectors/errors/chat-vendor-context-length
        ("object", "error") => signs.error = Some(Protocol::Chat),
        (_, _) => {}
    }
}

/// What only Chat calls so, of the two whose requests have `messages`.
const CHAT_NAMES: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "modalities",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "stop",
    "store",
    "stream_options",
    "top_logprobs",
    "user",
    "verbosity",
    "web_search_options",
];

/// What only Messages calls so.
const MESSAGES_NAMES: &[&str] = &[
    "anthropic_version",
    "betas",
    "cache_control",
    "compaction",
    "container",
    "context_management",
    "diagnostics",
    "fallbacks",
    "inference_geo",
    "mcp_servers",
    "output_config",
    "output_format",
    "speed",
    "stop_sequences",
    "thinking",
    "thread",
    "top_k",
    "user_profile_id",
];

#[cfg(test)]
mod tests;
