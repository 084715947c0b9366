//! What of a request its answer depends on.

use std::sync::Arc;

use super::{KeptState, Request};
use crate::wire::Str;

/// What of a request its answer depends on, besides the tools (those are in
/// [`crate::restore::Restore`]).
///
/// It borrows nothing: a stream goes on long after the bytes of its request
/// are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseContext {
    /// The answer's id, if it is not derived from the upstream's (Responses).
    pub id: Option<String>,
    /// When the answer was begun, for upstreams that do not say.
    pub created: Option<u64>,
    /// The model's name, for upstreams that do not repeat it.
    pub model: Option<String>,
    /// The processing tier, in the client's words.
    pub tier: Option<String>,
    /// Whether the client speaks Chat's deprecated `functions`.
    pub legacy_functions: bool,
    /// Whether the stream ends with usage (Chat).
    pub stream_usage: bool,
    /// How many tokens the request is estimated to have, for clients that show
    /// it before the upstream has counted them (Messages). Nobody in the
    /// library estimates; who runs the stream may, and says so in
    /// [`crate::Options::input_estimate`].
    pub input_estimate: Option<u64>,
    /// The client's settings as the members of the answer that repeat them
    /// (Responses).
    pub echo: Echo,
    /// The client's labels as JSON, which the answer repeats unless it has its
    /// own (Responses).
    pub metadata: Option<String>,
}

/// Settings that answers repeat, as members without their object.
///
/// The tools are most of it, and the same in every answer of an agent's work, so all that
/// wait for an answer share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// The members, with a list of tools that is empty.
    pub members: Vec<u8>,
    /// Where the elements of the list belong.
    pub tools_at: usize,
    /// Where the members begin that belong to one turn of a conversation.
    pub turn_at: usize,
    /// The elements.
    pub tools: Arc<[u8]>,
}

impl Echo {
    /// The members in pieces that follow each other.
    pub(crate) fn parts(&self) -> [&[u8]; 3] {
        let (before, after) = self.members.split_at_checked(self.tools_at).unwrap_or_default();
        [before, &self.tools, after]
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.members.len() + self.tools.len()
    }

    /// How many bytes are in front of what belongs to one turn, tools included. The next
    /// turn usually has the same.
    pub(crate) fn common_len(&self) -> usize {
        self.turn_at + self.tools.len()
    }
}

impl ResponseContext {
    /// Adds what the caller knows about the answer.
    pub(crate) fn keep(&mut self, state: Option<&KeptState>) {
        if let Some(KeptState {
            id,
            created,
            store: _,
            previous: _,
            conversation: _,
            background: _,
        }) = state
        {
            self.id.clone_from(id);
            self.created = *created;
        }
    }

    /// What every protocol wants to know of a request.
    pub fn of(request: &Request<'_>) -> Self {
        let own = |text: &Str<'_>| text.decode().into_owned();
        Self {
            id: None,
            created: None,
            model: request.model.as_ref().map(own),
            tier: request.tier.as_ref().map(own),
            legacy_functions: request.legacy_functions,
            stream_usage: request.stream.usage.is_some_and(|wanted| wanted.value),
            input_estimate: None,
            echo: Echo::default(),
            metadata: None,
        }
    }
}
