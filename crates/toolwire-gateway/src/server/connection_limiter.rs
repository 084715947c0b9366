//! How many are connected, in all and from each address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolwire::model::{ApiError, ErrorKind};

use crate::config::Limits;
use crate::relay::Failure;

/// The connections that are open.
#[derive(Default)]
pub(super) struct Places {
    taken: Mutex<Taken>,
    emptied: Notify,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection's place, free again when this is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

/// Why there is no place, with the limit that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// There are too many.
    All(usize),
    /// There are too many from this address.
    Address(usize),
}

impl Places {
    /// Takes a place for a connection from an address.
    pub(super) fn take(self: &Arc<Self>, peer: IpAddr, limits: &Limits) -> Result<Place, Full> {
        let address = network(peer);
        let most = match limits.connections_per_address {
            Some(most) => most,
            None if address.is_loopback() => usize::MAX,
            None => PER_ADDRESS,
        };
        let mut taken = self.lock();
        if taken.all >= limits.connections {
            return Err(Full::All(limits.connections));
        }
        let here = taken.by_address.entry(address).or_default();
        if *here >= most {
            return Err(Full::Address(most));
        }
        *here += 1;
        taken.all += 1;
        Ok(Place { places: Arc::clone(self), address })
    }

    /// Waits until nobody is connected.
    pub(super) async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.lock().all == 0 {
                return;
            }
            emptied.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Nothing that can panic is done while it is held.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.all = taken.all.saturating_sub(1);
        if let Some(here) = taken.by_address.get_mut(&self.address) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                taken.by_address.remove(&self.address);
            }
        }
        if taken.all == 0 {
            self.places.emptied.notify_waiters();
        }
    }
}

impl Full {
    /// What whoever is turned away gets to read.
    pub(super) fn failure(self) -> Failure {
        let (status, kind, message) = match self {
            Self::All(limit) => (
                503,
                ErrorKind::Overloaded,
                format!("The gateway has {limit} connections, the most it takes. Try again later."),
            ),
            Self::Address(limit) => (
                429,
                ErrorKind::RateLimit,
                format!(
                    "Your address has {limit} connections to the gateway, the most it may have. \
                     Use those that are open."
                ),
            ),
        };
        let mut failure = Failure::with_status(status, ApiError::new(kind, message));
        failure.header("retry-after", "1");
        failure.header("connection", "close");
        failure
    }
}

/// The address that a peer is counted under. Whoever has one IPv6 address has
/// the 2^64 of its network.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ (IpAddr::V4(_) | IpAddr::V6(_)) => address,
    }
}

/// Connections at a time from one address, unless the operator says otherwise.
const PER_ADDRESS: usize = 256;

#[cfg(test)]
mod tests;
