//! The conversation that a turn is part of.

use std::sync::Arc;

use toolwire_store::{Item, ThreadKind, Write};

use super::conversation_lock::ConversationLock;

/// The conversation that a turn is part of, as it was when it was read.
#[derive(Clone)]
pub(super) struct JoinedConversation {
    pub(super) id: String,
    /// Its version when it was read.
    pub(super) version: u64,
    pub(super) _lock: Arc<ConversationLock>,
}

impl JoinedConversation {
    /// Adds a turn to it.
    pub(super) fn append(&self, input: &[Item], output: &[Item]) -> Write {
        Write::Append {
            kind: ThreadKind::Conversation,
            id: self.id.clone(),
            expected: Some(self.version),
            items: input.iter().chain(output).cloned().collect(),
        }
    }
}
