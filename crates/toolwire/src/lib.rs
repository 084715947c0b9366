//! Translates tool calling between OpenAI Chat Completions, OpenAI Responses
//! and Anthropic Messages, and says what it could not carry.
//!
//! The library performs no I/O, reads no clock, spawns nothing, logs nothing
//! and does not panic on input.

#![deny(missing_docs)]

#[macro_use]
#[doc(hidden)]
pub mod wire;
pub mod calls;
#[doc(hidden)]
pub mod codec;
#[doc(hidden)]
pub mod disposition;
#[doc(hidden)]
pub mod fold;
pub mod guess;
#[cfg(feature = "laws")]
#[doc(hidden)]
pub mod laws;
pub mod ledger;
mod media;
#[doc(hidden)]
pub mod model;
mod native;
pub mod pipe;
pub mod profile;
#[doc(hidden)]
pub mod protocol;
pub mod registry;
#[doc(hidden)]
pub mod restore;
mod schema;
mod thread;
mod toolset;
pub mod translate;
#[doc(hidden)]
pub mod unfold;

#[doc(hidden)]
pub use codec::{CODECS, Codec, codec};
#[doc(hidden)]
pub use ledger::Ledger;
pub use ledger::{Action, Code, Entry, Level, LossPolicy};
pub use model::{ApiError, Blame, ErrorKind, ResponseSummary, Retry, Usage};
pub use pipe::Pipe;
pub use profile::Profile;
pub use protocol::Protocol;
pub use registry::Registry;
pub use translate::{Error, Options, Translated};

/// The guide's examples, so that they are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub struct Guide;
