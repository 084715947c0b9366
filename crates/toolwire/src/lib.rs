//! Translates tool calling between OpenAI Chat Completions, OpenAI Responses
//! and Anthropic Messages, and reports what it could not carry.
//!
//! The library works on bytes that you already have. It performs no I/O, reads no
//! clock, spawns nothing, logs nothing, and does not panic on input. It never
//! runs a tool.
//!
//! # A request
//!
//! A client speaks one protocol, the model's API another. [`translate::request`]
//! gives you the body to send, and a ledger: one [`Entry`] for everything that
//! changed or got lost, with its JSON Pointer in the client's request.
//!
//! ```
//! use toolwire::{Options, Protocol, translate};
//!
//! let request = br#"{"model":"gpt-5.1","messages":[{"role":"user","content":"Hi"}],"seed":7}"#;
//! let options = Options::new().model("claude-sonnet-4-5");
//! let sent = translate::request(Protocol::Chat, Protocol::Messages, request, &options)?;
//!
//! assert_eq!(
//!     std::str::from_utf8(&sent.body)?,
//!     concat!(
//!         r#"{"model":"claude-sonnet-4-5","max_tokens":64000,"#,
//!         r#""messages":[{"role":"user","content":"Hi"}]}"#,
//!     ),
//! );
//! let lost: Vec<&str> = sent.ledger.iter().map(|entry| entry.path.as_str()).collect();
//! assert_eq!(lost, ["/max_tokens", "/seed"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To refuse a request that would lose anything, use
//! [`Options::on_loss`] with [`LossPolicy::Refuse`].
//!
//! # An answer
//!
//! The answer takes the way back. Keep the [`PreparedRequest`] for it: tools that
//! were renamed or wrapped for the model then come back as the client declared
//! them, and the request is read only once.
//!
//! ```
//! use toolwire::translate::PreparedRequest;
//! use toolwire::{Options, Protocol};
//!
//! let request = br#"{"model":"fast","messages":[{"role":"user","content":"Hi"}]}"#;
//! let mut prepared = PreparedRequest::new(Protocol::Chat, Protocol::Messages, request)?;
//! let sent = prepared.translate(&Options::new().model("claude-haiku-4-5"))?;
//! # drop(sent);
//!
//! // Send it. This comes back:
//! let answer = br#"{"type":"message","id":"msg_1","role":"assistant","model":"claude-haiku-4-5",
//!     "content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#;
//! let translator = prepared.response_translator(&Options::new().model("fast"));
//! let received = translator.translate(answer)?;
//! assert!(std::str::from_utf8(&received.body)?.contains(r#""model":"fast""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`translate::error`] does the same for an error body.
//!
//! # A stream
//!
//! A [`Pipe`] takes the upstream's bytes in pieces of any size and appends what
//! the client should get. Whatever happens, the client gets exactly one ending:
//! the upstream's own, or an error in the client's protocol.
//!
//! ```
//! use toolwire::{Options, Pipe, Protocol};
//!
//! let mut pipe = Pipe::new(Protocol::Chat, Protocol::Messages, &Options::new())?;
//! let mut out = Vec::new();
//! pipe.push(b"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel", &mut out);
//! assert!(out.is_empty());
//! pipe.push(b"lo\"}}]}\n\n", &mut out);
//! assert!(std::str::from_utf8(&out)?.contains(r#"{"type":"text_delta","text":"Hello"}"#));
//!
//! // The upstream goes away in the middle.
//! pipe.finish(&mut out);
//! assert!(std::str::from_utf8(&out)?.contains("event: error\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If you have a [`PreparedRequest`], get the pipe from [`PreparedRequest::pipe`].
//! With the feature `futures`, `Pipe::stream` turns a stream of chunks into a
//! stream of chunks.
//!
//! # Tool definitions
//!
//! A [`Registry`] takes definitions in the shape of any protocol, from an MCP
//! server, or built in Rust. It checks them and writes them for any protocol.
//!
//! ```
//! use toolwire::registry::{Definition, Registry};
//! use toolwire::{Options, Protocol};
//!
//! let mut registry = Registry::from_json(br#"[{"type":"function","function":{"name":"search"}}]"#)?;
//! registry.add(Definition::function("get_weather").schema(r#"{"type":"object","properties":{}}"#))?;
//!
//! let tools = registry.render(Protocol::Messages, &Options::new())?;
//! assert_eq!(
//!     std::str::from_utf8(&tools.body)?,
//!     concat!(
//!         r#"[{"name":"search","input_schema":{"type":"object","properties":{}}},"#,
//!         r#"{"name":"get_weather","input_schema":{"type":"object","properties":{}}}]"#,
//!     ),
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A tool loop
//!
//! [`calls::parse`] finds the calls in an answer. Run them, and
//! [`calls::next_request`] gives you the body to send next. The model's answer
//! goes back byte for byte, because vendors check that.
//!
//! ```
//! use toolwire::Protocol;
//! use toolwire::calls::{self, ToolOutput};
//!
//! # fn send(request: &[u8]) -> Vec<u8> {
//! #     if std::str::from_utf8(request).unwrap().contains("sunny") {
//! #         return br#"{"role":"assistant","stop_reason":"end_turn","content":[]}"#.to_vec();
//! #     }
//! #     br#"{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use",
//! #         "id":"toolu_1","name":"get_weather","input":{"city":"Paris"}}]}"#.to_vec()
//! # }
//! # fn run(name: &str, arguments: &str) -> String {
//! #     assert_eq!((name, arguments), ("get_weather", r#"{"city":"Paris"}"#));
//! #     "sunny".to_owned()
//! # }
//! let mut request = br#"{"model":"m","max_tokens":99,
//!     "messages":[{"role":"user","content":"Weather?"}]}"#.to_vec();
//! loop {
//!     let answer = send(&request);
//!     let calls = calls::parse(Protocol::Messages, &answer)?;
//!     if calls.is_empty() {
//!         break;
//!     }
//!     let outputs: Vec<ToolOutput> = calls
//!         .iter()
//!         .map(|call| ToolOutput::text(&call.id, run(&call.name, call.arguments().unwrap_or("{}"))))
//!         .collect();
//!     request = calls::next_request(Protocol::Messages, &request, &answer, &outputs)?;
//! }
//! # assert!(std::str::from_utf8(&request)?.contains("sunny"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! All are off by default.
//!
//! - `futures`: a pipe as a `Stream`, in the module `stream`.
//! - `serde_json`: documents as `serde_json::Value`, in the module `json`.
//!
//! Items that this documentation does not show are there for toolwire's own
//! programs and may change in any release.
//!
//! [`PreparedRequest`]: translate::PreparedRequest
//! [`PreparedRequest::pipe`]: translate::PreparedRequest::pipe

#![deny(missing_docs)]

#[macro_use]
#[doc(hidden)]
pub mod wire;
pub mod calls;
#[doc(hidden)]
pub mod codec;
#[doc(hidden)]
pub mod disposition;
pub mod facts;
#[doc(hidden)]
pub mod fold;
pub mod guess;
#[cfg(feature = "serde_json")]
pub mod json;
pub mod ledger;
mod media;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod native;
pub mod pipe;
pub mod profile;
#[doc(hidden)]
pub mod protocol;
pub mod recover;
pub mod registry;
#[doc(hidden)]
pub mod restore;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod session;
#[doc(hidden)]
pub mod stateful;
#[cfg(feature = "futures")]
pub mod stream;
pub mod text_tools;
#[doc(hidden)]
pub mod thread;
#[doc(hidden)]
pub mod toolset;
pub mod tracker;
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
pub use text_tools::ToolCalls;
pub use translate::{Error, Options, Translated};

/// The examples of the guide and of the readme, so that they are compiled and
/// run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
#[doc = include_str!("../README.md")]
pub struct Guide;
