//! Deletes what has expired, from time to time.

use std::time::Duration;

use toolwire_store::{Store, StoreError};

use crate::observe::write_event;
use crate::state::GatewayState;

/// Deletes what has expired for as long as it is polled. Several gateways may do
/// so at the same time.
pub(crate) async fn delete_expired(state: &GatewayState) {
    let Some(store) = state.stored.store() else { return };
    loop {
        tokio::time::sleep(INTERVAL).await;
        if let Err(error) = delete_now(store).await {
            // Nobody is told that it could not be kept, but somebody has to know that it is
            // kept for longer than it should be.
            let message =
                format!("what has expired was not deleted, which is tried again: {error}");
            write_event(&state.log, state.active.load().config.log, NOT_PRUNED, &message);
        }
    }
}

async fn delete_now(store: &Store) -> Result<(), StoreError> {
    while store.prune(STEP).await? > 0 {
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// How often to look for what has expired. It cannot be read in the meantime.
const INTERVAL: Duration = Duration::from_secs(600);

/// How many chains and threads are deleted in one write, so that others can
/// write too.
const STEP: usize = 100;

const NOT_PRUNED: &str = "store_not_pruned";
