//! The background task that keeps the lists of the upstreams up to date.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::fetch::{self, fetch};
use crate::active_config::ActiveConfig;
use crate::config::{Credential, Origin};
use crate::state::GatewayState;
use crate::upstream::Upstream;

/// Tells the task that the configuration has changed.
#[derive(Debug, Default)]
pub(crate) struct RefreshSignal(Notify);

impl RefreshSignal {
    pub(crate) fn notify(&self) {
        self.0.notify_one();
    }
}

/// Asks each upstream for its list when it is due, until the gateway stops.
pub(crate) async fn keep_fresh(state: Arc<GatewayState>) {
    tokio::select! {
        () = refresh_when_due(&state) => {}
        () = state.drain.closing() => {}
    }
}

async fn refresh_when_due(state: &Arc<GatewayState>) {
    let mut running = JoinSet::new();
    loop {
        let active = state.active.load_full();
        let now = Instant::now();
        let mut next = now + IDLE;
        for upstream in active.upstreams.iter().filter(|upstream| is_asked(&active, upstream)) {
            if running.len() < MAX_RUNNING && upstream.listing.begin(now) {
                running.spawn(refresh(
                    Arc::clone(state),
                    Arc::clone(&active),
                    Arc::clone(upstream),
                ));
            } else if let Some(due) = upstream.listing.next_attempt(now) {
                next = next.min(due.max(now + MIN_PAUSE));
            }
        }
        drop(active);
        tokio::select! {
            () = sleep_until(next) => {}
            () = state.refresh.0.notified() => {}
            Some(_) = running.join_next() => {}
        }
    }
}

async fn refresh(state: Arc<GatewayState>, active: Arc<ActiveConfig>, upstream: Arc<Upstream>) {
    let mask = fetch::mask(&active.secrets);
    let listing = fetch(&upstream, &mask, &state.bodies).await;
    let succeeded = listing.is_ok();
    state.metrics.listed(succeeded);
    if let Ok(listing) = listing {
        upstream.listing.replace(listing);
        // The configuration may be another one by now.
        state.active.load().update_catalog();
    }
    let refresh = active.config.model_refresh.unwrap_or(IDLE);
    upstream.listing.finish(succeeded, Instant::now(), refresh);
}

/// Whether an upstream is asked for its list. One that gets the client's own
/// credential can't be, because there is no client to ask for.
pub(super) fn is_asked(active: &ActiveConfig, upstream: &Upstream) -> bool {
    let config = &upstream.config;
    let has_key = match config.credential {
        Credential::None | Credential::Key(_) => true,
        Credential::Client => false,
    };
    let is_remote = match config.origin {
        Origin::Demo => false,
        Origin::Http { .. } => true,
    };
    active.config.model_refresh.is_some() && config.list_models && has_key && is_remote
}

/// How long the task sleeps if nothing is due.
const IDLE: Duration = Duration::from_secs(3600);

/// How long it sleeps at least.
const MIN_PAUSE: Duration = Duration::from_millis(100);

/// How many upstreams are asked at a time.
const MAX_RUNNING: usize = 16;
