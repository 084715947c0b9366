//! The configuration that is going to be written.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use toolwire_gateway::config::{Environment, file};

use super::output;

/// What is going to be written, and what could not be taken over.
#[derive(Default)]
pub(super) struct Draft {
    /// Lines at the top of the file.
    pub(super) remarks: Vec<String>,
    pub(super) listen: String,
    /// The variables with the keys of clients.
    pub(super) keys: Vec<String>,
    /// The longest time for an answer, in seconds.
    pub(super) total_timeout: Option<f64>,
    pub(super) upstreams: Vec<Upstream>,
    /// The name that clients use, the model, and why.
    pub(super) aliases: Vec<Alias>,
    pub(super) left_out: Vec<LeftOut>,
    /// Where to find an entry of `left_out` again.
    left_out_index: HashMap<(String, String), usize>,
    /// Variables that have to be set, because their value was in the file itself.
    pub(super) variables: Vec<Variable>,
    /// The variable for each value.
    variable_of: HashMap<String, String>,
    names: Names,
}

/// One model API.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Upstream {
    pub(super) name: String,
    pub(super) remark: String,
    /// The preset that says the rest, if it is not empty.
    pub(super) preset: &'static str,
    pub(super) protocol: &'static str,
    pub(super) base_url: String,
    pub(super) key: Option<String>,
    pub(super) models: Vec<String>,
    pub(super) headers: Vec<(String, HeaderValue)>,
    pub(super) profile: String,
    pub(super) weight: Option<u64>,
    /// The longest time for an answer, in seconds.
    pub(super) timeout: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeaderValue {
    Text(String),
    /// The variable that holds it.
    Variable(String),
}

pub(super) struct Alias {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) remark: &'static str,
}

/// What has no counterpart.
pub(super) struct LeftOut {
    pub(super) place: String,
    /// Whose it is, if several have it.
    pub(super) owners: Vec<String>,
    pub(super) reason: String,
}

/// A variable that has to be set.
pub(super) struct Variable {
    pub(super) name: String,
    /// What it has to hold.
    pub(super) content: String,
}

impl Draft {
    /// Notes that something is not taken over.
    pub(super) fn leave_out(&mut self, place: &str, owner: &str, reason: &str) {
        let index = *self
            .left_out_index
            .entry((place.to_owned(), reason.to_owned()))
            .or_insert(self.left_out.len());
        if index == self.left_out.len() {
            let (place, reason) = (place.to_owned(), reason.to_owned());
            self.left_out.push(LeftOut { place, owners: Vec::new(), reason });
        }
        if let Some(entry) = self.left_out.get_mut(index).filter(|_| !owner.is_empty()) {
            entry.owners.push(owner.to_owned());
        }
    }

    /// Notes that a variable is used, so that no other value gets its name.
    pub(super) fn reserve_variable(&mut self, name: &str) {
        self.names.reserve(name);
    }

    /// The variable for a value that must not be in the file. `preferred` is its name,
    /// unless that is used for another value; `content` says what it holds.
    pub(super) fn variable_for(&mut self, value: &str, preferred: &str, content: &str) -> String {
        if let Some(name) = self.variable_of.get(value) {
            return name.clone();
        }
        let allowed =
            |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let preferred: String = preferred.chars().map(allowed).take(100).collect();
        let name = self.names.unused(&preferred, '_');
        self.variable_of.insert(value.to_owned(), name.clone());
        self.variables.push(Variable { name: name.clone(), content: content.to_owned() });
        name
    }
}

impl Upstream {
    /// Why toolwire would not accept it.
    pub(super) fn problem(&self) -> Option<String> {
        let mut text = String::new();
        let mut named = self.clone();
        named.name = "name".to_owned();
        if named.models.is_empty() {
            named.models.push("*".to_owned());
        }
        output::upstream(&named, &mut text);
        let problems = file::parse("toolwire.toml", &text, &EverySecret).err()?;
        let list = problems.list().iter();
        let list = list.map(|problem| match problem.help.as_str() {
            "" => format!("{}: {}", problem.message, problem.label),
            help => format!("{}: {}; {help}", problem.message, problem.label),
        });
        Some(list.collect::<Vec<_>>().join("; "))
    }

    /// What is the same for two that differ only in the models they serve.
    pub(super) fn server(&self) -> String {
        let mut text = String::new();
        let (name, models) = (String::new(), Vec::new());
        output::upstream(&Self { name, models, ..self.clone() }, &mut text);
        text
    }
}

/// Names in use, each with the number that was added last.
#[derive(Default)]
pub(super) struct Names(HashMap<String, usize>);

impl Names {
    pub(super) fn reserve(&mut self, name: &str) {
        self.0.entry(name.to_owned()).or_insert(1);
    }

    /// A name that is not in use: the preferred one, or that with a number.
    pub(super) fn unused(&mut self, preferred: &str, separator: char) -> String {
        if !self.0.contains_key(preferred) {
            self.0.insert(preferred.to_owned(), 1);
            return preferred.to_owned();
        }
        loop {
            let number = self.0.entry(preferred.to_owned()).or_insert(1);
            *number += 1;
            let name = format!("{preferred}{separator}{number}");
            if !self.0.contains_key(&name) {
                self.0.insert(name.clone(), 1);
                return name;
            }
        }
    }
}

/// An environment in which every variable is set. Whether it is on this machine is
/// another question, which `toolwire check` answers.
pub(super) struct EverySecret;

impl Environment for EverySecret {
    fn variable(&self, name: &str) -> Option<String> {
        // Two keys must not be the same.
        Some(format!("0123456789abcdef-{}", name.len()))
    }

    fn read_file(&self, _: &Path) -> io::Result<String> {
        Err(io::Error::other("there are no files"))
    }
}
