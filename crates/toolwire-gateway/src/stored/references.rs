//! The items that a request only names.

use std::collections::HashMap;

use toolwire_store::{Item, Store, Tenant};

use super::failure::{conversation_is_too_long, from_store};
use super::recall_memory::RecallMemory;
use crate::relay::Failure;

/// Looks up items by their ids, each id once.
pub(super) struct References<'r> {
    store: &'r Store,
    tenant: &'r Tenant,
    memory: RecallMemory<'r>,
    found: HashMap<String, Option<Item>>,
    /// How many bytes the request has grown by, which is more with each reference, even if
    /// they all name the same item.
    bytes: u64,
}

impl<'r> References<'r> {
    /// Nothing is looked up yet, but the request has grown by what is in front of it.
    pub(super) fn new(
        store: &'r Store,
        tenant: &'r Tenant,
        memory: RecallMemory<'r>,
        bytes: u64,
    ) -> Self {
        Self { store, tenant, memory, found: HashMap::new(), bytes }
    }

    /// The item with an id, if there is one.
    pub(super) async fn find(&mut self, id: &str) -> Result<Option<Item>, Failure> {
        let found = match self.found.get(id) {
            Some(found) => found.clone(),
            None => {
                let found = self.read(id).await?;
                self.found.insert(id.to_owned(), found.clone());
                found
            }
        };
        if let Some(item) = &found {
            self.bytes = self.bytes.saturating_add(item.body.len() as u64);
        }
        let limit = self.store.limits().read;
        if self.bytes > limit { Err(conversation_is_too_long(limit)) } else { Ok(found) }
    }

    async fn read(&self, id: &str) -> Result<Option<Item>, Failure> {
        let found = self.store.item(self.tenant, id).await.map_err(|error| from_store(&error))?;
        // A session's messages are of another protocol, and have a tag.
        let Some(Item { id, tag, body }) = found.filter(|item| item.tag.is_empty()) else {
            return Ok(None);
        };
        let reservation = self.memory.reserve(body.len() as u64)?;
        Ok(Some(Item { id, tag, body: reservation.hold(body) }))
    }
}

#[cfg(test)]
mod tests;
