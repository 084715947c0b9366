//! Every model and what is known about it, for the operator.

use std::sync::Arc;

use tokio::task::JoinSet;
use toolwire::Protocol;
use toolwire::facts::ModelFacts;

use super::fetch::{self, fetch};
use super::refresh::is_asked;
use crate::active_config::{ActiveConfig, StartError};
use crate::config::Config;
use crate::memory::MemoryBudget;
use crate::observe::Metrics;
use crate::route;

/// What is known about a configuration's models.
#[derive(Debug)]
pub struct Report {
    /// The models, in the order of the list that clients get.
    pub models: Vec<ModelReport>,
    /// The upstreams, in the order of the configuration.
    pub upstreams: Vec<UpstreamReport>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReport {
    /// The name that clients use.
    pub name: String,
    /// The name that the upstream knows it by.
    pub upstream_model: String,
    /// The upstream that serves it first.
    pub upstream: String,
    /// The protocol of that upstream.
    pub protocol: Protocol,
    /// What is known about it there, with who says so.
    pub facts: ModelFacts,
}

/// What came of asking an upstream for its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamReport {
    /// Its name.
    pub name: String,
    /// How many models it lists, or why it lists none. `None` if it wasn't asked.
    pub listed: Option<Result<usize, String>>,
}

/// Asks the upstreams of a configuration for their models and puts together what
/// is known.
pub async fn report(config: Config) -> Result<Report, StartError> {
    let active = Arc::new(ActiveConfig::build(config, &Metrics::default(), &[])?);
    let memory: Arc<MemoryBudget> = Arc::default();
    let mut running = JoinSet::new();
    for (index, upstream) in active.upstreams.iter().enumerate() {
        if is_asked(&active, upstream) {
            let (active, upstream) = (Arc::clone(&active), Arc::clone(upstream));
            let memory = Arc::clone(&memory);
            running.spawn(async move {
                let mask = fetch::mask(&active.secrets);
                let fetched = fetch(&upstream, &mask, &memory).await;
                let counted = fetched.as_ref().map(|listing| listing.models().len());
                let counted = counted.map_err(ToString::to_string);
                if let Ok(listing) = fetched {
                    upstream.listing.replace(listing);
                }
                (index, counted)
            });
        }
    }
    let mut upstreams: Vec<UpstreamReport> = active
        .upstreams
        .iter()
        .map(|upstream| UpstreamReport { name: upstream.config.name.clone(), listed: None })
        .collect();
    while let Some(done) = running.join_next().await {
        let Ok((index, counted)) = done else { continue };
        if let Some(upstream) = upstreams.get_mut(index) {
            upstream.listed = Some(counted);
        }
    }
    active.update_catalog();
    let catalog = active.catalog();
    let models = catalog.models().filter_map(|model| {
        let serving = route::serving(&active, model.name)?;
        let upstream = serving.upstreams.first()?;
        Some(ModelReport {
            name: model.name.to_owned(),
            upstream_model: serving.model.to_owned(),
            upstream: upstream.config.name.clone(),
            protocol: upstream.config.protocol,
            facts: upstream.facts_of(serving.model).toward(upstream.config.protocol),
        })
    });
    Ok(Report { models: models.collect(), upstreams })
}
