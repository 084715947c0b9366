//! The tests of the library as its users see it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bad_input;
mod calls;
mod documents;
mod examples;
mod features;
mod fourth;
mod fourth_tests;
mod json;
mod laws;
mod loops;
mod ordinary;
mod output_limit;
mod overviews;
mod prepared;
mod random;
mod read_input;
mod recover;
mod registry;
mod seeds;
mod sessions;
mod splice;
mod streams;
mod text_tools;
mod tracker;
mod unfold;
mod vectors;
mod written_answers;

use toolwire::Protocol;

/// The protocols that the laws are held to in all pairs. A new protocol is one
/// folder and one line here or, if it is built in, in the library's own list.
pub(crate) const PROTOCOLS: [Protocol; 4] = [
    Protocol::Chat, //
    Protocol::Responses,
    Protocol::Messages,
    fourth::FOURTH,
];
