//! Arguments for a tool, made from its schema and the user's words.
//!
//! An agent runs what a model calls. So nothing that a user writes becomes a
//! command, and a tool that sounds as if it changed something gets a file of
//! the demo model's own instead of one that the user names.

use super::json::Json;
use super::prompt::{Words, stems};

/// Makes values that fit a schema.
pub(super) struct Filler<'s> {
    root: &'s Json,
    words: Words,
    /// Whether the tool sounds as if it changed something.
    changes: bool,
    /// The thing that was used last, for calls that differ only in it.
    pub(super) used: Option<String>,
}

impl<'s> Filler<'s> {
    /// For the schema `root` of the tool `name`.
    pub(super) fn new(root: &'s Json, name: &str, words: Words) -> Self {
        let changes = stems(name).iter().any(|word| CHANGING.contains(&word.as_str()));
        Self { root, words, changes, used: None }
    }

    /// A value that fits the schema.
    pub(super) fn value(&mut self) -> Json {
        self.fill(self.root, "", DEPTH)
    }

    fn fill(&mut self, schema: &Json, name: &str, depth: usize) -> Json {
        if depth == 0 {
            return Json::Null;
        }
        if let Some(target) = self.target(schema) {
            return self.fill(target, name, depth - 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(value) = self.choice(schema) {
            return value;
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branch) = branch(schema.get(key)) {
                return self.fill(branch, name, depth - 1);
            }
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "string" => Json::Text(self.string(schema, name)),
            "integer" | "number" => self.number(schema),
            "boolean" => schema.get("default").cloned().unwrap_or(Json::Bool(false)),
            "null" => Json::Null,
            _ => Json::Text(self.string(schema, name)),
        }
    }

    /// What a reference inside the schema leads to.
    fn target(&self, schema: &Json) -> Option<&'s Json> {
        let path = schema.get("$ref")?.as_text()?.strip_prefix('#')?;
        let mut found = self.root;
        for step in path.split('/').skip(1) {
            found = found.get(&step.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(found)
    }

    /// The choice that the user names, or the default, or the first.
    fn choice(&self, schema: &Json) -> Option<Json> {
        let choices = schema.get("enum")?.elements();
        self.named(choices).or_else(|| schema.get("default")).or_else(|| choices.first()).cloned()
    }

    fn named<'c>(&self, choices: &'c [Json]) -> Option<&'c Json> {
        let said = self.words.small();
        choices.iter().find(|choice| {
            let spelled = choice.as_text().map(stems).unwrap_or_default();
            !spelled.is_empty() && spelled.iter().all(|word| said.contains(word))
        })
    }

    /// What is required, and what the user speaks of. A tool that requires
    /// nothing gets its first property: a call without arguments shows little.
    fn object(&mut self, schema: &Json, depth: usize) -> Json {
        let mut parts = vec![schema];
        parts.extend(schema.get("allOf").map(Json::elements).unwrap_or_default());
        let required: Vec<&str> = parts
            .iter()
            .filter_map(|part| part.get("required"))
            .flat_map(Json::elements)
            .filter_map(Json::as_text)
            .collect();
        let properties: Vec<&(String, Json)> = parts
            .iter()
            .filter_map(|part| part.get("properties"))
            .flat_map(Json::members)
            .collect();
        let mut members: Vec<(String, Json)> = Vec::new();
        for (index, (name, property)) in properties.into_iter().enumerate() {
            let spoken = || {
                let choices = property.get("enum").map(Json::elements).unwrap_or_default();
                self.named(choices).is_some()
            };
            let wanted = required.contains(&name.as_str())
                || (required.is_empty() && index == 0 && depth == DEPTH)
                || spoken();
            if wanted && !members.iter().any(|(known, _)| known == name) {
                let value = self.fill(property, name, depth - 1);
                members.push((name.clone(), value));
            }
        }
        Json::Object(members)
    }

    fn array(&mut self, schema: &Json, name: &str, depth: usize) -> Json {
        if let Some(value) = schema.get("default") {
            return value.clone();
        }
        if self.is_command(name) {
            return Json::List(vec![Json::text("echo"), Json::text(GREETING)]);
        }
        let least = schema.get("minItems").and_then(Json::as_number).unwrap_or(1.0);
        let most = schema.get("maxItems").and_then(Json::as_number).unwrap_or(8.0);
        // Nobody asks for more than a few on purpose.
        let count = least.max(1.0).min(most).clamp(0.0, 8.0) as usize;
        let any = Json::Object(Vec::new());
        let items = schema.get("items").unwrap_or(&any);
        // "colours" is a list of what one would call a colour.
        let single = name.strip_suffix('s').unwrap_or(name);
        Json::List((0..count).map(|_| self.fill(items, single, depth - 1)).collect())
    }

    fn number(&mut self, schema: &Json) -> Json {
        let bound = |key: &str| schema.get(key).and_then(Json::as_number);
        let whole = kind(schema) == "integer";
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| least + 1.0));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - 1.0));
        let fits = |text: &String| {
            let number: f64 = text.parse().unwrap_or(f64::NAN);
            least.is_none_or(|least| number >= least)
                && most.is_none_or(|most| number <= most)
                && (!whole || !text.contains('.'))
        };
        if let Some(index) = self.words.numbers.iter().position(fits) {
            return Json::Number(self.words.numbers.remove(index));
        }
        if let Some(value) = schema.get("default") {
            return value.clone();
        }
        let number = least.unwrap_or(1.0).min(most.unwrap_or(f64::MAX));
        Json::Number(if whole { format!("{:.0}", number.ceil()) } else { format!("{number}") })
    }

    fn string(&mut self, schema: &Json, name: &str) -> String {
        let text = self.fitting(schema, name);
        let bound = |key: &str| schema.get(key).and_then(Json::as_number).map(|size| size as usize);
        let mut text: String =
            text.chars().take(bound("maxLength").unwrap_or(usize::MAX)).collect();
        // Some schemas want a text of a certain length and do not say what for.
        let least = bound("minLength").unwrap_or_default().min(1000);
        while text.chars().count() < least {
            text.push('.');
        }
        text
    }

    fn fitting(&mut self, schema: &Json, name: &str) -> String {
        let told = |key| schema.get(key).and_then(Json::as_text).map(str::to_owned);
        let example = schema.get("examples").and_then(|list| list.elements().first()?.as_text());
        if self.is_command(name) {
            return format!("echo '{GREETING}'");
        }
        let format = told("format").unwrap_or_default();
        if let Some((_, fits, usual)) = FORMATS.iter().find(|(known, _, _)| *known == format) {
            return self.words.find(fits).unwrap_or_else(|| (*usual).to_owned());
        }
        let parts = stems(name);
        let is = |known: &[&str]| parts.iter().any(|part| known.contains(&part.as_str()));
        if is(PATHS) {
            if self.changes {
                return OWN_FILE.to_owned();
            }
            let found = self.words.find(|word| word.contains(['/', '.']) && word.len() > 2);
            return found.unwrap_or_else(|| "README.md".to_owned());
        }
        if self.changes && is(CONTENT) {
            return format!("{GREETING}\n");
        }
        if let Some((_, fits, usual)) = FORMATS.iter().find(|(known, _, _)| is(&[known])) {
            return self.words.find(fits).unwrap_or_else(|| (*usual).to_owned());
        }
        if let Some(value) = told("default") {
            return value;
        }
        if is(WHOLE) && !self.words.text.is_empty() {
            return self.words.text.clone();
        }
        if let Some(thing) = self.thing(name) {
            return thing;
        }
        match example {
            Some(example) => example.to_owned(),
            None if self.words.text.is_empty() => "example".to_owned(),
            None => self.words.text.clone(),
        }
    }

    /// The next thing that is spoken of, or the one that the name asks for:
    /// `from` and `to`, `origin` and `destination`.
    fn thing(&mut self, name: &str) -> Option<String> {
        let asked =
            DIRECTIONS.iter().find(|(words, _)| words.contains(&name)).map(|(_, after)| *after);
        let after = |after: &str| {
            let mut things = self.words.things.iter();
            things.find(|thing| thing.after.as_deref() == Some(after))
        };
        let found = asked.and_then(after).or_else(|| self.words.things.first())?.name.clone();
        self.words = self.words.without(&found);
        self.used = Some(found.clone());
        Some(found)
    }

    fn is_command(&self, name: &str) -> bool {
        stems(name).iter().any(|part| COMMANDS.contains(&part.as_str()))
    }
}

/// The text for a tool that takes any.
pub(super) fn freeform(name: &str, words: &Words) -> String {
    let parts = stems(name);
    if parts.iter().any(|part| part == "patch") {
        return format!("*** Begin Patch\n*** Add File: {OWN_FILE}\n+{GREETING}\n*** End Patch\n");
    }
    let risky =
        |part: &String| COMMANDS.contains(&part.as_str()) || CHANGING.contains(&part.as_str());
    if parts.iter().any(risky) || words.text.is_empty() {
        return format!("echo '{GREETING}'");
    }
    words.text.clone()
}

/// The branch of a union to fill: the first that is not `null`.
fn branch(union: Option<&Json>) -> Option<&Json> {
    union?.elements().iter().find(|branch| kind(branch) != "null")
}

/// A schema's type; of several the first that is not `null`. A schema that
/// does not say is what its keywords suggest.
fn kind(schema: &Json) -> &str {
    let said = schema.get("type");
    let several = said.map(Json::elements).unwrap_or_default();
    let mut named =
        said.and_then(Json::as_text).into_iter().chain(several.iter().filter_map(Json::as_text));
    let found = named.find(|kind| *kind != "null");
    let null = || said.filter(|_| several.is_empty()).and_then(Json::as_text);
    found.or_else(null).unwrap_or_else(|| {
        let has = |key| schema.get(key).is_some();
        match () {
            () if has("properties") || has("allOf") => "object",
            () if has("items") => "array",
            () if has("minimum") || has("maximum") => "number",
            () => "",
        }
    })
}

/// What a format is called, what fits it, and what to say if nothing does.
type Shape = (&'static str, fn(&str) -> bool, &'static str);

const FORMATS: &[Shape] = &[
    ("date", is_date, "2026-01-01"),
    (
        "date-time",
        |word| word.contains('T') && word.get(..10).is_some_and(is_date),
        "2026-01-01T12:00:00Z",
    ),
    ("time", |word| word.split(':').count() == 3 && is_digits(&word.replace(':', "")), "12:00:00"),
    ("email", |word| word.contains('@') && word.contains('.'), "ada@example.com"),
    ("uri", |word| word.contains("://"), "https://example.com/"),
    ("url", |word| word.contains("://"), "https://example.com/"),
    (
        "uuid",
        |word| word.len() == 36 && word.split('-').count() == 5,
        "00000000-0000-4000-8000-000000000000",
    ),
    ("ipv4", |word| word.parse::<std::net::Ipv4Addr>().is_ok(), "192.0.2.1"),
    ("ipv6", |word| word.parse::<std::net::Ipv6Addr>().is_ok(), "2001:db8::1"),
    ("hostname", |word| word.contains('.'), "example.com"),
    ("duration", |word| word.starts_with('P') && word.len() > 2, "PT1H"),
];

fn is_date(word: &str) -> bool {
    let parts: Vec<_> = word.split('-').map(|part| (part.len(), is_digits(part))).collect();
    parts == [(4, true), (2, true), (2, true)]
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

const DEPTH: usize = 16;
const GREETING: &str = "Hello from the toolwire demo model";
const OWN_FILE: &str = "toolwire-demo.txt";

/// Stems of properties that a tool runs.
const COMMANDS: &[&str] =
    &["command", "cmd", "script", "shell", "code", "exec", "sql", "statement", "program", "argv"];
/// Stems of tools that change something.
const CHANGING: &[&str] = &[
    "write", "edit", "delete", "remove", "create", "update", "patch", "replace", "move", "rename",
    "apply", "put", "save", "append", "insert", "bash", "exec", "execute", "run", "shell", "kill",
    "notebook", "str", "editor",
];
const PATHS: &[&str] = &["path", "file", "filename", "filepath", "directory", "dir", "folder"];
const CONTENT: &[&str] = &["content", "contents", "text", "string", "source", "body", "data"];
/// Stems of properties that want all that the user said.
const WHOLE: &[&str] = &[
    "query",
    "question",
    "prompt",
    "message",
    "text",
    "input",
    "content",
    "search",
    "request",
    "description",
    "task",
    "instruction",
    "instructions",
    "thought",
    "body",
    "reason",
];
const DIRECTIONS: &[(&[&str], &str)] = &[
    (&["from", "origin", "source", "departure", "start"], "from"),
    (&["to", "destination", "target", "arrival", "recipient"], "to"),
    (&["city", "location", "place", "country", "region"], "in"),
    (&["topic", "subject"], "about"),
];
