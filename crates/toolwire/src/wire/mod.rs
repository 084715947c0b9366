//! The plumbing every codec shares: reading and writing JSON without copying
//! it, ids, names, and the envelope that carries sealed reasoning.
//!
//! toolwire reads JSON with a small pull reader of its own instead of serde.
//! Three properties are the reason, and each is a promise to the user: string
//! literals keep their escapes so that text is copied and never re-encoded,
//! values that need no understanding stay raw spans so that numbers and key
//! order survive, and every value remembers where it stood in the input so
//! that a loss can be reported by its JSON Pointer at no cost to the requests
//! that lose nothing.

#[macro_use]
mod fields;
mod blocks;
#[doc(hidden)]
pub mod cuts;
pub(crate) mod date;
pub(crate) mod edits;
mod ends;
pub mod envelope;
pub mod glob;
pub(crate) mod growing;
pub mod hash;
pub mod ids;
mod keys;
mod kind;
pub mod names;
pub(crate) mod overview;
mod path;
mod pointer;
mod raw;
mod read;
mod read_error;
mod read_values;
pub(crate) mod scan;
pub(crate) mod skip;
pub mod sse;
pub(crate) mod stencil;
mod text;
mod write;

pub(crate) use ends::ValueEnds;
pub use fields::{At, Extra, Pos};
pub(crate) use fields::{Placed, keep_meaningful};
#[doc(hidden)]
pub use fields::{check_duplicates, fill, read_fields};
pub(crate) use keys::Keys;
pub use kind::Kind;
#[doc(hidden)]
pub use path::string_under;
pub(crate) use path::value_under;
pub use pointer::{pointer, pointers};
pub(crate) use pointer::{pointers_past, shorten, step_into as pointer_step};
pub use raw::Raw;
pub use read::{Members, Read, Reader};
pub use read_error::{ReadError, What};
pub use text::{Str, TextBuffer};
pub(crate) use write::written;
pub use write::{Array, Object, Write, write_escaped, write_str};

#[cfg(test)]
mod tests;
