//! The servers of the imported configuration, each written once.

use std::collections::HashMap;

use super::draft::{Draft, Names, Upstream};

/// The upstreams so far. Two models on the same server share one.
#[derive(Default)]
pub(super) struct Servers {
    known: HashMap<String, Result<usize, String>>,
    pub(super) list: Vec<Upstream>,
    /// The name that each should have.
    preferred_names: Vec<String>,
}

impl Servers {
    /// The index of a server, which is added if it is not there yet. An error says
    /// why toolwire would not accept it.
    pub(super) fn add(&mut self, upstream: Upstream, preferred: &str) -> Result<usize, String> {
        let server = upstream.server();
        if let Some(known) = self.known.get(&server) {
            return known.clone();
        }
        let found = match upstream.problem() {
            Some(problem) => Err(problem),
            None => {
                self.list.push(upstream);
                self.preferred_names.push(preferred.to_owned());
                Ok(self.list.len() - 1)
            }
        };
        self.known.insert(server, found.clone());
        found
    }

    /// Asks for a server's name. Returns whether it gets it.
    pub(super) fn claim(&mut self, index: usize, name: &str) -> bool {
        let is_free = self.list.iter().all(|upstream| upstream.name != name);
        let Some(upstream) = self.list.get_mut(index) else { return false };
        if upstream.name.is_empty() && is_free && is_valid(name) {
            name.clone_into(&mut upstream.name);
        }
        upstream.name == name
    }

    /// Names the servers that have no name yet.
    pub(super) fn name_all(&mut self) {
        let mut names = Names::default();
        for upstream in &self.list {
            names.reserve(&upstream.name);
        }
        for (upstream, preferred) in self.list.iter_mut().zip(&self.preferred_names) {
            if upstream.name.is_empty() {
                upstream.name = names.unused(&valid(preferred), '-');
            }
        }
    }

    pub(super) fn name(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |upstream| &upstream.name)
    }

    /// Adds a model to those that a server serves.
    pub(super) fn serve(&mut self, index: usize, model: &str) {
        if let Some(upstream) = self.list.get_mut(index) {
            upstream.models.push(model.to_owned());
        }
    }

    /// Hands over the servers. Those that serve nothing are left out.
    pub(super) fn finish(self, draft: &mut Draft) {
        for mut upstream in self.list {
            let mut seen = std::collections::HashSet::new();
            upstream.models.retain(|model| seen.insert(model.clone()));
            if !upstream.models.is_empty() {
                draft.upstreams.push(upstream);
            }
        }
    }
}

/// Whether a text can be part of a model's name.
pub(super) fn is_model_name(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn is_valid(name: &str) -> bool {
    !name.is_empty() && name == valid(name)
}

/// A text as the name of an upstream.
fn valid(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = text.chars().map(allowed).take(48).collect();
    if name.is_empty() { "upstream".to_owned() } else { name }
}
