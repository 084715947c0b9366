//! Which upstreams serve a model, and in which order to try them.
//!
//! A name counts before a pattern, and of two patterns the one that says more:
//! an alias `*` for everything else does not take `claude-*` away from the
//! upstream that serves it. Where an alias and a model say equally much, the
//! alias counts, because the operator wrote it to redirect.
//!
//! Of the upstreams that serve a model equally well, those that speak the
//! client's protocol come first: nothing is lost toward them.

use std::sync::Arc;

use tokio::time::Instant;
use toolwire::Protocol;

use crate::active_config::Live;
use crate::config::{Alias, Pattern};
use crate::health::Standing;
use crate::upstream::Upstream;

/// Where a request goes.
pub(crate) struct Route {
    /// The model's name toward the upstream.
    pub(crate) model: String,
    /// The upstreams, the one to try first in front. Never empty.
    pub(crate) upstreams: Vec<Arc<Upstream>>,
}

/// Finds the upstreams for the model that a client names.
pub(crate) fn find(live: &Live, name: &str, client: Protocol) -> Option<Route> {
    let (model, found) = match redirect(live, name) {
        Some(alias) => serving(live, &alias.model)?,
        None => serving(live, name)?,
    };
    let preferred = live.config.prefer_same_protocol.then_some(client);
    let upstreams = order(found, preferred, live.turn(), Instant::now());
    Some(Route { model: model.to_owned(), upstreams })
}

/// The alias that a name stands for, unless a model says more about it.
fn redirect<'l>(live: &'l Live, name: &str) -> Option<&'l Alias> {
    let alias = live.config.aliases.iter().find(|alias| alias.name.matches(name))?;
    let model = best(live, name).max(named(live, name).map(|_| usize::MAX - 1));
    (Some(weight(&alias.name)) >= model).then_some(alias)
}

/// The upstreams that serve a model, and its name toward them.
fn serving<'m>(live: &Live, model: &'m str) -> Option<(&'m str, Vec<Arc<Upstream>>)> {
    if let Some(best) = best(live, model) {
        let serves = |upstream: &&Arc<Upstream>| {
            let mut models = upstream.config.models.iter();
            models.any(|pattern| pattern.matches(model) && weight(pattern) == best)
        };
        return Some((model, live.upstreams.iter().filter(serves).cloned().collect()));
    }
    named(live, model).map(|(model, upstream)| (model, vec![Arc::clone(upstream)]))
}

/// A model that is written as `upstream/model`.
fn named<'l, 'm>(live: &'l Live, name: &'m str) -> Option<(&'m str, &'l Arc<Upstream>)> {
    let (upstream, model) = name.split_once('/')?;
    let found = live.upstreams.iter().find(|known| known.config.name == upstream)?;
    (!model.is_empty()).then_some((model, found))
}

/// How much the pattern that fits a model best says about it. A pattern that
/// is all wildcard does not keep `upstream/model` from naming its upstream.
fn best(live: &Live, model: &str) -> Option<usize> {
    let patterns = live.upstreams.iter().flat_map(|upstream| &upstream.config.models);
    let best = patterns.filter(|pattern| pattern.matches(model)).map(weight).max()?;
    (best > 0 || named(live, model).is_none()).then_some(best)
}

/// How much a pattern says: everything, or as many characters as it spells
/// out.
fn weight(Pattern(text): &Pattern) -> usize {
    if text.contains('*') { text.chars().filter(|char| *char != '*').count() } else { usize::MAX }
}

/// Puts upstreams in the order in which to try them: the healthy before those
/// that asked for a pause, those before the ones that are out; within each
/// those that speak the preferred protocol before the others, and within those
/// by weight. Nobody is left out: the worst upstream is better than none.
fn order(
    mut found: Vec<Arc<Upstream>>,
    preferred: Option<Protocol>,
    turn: u64,
    now: Instant,
) -> Vec<Arc<Upstream>> {
    if found.len() < 2 {
        return found;
    }
    let mut point = spread(turn);
    let mut ordered = Vec::with_capacity(found.len());
    while !found.is_empty() {
        let total: u64 = found.iter().map(|upstream| u64::from(upstream.config.weight)).sum();
        let mut share = ((u128::from(point) * u128::from(total)) >> 64) as u64;
        let index = found.iter().position(|upstream| {
            let weight = u64::from(upstream.config.weight);
            let here = share < weight;
            share = share.saturating_sub(weight);
            here
        });
        ordered.push(found.remove(index.unwrap_or_default()));
        point = spread(point);
    }
    let standing = |upstream: &Arc<Upstream>| match upstream.health.is_out() {
        true => Standing::Out,
        false => upstream.health.standing(now),
    };
    let is_foreign = |upstream: &Arc<Upstream>| {
        preferred.is_some_and(|preferred| upstream.config.protocol != preferred)
    };
    ordered.sort_by_key(|upstream| (standing(upstream), is_foreign(upstream)));
    // One that is out may be due for another attempt; it is asked only if it
    // would be tried, since asking counts as trying.
    if let Some(due) = ordered.iter().position(|upstream| {
        upstream.health.is_out() && upstream.health.standing(now) == Standing::Well
    }) {
        let due = ordered.remove(due);
        ordered.insert(0, due);
    }
    ordered
}

/// Spreads consecutive numbers evenly, so that every stretch of requests gets
/// the upstreams in proportion to their weights, the same in every run.
fn spread(turn: u64) -> u64 {
    turn.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests;
