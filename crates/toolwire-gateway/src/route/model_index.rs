//! Which upstreams serve a name, without comparing it with every pattern.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::specificity;
use crate::config::Pattern;
use crate::upstream::Upstream;

/// The names and patterns of all upstreams.
#[derive(Debug, Default)]
pub(crate) struct ModelIndex {
    /// Upstreams by the names that they have without a `*`, in the order of the
    /// configuration.
    names: HashMap<String, Vec<usize>>,
    /// Patterns by what is before the first `*` and after the last one.
    patterns: HashMap<(String, String), Vec<(Pattern, usize)>>,
    /// The lengths of those two, in bytes.
    lengths: BTreeSet<(usize, usize)>,
    /// Upstreams by their own names.
    upstreams: HashMap<String, usize>,
}

/// The upstreams whose names or patterns match best.
pub(super) struct BestMatch {
    pub(super) specificity: usize,
    /// In the order of the configuration.
    pub(super) upstreams: Vec<usize>,
}

impl ModelIndex {
    pub(crate) fn new(upstreams: &[Arc<Upstream>]) -> Self {
        let mut index = Self::default();
        for (place, upstream) in upstreams.iter().enumerate() {
            index.upstreams.entry(upstream.config.name.clone()).or_insert(place);
            for pattern in &upstream.config.models {
                index.add(pattern, place);
            }
        }
        index
    }

    fn add(&mut self, pattern: &Pattern, place: usize) {
        let Pattern(text) = pattern;
        let (Some((start, _)), Some((_, end))) = (text.split_once('*'), text.rsplit_once('*'))
        else {
            let places = self.names.entry(text.clone()).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
            return;
        };
        self.lengths.insert((start.len(), end.len()));
        let key = (start.to_owned(), end.to_owned());
        self.patterns.entry(key).or_default().push((pattern.clone(), place));
    }

    /// The place of the upstream with a name.
    pub(super) fn upstream(&self, name: &str) -> Option<usize> {
        self.upstreams.get(name).copied()
    }

    /// The upstreams that match a name best.
    pub(super) fn best(&self, name: &str) -> Option<BestMatch> {
        if let Some(places) = self.names.get(name) {
            return Some(BestMatch { specificity: usize::MAX, upstreams: places.clone() });
        }
        let mut best: Option<BestMatch> = None;
        for (start, end) in &self.lengths {
            let start = name.get(..*start);
            let end = name.len().checked_sub(*end).and_then(|end| name.get(end..));
            let Some((start, end)) = start.zip(end) else { continue };
            let patterns = self.patterns.get(&(start.to_owned(), end.to_owned()));
            for (pattern, place) in patterns.into_iter().flatten() {
                let specificity = specificity(pattern);
                let is_worse = best.as_ref().is_some_and(|best| best.specificity > specificity);
                if is_worse || !pattern.matches(name) {
                    continue;
                }
                match &mut best {
                    Some(best) if best.specificity == specificity => best.upstreams.push(*place),
                    Some(_) | None => {
                        best = Some(BestMatch { specificity, upstreams: vec![*place] });
                    }
                }
            }
        }
        if let Some(best) = &mut best {
            best.upstreams.sort_unstable();
            best.upstreams.dedup();
        }
        best
    }
}
