//! The list of models.
//!
//! Only names are listed: a pattern stands for models whose names the gateway
//! does not know.

use std::collections::HashSet;

use toolwire::protocol::ListedModel;
use toolwire::{Protocol, codec};

use crate::active_config::ActiveConfig;
use crate::route;

/// All models, as the client's protocol writes them.
pub(crate) fn list(active: &ActiveConfig, client: Protocol) -> Vec<u8> {
    let models = known(active);
    let mut out = Vec::with_capacity(64 + 96 * models.len());
    codec(client).write_models(&models, &mut out);
    out
}

/// One model, if a request for it would find an upstream.
pub(crate) fn get(active: &ActiveConfig, name: &str, client: Protocol) -> Option<Vec<u8>> {
    let route = route::look_up(active, name, client)?;
    let owner = route.upstreams.first().map_or("", |upstream| upstream.config.name.as_str());
    let mut out = Vec::with_capacity(128);
    codec(client).write_model(ListedModel { name, owner }, &mut out);
    Some(out)
}

fn known(active: &ActiveConfig) -> Vec<ListedModel<'_>> {
    let models = active.upstreams.iter().flat_map(|upstream| {
        let owner = upstream.config.name.as_str();
        upstream.config.models.iter().map(move |model| (model.0.as_str(), owner))
    });
    let aliases = active.config.aliases.iter().map(|alias| (alias.name.0.as_str(), "alias"));
    let mut seen = HashSet::new();
    models
        .chain(aliases)
        .filter(|(name, _)| !name.contains('*') && seen.insert(*name))
        .map(|(name, owner)| ListedModel { name, owner })
        .collect()
}
