//! Runs the tools that a model calls, in your own process.
//!
//! A [`ToolSet`] holds async Rust functions. A [`Runner`] sends a request to a
//! model over OpenAI Chat Completions, OpenAI Responses or Anthropic Messages,
//! runs the calls of the answer, returns the results, and goes on until the model
//! has nothing left to call.
//!
//! ```no_run
//! use toolwire_runner::{Client, Protocol, Request, Runner, Tool, ToolSet};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Place { city: String }
//!
//! async fn weather(place: Place) -> String { format!("Sunny in {}, 21 °C", place.city) }
//!
//! # async fn main_() -> Result<(), toolwire_runner::Error> {
//! let tools = ToolSet::new().add(Tool::new("get_weather", "The weather in a city", weather))?;
//! let client = Client::gateway(Protocol::Messages)?;
//! let question = Request::new("demo", "What is the weather in Paris and Rome?");
//! let outcome = Runner::new(tools).run(&client, question).await?;
//! println!("{}", outcome.text());
//! # Ok(())
//! # }
//! ```
//!
//! Calls of one answer run in parallel, up to a limit. A tool that fails, panics,
//! takes too long or gets arguments that do not fit its schema gives the model an
//! error to read, and the other tools go on. Dropping the future of
//! [`Runner::run`] cancels everything that it has started.
//!
//! The [gateway](https://docs.rs/toolwire-gateway) never runs a tool and does not
//! depend on this crate.

#![deny(missing_docs)]

mod approval;
mod arguments;
mod client;
mod error;
mod event;
mod execution;
mod outcome;
mod output;
mod request;
mod runner;
mod tool;
mod tool_set;

pub use approval::Approval;
pub use client::Client;
pub use error::Error;
pub use event::Event;
pub use outcome::Outcome;
pub use output::{IntoOutput, Json, Output, Parts};
pub use request::Request;
pub use runner::Runner;
pub use tool::{NoArguments, Tool};
pub use tool_set::ToolSet;
pub use toolwire::calls::{Content, Input, ToolCall, ToolOutput};
pub use toolwire::tracker::{CallState, TrackedCall};
pub use toolwire::{ApiError, Protocol};

/// The example of the readme, so that it is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
