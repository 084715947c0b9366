//! Deleting, which may take the server longer than a call may.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::types::ToSql;

use super::connection::Connections;
use super::failure::Failure;
use super::read;
use crate::engine::sql;
use crate::id::Tenant;
use crate::record::{Kind, count};

/// How far a call for pruning has come.
pub(super) struct Pruning {
    start: Instant,
    limit: i64,
    /// How many lineages with records were deleted. They are, whatever becomes of the rest.
    pruned: AtomicI64,
}

impl Pruning {
    pub(super) fn new(limit: usize) -> Self {
        Self { start: Instant::now(), limit: count(limit), pruned: AtomicI64::new(0) }
    }

    pub(super) fn pruned(&self) -> u64 {
        u64::try_from(self.pruned.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Deletes a few lineages at a time, each time in a transaction of its own, and ends
    /// before the call is late. But it does not end before something was pruned, since zero
    /// means that nothing is left.
    pub(super) async fn run(
        &self,
        connections: &Connections,
        client: &Object,
        now: i64,
    ) -> Result<(), Failure> {
        let prune = client.prepare_cached(sql::PRUNE_RETURNING).await?;
        let mut step = STEP;
        loop {
            let before = self.pruned.load(Ordering::Relaxed);
            let is_late = self.start.elapsed() > connections.timeout() / 2;
            if before >= self.limit || (before > 0 && is_late) {
                return Ok(());
            }
            let most = step.min(self.limit - before);
            let values: [&(dyn ToSql + Sync); 2] = [&now, &most];
            let lineages = connections.delete(client, client.query(&prune, &values)).await?;
            let mut pruned = 0;
            for lineage in &lineages {
                pruned += i64::from(lineage.try_get::<_, bool>(0)?);
            }
            self.pruned.fetch_add(pruned, Ordering::Relaxed);
            if count(lineages.len()) < most {
                return Ok(());
            }
            // Those without records do not count, and they are deleted at once.
            step = if pruned == 0 { step.saturating_mul(2) } else { STEP };
        }
    }
}

/// Deletes a record. Returns how many bytes it had.
pub(super) async fn delete(
    connections: &Connections,
    client: &Object,
    tenant: &Tenant,
    (kind, id): (Kind, &str),
    now: i64,
) -> Result<Option<u64>, Failure> {
    let delete = client.prepare_cached(sql::DELETE).await?;
    let (tenant, kind) = (tenant.as_str(), kind.as_str());
    let values: [&(dyn ToSql + Sync); 4] = [&tenant, &kind, &id, &now];
    let deleted = connections.delete(client, client.query_opt(&delete, &values)).await?;
    let Some(row) = deleted else { return Ok(None) };
    Ok(Some(read::number(&row, 0)?))
}

/// How many lineages are deleted in one transaction. Each may be a long chain.
const STEP: i64 = 4;
