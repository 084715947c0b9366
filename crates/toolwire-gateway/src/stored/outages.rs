//! Tells the operator when the store stops working and why, and when it works again.

use std::time::Duration;

use tokio::time::Instant;
use toolwire_store::StoreError;

use crate::observe::write_event;
use crate::state::GatewayState;

/// Writes it into the log for as long as it is polled.
pub(crate) async fn report_outages(state: &GatewayState) {
    let Some(store) = state.stored.store() else { return };
    let health = &state.stored.health;
    let (mut told, mut told_at) = (AVAILABLE, Instant::now());
    let _ = health.find_out(store).await;
    loop {
        let failure = health.failure();
        let event = event(failure.as_ref());
        // The same store may fail in one way and then in another, so not every change is told.
        if event != told || (failure.is_some() && told_at.elapsed() >= REMINDER) {
            let message = failure.map_or(WORKS.to_owned(), |failure| failure.to_string());
            let format = state.active.load().config.log;
            write_event(&state.log, format, event, &message);
            (told, told_at) = (event, Instant::now());
            tokio::time::sleep(PAUSE).await;
        }
        // It may stop working, or work again, while nobody wants anything of it.
        if tokio::time::timeout(INTERVAL, health.changed()).await.is_err() {
            let _ = health.find_out(store).await;
        }
    }
}

fn event(failure: Option<&StoreError>) -> &'static str {
    match failure {
        None => AVAILABLE,
        Some(StoreError::Full(_)) => "store_full",
        Some(_) => "store_unavailable",
    }
}

const AVAILABLE: &str = "store_available";

const WORKS: &str = "the store works again";

/// How much time is between two lines at least.
const PAUSE: Duration = Duration::from_secs(1);

/// How long nothing may be known about the store.
const INTERVAL: Duration = Duration::from_secs(4);

/// How often it is said that the store still does not work.
const REMINDER: Duration = Duration::from_secs(60);
