//! Which names a pattern matches, and which models an upstream serves.

use std::collections::{BTreeSet, HashMap, HashSet};

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
    /// Those with a `*`, by what is before the first and after the last one, so
    /// that a name is not compared with each of them.
    patterns: HashMap<(&'u str, &'u str), Vec<&'u Pattern>>,
    /// The lengths of those two, in bytes.
    lengths: BTreeSet<(usize, usize)>,
}

impl<'u> ServedModels<'u> {
    pub(super) fn new(upstreams: &'u [UpstreamConfig]) -> Self {
        let mut served = Self {
            upstreams: upstreams.iter().map(|upstream| upstream.name.as_str()).collect(),
            names: HashSet::new(),
            patterns: HashMap::new(),
            lengths: BTreeSet::new(),
        };
        for pattern in upstreams.iter().flat_map(|upstream| &upstream.models) {
            let Pattern(text) = pattern;
            let (Some((start, _)), Some((_, end))) = (text.split_once('*'), text.rsplit_once('*'))
            else {
                served.names.insert(text);
                continue;
            };
            served.lengths.insert((start.len(), end.len()));
            served.patterns.entry((start, end)).or_default().push(pattern);
        }
        served
    }

    /// Whether an upstream serves a model.
    pub(super) fn contains(&self, model: &str) -> bool {
        let is_explicit = |(upstream, model): (&str, &str)| {
            !model.is_empty() && self.upstreams.contains(upstream)
        };
        self.names.contains(model)
            || model.split_once('/').is_some_and(is_explicit)
            || self.matches_pattern(model)
    }

    /// Whether an upstream lists a model under this very name.
    pub(super) fn contains_listed(&self, model: &str) -> bool {
        self.names.contains(model) || self.matches_pattern(model)
    }

    fn matches_pattern(&self, model: &str) -> bool {
        self.lengths.iter().any(|(start, end)| {
            let start = model.get(..*start);
            let end = model.len().checked_sub(*end).and_then(|end| model.get(end..));
            let patterns = start.zip(end).and_then(|ends| self.patterns.get(&ends));
            patterns.is_some_and(|patterns| patterns.iter().any(|pattern| pattern.matches(model)))
        })
    }
}

impl UpstreamConfig {
    /// Whether it serves a model, by its patterns or as `upstream/model`.
    pub fn serves(&self, model: &str) -> bool {
        ServedModels::new(std::slice::from_ref(self)).contains(model)
    }
}

#[cfg(test)]
mod tests;
