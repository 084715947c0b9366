//! Pipes.
