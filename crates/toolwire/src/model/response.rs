//! A model's answer.

use super::{ApiError, Protocol, Turn};
use crate::wire::{At, Extra, Pos, Raw, Str};

/// What a model answered.
#[derive(Clone, Debug)]
pub struct Response<'a> {
    /// The protocol the answer was written in.
    pub origin: Protocol,
    /// The answer's id.
    pub id: Option<Str<'a>>,
    /// The model that answered.
    pub model: Option<Str<'a>>,
    /// When, in seconds since 1970.
    pub created: Option<At<u64>>,
    /// The answers: one, unless the request asked for more (Chat's `n`).
    pub candidates: Vec<Candidate<'a>>,
    /// What it cost.
    pub usage: Option<Usage<'a>>,
    /// The tier it was processed in, in the words of its protocol.
    pub tier: Option<Str<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl Response<'_> {
    /// Whether the model said nothing at all.
    pub fn is_empty(&self) -> bool {
        let turns = self.candidates.iter().flat_map(|candidate| &candidate.turns);
        turns.flat_map(|turn| &turn.items).next().is_none()
    }

    /// Whether the model failed.
    pub fn is_failure(&self) -> bool {
        self.failure().is_some()
    }

    /// How the model failed, if it did.
    pub(crate) fn failure(&self) -> Option<&ApiError> {
        self.candidates.iter().find_map(|candidate| candidate.stop.value.failure())
    }
}

/// What a log says of an answer whose bytes pass.
#[derive(Clone, Debug)]
pub struct ResponseOverview<'a> {
    /// The model that answered.
    pub model: Option<Str<'a>>,
    /// What it cost.
    pub usage: Option<Usage<'a>>,
    /// How many calls were made.
    pub calls: usize,
    /// Why the model stopped, in one word ([`Stop::as_str`]).
    pub stop: &'static str,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Where it stood.
    pub at: Pos,
    /// What the model said and called.
    pub turns: Vec<Turn<'a>>,
    /// Why it stopped.
    pub stop: At<Stop<'a>>,
    /// Log probabilities of its tokens (Chat).
    pub logprobs: Option<Raw<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

/// Why a model stopped. The presence of calls decides between [`Stop::EndTurn`]
/// and [`Stop::ToolCalls`], whatever word the vendor used.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop<'a> {
    /// It had said what it wanted.
    EndTurn,
    /// It waits for the results of its calls.
    ToolCalls,
    /// It reached the limit that the request set. The last item may be cut.
    MaxTokens,
    /// It reached the end of its context. The last item may be cut.
    ContextWindow,
    /// It wrote a stop text.
    StopSequence(Option<Str<'a>>),
    /// A filter of the vendor's stopped it.
    ContentFilter,
    /// It declined.
    Refusal {
        /// What kind of request it declined.
        category: Option<Str<'a>>,
        /// What the vendor says about it.
        explanation: Option<Str<'a>>,
    },
    /// The vendor wants the conversation back to go on (Messages).
    Paused,
    /// It stopped after shortening the conversation (Messages).
    Compaction,
    /// The client stopped it.
    Cancelled,
    /// A newer instruction replaced it (Responses).
    Steered,
    /// It is not finished (Responses in the background).
    Running,
    /// It failed.
    Failed(Box<ApiError>),
    /// A word toolwire does not know.
    Other(Str<'a>),
}

impl Stop<'_> {
    /// How the model failed, if it did.
    pub(crate) fn failure(&self) -> Option<&ApiError> {
        if let Self::Failed(error) = self { Some(error) } else { None }
    }

    /// The reason in one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolCalls => "tool_calls",
            Self::MaxTokens => "max_tokens",
            Self::ContextWindow => "context_window",
            Self::StopSequence(_) => "stop_sequence",
            Self::ContentFilter => "content_filter",
            Self::Refusal { category: _, explanation: _ } => "refusal",
            Self::Paused => "paused",
            Self::Compaction => "compaction",
            Self::Cancelled => "cancelled",
            Self::Steered => "steered",
            Self::Running => "running",
            Self::Failed(_) => "failed",
            Self::Other(_) => "other",
        }
    }
}

/// Tokens used.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Usage<'a> {
    /// Where the figures stood.
    #[doc(hidden)]
    pub at: Pos,
    /// All tokens read, cached ones included, as OpenAI counts. Messages
    /// counts cached tokens beside its `input_tokens`.
    pub input: u64,
    /// Tokens read from a cache. Part of `input`.
    pub cache_read: Option<u64>,
    /// Tokens written to a cache. Part of `input`.
    pub cache_write: Option<u64>,
    /// All tokens generated, reasoning included.
    pub output: u64,
    /// Tokens of reasoning. Part of `output`.
    pub reasoning: Option<u64>,
    /// Figures that exist in one protocol only.
    #[doc(hidden)]
    pub extra: Vec<Extra<'a>>,
}
