//! What one upstream says about its models.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::watch;
use tokio::time::Instant;
use toolwire::protocol::UpstreamModel;

use crate::stored::now;

/// A list of models, in the upstream's order.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    models: Vec<UpstreamModel>,
    places: HashMap<String, usize>,
}

impl Listing {
    /// A list of these models. The first of two with one name counts.
    pub(crate) fn new(models: Vec<UpstreamModel>) -> Self {
        let mut listing = Self::default();
        for model in models {
            if !listing.places.contains_key(&model.name) {
                listing.places.insert(model.name.clone(), listing.models.len());
                listing.models.push(model);
            }
        }
        listing
    }

    pub(crate) fn models(&self) -> &[UpstreamModel] {
        &self.models
    }

    pub(crate) fn get(&self, name: &str) -> Option<&UpstreamModel> {
        self.models.get(*self.places.get(name)?)
    }
}

/// Where an upstream keeps its list. It outlives a reload of the configuration.
#[derive(Debug)]
pub(crate) struct ListingSlot {
    /// Since when the upstream is known, in seconds since 1970.
    since: u64,
    current: ArcSwapOption<Listing>,
    attempts: Mutex<Attempts>,
    tried: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Attempts {
    /// When to ask next. `None` if nobody has asked yet.
    next: Option<Instant>,
    failures: u32,
    is_running: bool,
}

impl Default for ListingSlot {
    fn default() -> Self {
        let (tried, _) = watch::channel(false);
        let (current, attempts) = (ArcSwapOption::empty(), Mutex::default());
        Self { since: now(), current, attempts, tried }
    }
}

impl ListingSlot {
    /// Since when the upstream is known. Its models count as made then, unless it
    /// says otherwise.
    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    /// The list, if the upstream has ever sent one.
    pub(crate) fn current(&self) -> Option<Arc<Listing>> {
        self.current.load_full()
    }

    /// How many models are in the list.
    pub(crate) fn len(&self) -> usize {
        self.current.load().as_ref().map_or(0, |listing| listing.models.len())
    }

    /// Whether a model is in the list. `None` if there is no list.
    pub(crate) fn lists(&self, model: &str) -> Option<bool> {
        self.current.load().as_ref().map(|listing| listing.get(model).is_some())
    }

    /// Begins an attempt, if one is due and none is running.
    pub(super) fn begin(&self, now: Instant) -> bool {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = !attempts.is_running && attempts.next.is_none_or(|next| next <= now);
        attempts.is_running |= is_due;
        is_due
    }

    /// When the next attempt is due. `None` if one is running.
    pub(super) fn next_attempt(&self, now: Instant) -> Option<Instant> {
        let attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        (!attempts.is_running).then_some(attempts.next.unwrap_or(now))
    }

    /// Replaces the list.
    pub(super) fn replace(&self, listing: Listing) {
        self.current.store(Some(Arc::new(listing)));
    }

    /// Ends an attempt. After a failure, the next one comes sooner.
    pub(super) fn finish(&self, succeeded: bool, now: Instant, refresh: Duration) {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.is_running = false;
        attempts.failures = if succeeded { 0 } else { attempts.failures.saturating_add(1) };
        let pause = match attempts.failures {
            0 => refresh,
            failures => {
                FIRST_PAUSE.saturating_mul(1 << (failures - 1).min(MAX_DOUBLINGS)).min(refresh)
            }
        };
        attempts.next = now.checked_add(pause);
        drop(attempts);
        self.tried.send_replace(true);
    }

    /// Waits until the first attempt is over.
    pub(super) async fn wait_until_tried(&self) {
        let mut tried = self.tried.subscribe();
        // The sender is in `self`.
        let _ = tried.wait_for(|tried| *tried).await;
    }
}

/// The pause after the first failure. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(15);
const MAX_DOUBLINGS: u32 = 16;
