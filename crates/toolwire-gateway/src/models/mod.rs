//! The list of models: what the operator named, aliases, and for patterns what
//! the upstreams list themselves.
//!
//! A background task asks each upstream for its list (`refresh`), which the
//! upstream keeps (`listing`). From all lists and the configuration, one catalog
//! is made (`catalog`), and that is what clients get. An upstream that is down
//! keeps the list that it had.

mod catalog;
mod fetch;
#[cfg(test)]
pub(crate) mod growth;
mod listing;
mod refresh;
mod report;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use toolwire::model::ApiError;
use toolwire::protocol::ListedModel;
use toolwire::{Protocol, codec};

use self::catalog::describe;
pub(crate) use self::catalog::{Catalog, PublishedFacts};
pub(crate) use self::listing::{Listing, ListingSlot};
pub(crate) use self::refresh::{RefreshSignal, keep_fresh};
pub use self::report::{ModelReport, Report, UpstreamReport, report};
use crate::active_config::ActiveConfig;
use crate::config::Pattern;
use crate::heavy_work::in_place;
use crate::route::{self, Serving};
use crate::state::GatewayState;
use crate::upstream::Upstream;

/// The models, as the client's protocol writes them: all of them, or the page
/// that the query asks for.
pub(crate) fn list(
    active: &ActiveConfig,
    query: &str,
    client: Protocol,
) -> Result<Vec<u8>, Box<ApiError>> {
    let catalog = active.catalog();
    let size = BYTES_PER_MODEL * catalog.len();
    in_place(size, || {
        let models: Vec<ListedModel<'_>> = catalog.models().collect();
        let mut out = Vec::new();
        (codec(client).write_models)(&models, query, &mut out).map(|()| out)
    })
}

/// One model, if a request for it would find an upstream that has it, or may
/// have it.
pub(crate) fn get(active: &ActiveConfig, name: &str, client: Protocol) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(2 * BYTES_PER_MODEL);
    let catalog = active.catalog();
    if let Some(model) = catalog.get(name) {
        (codec(client).write_model)(model, &mut out);
        return Some(out);
    }
    let serving = route::serving(active, name)?;
    let upstream = serving.upstreams.iter().find(|upstream| may_have(upstream, serving.model))?;
    let listing = upstream.listing.current();
    let listed = listing.as_ref().and_then(|listing| listing.get(serving.model));
    (codec(client).write_model)(describe(name, upstream, listed), &mut out);
    Some(out)
}

/// One model that isn't in any list, if an upstream with a pattern for it says that
/// it has it. Vendors have names for their models that they don't list.
pub(crate) async fn ask(state: &GatewayState, name: &str, client: Protocol) -> Option<Vec<u8>> {
    let active = state.active.load_full();
    let serving = route::serving(&active, name)?;
    let upstream =
        serving.upstreams.iter().find(|upstream| refresh::is_asked(&active, upstream))?;
    let mask = fetch::mask(&active.secrets);
    let found = fetch::fetch_one(upstream, serving.model, &mask, &state.bodies).await?;
    let mut out = Vec::with_capacity(2 * BYTES_PER_MODEL);
    (codec(client).write_model)(describe(name, upstream, Some(&found)), &mut out);
    Some(out)
}

/// Waits until every upstream with patterns was asked for its list once, but not
/// for long.
pub(crate) async fn wait_for_first_lists(active: &ActiveConfig) {
    let deadline = Instant::now() + FIRST_LISTS;
    let asked = active.upstreams.iter().filter(|upstream| refresh::is_asked(active, upstream));
    let with_patterns: Vec<_> = asked.filter(|upstream| has_patterns(upstream)).collect();
    for upstream in with_patterns {
        if timeout_at(deadline, upstream.listing.wait_until_tried()).await.is_err() {
            return;
        }
    }
}

/// Whether an upstream has a model as far as anybody knows: the operator says so,
/// it lists the model, or it has no list.
fn may_have(upstream: &Arc<Upstream>, model: &str) -> bool {
    upstream.config.models.iter().any(|Pattern(name)| name == model)
        || upstream.listing.lists(model).unwrap_or(true)
}

fn has_patterns(upstream: &Upstream) -> bool {
    upstream.config.models.iter().any(|Pattern(name)| name.contains('*'))
}

impl<'m> Serving<'m> {
    /// Leaves out the upstreams that don't list the model, if others do.
    pub(crate) fn only_those_that_list(mut self) -> Self {
        let lists = |upstream: &Arc<Upstream>| upstream.listing.lists(self.model) == Some(true);
        if self.upstreams.len() > 1 && self.upstreams.iter().any(lists) {
            let model = self.model;
            self.upstreams.retain(|upstream| may_have(upstream, model));
        }
        self
    }
}

/// About how long a model is in a list, in bytes.
pub(crate) const BYTES_PER_MODEL: usize = 192;

/// How long a client's request for the list waits for the upstreams, when the
/// gateway has just started. Claude Code gives up after three seconds.
const FIRST_LISTS: Duration = Duration::from_secs(2);
