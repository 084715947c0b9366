//! What all connections of a gateway share.

use std::io::Write;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use toolwire::translate::ToolLists;

use crate::active_config::{ActiveConfig, StartError};
use crate::config::Config;
use crate::heavy_work::HeavyWork;
use crate::identity::Identity;
use crate::memory::MemoryBudget;
use crate::models::RefreshSignal;
use crate::observe::{Log, Metrics};
use crate::retry::RetryBudget;
use crate::server::Drain;
use crate::stored::ResponseStore;

/// Where a reload gets the configuration from. The error is a sentence for the
/// operator.
pub type ConfigLoader = Arc<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// The state of a running gateway.
pub(crate) struct GatewayState {
    pub(crate) active: ArcSwap<ActiveConfig>,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) drain: Drain,
    pub(crate) retry_budget: RetryBudget,
    /// The bodies of requests and of whole responses.
    pub(crate) bodies: Arc<MemoryBudget>,
    /// What streams keep until they end.
    pub(crate) streams: Arc<MemoryBudget>,
    pub(crate) heavy_work: HeavyWork,
    pub(crate) tool_lists: ToolLists,
    /// What is kept for clients whose protocol expects that.
    pub(crate) stored: ResponseStore,
    /// Wakes the task that asks upstreams for their models.
    pub(crate) refresh: RefreshSignal,
    pub(crate) source: Option<ConfigLoader>,
    /// How it proves whose gateway it is.
    pub(crate) identity: OnceLock<Identity>,
}

impl GatewayState {
    /// The state of a gateway that has served nobody.
    pub(crate) fn new(
        config: Config,
        stored: ResponseStore,
        log: Box<dyn Write + Send>,
        source: Option<ConfigLoader>,
    ) -> Result<Self, StartError> {
        let metrics = Metrics::default();
        let retry_budget = RetryBudget::new(&config.retry);
        let active = ActiveConfig::build(config, &metrics, &[])?;
        Ok(Self {
            active: ArcSwap::from_pointee(active),
            metrics,
            log: Log::new(log),
            drain: Drain::default(),
            retry_budget,
            bodies: Arc::default(),
            streams: Arc::default(),
            heavy_work: HeavyWork::default(),
            tool_lists: ToolLists::with_room(TOOL_LISTS),
            stored,
            refresh: RefreshSignal::default(),
            source,
            identity: OnceLock::new(),
        })
    }

    /// Replaces the configuration. If the new one cannot be used, nothing
    /// changes.
    pub(crate) fn reload(&self, config: Config) -> Result<(), StartError> {
        let result = self.replace(config);
        self.metrics.reloaded(result.is_ok());
        result
    }

    fn replace(&self, config: Config) -> Result<(), StartError> {
        let old = self.active.load_full();
        if config.listen != old.config.listen {
            return Err(StartError::Moved);
        }
        if !config.store.is_same(&old.config.store) {
            return Err(StartError::StoreMoved);
        }
        let active = ActiveConfig::build(config, &self.metrics, &old.upstreams)?;
        self.active.store(Arc::new(active));
        self.refresh.notify();
        Ok(())
    }
}

/// How many bytes of tool lists are kept, to know them when they come again.
const TOOL_LISTS: usize = 1 << 20;
