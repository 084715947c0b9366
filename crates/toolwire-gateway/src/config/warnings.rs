//! What is probably not meant, though it is valid.

use super::pattern::ServedModels;
use super::{Alias, Config, Pattern, UpstreamConfig};

impl Config {
    /// What the operator probably does not mean, as sentences.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for Alias { name: Pattern(name), model } in &self.aliases {
            if SETTINGS.contains(&name.as_str()) {
                warnings.push(format!(
                    "`{name}` is an alias because it comes after [alias]. If it is a setting, move it to the top of the file."
                ));
            }
            if let Some((upstream, rest)) = self.unlisted(model) {
                warnings.push(format!(
                    "The alias `{name}` sends `{rest}` to the upstream {upstream}, which does not list it in `models`."
                ));
            }
        }
        for upstream in &self.upstreams {
            for Pattern(model) in &upstream.models {
                if let Some(Alias { name: Pattern(name), .. }) = self.hiding(model) {
                    warnings.push(format!(
                        "The alias `{name}` hides `{model}` of the upstream {}: such requests go to the alias's target.",
                        upstream.name
                    ));
                }
            }
        }
        warnings.truncate(MOST);
        warnings
    }

    /// The upstream and the model of an alias that names both, if the one does
    /// not list the other.
    fn unlisted<'a>(&'a self, target: &'a str) -> Option<(&'a str, &'a str)> {
        let (name, model) = target.split_once('/')?;
        let upstream: &UpstreamConfig = self.upstreams.iter().find(|other| other.name == name)?;
        let lists = upstream.models.iter().any(|pattern| pattern.matches(model));
        // A name with a slash of its own may be what another upstream serves.
        let is_served = ServedModels::new(&self.upstreams).contains_listed(target);
        (!lists && !is_served).then_some((name, model))
    }

    /// The alias that takes every request for a model or a pattern of models.
    fn hiding(&self, model: &str) -> Option<&Alias> {
        let specificity = |text: &str| match text.contains('*') {
            true => text.chars().filter(|c| *c != '*').count(),
            false => usize::MAX,
        };
        let hides = |alias: &&Alias| {
            let Pattern(name) = &alias.name;
            alias.name.matches(model) && specificity(name) >= specificity(model)
        };
        self.aliases.iter().find(hides)
    }
}

/// The settings of a file's top. TOML makes them aliases if they come after
/// `[alias]`.
const SETTINGS: &[&str] = &[
    "listen",
    "keys",
    "admin_key",
    "origins",
    "on_loss",
    "log",
    "prefer_same_protocol",
    "upstream",
    "timeouts",
    "limits",
    "retry",
    "store",
];

/// How many warnings there are at most.
const MOST: usize = 20;

#[cfg(test)]
mod tests;
