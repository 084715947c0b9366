//! One configuration and what was built from it. A reload builds another one and
//! swaps it in; requests keep the one they began with.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use crate::config::Config;
use crate::heavy_work::in_place;
use crate::models::{BYTES_PER_MODEL, Catalog};
use crate::observe::Metrics;
use crate::route::ModelIndex;
use crate::secret_mask::{KnownSecret, configured_secrets};
use crate::upstream::Upstream;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Anyone on the network could use the operator's credentials.
    #[error(
        "other machines can reach {0}, and no key protects it: \
         configure at least one key, or listen on 127.0.0.1"
    )]
    Unprotected(IpAddr),
    /// Every page of these origins could use the operator's credentials.
    #[error("web pages can use the gateway, and no key protects it: configure at least one key")]
    OpenToPages,
    /// An upstream's address is invalid.
    #[error("upstream {name}: {reason}")]
    Upstream {
        /// The upstream's name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The gateway cannot listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The store cannot be used.
    #[error("the store cannot be used: {0}")]
    Store(String),
    /// A reload cannot change the address.
    #[error("`listen` cannot change without a restart")]
    Moved,
    /// A reload cannot change what is stored where.
    #[error("`[store]` cannot change without a restart")]
    StoreMoved,
    /// The configuration could not be read again.
    #[error("{0}")]
    Source(String),
}

/// A configuration that is in use.
pub(crate) struct ActiveConfig {
    pub(crate) config: Config,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    /// What no client may get to see.
    pub(crate) secrets: Arc<[KnownSecret]>,
    /// Which upstreams serve a name.
    pub(crate) index: ModelIndex,
    /// The models that clients are told of.
    catalog: ArcSwap<Catalog>,
    requests: AtomicU64,
}

impl ActiveConfig {
    /// Checks a configuration and builds its upstreams. An upstream that was
    /// already in `previous` keeps its health and its list of models.
    pub(crate) fn build(
        config: Config,
        metrics: &Metrics,
        previous: &[Arc<Upstream>],
    ) -> Result<Self, StartError> {
        let address = config.listen.ip().to_canonical();
        if !address.is_loopback() && config.keys.is_empty() {
            return Err(StartError::Unprotected(address));
        }
        if !config.origins.is_empty() && config.keys.is_empty() {
            return Err(StartError::OpenToPages);
        }
        let retry = Arc::new(config.retry.clone());
        let previous: HashMap<&str, &Arc<Upstream>> =
            previous.iter().map(|upstream| (upstream.config.name.as_str(), upstream)).collect();
        let upstreams: Vec<_> = config
            .upstreams
            .iter()
            .map(|upstream| {
                let metrics = metrics.upstream(&upstream.name);
                let previous = previous.get(upstream.name.as_str()).copied();
                Upstream::build(upstream, metrics, &retry, previous).map(Arc::new)
            })
            .collect::<Result<_, _>>()?;
        let secrets = configured_secrets(&config);
        let (catalog, requests) = (ArcSwap::default(), AtomicU64::new(0));
        let index = ModelIndex::new(&upstreams);
        let active = Self { config, upstreams, secrets, index, catalog, requests };
        active.update_catalog();
        Ok(active)
    }

    /// The models that clients are told of.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    /// Makes the catalog anew, from what the upstreams list by now.
    pub(crate) fn update_catalog(&self) {
        let lists = self.upstreams.iter().map(|upstream| upstream.listing.len());
        let build = || self.catalog.store(Arc::new(Catalog::build(self)));
        in_place(BYTES_PER_MODEL * lists.sum::<usize>(), build);
    }

    /// Numbers the requests, so that weights can share them out.
    pub(crate) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }
}
