//! The canonical representation that every protocol is decoded into and
//! encoded from. Pure data: nothing here knows how any protocol spells it.
//!
//! A [`Request`] is a list of [`Turn`]s, a turn a list of [`Item`]s, and order
//! is kept throughout, because Messages blocks and Responses items are ordered
//! and Chat's `content` beside `tool_calls` is the special case.
//!
//! Values borrow the document they were read from. What the model has no room
//! for stays in `extra` and is replayed to the protocol it came from; what it
//! does not know as a kind of item is [`Item::Opaque`].

mod choice;
mod context;
mod error;
mod event;
mod item;
mod literals;
mod owned;
mod request;
mod response;
mod tool;

pub use choice::{Choice, Mode, Subset, ToolRef, ToolRefKind};
pub use context::ResponseContext;
pub use error::{ApiError, Blame, ErrorKind, Retry};
pub use event::{CallForm, CallHead, Event, Head, Part, Piece, ResponseSummary, Start, Tail};
pub use item::{
    Arguments, Audio, Cache, Call, Document, HostedItem, Image, Issuer, Item, NativeKind, Opaque,
    Reasoning, Refusal, ResultKind, Role, Sealed, SearchResult, Slot, Source, Text, ToolResult,
    Turn,
};
pub use owned::Own;
pub use request::{
    Display, Effort, Format, Identity, JsonSchema, Output, Request, Sampling, State, Stream,
    Thinking, ThinkingMode,
};
pub use response::{Candidate, Response, Stop, Usage};
pub use tool::{Grammar, Hosted, HostedClass, Native, Tool, ToolKind};

/// A wire protocol that clients and models speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// OpenAI Chat Completions, `/v1/chat/completions`.
    Chat,
    /// OpenAI Responses, `/v1/responses`.
    Responses,
    /// Anthropic Messages, `/v1/messages`.
    Messages,
}

impl Protocol {
    /// Every protocol, in the order used everywhere.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    /// The protocol's name in configuration, on the command line and in file names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    /// The protocol with that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.as_str() == name)
    }
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
