//! Which upstreams serve a model, and in which order to try them.
//!
//! A name wins over a pattern, and the more specific of two patterns wins: the
//! alias `*` does not take `claude-*` away from the upstream that serves it. If an
//! alias and a model are equally specific, the alias wins, because the operator
//! wrote it to redirect.
//!
//! Among the upstreams that serve a model equally well, those that speak the
//! client's protocol come first, because nothing is lost toward them.

mod model_index;

use std::sync::Arc;

use tokio::time::Instant;
use toolwire::Protocol;

use self::model_index::BestMatch;
pub(crate) use self::model_index::ModelIndex;
use crate::active_config::ActiveConfig;
use crate::config::{Alias, Pattern};
use crate::health::{Availability, Probe};
use crate::upstream::Upstream;

/// Where a request goes.
pub(crate) struct Route {
    /// The name that the upstreams know the model by.
    pub(crate) model: String,
    /// The upstreams in the order in which to try them. Never empty.
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    /// If the first one is ejected, and this request finds out whether it works
    /// again.
    pub(crate) probe: Option<Probe>,
}

impl Route {
    /// Leaves out the upstreams that cannot serve the request.
    pub(crate) fn retain(&mut self, can_serve: impl Fn(&Upstream) -> bool) {
        self.upstreams.retain(|upstream| can_serve(upstream));
        let first = self.upstreams.first();
        let is_first = |probe: &Probe| first.is_some_and(|first| probe.is_of(&first.health));
        self.probe = self.probe.take().filter(is_first);
    }
}

/// Finds the upstreams for a request to the model that a client names. The
/// request may be the probe of an ejected upstream, and must then be sent to it.
pub(crate) fn find(active: &ActiveConfig, name: &str, client: Protocol) -> Option<Route> {
    let mut route = look_up(active, name, client)?;
    route.probe = put_probe_first(&mut route.upstreams);
    Some(route)
}

/// Finds the upstreams for the model that a client names. Without more, none of
/// them is probed: not every request says whether an upstream works.
pub(crate) fn look_up(active: &ActiveConfig, name: &str, client: Protocol) -> Option<Route> {
    let Serving { model, upstreams } = serving(active, name)?;
    let preferred = active.config.prefer_same_protocol.then_some(client);
    let upstreams = order(upstreams, preferred, active.next_request(), Instant::now());
    Some(Route { model: model.to_owned(), upstreams, probe: None })
}

/// Puts an ejected upstream whose time is over first, so that one request probes
/// it. The check reserves the probe, so it is made for one upstream only, and for
/// none that the request does not go to.
pub(crate) fn put_probe_first(upstreams: &mut Vec<Arc<Upstream>>) -> Option<Probe> {
    if upstreams.len() < 2 {
        return None;
    }
    let now = Instant::now();
    let due = upstreams.iter().position(|upstream| {
        upstream.health.is_ejected() && upstream.availability(now) == Availability::Healthy
    });
    let due = upstreams.remove(due?);
    let probe = Probe::new(&due.health);
    upstreams.insert(0, due);
    Some(probe)
}

/// What the upstreams of a model remember of what they have answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpstreamMemory {
    /// Nothing.
    None,
    /// One remembers everything for its client, who can ask for it.
    Own,
    /// What they remember is of no use: several clients share it, or each of several upstreams
    /// remembers its own part. So the gateway remembers.
    Shared,
}

impl UpstreamMemory {
    /// What the upstreams of the model that a client names remember.
    pub(crate) fn find(active: &ActiveConfig, name: &str) -> Self {
        let upstreams = serving(active, name).map(|serving| serving.upstreams);
        let mut remembering = upstreams.iter().flatten().filter(|upstream| upstream.remembers());
        let Some(first) = remembering.next() else { return Self::None };
        let is_alone = remembering.next().is_none();
        if is_alone && !active.config.shares_account(&first.config) {
            Self::Own
        } else {
            Self::Shared
        }
    }
}

/// Whether an answer can bring along what its server would otherwise remember of the
/// model's reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SealedReasoning {
    /// The model does not reason, and its vendor refuses a request that asks for it.
    Refused,
    /// As far as anybody knows.
    Possible,
}

impl SealedReasoning {
    /// What the model that a client names has.
    pub(crate) fn find(active: &ActiveConfig, name: &str) -> Self {
        let Some(Serving { model, upstreams }) = serving(active, name) else {
            return Self::Possible;
        };
        let mut remembering = upstreams.iter().filter(|upstream| upstream.remembers());
        match remembering.all(|upstream| upstream.facts_of(model).never_thinks()) {
            true => Self::Refused,
            false => Self::Possible,
        }
    }
}

/// The upstreams that serve the model that a client names, in no order.
pub(crate) fn serving<'m>(active: &'m ActiveConfig, name: &'m str) -> Option<Serving<'m>> {
    match find_alias(active, name) {
        Some(alias) => upstreams_for(active, &alias.model),
        None => upstreams_for(active, name),
    }
}

/// The upstreams that serve a model, in the order of the configuration. Never
/// empty.
pub(crate) struct Serving<'m> {
    /// The name that they know it by.
    pub(crate) model: &'m str,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
}

/// The alias for a name, unless a model is more specific.
fn find_alias<'a>(active: &'a ActiveConfig, name: &str) -> Option<&'a Alias> {
    let alias = active.config.aliases.iter().find(|alias| alias.name.matches(name))?;
    let model = best_match(active, name).map(|best| best.specificity);
    let model = model.max(explicit(active, name).map(|_| usize::MAX - 1));
    (Some(specificity(&alias.name)) >= model).then_some(alias)
}

/// The upstreams that serve a model. If several have a pattern for it and some of
/// them list the model, those that list others are left out.
pub(crate) fn upstreams_for<'m>(active: &ActiveConfig, model: &'m str) -> Option<Serving<'m>> {
    if let Some(best) = best_match(active, model) {
        let found = best.upstreams.into_iter().filter_map(|place| active.upstreams.get(place));
        let upstreams = found.cloned().collect();
        return Some(Serving { model, upstreams }.only_those_that_list());
    }
    let (model, upstream) = explicit(active, model)?;
    Some(Serving { model, upstreams: vec![Arc::clone(upstream)] })
}

/// The model and upstream of a name that is written as `upstream/model`. Some
/// vendors list models under such names: one counts as theirs if the upstream of
/// that name doesn't list the model.
fn explicit<'a, 'm>(
    active: &'a ActiveConfig,
    name: &'m str,
) -> Option<(&'m str, &'a Arc<Upstream>)> {
    let (upstream, model) = name.split_once('/')?;
    let found = active.upstreams.get(active.index.upstream(upstream)?)?;
    let is_anothers = || {
        let lists = |other: &Arc<Upstream>| {
            other.listing.lists(name) == Some(true)
                && other.config.models.iter().any(|pattern| pattern.matches(name))
        };
        found.listing.lists(model) == Some(false) && active.upstreams.iter().any(lists)
    };
    (!model.is_empty() && !is_anothers()).then_some((model, found))
}

/// The upstreams that match a model best. The pattern `*` does not keep
/// `upstream/model` from naming its upstream.
fn best_match(active: &ActiveConfig, model: &str) -> Option<BestMatch> {
    let best = active.index.best(model)?;
    (best.specificity > 0 || explicit(active, model).is_none()).then_some(best)
}

/// How specific a pattern is: the number of its literal characters. A name
/// without a wildcard is more specific than any pattern.
fn specificity(Pattern(text): &Pattern) -> usize {
    if text.contains('*') { text.chars().filter(|char| *char != '*').count() } else { usize::MAX }
}

/// Puts upstreams in the order in which to try them. Healthy ones come before
/// those that asked for a pause, and ejected ones come last. Within each group,
/// those that speak the preferred protocol come first, and weights decide about
/// the rest. No upstream is left out: even an ejected one is better than none.
fn order(
    found: Vec<Arc<Upstream>>,
    preferred: Option<Protocol>,
    request: u64,
    now: Instant,
) -> Vec<Arc<Upstream>> {
    if found.len() < 2 {
        return found;
    }
    let mut point = spread(request);
    let mut weights = Weights::new(found.iter().map(|upstream| upstream.config.weight));
    let mut found: Vec<_> = found.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(found.len());
    while let Some(index) = weights.take(point) {
        ordered.extend(found.get_mut(index).and_then(Option::take));
        point = spread(point);
    }
    // Those without any weight.
    ordered.extend(found.into_iter().flatten());
    let availability = |upstream: &Arc<Upstream>| match upstream.health.is_ejected() {
        true => Availability::Ejected,
        false => upstream.availability(now),
    };
    let needs_translation = |upstream: &Arc<Upstream>| {
        preferred.is_some_and(|preferred| upstream.config.protocol != preferred)
    };
    ordered.sort_by_key(|upstream| (availability(upstream), needs_translation(upstream)));
    ordered
}

/// Weights that are drawn one after the other. Each is found in the sums of runs
/// of them (a Fenwick tree) instead of by going through all.
struct Weights {
    weights: Vec<u32>,
    sums: Vec<u64>,
    total: u64,
}

impl Weights {
    fn new(weights: impl Iterator<Item = u32>) -> Self {
        let weights: Vec<u32> = weights.collect();
        let mut tree = Self { sums: vec![0; weights.len()], total: 0, weights: Vec::new() };
        for (index, weight) in weights.iter().enumerate() {
            tree.change(index, |sum| sum + u64::from(*weight));
            tree.total += u64::from(*weight);
        }
        Self { weights, ..tree }
    }

    /// Draws the weight at a point of all that are left, which is a share of
    /// 2⁶⁴. Returns its index.
    fn take(&mut self, point: u64) -> Option<usize> {
        if self.total == 0 {
            return None;
        }
        let mut share = ((u128::from(point) * u128::from(self.total)) >> 64) as u64;
        let mut index = 0;
        let mut run = self.sums.len().next_power_of_two();
        while run > 0 {
            if let Some(sum) = self.sums.get(index + run - 1).filter(|sum| **sum <= share) {
                share -= sum;
                index += run;
            }
            run /= 2;
        }
        let weight = u64::from(self.weights.get(index).copied()?);
        self.change(index, |sum| sum - weight);
        self.total -= weight;
        Some(index)
    }

    /// Changes every sum that a weight is part of.
    fn change(&mut self, index: usize, change: impl Fn(u64) -> u64) {
        let mut end = index + 1;
        while let Some(sum) = self.sums.get_mut(end - 1) {
            *sum = change(*sum);
            end += end & end.wrapping_neg();
        }
    }
}

/// Spreads consecutive numbers evenly, so that any run of requests is shared out
/// in proportion to the weights, and in the same way every time.
fn spread(number: u64) -> u64 {
    number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests;
