//! What a document is, for callers that do not know.
//!
//! Every codec says how sure it is that a document is its own, and the surest
//! one is right.

mod fields;

#[doc(hidden)]
pub use fields::Fields;

use crate::codec::{CODECS, Codec};
use crate::protocol::Protocol;
use crate::registry::ToolForm;
use crate::translate::{Error, invalid, utf8};
use crate::wire::{Kind, Raw, Read, ReadError, Reader, Str};

/// What a document seems to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guess {
    /// What it is about, if that is clear.
    pub document: Option<DocumentKind>,
    /// The protocol it is in, if that is clear. Chat and Responses have the same
    /// error bodies; those are taken for Chat.
    pub protocol: Option<Protocol>,
}

/// The documents that toolwire translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// What a client asks.
    Request,
    /// What an upstream answers.
    Response,
    /// Why an upstream did not answer.
    Error,
    /// A bare array of tool definitions.
    Tools,
}

impl DocumentKind {
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
    let own = |codec: &&&Codec| (codec.recognize_event)(&kind.decode(), data);
    CODECS.iter().find(own).map(|codec| codec.protocol)
}

/// How sure a codec is that something is in its protocol.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It could be, if no other protocol claims it.
    Possible,
    /// It looks like it. More signs make it surer.
    Likely(usize),
    /// It has something that only this protocol has.
    Certain,
}

fn look(source: &str) -> Result<Guess, ReadError> {
    let mut reader = Reader::new(source);
    let guess = if reader.peek() == Kind::Array {
        tools(&Vec::<Raw<'_>>::read(&mut reader)?)
    } else if reader.peek() == Kind::Object {
        object(&Fields::read(&mut reader)?)
    } else {
        reader.skip()?;
        Guess::default()
    };
    reader.finish()?;
    Ok(guess)
}

/// Vendors borrow definitions from each other, so the first tool that a protocol
/// is certain of decides for the whole list.
fn tools(list: &[Raw<'_>]) -> Guess {
    let recognized =
        list.iter().rev().filter_map(Fields::of).filter_map(|tool| recognize_tool(&tool));
    let surest = recognized.max_by_key(|(_, _, certainty)| *certainty);
    let likely = surest.filter(|(_, _, certainty)| *certainty > Certainty::Possible);
    Guess { document: Some(DocumentKind::Tools), protocol: likely.map(|(protocol, _, _)| protocol) }
}

fn object(fields: &Fields<'_>) -> Guess {
    let recognized = CODECS.iter().rev().filter_map(|codec| {
        (codec.recognize)(fields).map(|(document, certainty)| (codec.protocol, document, certainty))
    });
    // An answer may repeat its request and may have a member `error`, so answers
    // come first and requests last.
    let surest = recognized.max_by_key(|(_, document, certainty)| {
        (*document == DocumentKind::Response, *document == DocumentKind::Error, *certainty)
    });
    surest.map_or_else(Guess::default, |(protocol, document, _)| Guess {
        document: Some(document),
        protocol: Some(protocol),
    })
}

/// The protocol that is surest that a tool definition is its own.
pub(crate) fn recognize_tool(tool: &Fields<'_>) -> Option<(Protocol, ToolForm, Certainty)> {
    let recognized = CODECS.iter().rev().filter_map(|codec| {
        (codec.recognize_tool)(tool).map(|(form, certainty)| (codec.protocol, form, certainty))
    });
    recognized.max_by_key(|(_, _, certainty)| *certainty)
}

#[cfg(test)]
mod tests;
