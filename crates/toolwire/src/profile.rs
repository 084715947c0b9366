//! What one upstream accepts, beyond what its protocol says.
//!
//! A vendor is not a protocol: Groq, vLLM, Azure and Ollama all speak Chat with
//! other limits. A profile holds the limits. The defaults are those of the
//! protocol's own vendor, chosen so that neither the older nor the newer version
//! of its API refuses what is sent.

use crate::facts::{Accepts, Fact, ModelFacts, ThinkingOff};
use crate::model::Protocol;
use crate::text_tools::ToolCalls;
pub use crate::wire::ids::IdRule;
pub use crate::wire::names::NameRule;

/// What an upstream accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The protocol it speaks.
    pub protocol: Protocol,
    /// How its models call tools. If it takes none, they are told to the model in
    /// words, and its calls are read from its text.
    pub tool_calls: ToolCalls,
    /// Tool names.
    pub names: NameRule,
    /// Call ids.
    pub ids: IdRule,
    /// Whether it has freeform tools.
    pub freeform_tools: bool,
    /// Whether it groups tools in namespaces.
    pub namespaces: bool,
    /// Whether it can search the web. A Chat upstream takes
    /// `web_search_options` then.
    pub web_search: bool,
    /// Whether it can search deferred tools.
    pub tool_search: bool,
    /// Whether a choice may name a subset of the tools.
    pub allowed_tools: bool,
    /// Whether `strict` may be sent.
    pub strict: bool,
    /// Whether Chat instructions of the first rank go out as `developer`.
    pub developer_role: bool,
    /// Whether Chat's limit goes out under its old name, `max_tokens`.
    pub legacy_max_tokens: bool,
    /// Whether Messages takes system turns inside the conversation.
    pub mid_system: bool,
    /// Whether temperature, top_p and top_k may be sent (Messages of version
    /// 2026-10-21 refuses all three).
    pub sampling: bool,
    /// Whether temperature and top_p may be sent together.
    pub temperature_with_top_p: bool,
    /// What goes out as Messages' `max_tokens` when the client set no limit.
    pub default_max_tokens: u64,
    /// Whether the last turn may be a begun answer.
    pub prefill: bool,
    /// Whether Messages takes `thinking: disabled`.
    pub thinking_disabled: bool,
    /// The member a Chat vendor keeps reasoning in, if it wants it back.
    pub reasoning_field: Option<&'static str>,
    /// Whether Chat calls go out with Google's mark that their signature is not to be
    /// checked. Gemini 3 refuses calls without either, and no other protocol keeps
    /// its signatures.
    pub unsigned_calls: bool,
    /// Whether audio may be sent. The published types of Responses have none.
    pub audio: bool,
    /// Whether cache markers on OpenAI content parts may be sent.
    pub cache_breakpoints: bool,
    /// Whether examples of arguments go out in the tool's description where
    /// there is no field for them.
    pub examples_in_description: bool,
    /// What is put before the text of a failed result where there is no flag.
    pub error_prefix: &'static str,
    /// What the model accepts, where that is known. It counts for more than what
    /// is said of the upstream.
    pub model: ModelFacts,
}

impl Profile {
    /// What the API of the protocol's own vendor accepts.
    pub fn of(protocol: Protocol) -> Self {
        (protocol.codec().default_profile)()
    }

    /// What a protocol accepts that restricts nothing.
    #[doc(hidden)]
    pub fn permissive(protocol: Protocol, names: NameRule, ids: IdRule) -> Self {
        Self {
            protocol,
            tool_calls: ToolCalls::Native,
            names,
            ids,
            freeform_tools: true,
            namespaces: false,
            web_search: false,
            tool_search: false,
            allowed_tools: true,
            strict: true,
            developer_role: false,
            legacy_max_tokens: false,
            mid_system: false,
            sampling: true,
            temperature_with_top_p: true,
            default_max_tokens: 32_000,
            prefill: true,
            thinking_disabled: true,
            reasoning_field: None,
            unsigned_calls: false,
            audio: true,
            cache_breakpoints: false,
            examples_in_description: false,
            error_prefix: "Error: ",
            model: ModelFacts::default(),
        }
    }

    /// The same with what is known about a model.
    #[must_use]
    pub(crate) fn for_model(mut self, facts: ModelFacts) -> Self {
        let facts = facts.toward(self.protocol);
        self.model = facts;
        if let Some(most) = facts.max_output {
            self.default_max_tokens = most.value;
        }
        if let Some(turns) = facts.system_turns {
            self.mid_system = turns.value;
        }
        if let Some(both) = facts.temperature_with_top_p {
            self.temperature_with_top_p = both.value;
        }
        if facts.reads_call_ids.is_some_and(|reads| reads.value) && self.ids == IdRule::CHAT {
            self.ids = IdRule::CHAT_COMPATIBLE;
        }
        if let Some(off) = facts.thinking_off {
            self.thinking_disabled = off.value == ThinkingOff::Disabled;
        }
        self
    }

    /// Whether a begun answer may be the last turn.
    pub(crate) fn takes_prefill(&self, thinks: bool) -> bool {
        takes(self.model.prefill, self.prefill, thinks)
    }

    /// Whether stop texts may be sent.
    pub(crate) fn takes_stop(&self, thinks: bool) -> bool {
        self.model.stop.is_none_or(|fact| fact.value.while_thinking(thinks))
    }

    /// Whether each of temperature, top_p and top_k may be sent.
    pub(crate) fn takes_sampling(&self, thinks: bool) -> [bool; 3] {
        let ModelFacts { temperature, top_p, top_k, .. } = self.model;
        [temperature, top_p, top_k].map(|fact| takes(fact, self.sampling, thinks))
    }
}

/// Whether something may be sent: what is known about the model decides, and the
/// upstream's setting where nothing is.
fn takes(fact: Option<Fact<Accepts>>, setting: bool, thinks: bool) -> bool {
    fact.map_or(setting, |fact| fact.value.while_thinking(thinks))
}
