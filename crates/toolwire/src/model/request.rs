//! A request to a model.

use std::fmt;

use super::{Cache, Choice, Protocol, Tool, Turn};
use crate::translate::KnownTools;
use crate::wire::{At, Extra, Pos, Raw, Str};

/// Everything a client asks of a model in one call.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The protocol the request was written in. Some defaults depend on it:
    /// `strict` left out means something else in Responses than in Chat.
    pub origin: Protocol,
    /// The model's name.
    pub model: Option<Str<'a>>,
    /// The conversation, system instructions included.
    pub turns: Vec<Turn<'a>>,
    /// The tools the model may call.
    pub tools: Vec<Tool<'a>>,
    /// Where the list of tools stood.
    pub tools_at: Pos,
    /// Members as the client spelled them, for answers that repeat them.
    pub echoed: Echoed<'a>,
    /// Whether the request used Chat's deprecated `functions`; the answer then
    /// comes in that shape too.
    pub legacy_functions: bool,
    /// Which tools the model may, must or must not call.
    pub choice: Choice<'a>,
    /// Reasoning settings.
    pub thinking: Thinking<'a>,
    /// Limits and shape of the output.
    pub output: Output<'a>,
    /// Sampling parameters.
    pub sampling: Sampling<'a>,
    /// Who asks, and labels.
    pub identity: Identity<'a>,
    /// A cache marker on the request as a whole (Messages' top-level
    /// `cache_control`).
    pub cache: Option<Cache<'a>>,
    /// The processing tier, in the words of its protocol.
    pub tier: Option<Str<'a>>,
    /// ServerState kept by the server.
    pub state: ServerState<'a>,
    /// How the server may shorten the context, in the words of its protocol.
    pub context_management: Option<Raw<'a>>,
    /// Streaming settings.
    pub stream: Stream<'a>,
    /// Fields that exist in one protocol only, or that toolwire does not know.
    pub extra: Vec<Extra<'a>>,
}

impl Request<'_> {
    /// A request with nothing in it.
    pub fn new(origin: Protocol) -> Self {
        Self {
            origin,
            model: None,
            turns: Vec::new(),
            tools: Vec::new(),
            tools_at: Pos::NONE,
            echoed: Echoed::default(),
            legacy_functions: false,
            choice: Choice::default(),
            thinking: Thinking::default(),
            output: Output::default(),
            sampling: Sampling::default(),
            identity: Identity::default(),
            cache: None,
            tier: None,
            state: ServerState::default(),
            context_management: None,
            stream: Stream::default(),
            extra: Vec::new(),
        }
    }
}

/// Members of a request that its answer repeats as they were spelled
/// (Responses).
#[derive(Clone, Default)]
pub struct Echoed<'a> {
    /// The list of tools.
    pub tools: Option<Raw<'a>>,
    /// The list of tools, if it came before.
    pub(crate) known_tools: Option<KnownTools>,
    /// Which tools the model may, must or must not call.
    pub choice: Option<Raw<'a>>,
}

/// Whether a list of tools came before does not matter.
impl fmt::Debug for Echoed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tools, known_tools: _, choice } = self;
        f.debug_struct("Echoed").field("tools", tools).field("choice", choice).finish()
    }
}

/// How much and how visibly the model reasons.
#[derive(Clone, Debug, Default)]
pub struct Thinking<'a> {
    /// Where the settings stood.
    pub at: Pos,
    /// How much effort: Chat's `reasoning_effort`, Responses'
    /// `reasoning.effort`, Messages' `output_config.effort`.
    pub effort: Option<At<Effort<'a>>>,
    /// Messages' `thinking.type`.
    pub mode: Option<At<ThinkingMode<'a>>>,
    /// Messages' `thinking.budget_tokens`.
    pub budget: Option<At<u64>>,
    /// What of the reasoning the client sees: Responses' `reasoning.summary`,
    /// Messages' `thinking.display`.
    pub display: Option<At<Display<'a>>>,
    /// Other members of Responses' `reasoning` or Messages' `thinking`.
    pub extra: Vec<Extra<'a>>,
}

/// An effort level.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the vendors' own words")]
pub enum Effort<'a> {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
    Other(Str<'a>),
}

impl<'a> Effort<'a> {
    /// The level with that name.
    pub fn parse(name: Str<'a>) -> Self {
        match name.decode().as_ref() {
            "none" => Self::None,
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" => Self::XHigh,
            "max" => Self::Max,
            _ => Self::Other(name),
        }
    }

    /// The level's name.
    pub fn name(&self) -> Str<'_> {
        Str::plain(match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
            Self::Other(name) => return name.borrowed(),
        })
    }
}

/// Messages' ways of thinking.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the vendor's own words")]
pub enum ThinkingMode<'a> {
    Adaptive,
    Enabled,
    BetweenTools,
    Disabled,
    Other(Str<'a>),
}

/// What of the reasoning the client gets to see.
#[derive(Clone, Debug, PartialEq)]
pub enum Display<'a> {
    /// A summary (Messages `summarized`, Responses `auto`).
    Summary,
    /// A short summary (Responses `concise`).
    Concise,
    /// A long summary (Responses `detailed`).
    Detailed,
    /// Nothing but the seal (Messages `omitted`).
    Omitted,
    /// A word toolwire does not know.
    Other(Str<'a>),
}

/// Limits and shape of the output.
#[derive(Clone, Debug, Default)]
pub struct Output<'a> {
    /// The most tokens to generate, reasoning included.
    pub max_tokens: Option<At<u64>>,
    /// The format of the text.
    pub format: Option<At<Format<'a>>>,
    /// How wordy the text should be.
    pub verbosity: Option<Str<'a>>,
    /// Texts at which to stop.
    pub stop: Vec<Str<'a>>,
    /// Where the stop texts stood.
    pub stop_at: Pos,
    /// How many answers to give.
    pub n: Option<At<u64>>,
    /// Whether to return log probabilities.
    pub logprobs: Option<At<bool>>,
    /// How many alternatives to return log probabilities of.
    pub top_logprobs: Option<At<u64>>,
    /// The most calls of hosted tools (Responses' `max_tool_calls`).
    pub max_tool_calls: Option<At<u64>>,
}

/// The format of the text output.
#[derive(Clone, Debug, PartialEq)]
pub enum Format<'a> {
    /// Free text.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema(JsonSchema<'a>),
    /// A format toolwire does not know, or that exists in one protocol only.
    Other(Raw<'a>),
}

/// A schema the output must fit.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonSchema<'a> {
    /// The schema's name.
    pub name: Option<Str<'a>>,
    /// What the output is for.
    pub description: Option<Str<'a>>,
    /// The schema.
    pub schema: Option<Raw<'a>>,
    /// Whether the output must fit exactly.
    pub strict: Option<At<bool>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

/// Sampling parameters, as spelled.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the vendors' own words")]
pub struct Sampling<'a> {
    pub temperature: Option<Raw<'a>>,
    pub top_p: Option<Raw<'a>>,
    pub top_k: Option<Raw<'a>>,
    pub frequency_penalty: Option<Raw<'a>>,
    pub presence_penalty: Option<Raw<'a>>,
    pub seed: Option<Raw<'a>>,
    pub logit_bias: Option<Raw<'a>>,
}

/// Who asks, and labels that go with the request.
#[derive(Clone, Debug, Default)]
pub struct Identity<'a> {
    /// A stable pseudonym of the end user: OpenAI's `safety_identifier`,
    /// Messages' `metadata.user_id`.
    pub end_user: Option<Str<'a>>,
    /// OpenAI's deprecated `user`.
    pub user: Option<Str<'a>>,
    /// OpenAI's labels: an object of strings.
    pub metadata: Option<Raw<'a>>,
    /// Members of Messages' `metadata` other than `user_id`.
    pub metadata_extra: Vec<Extra<'a>>,
    /// OpenAI's `prompt_cache_key`.
    pub cache_key: Option<Str<'a>>,
}

/// ServerState that the server keeps between calls.
#[derive(Clone, Debug, Default)]
pub struct ServerState<'a> {
    /// Whether to keep the answer.
    pub store: Option<At<bool>>,
    /// The answer this request continues.
    pub previous: Option<Str<'a>>,
    /// The conversation this request belongs to.
    pub conversation: Option<Raw<'a>>,
    /// Whether to answer later.
    pub background: Option<At<bool>>,
    /// What else to include in the answer.
    pub include: Vec<Str<'a>>,
    /// What to do when the conversation is too long.
    pub truncation: Option<Str<'a>>,
}

/// Streaming settings.
#[derive(Clone, Debug, Default)]
pub struct Stream<'a> {
    /// Whether to stream.
    pub on: Option<At<bool>>,
    /// Whether the stream ends with usage (Chat).
    pub usage: Option<At<bool>>,
    /// Whether events are padded against traffic analysis.
    pub obfuscation: Option<At<bool>>,
    /// Other members of `stream_options`.
    pub extra: Vec<Extra<'a>>,
}
