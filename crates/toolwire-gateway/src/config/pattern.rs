//! Which names a pattern matches, and which models an upstream serves.

use std::collections::HashSet;

use toolwire::wire::glob;

use super::{Pattern, UpstreamConfig};

impl Pattern {
    /// Whether the pattern matches a name. `*` stands for any text, including none.
    pub fn matches(&self, name: &str) -> bool {
        glob::matches(&self.0, name)
    }
}

/// The models that upstreams serve, by their patterns or as `upstream/model`.
pub(super) struct ServedModels<'u> {
    upstreams: HashSet<&'u str>,
    names: HashSet<&'u str>,
    /// Those with a `*`.
    patterns: Vec<&'u Pattern>,
}

impl<'u> ServedModels<'u> {
    pub(super) fn new(upstreams: &'u [UpstreamConfig]) -> Self {
        let models = || upstreams.iter().flat_map(|upstream| &upstream.models);
        let (patterns, names): (Vec<_>, Vec<_>) =
            models().partition(|Pattern(text)| text.contains('*'));
        Self {
            upstreams: upstreams.iter().map(|upstream| upstream.name.as_str()).collect(),
            names: names.into_iter().map(|Pattern(text)| text.as_str()).collect(),
            patterns,
        }
    }

    /// Whether an upstream serves a model.
    pub(super) fn contains(&self, model: &str) -> bool {
        let is_explicit = |(upstream, model): (&str, &str)| {
            !model.is_empty() && self.upstreams.contains(upstream)
        };
        self.names.contains(model)
            || model.split_once('/').is_some_and(is_explicit)
            || self.patterns.iter().any(|pattern| pattern.matches(model))
    }
}

impl UpstreamConfig {
    /// Whether it serves a model, by its patterns or as `upstream/model`.
    pub fn serves(&self, model: &str) -> bool {
        ServedModels::new(std::slice::from_ref(self)).contains(model)
    }
}
