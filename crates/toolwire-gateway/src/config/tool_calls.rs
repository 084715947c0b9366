//! How the models of an upstream call tools: `tool_calls` and `tool_dialect`.

use toolwire::Profile;
use toolwire::text_tools::{Dialect, ToolCalls};

use super::fields::{Value, in_order, setting};
use super::problem::Problem;
use super::upstream;
use super::{Pattern, UpstreamConfig};

/// How the models of an upstream call tools.
#[derive(Clone, Debug)]
pub struct ToolCallRules {
    /// By the name of the model. The first pattern that matches counts; a model
    /// that none matches calls tools natively.
    rules: Vec<(Pattern, Mode)>,
    /// The dialect that models are asked to write, or that of the model's family.
    dialect: Option<Dialect>,
}

impl Default for ToolCallRules {
    fn default() -> Self {
        Self { rules: Vec::new(), dialect: Some(Dialect::HERMES) }
    }
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Native,
    Text,
    Intent,
}

impl UpstreamConfig {
    /// What the upstream accepts for one of its models.
    pub fn profile_of(&self, model: &str) -> Profile {
        let mut profile = self.profile.clone();
        profile.tool_calls = self.tool_calls.of_model(model);
        profile
    }
}

impl ToolCallRules {
    /// How a model calls tools.
    pub fn of_model(&self, model: &str) -> ToolCalls {
        let rule = self.rules.iter().find(|(pattern, _)| pattern.matches(model));
        let dialect = || self.dialect.unwrap_or_else(|| Dialect::of_model(model));
        match rule {
            None | Some((_, Mode::Native)) => ToolCalls::Native,
            Some((_, Mode::Text)) => ToolCalls::Text(dialect()),
            Some((_, Mode::Intent)) => ToolCalls::Intent(dialect()),
        }
    }

    /// Reads both settings.
    pub(super) fn read(
        tool_calls: Option<Value<'_, '_>>,
        tool_dialect: Option<Value<'_, '_>>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mode = |value, problems: &mut Vec<Problem>| {
            let words = [("native", Mode::Native), ("text", Mode::Text), ("intent", Mode::Intent)];
            setting("tool_calls", problems).word(value, &words)
        };
        let mut rules = Vec::new();
        if let Some(value) = tool_calls {
            match value.get_ref().as_table() {
                Some(table) => {
                    for (key, value) in in_order(table) {
                        let pattern = upstream::pattern_of(key.get_ref(), key.span(), problems);
                        rules.extend(pattern.zip(mode(value, problems)));
                    }
                }
                None => {
                    let every = Pattern("*".to_owned());
                    rules.extend(mode(value, problems).map(|mode| (every, mode)));
                }
            }
        }
        let Self { mut dialect, .. } = Self::default();
        if let Some(value) = tool_dialect {
            let named = Dialect::all().map(|dialect| (dialect.name(), Some(dialect)));
            let words: Vec<_> = named.chain([("auto", None)]).collect();
            if let Some(found) = setting("tool_dialect", problems).word(value, &words) {
                dialect = found;
            }
        }
        Self { rules, dialect }
    }
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::*;
    use crate::config::fields::Fields;

    fn rules(source: &str) -> (ToolCallRules, Vec<Problem>) {
        let document = DeTable::parse(source).unwrap();
        let mut fields = Fields::new(document.get_ref(), "an upstream");
        let mut problems = Vec::new();
        let (calls, dialect) = (fields.take("tool_calls"), fields.take("tool_dialect"));
        (ToolCallRules::read(calls, dialect, &mut problems), problems)
    }

    #[test]
    fn one_word_is_for_every_model_and_a_table_is_by_pattern() {
        let (all, problems) = rules("tool_calls = \"text\"");
        assert!(problems.is_empty());
        assert_eq!(all.of_model("m"), ToolCalls::Text(Dialect::HERMES));
        let (some, problems) = rules(
            "tool_calls = { \"llama-*\" = \"native\", \"*\" = \"intent\" }\ntool_dialect = \"auto\"",
        );
        assert!(problems.is_empty());
        assert_eq!(some.of_model("llama-3"), ToolCalls::Native);
        let mistral = Dialect::named("mistral").unwrap();
        assert_eq!(some.of_model("mistral-7b"), ToolCalls::Intent(mistral));
        assert_eq!(rules("").0.of_model("m"), ToolCalls::Native);
    }

    #[test]
    fn a_wrong_word_is_a_problem() {
        let (_, problems) = rules("tool_calls = \"texts\"\ntool_dialect = \"klingon\"");
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}
