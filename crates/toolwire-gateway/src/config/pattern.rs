//! Which names a pattern matches, and which models an upstream serves.

use super::{Pattern, Upstream};

impl Pattern {
    /// Whether the pattern matches a name. `*` stands for any text, including none.
    pub fn matches(&self, name: &str) -> bool {
        let Self(pattern) = self;
        let Some((head, mut rest)) = pattern.split_once('*') else { return pattern == name };
        let Some(mut left) = name.strip_prefix(head) else { return false };
        while let Some((middle, next)) = rest.split_once('*') {
            let Some(at) = left.find(middle) else { return false };
            left = left.get(at + middle.len()..).unwrap_or_default();
            rest = next;
        }
        left.ends_with(rest)
    }
}

impl Upstream {
    /// Whether it serves a model, by its patterns or as `upstream/model`.
    pub fn serves(&self, model: &str) -> bool {
        let named = |rest: &str| rest.strip_prefix('/').is_some_and(|model| !model.is_empty());
        model.strip_prefix(&self.name).is_some_and(named)
            || self.models.iter().any(|pattern| pattern.matches(model))
    }
}
