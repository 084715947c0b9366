//! One turn of a conversation at a time.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use toolwire_store::Tenant;

/// The conversations that a request is working on.
#[derive(Clone, Default)]
pub(super) struct ConversationLocks {
    busy: Arc<Mutex<HashSet<(Tenant, String)>>>,
}

impl ConversationLocks {
    /// Takes a conversation for one turn, unless another turn has it. A turn on
    /// another gateway is noticed when the answer is kept.
    pub(super) fn take(&self, tenant: &Tenant, id: &str) -> Option<ConversationLock> {
        let key = (tenant.clone(), id.to_owned());
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.insert(key.clone()).then(|| ConversationLock { locks: self.clone(), key })
    }
}

/// A conversation that nobody else works on, as long as this lives.
pub(super) struct ConversationLock {
    locks: ConversationLocks,
    key: (Tenant, String),
}

impl Drop for ConversationLock {
    fn drop(&mut self) {
        self.locks.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
