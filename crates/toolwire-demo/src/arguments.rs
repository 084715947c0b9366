//! Arguments for a tool, built from its schema and the user's prompt.
//!
//! An agent runs what a model calls. So nothing that a user writes becomes a
//! command, and a tool whose name suggests that it changes something gets a
//! file of the demo model's own instead of one that the user names.
//!
//! Arguments are JSON text rather than a tree, because a number that the user
//! wrote keeps its spelling.

mod formats;
mod names;
mod schema;

use serde_json::{Value, json};

use self::schema::{elements, first_branch, schema_type};
use crate::prompt::{Prompt, stems};

/// Builds values that fit a schema.
pub(crate) struct ArgumentBuilder<'s> {
    root: &'s Value,
    prompt: Prompt,
    /// Whether the tool's name suggests that it changes something.
    changes_something: bool,
    /// The mention that was used last, for calls that differ only in it.
    pub(crate) last_mention: Option<String>,
}

impl<'s> ArgumentBuilder<'s> {
    /// For the tool `name` with the schema `root`.
    pub(crate) fn new(root: &'s Value, name: &str, prompt: Prompt) -> Self {
        let changes_something = names::any_stem_of(name, names::CHANGING_TOOLS);
        Self { root, prompt, changes_something, last_mention: None }
    }

    /// A JSON document that fits the schema.
    pub(crate) fn build(&mut self) -> String {
        self.value(self.root, "", MAX_DEPTH)
    }

    /// A value for the property `name`.
    fn value(&mut self, schema: &Value, name: &str, depth: usize) -> String {
        if depth == 0 {
            return NULL.to_owned();
        }
        if let Some(target) = self.resolve_reference(schema) {
            return self.value(target, name, depth - 1);
        }
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        if let Some(value) = self.enum_value(schema) {
            return value.to_string();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branch) = first_branch(schema.get(key)) {
                return self.value(branch, name, depth - 1);
            }
        }
        match schema_type(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "integer" | "number" => self.number(schema),
            "boolean" => schema.get("default").unwrap_or(&Value::Bool(false)).to_string(),
            "null" => NULL.to_owned(),
            _string_or_unknown => json_string(&self.string(schema, name)),
        }
    }

    /// The schema that a `$ref` leads to.
    fn resolve_reference(&self, schema: &Value) -> Option<&'s Value> {
        let path = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        let mut target = self.root;
        for step in path.split('/').skip(1) {
            target = target.get(step.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(target)
    }

    /// The value of an `enum` that the user mentions, or else the default, or
    /// else the first.
    fn enum_value<'v>(&self, schema: &'v Value) -> Option<&'v Value> {
        let values = elements(Some(schema.get("enum")?));
        self.mentioned(values).or_else(|| schema.get("default")).or_else(|| values.first())
    }

    fn mentioned<'v>(&self, values: &'v [Value]) -> Option<&'v Value> {
        let prompt = self.prompt.stems();
        values.iter().find(|value| {
            let words = value.as_str().map(stems).unwrap_or_default();
            !words.is_empty() && words.iter().all(|word| prompt.contains(word))
        })
    }

    /// The required properties, and those whose `enum` the user mentions. If
    /// nothing is required, the first property is filled in too: a call without
    /// arguments shows little.
    fn object(&mut self, schema: &Value, depth: usize) -> String {
        let mut parts = vec![schema];
        parts.extend(elements(schema.get("allOf")));
        let required: Vec<&str> = parts
            .iter()
            .flat_map(|part| elements(part.get("required")))
            .filter_map(Value::as_str)
            .collect();
        let properties: Vec<(&String, &Value)> =
            parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten().collect();
        let mut members: Vec<(&String, String)> = Vec::new();
        for (index, (name, property)) in properties.into_iter().enumerate() {
            let is_wanted = required.contains(&name.as_str())
                || (required.is_empty() && index == 0 && depth == MAX_DEPTH)
                || self.mentioned(elements(property.get("enum"))).is_some();
            if is_wanted && !members.iter().any(|(known, _)| *known == name) {
                let value = self.value(property, name, depth - 1);
                members.push((name, value));
            }
        }
        let members: Vec<String> =
            members.iter().map(|(name, value)| format!("{}:{value}", json_string(name))).collect();
        format!("{{{}}}", members.join(","))
    }

    fn array(&mut self, schema: &Value, name: &str, depth: usize) -> String {
        if let Some(value) = schema.get("default") {
            return value.to_string();
        }
        if names::any_stem_of(name, names::COMMANDS) {
            return json!(["echo", GREETING]).to_string();
        }
        let least = schema.get("minItems").and_then(Value::as_f64).unwrap_or(1.0);
        let most = schema.get("maxItems").and_then(Value::as_f64).unwrap_or(MAX_ITEMS);
        let count = least.max(1.0).min(most).clamp(0.0, MAX_ITEMS) as usize;
        let anything = json!({});
        let items = schema.get("items").unwrap_or(&anything);
        // "colours" is a list of what one would call a colour.
        let singular = name.strip_suffix('s').unwrap_or(name);
        let values: Vec<String> =
            (0..count).map(|_| self.value(items, singular, depth - 1)).collect();
        format!("[{}]", values.join(","))
    }

    /// A number of the user's that fits, or else the default, or else the
    /// smallest that fits.
    fn number(&mut self, schema: &Value) -> String {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let is_integer = schema_type(schema) == "integer";
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| least + 1.0));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - 1.0));
        let fits = |text: &String| {
            let number: f64 = text.parse().unwrap_or(f64::NAN);
            least.is_none_or(|least| number >= least)
                && most.is_none_or(|most| number <= most)
                && (!is_integer || !text.contains('.'))
        };
        if let Some(index) = self.prompt.numbers.iter().position(fits) {
            return self.prompt.numbers.remove(index);
        }
        if let Some(value) = schema.get("default") {
            return value.to_string();
        }
        let number = least.unwrap_or(1.0).min(most.unwrap_or(f64::MAX));
        if is_integer { format!("{:.0}", number.ceil()) } else { format!("{number}") }
    }

    fn string(&mut self, schema: &Value, name: &str) -> String {
        let text = self.any_string(schema, name);
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64).map(|size| size as usize);
        let mut text: String =
            text.chars().take(bound("maxLength").unwrap_or(usize::MAX)).collect();
        // Some schemas want a text of a certain length and do not say what for.
        let least = bound("minLength").unwrap_or_default().min(1000);
        while text.chars().count() < least {
            text.push('.');
        }
        text
    }

    /// A string for a property, whatever length it should have.
    fn any_string(&mut self, schema: &Value, name: &str) -> String {
        let keyword = |key| schema.get(key).and_then(Value::as_str);
        let is_named = |known: &[&str]| names::any_stem_of(name, known);
        if is_named(names::COMMANDS) {
            return format!("echo '{GREETING}'");
        }
        if let Some(format) = formats::find(|known| keyword("format") == Some(known)) {
            return format.value(&self.prompt);
        }
        if is_named(names::PATHS) {
            if self.changes_something {
                return OWN_FILE.to_owned();
            }
            let path = self.prompt.find_word(|word| word.contains(['/', '.']) && word.len() > 2);
            return path.unwrap_or_else(|| "README.md".to_owned());
        }
        if self.changes_something && is_named(names::CONTENT) {
            return format!("{GREETING}\n");
        }
        if let Some(format) = formats::find(|known| is_named(&[known])) {
            return format.value(&self.prompt);
        }
        if let Some(value) = keyword("default") {
            return value.to_owned();
        }
        if is_named(names::WHOLE_PROMPT) && !self.prompt.text.is_empty() {
            return self.prompt.text.clone();
        }
        if let Some(mention) = self.take_mention(name) {
            return mention;
        }
        let example = elements(schema.get("examples")).first().and_then(Value::as_str);
        match example {
            Some(example) => example.to_owned(),
            None if self.prompt.text.is_empty() => "example".to_owned(),
            None => self.prompt.text.clone(),
        }
    }

    /// The mention with the preposition that the property's name suggests, as
    /// `origin` suggests "from", or else the next one.
    fn take_mention(&mut self, name: &str) -> Option<String> {
        let mentions = &self.prompt.mentions;
        let preposition = names::preposition(name);
        let suggested = preposition.and_then(|wanted| {
            mentions.iter().find(|mention| mention.preposition.as_deref() == Some(wanted))
        });
        let found = suggested.or_else(|| mentions.first())?.name.clone();
        self.prompt = self.prompt.without(&found);
        self.last_mention = Some(found.clone());
        Some(found)
    }
}

/// The input for a tool that takes any text.
pub(crate) fn freeform_input(name: &str, prompt: &Prompt) -> String {
    let is_named = |known: &[&str]| names::any_stem_of(name, known);
    if is_named(&["patch"]) {
        return format!("*** Begin Patch\n*** Add File: {OWN_FILE}\n+{GREETING}\n*** End Patch\n");
    }
    let is_risky = is_named(names::COMMANDS) || is_named(names::CHANGING_TOOLS);
    if is_risky || prompt.text.is_empty() {
        return format!("echo '{GREETING}'");
    }
    prompt.text.clone()
}

fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

const NULL: &str = "null";
const MAX_DEPTH: usize = 16;
/// Nobody asks for more than a few on purpose.
const MAX_ITEMS: f64 = 8.0;
const GREETING: &str = "Hello from the toolwire demo model";
const OWN_FILE: &str = "toolwire-demo.txt";
