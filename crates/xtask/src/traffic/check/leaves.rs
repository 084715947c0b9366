//! Nothing is lost in silence: every leaf of a document is in its translation, or the ledger names
//! it, or `exempt.rs` says why it need not be.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use toolwire::ledger::Entry;

use super::answer::packed;
use super::exempt::exempt;
use super::{Failure, Pair};

/// The leaves that are neither in the output nor in the ledger, one failure for each place.
pub(super) fn lost(pair: &Pair<'_>) -> Vec<Failure> {
    let mut content = DocumentContent::default();
    content.add("", &pair.after);
    content.packed = packed(&content.texts);
    let mut walk = Walk { pair, content, failures: Vec::new() };
    walk.visit("", &pair.before);
    walk.failures
}

struct Walk<'p> {
    pair: &'p Pair<'p>,
    content: DocumentContent,
    failures: Vec<Failure>,
}

impl Walk<'_> {
    fn visit(&mut self, pointer: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let escaped = name.replace('~', "~0").replace('/', "~1");
                    let below = format!("{pointer}/{escaped}");
                    if !exempt(self.pair, &below, name, member) {
                        self.visit(&below, member);
                    }
                }
            }
            Value::Array(list) => {
                for (at, element) in list.iter().enumerate() {
                    self.visit(&format!("{pointer}/{at}"), element);
                }
            }
            // Null says nothing: none of the three published schemas gives it a meaning of its own.
            Value::Null => {}
            leaf @ (Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                let name = pointer.rsplit('/').next().unwrap_or_default();
                let is_kept = self.content.has(name, leaf) || is_named(self.pair.ledger, pointer);
                if !is_kept && !is_thought_elsewhere(self.pair.ledger, pointer) {
                    let class = format!("lost in silence: {}", pattern(pointer));
                    if !self.failures.iter().any(|failure| failure.class == class) {
                        let shown: String = leaf.to_string().chars().take(80).collect();
                        self.failures.push(Failure::new(class, format!("{pointer}: {shown}")));
                    }
                }
            }
        }
    }
}

/// Everything that a document says, wherever it says it.
#[derive(Default)]
struct DocumentContent {
    texts: String,
    packed: String,
    numbers: BTreeSet<String>,
    flags: BTreeSet<(String, bool)>,
}

impl DocumentContent {
    fn add(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.add_text(name);
                    self.add(name, member);
                }
            }
            Value::Array(list) => list.iter().for_each(|element| self.add(name, element)),
            Value::Null => {}
            Value::Bool(flag) => {
                self.flags.insert((name.to_owned(), *flag));
            }
            Value::Number(number) => {
                self.numbers.insert(plain(number));
            }
            Value::String(text) => {
                self.add_text(text);
                if let Some(inside) = inside(text) {
                    self.add(name, &inside);
                }
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        self.texts.push('\0');
        self.texts.push_str(text);
    }

    fn has(&self, name: &str, leaf: &Value) -> bool {
        match leaf {
            Value::Bool(flag) => {
                let has = |name: &str, flag| self.flags.contains(&(name.to_owned(), flag));
                match name {
                    "parallel_tool_calls" => {
                        has(name, *flag) || has("disable_parallel_tool_use", !flag)
                    }
                    "disable_parallel_tool_use" => {
                        has(name, *flag) || has("parallel_tool_calls", !flag)
                    }
                    // Responses has a list of what to include.
                    "logprobs" if *flag => has(name, true) || self.texts.contains("logprobs"),
                    _ => has(name, *flag),
                }
            }
            Value::Number(number) => {
                // Chat counts whole seconds.
                let seconds = number.as_f64().filter(|_| name == "created_at").map(f64::trunc);
                let number = seconds.map_or_else(|| plain(number), |seconds| seconds.to_string());
                self.numbers.contains(&number) || self.texts.contains(&number)
            }
            Value::String(text) => self.says_text(name, text),
            Value::Null | Value::Array(_) | Value::Object(_) => true,
        }
    }

    fn says_text(&self, name: &str, text: &str) -> bool {
        let bare = packed(text);
        if bare.is_empty() || self.texts.contains(text) || self.packed.contains(&bare) {
            return true;
        }
        // The media type and the data of an image stand apart in Messages.
        if let Some((_, data)) = text.split_once(";base64,").filter(|_| text.starts_with("data:")) {
            return self.texts.contains(data);
        }
        inside(text).is_some_and(|inside| self.says_all(name, &inside))
    }

    fn says_all(&self, name: &str, value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                members.iter().all(|(name, member)| self.says_all(name, member))
            }
            Value::Array(list) => list.iter().all(|element| self.says_all(name, element)),
            leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                self.has(name, leaf)
            }
        }
    }
}

/// The document in a text: arguments are JSON, and so is what is in an envelope of sealed reasoning.
fn inside(text: &str) -> Option<Value> {
    let envelope = text.strip_prefix("tw1.").and_then(|packed| {
        let packed = packed.split('.').next().unwrap_or(packed);
        URL_SAFE_NO_PAD.decode(packed).ok()
    });
    let mut inside: Value = match &envelope {
        Some(json) => serde_json::from_slice(json).ok()?,
        None if text.starts_with(['{', '[']) => serde_json::from_str(text).ok()?,
        None => return None,
    };
    // Who sealed it and where it was is for toolwire alone.
    if let Some(members) = inside.as_object_mut().filter(|_| envelope.is_some()) {
        members.retain(|name, _| !["iss", "place", "redacted"].contains(&name.as_str()));
    }
    Some(inside)
}

/// One spelling for `1`, `1.0` and `1e0`.
fn plain(number: &serde_json::Number) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
}

/// Whether the ledger has a line for a place, for something in it, or for what it is in. A line
/// about the whole document names nothing.
pub(super) fn is_named(ledger: &[Entry], pointer: &str) -> bool {
    let under = |path: &str, parent: &str| {
        path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    ledger.iter().any(|entry| {
        let path = entry.path.as_str();
        !path.is_empty() && (under(pointer, path) || under(path, pointer))
    })
}

/// Whether the ledger names the thought that this is a copy of: vendors have several members for
/// one thought, and relays fill them all.
fn is_thought_elsewhere(ledger: &[Entry], pointer: &str) -> bool {
    let thought = THOUGHTS.iter().find_map(|name| pointer.split_once(&format!("/{name}")));
    thought.is_some_and(|(message, _)| {
        THOUGHTS.iter().any(|name| is_named(ledger, &format!("{message}/{name}")))
    })
}

const THOUGHTS: [&str; 4] =
    ["reasoning_content", "reasoning_details", "reasoning", "thinking_blocks"];

/// A pointer without its numbers, and without the names that users chose.
fn pattern(pointer: &str) -> String {
    let mut pattern = String::new();
    for part in pointer.split('/').skip(1) {
        pattern.push('/');
        let is_index = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        pattern.push_str(if is_index { "*" } else { part });
        if USERS_OWN.contains(&part) {
            pattern.push_str("/…");
            break;
        }
    }
    pattern
}

/// Members below which the names are the user's.
const USERS_OWN: [&str; 7] =
    ["parameters", "input_schema", "schema", "input_json", "metadata", "properties", "arguments"];
