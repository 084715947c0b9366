//! Deletes what has expired, from time to time.

use std::time::Duration;

use toolwire_store::Store;

/// Deletes what has expired for as long as it is polled. Several gateways may do
/// so at the same time.
pub(crate) async fn delete_expired(store: Store) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        // If the store is not there, there is another time.
        while let Ok(1..) = store.prune(STEP).await {
            tokio::task::yield_now().await;
        }
    }
}

/// How often to look for what has expired. It cannot be read in the meantime.
const INTERVAL: Duration = Duration::from_secs(600);

/// How many chains and threads are deleted in one write, so that others can
/// write too.
const STEP: usize = 100;
