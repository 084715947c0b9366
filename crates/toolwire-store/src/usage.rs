//! How much is stored, so that limits can be kept without counting at each write.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::error::{Cap, StoreError};
use crate::id::Tenant;
use crate::options::Limits;

/// What is known about how much is stored. It is counted by the engine now and
/// then, and kept up to date with what this process writes in between. So a
/// limit is exact for one gateway, and for several that share a store it may be
/// exceeded by what they write within [`COUNT_AGAIN`].
#[derive(Default)]
pub(crate) struct UsageTracker {
    counted: Mutex<HashMap<Option<Tenant>, Counted>>,
}

#[derive(Clone, Copy)]
struct Counted {
    bytes: u64,
    at: Instant,
}

impl UsageTracker {
    /// Checks whether a tenant may store so many bytes more.
    pub(crate) async fn check(
        &self,
        engine: &Engine,
        limits: &Limits,
        tenant: &Tenant,
        added: u64,
    ) -> Result<(), StoreError> {
        if added == 0 {
            return Ok(());
        }
        let scopes =
            [(Some(tenant.clone()), Cap::Tenant, limits.tenant), (None, Cap::Total, limits.total)];
        for (scope, cap, limit) in scopes {
            let known = self.known(&scope);
            let mut used = self.used(engine, scope.clone(), known).await?;
            if used.saturating_add(added) > limit {
                // Something may have been deleted or pruned elsewhere.
                used = self.used(engine, scope, None).await?;
            }
            if used.saturating_add(added) > limit {
                return Err(StoreError::TooLarge { cap, limit });
            }
        }
        Ok(())
    }

    /// Counts what was written.
    pub(crate) fn add(&self, tenant: &Tenant, added: u64) {
        self.change(tenant, |bytes| bytes.saturating_add(added));
    }

    /// Counts what was deleted.
    pub(crate) fn remove(&self, tenant: &Tenant, removed: u64) {
        self.change(tenant, |bytes| bytes.saturating_sub(removed));
    }

    /// Forgets what is known, because much has changed.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn change(&self, tenant: &Tenant, change: impl Fn(u64) -> u64) {
        let mut counted = self.lock();
        for scope in [Some(tenant.clone()), None] {
            if let Some(counted) = counted.get_mut(&scope) {
                counted.bytes = change(counted.bytes);
            }
        }
    }

    fn known(&self, scope: &Option<Tenant>) -> Option<u64> {
        let counted = self.lock().get(scope).copied()?;
        (counted.at.elapsed() < COUNT_AGAIN).then_some(counted.bytes)
    }

    async fn used(
        &self,
        engine: &Engine,
        scope: Option<Tenant>,
        known: Option<u64>,
    ) -> Result<u64, StoreError> {
        if let Some(known) = known {
            return Ok(known);
        }
        let bytes = engine.usage(scope.as_ref()).await?.bytes;
        let mut counted = self.lock();
        if counted.len() > MOST_TENANTS {
            counted.clear();
        }
        counted.insert(scope, Counted { bytes, at: Instant::now() });
        Ok(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<Tenant>, Counted>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a count is used.
const COUNT_AGAIN: Duration = Duration::from_secs(30);

/// How many tenants are remembered.
const MOST_TENANTS: usize = 10_000;
