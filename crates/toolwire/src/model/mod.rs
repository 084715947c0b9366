//! The canonical representation that every protocol is decoded into and
//! encoded from. Pure data: nothing here knows how any protocol spells it.
//!
//! A [`Request`] is a list of [`Turn`]s, a turn a list of [`Item`]s, and order
//! is kept throughout, because Messages blocks and Responses items are ordered
//! and Chat's `content` beside `tool_calls` is the special case.
//!
//! Values borrow the document they were read from. What the model has no room
//! for stays in `extra` and is reported as lost; what it does not know as a kind
//! of item is [`Item::Opaque`].

mod choice;
mod context;
mod error;
mod event;
mod item;
mod kept_state;
mod literals;
mod owned;
mod reasoning;
mod request;
mod response;
mod shifted;
mod tool;

pub use choice::{Choice, Mode, Subset, ToolRef, ToolRefKind};
pub use context::{Echo, ResponseContext};
pub use error::{ApiError, Blame, ErrorKind, Retry};
pub use event::{CallForm, CallHead, Event, Head, Part, Piece, ResponseSummary, Start, Tail};
pub use item::{
    Arguments, Audio, Cache, Call, Document, HostedItem, Image, Item, NativeKind, Opaque, Refusal,
    ResultKind, Role, SearchResult, Slot, Source, Text, ToolResult, Turn,
};
pub use kept_state::KeptState;
pub use owned::Own;
pub use reasoning::{Issuer, Reasoning, Sealed};
pub use request::{
    Display, Echoed, Effort, Format, Identity, JsonSchema, Output, Request, Sampling, ServerState,
    Stream, Thinking, ThinkingMode,
};
pub use response::{Candidate, Response, ResponseOverview, Stop, Usage};
pub(crate) use shifted::Shift;
pub use tool::{Grammar, Hosted, HostedClass, Native, Tool, ToolKind};

pub use crate::protocol::Protocol;
