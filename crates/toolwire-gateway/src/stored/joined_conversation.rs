//! The conversation that a turn is part of.

use std::collections::HashSet;
use std::sync::Arc;

use toolwire_store::{Item, StoreError, ThreadKind, Write, random_id};

/// The conversation that a turn is part of, as it was when it was read.
#[derive(Clone)]
pub(super) struct JoinedConversation {
    pub(super) id: String,
    /// Its version when it was read.
    pub(super) version: u64,
    /// The ids of its items, and of those that the client has sent for the turn.
    pub(super) taken: Arc<HashSet<String>>,
}

impl JoinedConversation {
    /// Adds a turn to it, whose input has ids of its own already.
    ///
    /// An upstream may give items of different answers the same id. Pages of a conversation
    /// begin after an id, so it has each id once. The response keeps the upstream's, which is
    /// what its client may refer to.
    pub(super) fn append(&self, input: &[Item], output: &[Item]) -> Result<Write, StoreError> {
        let mut items = Vec::with_capacity(input.len() + output.len());
        items.extend_from_slice(input);
        for item in output {
            let mut item = item.clone();
            if self.taken.contains(&item.id) {
                item.id = random_id("item_")?;
            }
            items.push(item);
        }
        let (id, expected) = (self.id.clone(), Some(self.version));
        Ok(Write::Append { kind: ThreadKind::Conversation, id, expected, items })
    }
}
