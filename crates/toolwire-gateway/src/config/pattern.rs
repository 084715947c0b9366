//! Which names a pattern matches, and which models an upstream serves.

use toolwire::wire::glob;

use super::{Pattern, UpstreamConfig};

impl Pattern {
    /// Whether the pattern matches a name. `*` stands for any text, including none.
    pub fn matches(&self, name: &str) -> bool {
        glob::matches(&self.0, name)
    }
}

impl UpstreamConfig {
    /// Whether it serves a model, by its patterns or as `upstream/model`.
    pub fn serves(&self, model: &str) -> bool {
        let named = |rest: &str| rest.strip_prefix('/').is_some_and(|model| !model.is_empty());
        model.strip_prefix(&self.name).is_some_and(named)
            || self.models.iter().any(|pattern| pattern.matches(model))
    }
}
