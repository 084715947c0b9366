//! One suite over every engine, and what only one of them can do wrong.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod append_log;
mod engines;
mod kill;
mod migration;
mod oracle;
mod outputs;
mod postgres;
mod postgres_plans;
mod postgres_races;
mod postgres_server;
mod postgres_shared;
mod postgres_tls;
mod shared;
mod sqlite;
mod suite;
mod transfer;
