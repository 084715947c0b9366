//! Every model that the gateway can name.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwire::facts::{self, ModelFacts};
use toolwire::protocol::{ListedModel, UpstreamModel};

use super::may_have;
use crate::active_config::ActiveConfig;
use crate::config::Pattern;
use crate::route;
use crate::upstream::Upstream;

/// The models by name, in the order in which they are listed: those that the
/// operator named, aliases, then what upstreams list.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    models: Vec<CatalogModel>,
    places: HashMap<String, usize>,
}

/// A model in the catalog.
#[derive(Debug)]
struct CatalogModel {
    name: String,
    title: Option<String>,
    /// The upstream that serves it.
    owner: String,
    created: u64,
    context_window: Option<u64>,
    max_output: Option<u64>,
}

impl Catalog {
    /// The catalog of a configuration and of the lists that its upstreams have
    /// sent so far.
    pub(crate) fn build(active: &ActiveConfig) -> Self {
        let mut catalog = Self::default();
        for upstream in &active.upstreams {
            let listing = upstream.listing.current();
            for Pattern(name) in &upstream.config.models {
                let listed = listing.as_ref().and_then(|listing| listing.get(name));
                if !name.contains('*') {
                    catalog.add(name, upstream, listed);
                }
            }
        }
        for alias in &active.config.aliases {
            let Pattern(name) = &alias.name;
            if name.contains('*') {
                continue;
            }
            let Some(serving) = route::upstreams_for(active, &alias.model) else { continue };
            let Some(upstream) = serving.upstreams.first() else { continue };
            let listing = upstream.listing.current();
            let listed = listing.as_ref().and_then(|listing| listing.get(serving.model));
            catalog.add(name, upstream, listed);
        }
        for upstream in &active.upstreams {
            let Some(listing) = upstream.listing.current() else { continue };
            for model in listing.models() {
                catalog.add_listed(active, upstream, model);
            }
        }
        catalog
    }

    /// Adds a model that an upstream lists, if one of its patterns matches and a
    /// request for it would reach an upstream that has it.
    fn add_listed(
        &mut self,
        active: &ActiveConfig,
        upstream: &Arc<Upstream>,
        model: &UpstreamModel,
    ) {
        let matches = upstream.config.models.iter().any(|pattern| pattern.matches(&model.name));
        if !matches || self.places.contains_key(&model.name) {
            return;
        }
        let Some(serving) = route::serving(active, &model.name) else { return };
        let is_same = |other: &&Arc<Upstream>| Arc::ptr_eq(other, upstream);
        match serving.upstreams.iter().find(is_same) {
            Some(upstream) => self.add(&model.name, upstream, Some(model)),
            // Another upstream has a more specific pattern for the name.
            None => {
                let other = serving.upstreams.iter().find(|other| may_have(other, serving.model));
                if let Some(other) = other {
                    let listing = other.listing.current();
                    let listed = listing.as_ref().and_then(|listing| listing.get(serving.model));
                    self.add(&model.name, other, listed);
                }
            }
        }
    }

    fn add(&mut self, name: &str, upstream: &Upstream, listed: Option<&UpstreamModel>) {
        if self.places.contains_key(name) {
            return;
        }
        let ListedModel { name, title, owner, created, context_window, max_output } =
            describe(name, upstream, listed);
        let model = CatalogModel {
            name: name.to_owned(),
            title: (title != name).then(|| title.to_owned()),
            owner: owner.to_owned(),
            created,
            context_window,
            max_output,
        };
        self.places.insert(model.name.clone(), self.models.len());
        self.models.push(model);
    }

    pub(crate) fn len(&self) -> usize {
        self.models.len()
    }

    /// The models as clients see them.
    pub(crate) fn models(&self) -> impl Iterator<Item = ListedModel<'_>> {
        self.models.iter().map(CatalogModel::listed)
    }

    /// One model as clients see it.
    pub(crate) fn get(&self, name: &str) -> Option<ListedModel<'_>> {
        self.models.get(*self.places.get(name)?).map(CatalogModel::listed)
    }
}

impl CatalogModel {
    fn listed(&self) -> ListedModel<'_> {
        let Self { name, title, owner, created, context_window, max_output } = self;
        ListedModel {
            name,
            title: title.as_deref().unwrap_or(name),
            owner,
            created: *created,
            context_window: *context_window,
            max_output: *max_output,
        }
    }
}

/// What a client is told about a model of an upstream.
pub(super) fn describe<'m>(
    name: &'m str,
    upstream: &'m Upstream,
    listed: Option<&'m UpstreamModel>,
) -> ListedModel<'m> {
    let known = listed.map_or(name, |listed| listed.name.as_str());
    let facts = known_facts(known, upstream, listed.map(|listed| listed.facts));
    ListedModel {
        name,
        title: listed.and_then(|listed| listed.title.as_deref()).unwrap_or(name),
        owner: &upstream.config.name,
        created: listed
            .and_then(|listed| listed.created)
            .unwrap_or_else(|| upstream.listing.since()),
        context_window: facts.context_window.map(|fact| fact.value),
        max_output: facts.max_output.map(|fact| fact.value),
    }
}

/// What is known about a model at an upstream: what is published, above it what
/// the upstream says, and above that what the operator says.
fn known_facts(model: &str, upstream: &Upstream, listed: Option<ModelFacts>) -> ModelFacts {
    upstream
        .published
        .of(model)
        .overlaid_with(listed.unwrap_or_default())
        .overlaid_with(upstream.config.facts)
}

/// What is published about the models that were asked for last. Looking for a name
/// in the library's table takes a while, and most clients stay with a model.
#[derive(Debug, Default)]
pub(crate) struct PublishedFacts {
    known: Mutex<VecDeque<(String, ModelFacts)>>,
}

impl PublishedFacts {
    fn of(&self, model: &str) -> ModelFacts {
        // A client can name anything, and what is kept stays.
        if model.len() > LONGEST_KEPT {
            return facts::lookup(model);
        }
        if let Some((_, facts)) = self.lock().iter().find(|(name, _)| name == model) {
            return *facts;
        }
        let facts = facts::lookup(model);
        let mut known = self.lock();
        known.truncate(MOST_KNOWN - 1);
        known.push_front((model.to_owned(), facts));
        facts
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, ModelFacts)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The longest name for which they are kept, in bytes.
const LONGEST_KEPT: usize = 128;

/// For how many models the published facts are kept.
const MOST_KNOWN: usize = 8;

impl Upstream {
    /// What is known about one of its models.
    pub(crate) fn facts_of(&self, model: &str) -> ModelFacts {
        let listing = self.listing.current();
        let listed = listing.as_ref().and_then(|listing| listing.get(model));
        known_facts(model, self, listed.map(|listed| listed.facts))
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_KEPT, MOST_KNOWN, PublishedFacts, facts};

    #[test]
    fn what_is_kept_is_what_is_published_and_stays_small() {
        let kept = PublishedFacts::default();
        let long = "m".repeat(LONGEST_KEPT + 1);
        for _ in 0..2 {
            for model in ["gpt-5", "claude-opus-4-5", "nobody's", &long] {
                assert_eq!(kept.of(model), facts::lookup(model));
            }
        }
        assert_eq!(kept.lock().len(), 3);
        for number in 0..100 {
            kept.of(&format!("model-{number}"));
        }
        assert_eq!(kept.lock().len(), MOST_KNOWN);
    }
}
