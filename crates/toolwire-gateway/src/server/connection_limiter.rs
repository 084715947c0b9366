//! Limits on open connections, in total and from each address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolwire::model::{ApiError, ErrorKind};

use crate::config::Limits;
use crate::relay::Failure;

/// Counts the open connections.
#[derive(Default)]
pub(super) struct ConnectionLimiter {
    counts: Mutex<Counts>,
    idle: Notify,
}

#[derive(Default)]
struct Counts {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// Counts as one open connection until it is dropped.
pub(super) struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    address: IpAddr,
}

/// The limit that a connection exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitExceeded {
    /// There are too many connections.
    Total(usize),
    /// There are too many connections from this address.
    PerAddress(usize),
}

impl ConnectionLimiter {
    /// Takes a permit for a connection from an address.
    pub(super) fn acquire(
        self: &Arc<Self>,
        peer: IpAddr,
        limits: &Limits,
    ) -> Result<ConnectionPermit, LimitExceeded> {
        let address = network(peer);
        let per_address = match limits.connections_per_address {
            Some(limit) => limit,
            None if address.is_loopback() => usize::MAX,
            None => DEFAULT_PER_ADDRESS,
        };
        let mut counts = self.lock();
        if counts.total >= limits.connections {
            return Err(LimitExceeded::Total(limits.connections));
        }
        let count = counts.by_address.entry(address).or_default();
        if *count >= per_address {
            return Err(LimitExceeded::PerAddress(per_address));
        }
        *count += 1;
        counts.total += 1;
        Ok(ConnectionPermit { limiter: Arc::clone(self), address })
    }

    /// Waits until there is no open connection.
    pub(super) async fn wait_until_idle(&self) {
        loop {
            let idle = self.idle.notified();
            if self.lock().total == 0 {
                return;
            }
            idle.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Nothing can panic while the lock is held.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.limiter.lock();
        counts.total = counts.total.saturating_sub(1);
        if let Some(count) = counts.by_address.get_mut(&self.address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.by_address.remove(&self.address);
            }
        }
        if counts.total == 0 {
            self.limiter.idle.notify_waiters();
        }
    }
}

impl LimitExceeded {
    /// The error for the client.
    pub(super) fn into_failure(self) -> Failure {
        let (status, kind, message) = match self {
            Self::Total(limit) => (
                503,
                ErrorKind::Overloaded,
                format!("The gateway has {limit} connections, its limit. Try again later."),
            ),
            Self::PerAddress(limit) => (
                429,
                ErrorKind::RateLimit,
                format!(
                    "Your address has {limit} connections to the gateway, the limit. \
                     Reuse the open ones."
                ),
            ),
        };
        let mut failure = Failure::with_status(status, ApiError::new(kind, message));
        failure.set_header("retry-after", "1");
        failure.set_header("connection", "close");
        failure
    }
}

/// The address under which a peer is counted. An IPv6 host usually has a whole
/// /64 network, so the network counts as one address.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ (IpAddr::V4(_) | IpAddr::V6(_)) => address,
    }
}

/// Connections at a time from one address, unless the operator sets a limit.
const DEFAULT_PER_ADDRESS: usize = 256;

#[cfg(test)]
mod tests;
