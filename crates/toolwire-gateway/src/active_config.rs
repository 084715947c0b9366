//! What is in force: the configuration and what was built from it. A reload
//! builds another and swaps it in; requests keep the one they began with.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use crate::config::Config;
use crate::observe::{Log, Metrics};
use crate::retry::Budget;
use crate::server::Drain;
use crate::upstream::Upstream;

/// Where a reload gets the configuration from. An error is a sentence for the
/// operator.
pub type Source = Arc<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// Why a configuration cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Anyone on the network could use the operator's credentials.
    #[error(
        "{0} can be reached from other machines, and no key protects it: \
         configure at least one key, or listen on 127.0.0.1"
    )]
    Unprotected(IpAddr),
    /// An upstream's address is not one.
    #[error("upstream {name}: {reason}")]
    Upstream {
        /// The upstream's name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// A running gateway cannot move.
    #[error("the address to listen on cannot change without a restart")]
    Moved,
    /// The configuration could not be read again.
    #[error("{0}")]
    Source(String),
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) live: ArcSwap<Live>,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) drain: Drain,
    pub(crate) budget: Budget,
    pub(crate) source: Option<Source>,
}

impl Shared {
    /// Puts another configuration in force, or changes nothing.
    pub(crate) fn reload(&self, config: Config) -> Result<(), StartError> {
        let outcome = self.replace(config);
        self.metrics.reloaded(outcome.is_ok());
        outcome
    }

    fn replace(&self, config: Config) -> Result<(), StartError> {
        let old = self.live.load_full();
        if config.listen != old.config.listen {
            return Err(StartError::Moved);
        }
        let live = Live::build(config, &self.metrics, &old.upstreams)?;
        self.live.store(Arc::new(live));
        Ok(())
    }
}

/// One configuration, ready to serve.
pub(crate) struct Live {
    pub(crate) config: Config,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    turn: AtomicU64,
}

impl Live {
    /// Checks a configuration and builds what it needs. What is known of the
    /// health of upstreams that stay is kept.
    pub(crate) fn build(
        config: Config,
        metrics: &Metrics,
        known: &[Arc<Upstream>],
    ) -> Result<Self, StartError> {
        let address = config.listen.ip().to_canonical();
        if !address.is_loopback() && config.keys.is_empty() {
            return Err(StartError::Unprotected(address));
        }
        let upstreams = config
            .upstreams
            .iter()
            .map(|upstream| {
                let meters = metrics.upstream(&upstream.name);
                Upstream::build(upstream, meters, known).map(Arc::new)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { config, upstreams, turn: AtomicU64::new(0) })
    }

    /// The number of the request, from which its place among upstreams of
    /// different weight follows.
    pub(crate) fn turn(&self) -> u64 {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }
}
