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
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tenants: HashMap<Tenant, Counted>,
    total: Option<Counted>,
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
        if added == 0 || self.is_known_to_fit(limits, tenant, added) {
            return Ok(());
        }
        let scopes = [(Some(tenant), Cap::Tenant, limits.tenant), (None, Cap::Total, limits.total)];
        for (scope, cap, limit) in scopes {
            let known = self.recent(scope);
            let mut used = self.used(engine, scope, known).await?;
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

    /// Whether it is known, without counting, that a tenant may store so many bytes more.
    pub(crate) fn is_known_to_fit(&self, limits: &Limits, tenant: &Tenant, added: u64) -> bool {
        let now = Instant::now();
        let counted = self.lock();
        let fits = |known: Option<&Counted>, limit: u64| {
            known.is_some_and(|known| {
                now.duration_since(known.at) < COUNT_AGAIN
                    && known.bytes.saturating_add(added) <= limit
            })
        };
        fits(counted.tenants.get(tenant), limits.tenant)
            && fits(counted.total.as_ref(), limits.total)
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
        *self.lock() = Known::default();
    }

    fn change(&self, tenant: &Tenant, change: impl Fn(u64) -> u64) {
        let mut known = self.lock();
        let Known { tenants, total } = &mut *known;
        for counted in [tenants.get_mut(tenant), total.as_mut()].into_iter().flatten() {
            counted.bytes = change(counted.bytes);
        }
    }

    fn recent(&self, scope: Option<&Tenant>) -> Option<u64> {
        let known = self.lock();
        let counted = match scope {
            Some(tenant) => known.tenants.get(tenant),
            None => known.total.as_ref(),
        }?;
        (counted.at.elapsed() < COUNT_AGAIN).then_some(counted.bytes)
    }

    async fn used(
        &self,
        engine: &Engine,
        scope: Option<&Tenant>,
        known: Option<u64>,
    ) -> Result<u64, StoreError> {
        if let Some(known) = known {
            return Ok(known);
        }
        let bytes = engine.usage(scope).await?.bytes;
        let counted = Counted { bytes, at: Instant::now() };
        let mut known = self.lock();
        match scope {
            Some(tenant) => {
                if known.tenants.len() > MOST_TENANTS {
                    known.tenants.clear();
                }
                known.tenants.insert(tenant.clone(), counted);
            }
            None => known.total = Some(counted),
        }
        Ok(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a count is used.
const COUNT_AGAIN: Duration = Duration::from_secs(30);

/// How many tenants are remembered.
const MOST_TENANTS: usize = 10_000;
