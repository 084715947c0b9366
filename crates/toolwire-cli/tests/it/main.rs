//! Runs the built command as a user does.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod agents;
mod command;
mod configuration;
mod demo;
mod detect;
mod dispositions;
mod explain;
mod guesses;
mod lines;
mod losses;
#[cfg(target_os = "linux")]
mod open_files;
mod response;
mod serving;
mod store;
mod stream;
mod text_tools;
mod tokens;
mod unreadable;
mod usage;
mod vendors;
