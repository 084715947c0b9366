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
mod examples;
mod features;
mod json;
mod laws;
mod loops;
mod prepared;
mod random;
mod registry;
mod seeds;
mod splice;
mod streams;
mod unfold;
mod vectors;
