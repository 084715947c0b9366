//! Every entry point that takes bytes from a stranger is linear: ten times the
//! input costs at most eleven times the instructions, which `cargo xtask growth`
//! counts. Run plainly, the tests read the clock, which tells ten from a hundred.
//!
//! A program of its own, so that nothing else runs while it measures. A case is
//! a document of the vectors with one of its places stretched: a list repeated,
//! an object with more members, a text made longer, a value nested deeper.
//! `table` and `streams` have the shapes that hurt, by name; `sweep` stretches
//! every place of every vector (`TOOLWIRE_SWEEP=1`, in a release build).

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and this one shows what it measured"
)]

mod entry_points;
mod intent;
mod nesting;
mod recover;
mod runs;
mod streams;
mod stretch;
mod sweep;
mod table;
mod vectors;
