//! How much is stored, so that limits can be kept without counting at each write.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::task::JoinHandle;

use crate::engine::Engine;
use crate::error::{Cap, StoreError};
use crate::id::Tenant;
use crate::options::Limits;

/// What is known about how much is stored. It is counted by the engine now and
/// then, and kept up to date with what this process writes in between. A write takes
/// its room before it begins, so a limit is exact for one gateway; several that share a
/// store may exceed it by what they write within [`COUNT_AGAIN`]. What is written while it is
/// counted may count twice, so that a write is refused a little early, until the next count.
///
/// One task counts at a time, and only those wait for it who have no count at all or
/// would be refused, and not for longer than [`LONGEST_WAIT`]. If the engine fails to count,
/// the last count is used. Without any, nobody is refused, because a database that takes too
/// long to count can still be written.
#[derive(Default)]
pub(crate) struct UsageTracker {
    known: Mutex<Known>,
    /// Held by whoever counts what a tenant has.
    tenant_count: Arc<AsyncMutex<()>>,
    /// Held by whoever counts everything.
    total_count: Arc<AsyncMutex<()>>,
}

#[derive(Default)]
struct Known {
    tenants: HashMap<Tenant, KnownUsage>,
    total: KnownUsage,
}

/// What is known about one tenant or about all of them.
#[derive(Clone, Copy, Default)]
struct KnownUsage {
    /// What was counted, and what has changed since.
    bytes: u64,
    /// Whether it was ever counted.
    is_counted: bool,
    /// How much of that may not be there, because nobody knows how its write has ended.
    unsure: u64,
    /// When somebody counted last, failed to, or waited for it in vain. `None` if much has
    /// changed since.
    tried_at: Option<Instant>,
    /// How much is being written. A count may have it or not.
    under_way: u64,
    /// How much has been begun, ever.
    begun: u64,
}

impl KnownUsage {
    /// Whether so many bytes more are within a limit, according to a count that need not be
    /// made again.
    fn fits(&self, limit: u64, added: u64, now: Instant) -> bool {
        let is_recent = self.tried_at.is_some_and(|at| now.duration_since(at) < COUNT_AGAIN);
        is_recent && !self.exceeds(limit, added)
    }

    /// Whether so many bytes more would be too many. Nobody is refused without a count.
    fn exceeds(&self, limit: u64, added: u64) -> bool {
        added > 0 && self.is_counted && self.bytes.saturating_add(added) > limit
    }

    /// The same without what may not be there. Those who were told that nobody knows try
    /// again, and it must not add up until they are refused.
    fn surely_exceeds(&self, limit: u64, added: u64) -> bool {
        Self { bytes: self.bytes.saturating_sub(self.unsure), ..*self }.exceeds(limit, added)
    }

    fn begin(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.under_way = self.under_way.saturating_add(bytes);
        self.begun = self.begun.saturating_add(bytes);
    }
}

/// Room that a write has taken. It stays taken unless it is given back.
pub(crate) struct Room<'t> {
    usage: &'t UsageTracker,
    tenant: &'t Tenant,
    bytes: u64,
}

impl Room<'_> {
    /// Nothing was written.
    pub(crate) fn give_back(self) {
        self.usage.remove(self.tenant, self.bytes);
    }

    /// Nobody knows whether it was written. The next count will tell.
    pub(crate) fn leave_unsure(self) {
        self.usage.change(self.tenant, |known| {
            known.unsure = known.unsure.saturating_add(self.bytes);
        });
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let bytes = self.bytes;
        self.usage.change(self.tenant, |known| {
            known.under_way = known.under_way.saturating_sub(bytes);
        });
    }
}

impl UsageTracker {
    /// Takes room for so many bytes of a tenant, unless a limit does not allow it.
    pub(crate) async fn take<'t>(
        self: &'t Arc<Self>,
        engine: &Arc<Engine>,
        limits: &Limits,
        tenant: &'t Tenant,
        added: u64,
    ) -> Result<Room<'t>, StoreError> {
        if let Some(room) = self.take_at_once(limits, tenant, added) {
            return Ok(room);
        }
        for scope in [Some(tenant), None] {
            if added > 0 && !self.is_recent(scope, COUNT_AGAIN) {
                let is_first = self.get(scope).tried_at.is_none() && !self.get(scope).is_counted;
                self.count(engine, scope, COUNT_AGAIN, is_first).await;
            }
        }
        for scope in [Some(tenant), None] {
            if self.exceeded(limits, tenant, added).is_some_and(|over| over.0 == scope) {
                // Something may have been deleted or pruned elsewhere.
                self.count(engine, scope, COUNT_AFTER_REFUSAL, true).await;
            }
        }
        self.take_known(limits, tenant, added)
    }

    /// Takes room if nothing has to be counted for it, which is so for most writes.
    fn take_at_once<'t>(
        &'t self,
        limits: &Limits,
        tenant: &'t Tenant,
        bytes: u64,
    ) -> Option<Room<'t>> {
        let (mut known, now) = (self.lock(), Instant::now());
        let Known { tenants, total } = &mut *known;
        let of_tenant = tenants.get_mut(tenant)?;
        if !of_tenant.fits(limits.tenant, bytes, now) || !total.fits(limits.total, bytes, now) {
            return None;
        }
        of_tenant.begin(bytes);
        total.begin(bytes);
        Some(Room { usage: self, tenant, bytes })
    }

    /// Takes room whatever the limits are.
    pub(crate) fn take_anyway<'t>(&'t self, tenant: &'t Tenant, bytes: u64) -> Room<'t> {
        begin(&mut self.lock(), tenant, bytes);
        Room { usage: self, tenant, bytes }
    }

    /// Whether it is known, without counting, that a tenant may store so many bytes more.
    pub(crate) fn is_known_to_fit(&self, limits: &Limits, tenant: &Tenant, added: u64) -> bool {
        let (known, now) = (self.lock(), Instant::now());
        let fits = |usage: &KnownUsage, limit| usage.is_counted && usage.fits(limit, added, now);
        let of_tenant = known.tenants.get(tenant);
        of_tenant.is_some_and(|usage| fits(usage, limits.tenant))
            && fits(&known.total, limits.total)
    }

    /// Counts what was deleted.
    pub(crate) fn remove(&self, tenant: &Tenant, removed: u64) {
        self.change(tenant, |known| known.bytes = known.bytes.saturating_sub(removed));
    }

    /// Has everything counted again, because much has changed.
    pub(crate) fn forget(&self) {
        let mut known = self.lock();
        let Known { tenants, total } = &mut *known;
        // What could not be counted is not sooner counted for that.
        let counted = tenants.values_mut().chain([total]).filter(|known| known.is_counted);
        counted.for_each(|known| known.tried_at = None);
    }

    fn take_known<'t>(
        &'t self,
        limits: &Limits,
        tenant: &'t Tenant,
        bytes: u64,
    ) -> Result<Room<'t>, StoreError> {
        let mut known = self.lock();
        let exceeds = KnownUsage::surely_exceeds;
        if let Some((_, cap, limit)) = known.exceeded(limits, tenant, bytes, exceeds) {
            return Err(StoreError::TooLarge { cap, limit });
        }
        begin(&mut known, tenant, bytes);
        Ok(Room { usage: self, tenant, bytes })
    }

    fn exceeded<'t>(
        &self,
        limits: &Limits,
        tenant: &'t Tenant,
        added: u64,
    ) -> Option<(Option<&'t Tenant>, Cap, u64)> {
        self.lock().exceeded(limits, tenant, added, KnownUsage::exceeds)
    }

    /// Has a count that is older than this made again, by one task. The task goes on if
    /// nobody waits for it.
    async fn count(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        scope: Option<&Tenant>,
        oldest: Duration,
        waits: bool,
    ) {
        let counting = if scope.is_some() { &self.tenant_count } else { &self.total_count };
        if !waits {
            if let Ok(permit) = Arc::clone(counting).try_lock_owned() {
                self.start_count(engine, scope, oldest, permit);
            }
            return;
        }
        let counted = async {
            let permit = Arc::clone(counting).lock_owned().await;
            if let Some(task) = self.start_count(engine, scope, oldest, permit) {
                // A runtime that ends drops the task, and nobody may wait for it then.
                let _ = task.await;
            }
        };
        if tokio::time::timeout(LONGEST_WAIT, counted).await.is_err() {
            // Nobody else has to wait for what does not come.
            self.lock().get_mut(scope).tried_at = Some(Instant::now());
        }
    }

    /// Begins to count, unless somebody has done so in the meantime.
    fn start_count(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        scope: Option<&Tenant>,
        oldest: Duration,
        permit: OwnedMutexGuard<()>,
    ) -> Option<JoinHandle<()>> {
        if self.is_recent(scope, oldest) {
            return None;
        }
        let (usage, engine, scope) = (Arc::clone(self), Arc::clone(engine), scope.cloned());
        let count = async move { usage.count_now(&engine, scope.as_ref(), permit).await };
        Some(tokio::spawn(count))
    }

    async fn count_now(
        &self,
        engine: &Engine,
        scope: Option<&Tenant>,
        _permit: OwnedMutexGuard<()>,
    ) {
        // What is written meanwhile may be among what is counted or not, so it counts too.
        let before = self.get(scope);
        let counted = engine.usage(scope).await;
        let mut all = self.lock();
        let known = all.get_mut(scope);
        known.tried_at = Some(Instant::now());
        if let Ok(counted) = counted {
            let begun = known.begun.saturating_sub(before.begun);
            known.bytes = counted.bytes.saturating_add(before.under_way).saturating_add(begun);
            known.unsure = known.unsure.saturating_sub(before.unsure);
            known.is_counted = true;
        }
    }

    fn is_recent(&self, scope: Option<&Tenant>, oldest: Duration) -> bool {
        self.get(scope).tried_at.is_some_and(|at| at.elapsed() < oldest)
    }

    fn get(&self, scope: Option<&Tenant>) -> KnownUsage {
        self.lock().get(scope)
    }

    fn change(&self, tenant: &Tenant, change: impl Fn(&mut KnownUsage)) {
        let mut known = self.lock();
        let Known { tenants, total } = &mut *known;
        tenants.get_mut(tenant).into_iter().chain([total]).for_each(change);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begin(known: &mut Known, tenant: &Tenant, bytes: u64) {
    for scope in [Some(tenant), None] {
        known.get_mut(scope).begin(bytes);
    }
}

impl Known {
    /// The limit that so many bytes more would exceed, and whose it is.
    fn exceeded<'t>(
        &self,
        limits: &Limits,
        tenant: &'t Tenant,
        added: u64,
        exceeds: impl Fn(&KnownUsage, u64, u64) -> bool,
    ) -> Option<(Option<&'t Tenant>, Cap, u64)> {
        let scopes = [(Some(tenant), Cap::Tenant, limits.tenant), (None, Cap::Total, limits.total)];
        scopes.into_iter().find(|(scope, _, limit)| exceeds(&self.get(*scope), *limit, added))
    }

    fn get(&self, scope: Option<&Tenant>) -> KnownUsage {
        match scope {
            Some(tenant) => self.tenants.get(tenant).copied().unwrap_or_default(),
            None => self.total,
        }
    }

    fn get_mut(&mut self, scope: Option<&Tenant>) -> &mut KnownUsage {
        let Some(tenant) = scope else { return &mut self.total };
        if self.tenants.len() > MOST_TENANTS {
            self.tenants.retain(|_, known| known.under_way > 0);
        }
        self.tenants.entry(tenant.clone()).or_default()
    }
}

/// How long a count is used.
const COUNT_AGAIN: Duration = Duration::from_secs(30);

/// How long a count is used that says that there is no room.
const COUNT_AFTER_REFUSAL: Duration = Duration::from_secs(1);

/// How long a write waits for a count. Those of other tenants may come first.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How many tenants are remembered.
const MOST_TENANTS: usize = 10_000;

#[cfg(test)]
mod tests;
