//! How many tokens an answer may have, where the client doesn't say.

use std::fmt;

use toolwire::facts::ModelFacts;
use toolwire::model::Request;

use crate::Tokenizer;
use crate::request::count_request;

/// A rule for the longest answer.
///
/// It is for a limit that nobody has set. A limit that a client sets is its own
/// affair, and no policy changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetPolicy {
    /// More for each tool: [`tools_budget`], from [`BASE`].
    Tools,
    /// More for tools, certain models and long conversations:
    /// [`conversation_budget`].
    Conversation,
    /// What is left of the model's context window: [`context_budget`].
    Context,
}

impl BudgetPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Tools, Self::Conversation, Self::Context];

    /// The policy's name in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Conversation => "conversation",
            Self::Context => "context",
        }
    }

    /// The longest answer to a request, or `None` if the policy can't tell: the
    /// model's window isn't known, or the prompt fills it.
    ///
    /// No policy goes beyond the longest output of the model, where it is known.
    #[doc(hidden)]
    pub fn limit(self, request: &Request<'_>, model: &str, facts: &ModelFacts) -> Option<u64> {
        let longest = facts.max_output.map(|fact| fact.value);
        let (tools, turns) = (request.tools.len(), request.turns.len());
        match self {
            Self::Tools => {
                let budget = tools_budget(tools, BASE);
                Some(longest.map_or(budget, |longest| budget.min(longest)))
            }
            Self::Conversation => Some(conversation_budget(BASE, tools, turns, model, longest)),
            Self::Context => {
                let window = facts.context_window?.value;
                let prompt = count_request(request, Tokenizer::for_model(model));
                context_budget(window, prompt, longest)
            }
        }
    }
}

impl fmt::Display for BudgetPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The answer that policies start from.
pub const BASE: u64 = 4_000;

/// The longest answer to a request with tools: twice the base, or 1,000 more for
/// each tool and 5,000 for reasoning, and never less than 15,000. Without tools it
/// is the base.
pub fn tools_budget(tools: usize, base: u64) -> u64 {
    if tools == 0 {
        return base;
    }
    let with_tools = base + tools as u64 * 1_000 + 5_000;
    15_000.max(base * 2).max(with_tools)
}

/// The longest answer to a request in a conversation. Tools multiply the base by
/// 1.5 and 0.2 more for each; `o4-mini` gets at least 20,000 and `o3` 15,000; more
/// than five turns add 200 each. The model's longest output is the limit, if it is
/// known.
pub fn conversation_budget(
    base: u64,
    tools: usize,
    turns: usize,
    model: &str,
    longest: Option<u64>,
) -> u64 {
    let mut tokens = base;
    if tools > 0 {
        // In the order of the formula's own arithmetic, so that it rounds alike.
        let multiplier = 1.5 + (tools as f64 * 0.2);
        tokens = (tokens as f64 * multiplier).floor() as u64;
    }
    if model.contains("o4-mini") {
        tokens = tokens.max(20_000);
    } else if model.contains("o3") {
        tokens = tokens.max(15_000);
    }
    if turns > 5 {
        tokens += turns as u64 * 200;
    }
    longest.map_or(tokens, |longest| tokens.min(longest))
}

/// What a prompt leaves of the context window, up to the model's longest output.
/// Less than 1,024 tokens are no answer, and a prompt is rather counted too high
/// than too low. `None` says that the limit should stay unset then.
pub fn context_budget(window: u64, prompt: u64, longest: Option<u64>) -> Option<u64> {
    let left = window.saturating_sub(prompt);
    let budget = longest.map_or(left, |longest| left.min(longest));
    (left >= SHORTEST).then_some(budget)
}

const SHORTEST: u64 = 1_024;
