//! Counts the tokens of tool-calling requests, and decides how long an answer may
//! be.
//!
//! OpenAI publishes its vocabularies, and both are part of this crate. They count
//! a text exactly as OpenAI's models up to GPT-5 do. For all other models, the
//! count is an estimate that errs on the high side: agents shorten their
//! conversation when it nears the model's limit, and a number that is too low gets
//! a request refused. How a vendor wraps messages and tools isn't published
//! either, so the count of a whole request is always an estimate.
//!
//! ```
//! use toolwire::Protocol;
//! use toolwire_tokens::{RequestCount, Tokenizer};
//!
//! let tokenizer = Tokenizer::for_model("gpt-5.1");
//! assert!(tokenizer.is_exact());
//! assert_eq!(tokenizer.count("What's the weather in Paris?"), 6);
//!
//! let request = br#"{"model":"gpt-5.1","messages":[{"role":"user","content":"Weather?"}]}"#;
//! let count = RequestCount::of(Protocol::Chat, request, tokenizer)?;
//! assert_eq!(count.parts[0].kind, "text");
//! assert_eq!(count.total, count.parts.iter().map(|part| part.tokens).sum::<u64>());
//! # Ok::<(), toolwire::Error>(())
//! ```
//!
//! A vocabulary is unpacked when it's first used, in some 25 milliseconds.

#![deny(missing_docs)]

pub mod budget;
mod classes;
mod media;
mod merge;
mod request;
mod split;
mod tokenizer;
mod vocabulary;

pub use budget::BudgetPolicy;
pub use request::{Part, RequestCount};
#[doc(hidden)]
pub use request::{count_request, quick_estimate};
pub use tokenizer::Tokenizer;

#[cfg(test)]
mod tests;
