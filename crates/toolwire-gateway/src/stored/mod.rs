//! What the gateway remembers for clients whose protocol expects it of a
//! server: responses and conversations, over upstreams that remember nothing.
//! `sessions` does the same for all other clients.
//!
//! `recall` finds what a request refers to, `record` keeps its answer, and
//! `endpoints` are the paths where clients look at what was kept. The store
//! itself is a crate of its own.

mod answer_recorder;
mod answer_write;
mod background;
mod conversation_lock;
mod conversations;
mod earlier;
mod endpoints;
mod failure;
#[cfg(test)]
pub(crate) mod growth;
mod health;
mod joined_conversation;
mod labels;
mod list;
mod outages;
mod recall;
mod recall_memory;
mod record;
mod references;
mod responses;
mod retention;
mod sessions;
pub(crate) mod time_of_day;

use std::sync::Arc;

use toolwire_store::{OpenError, Store, Tenant};

pub(crate) use self::answer_recorder::{AnswerRecorder, RunningCommit};
pub(crate) use self::background::{EventReplay, Job, JobEnd, RunningJobs, keep_leases};
use self::conversation_lock::ConversationLocks;
pub(crate) use self::endpoints::{ROUTES, StoredEndpoint, serve};
pub(crate) use self::failure::{Missing, no_background};
use self::health::StoreHealth;
pub(crate) use self::list::item_protocol;
pub(crate) use self::outages::report_outages;
pub(crate) use self::recall::{Recalled, StateLookup, Turn, TurnPlan, look_up};
pub(crate) use self::recall_memory::RecallMemory;
pub(crate) use self::retention::delete_expired;
use self::sessions::SaidAgain;
#[cfg(test)]
pub(crate) use self::sessions::growth as session_growth;
pub(crate) use self::sessions::{
    HEADER as SESSION_HEADER, SessionLookup, SessionTurn, requested_session, with_session,
};
pub(crate) use self::time_of_day::now;
use crate::active_config::StartError;
use crate::config::{Config, StoreConfig};
use crate::guard::Credentials;

/// The gateway's memory, if it has one.
#[derive(Default)]
pub(crate) struct ResponseStore {
    store: Option<Store>,
    open_error: Option<OpenError>,
    health: Arc<StoreHealth>,
    conversations: ConversationLocks,
    sessions: ConversationLocks,
    said_again: SaidAgain,
    pub(crate) jobs: RunningJobs,
}

impl ResponseStore {
    /// Opens the store that the configuration wants. One that nobody has asked
    /// for may fail to open; the gateway then keeps nothing.
    pub(crate) async fn open(config: &StoreConfig) -> Result<Self, StartError> {
        let (store, open_error) = match config {
            StoreConfig::Off => (None, None),
            StoreConfig::On(options) => {
                let opened = Store::open(options.clone()).await;
                (Some(opened.map_err(|error| StartError::Store(error.to_string()))?), None)
            }
            StoreConfig::Default(options) => match Store::open(options.clone()).await {
                Ok(store) => (Some(store), None),
                Err(error) => (None, Some(error)),
            },
        };
        Ok(Self { store, open_error, ..Self::default() })
    }

    /// Why the store that nobody has asked for could not be opened.
    pub(crate) fn open_error(&self) -> Option<&OpenError> {
        self.open_error.as_ref()
    }

    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Whether the store works, as far as is known. `None` if there is none.
    pub(crate) fn is_available(&self) -> Option<bool> {
        self.store.as_ref().map(|_| self.health.failure().is_none())
    }
}

/// Whose content a request is about: that of the client's key, or everybody's
/// where there are no keys.
pub(crate) fn tenant(config: &Config, credentials: &Credentials) -> Tenant {
    let key = credentials.key.and_then(|key| config.keys.get(key));
    key.map_or_else(Tenant::single, |key| Tenant::of_key(key.reveal()))
}
