//! Translates tool calling between OpenAI Chat Completions, OpenAI Responses
//! and Anthropic Messages, and says what it could not carry.
//!
//! The library performs no I/O, reads no clock, spawns nothing, logs nothing
//! and does not panic on input.

#![deny(missing_docs)]

#[macro_use]
pub mod wire;
pub mod calls;
pub mod codec;
pub mod disposition;
pub mod fold;
pub mod guess;
#[cfg(feature = "laws")]
pub mod laws;
pub mod ledger;
pub mod media;
pub mod model;
pub mod native;
pub mod pipe;
pub mod profile;
pub mod protocol;
pub mod registry;
pub mod restore;
pub mod schema;
pub mod thread;
pub mod toolset;
pub mod translate;
pub mod unfold;

pub use codec::{CODECS, Codec, codec};
pub use ledger::{Action, Code, Entry, Ledger, Level, LossPolicy};
pub use profile::Profile;
pub use protocol::Protocol;
pub use translate::{Error, Options, Translated};

/// The guide's examples, so that they are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub struct Guide;
