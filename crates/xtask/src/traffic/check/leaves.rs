//! Nothing is lost in silence: every leaf of a document is in its translation, or the ledger names
//! it, or a line below says why it need not be.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use toolwire::ledger::Entry;

use super::answer::packed;
use super::{Failure, Pair};
use crate::traffic::case::Kind;

/// The leaves that are neither in the output nor in the ledger, one failure for each place.
pub(super) fn lost(pair: &Pair<'_>) -> Vec<Failure> {
    let mut said = Said::default();
    said.hear("", &pair.after);
    said.packed = packed(&said.texts);
    let mut walk = Walk { pair, said, failures: Vec::new() };
    walk.visit("", &pair.before);
    walk.failures
}

struct Walk<'p> {
    pair: &'p Pair<'p>,
    said: Said,
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
                let is_kept = self.said.says(name, leaf) || is_named(self.pair.ledger, pointer);
                if !is_kept && !self.twin_is_named(pointer, leaf) {
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

impl Walk<'_> {
    /// Whether the ledger names a member beside this one that says the same: relays fill the
    /// members of several vendors with one thought.
    fn twin_is_named(&self, pointer: &str, leaf: &Value) -> bool {
        let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        let Some(Value::Object(members)) = self.pair.before.pointer(parent) else { return false };
        let twins = members.iter().filter(|(_, member)| leaf.is_string() && *member == leaf);
        twins.into_iter().any(|(name, _)| is_named(self.pair.ledger, &format!("{parent}/{name}")))
    }
}

/// Everything that a document says, wherever it says it.
#[derive(Default)]
struct Said {
    texts: String,
    packed: String,
    numbers: BTreeSet<String>,
    flags: BTreeSet<(String, bool)>,
}

impl Said {
    fn hear(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.hear_text(name);
                    self.hear(name, member);
                }
            }
            Value::Array(list) => list.iter().for_each(|element| self.hear(name, element)),
            Value::Null => {}
            Value::Bool(flag) => {
                self.flags.insert((name.to_owned(), *flag));
            }
            Value::Number(number) => {
                self.numbers.insert(plain(number));
            }
            Value::String(text) => {
                self.hear_text(text);
                // Arguments are JSON in a text, sealed reasoning is JSON in an envelope.
                let envelope = text.strip_prefix("tw1.").and_then(|packed| {
                    let packed = packed.split('.').next().unwrap_or(packed);
                    URL_SAFE_NO_PAD.decode(packed).ok()
                });
                let inside = envelope.as_deref().unwrap_or(text.as_bytes());
                if matches!(inside.first(), Some(b'{' | b'[')) {
                    let inside: Value = serde_json::from_slice(inside).unwrap_or_default();
                    self.hear(name, &inside);
                }
            }
        }
    }

    fn hear_text(&mut self, text: &str) {
        self.texts.push('\0');
        self.texts.push_str(text);
    }

    fn says(&self, name: &str, leaf: &Value) -> bool {
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
                    _ => has(name, *flag),
                }
            }
            Value::Number(number) => {
                let number = plain(number);
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
        let inside: Value = serde_json::from_str(text).unwrap_or_default();
        let leaves = inside.is_object() || inside.is_array();
        leaves && self.says_all(name, &inside)
    }

    fn says_all(&self, name: &str, value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                members.iter().all(|(name, member)| self.says_all(name, member))
            }
            Value::Array(list) => list.iter().all(|element| self.says_all(name, element)),
            leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                self.says(name, leaf)
            }
        }
    }
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

/// Whether a member need not be looked for, because something else checks it or it says nothing.
fn exempt(pair: &Pair<'_>, pointer: &str, name: &str, value: &Value) -> bool {
    if is_vocabulary(name, value) {
        return true;
    }
    match pair.case.kind {
        Kind::Request => of_request(pair, pointer, name, value),
        Kind::Answer | Kind::Stream => of_answer(pair, pointer, name, value),
        Kind::Error => of_error(name),
    }
}

/// Words for the parts of a conversation, which each protocol has its own of. The parts themselves
/// are looked for, and calls are counted. Types of tools that a vendor runs are not among them.
fn is_vocabulary(name: &str, value: &Value) -> bool {
    let Some(word) = value.as_str() else { return false };
    match name {
        "type" => TYPES.contains(&word),
        // A search for tools that the client runs becomes a function of that name.
        "execution" => word == "client",
        "role" => ["system", "developer", "user", "assistant", "tool"].contains(&word),
        _ => false,
    }
}

const TYPES: &[&str] = &[
    "adaptive",
    "additional_tools",
    "apply_patch_call",
    "apply_patch_call_output",
    "auto",
    "any",
    "base64",
    "content",
    "custom",
    "custom_tool_call",
    "custom_tool_call_output",
    "document",
    "enabled",
    "ephemeral",
    "error",
    "file",
    "function",
    "function_call",
    "function_call_output",
    "image",
    "image_url",
    "input_file",
    "input_image",
    "input_text",
    "json_schema",
    "local_shell_call",
    "local_shell_call_output",
    "message",
    "none",
    "object",
    "output_text",
    "reasoning",
    "reasoning_text",
    "redacted_thinking",
    "refusal",
    "shell_call",
    "shell_call_output",
    "summary_text",
    "text",
    "thinking",
    "tool",
    "tool_result",
    "tool_search_call",
    "tool_search_output",
    "tool_use",
    "url",
];

fn of_request(pair: &Pair<'_>, pointer: &str, name: &str, value: &Value) -> bool {
    let is_top = pointer.matches('/').count() == 1;
    let to = pair.to.as_str();
    match name {
        // `false` is what all three do unasked.
        "stream" | "is_error" | "logprobs" => value == false,
        // The vendor fixes the name of a tool of its own with its type.
        "name" => is_fixed_by_type(pair, pointer, value),
        // Words for the same thing: a summary is asked for, probabilities are wanted, a prompt is
        // cached up to here.
        "display" => pair.after.pointer("/reasoning/summary").is_some(),
        "include" => {
            *value == json!(["message.output_text.logprobs"])
                && pair.after.get("logprobs").is_some_and(|wanted| wanted == true)
        }
        "prompt_cache_breakpoint" => pair.after.to_string().contains("\"cache_control\""),
        // The results and the calls are compared by their ids, which a protocol may not accept.
        "tool_call_id" | "call_id" | "tool_use_id" => true,
        // A choice has words and a shape of its own in each protocol.
        "tool_choice" => value.is_string(),
        // Calls that may come together are what all three do unasked.
        "parallel_tool_calls" if is_top => value == true,
        // Responses keeps what it is asked unless told not to; the others keep nothing, so that
        // not to keep is what they do.
        "store" if is_top => value == false,
        // A tool that is not strict is what Chat and Messages take it for unasked.
        "strict" => value == false && to != "responses",
        // The stream of Responses and Messages always ends with its usage.
        "include_usage" => value == true && to != "chat",
        _ => false,
    }
}

fn is_fixed_by_type(pair: &Pair<'_>, pointer: &str, name: &Value) -> bool {
    let kind = pointer.strip_suffix("/name").map(|tool| format!("{tool}/type"));
    let kind = kind.and_then(|kind| pair.before.pointer(&kind)?.as_str());
    match (kind, name.as_str()) {
        (Some(kind), Some(name)) => pointer.starts_with("/tools/") && kind.starts_with(name),
        (None, _) | (_, None) => false,
    }
}

fn of_answer(pair: &Pair<'_>, pointer: &str, name: &str, value: &Value) -> bool {
    let is_top = pointer.matches('/').count() == 1;
    // Zeros among the counts, and flags that are off, say nothing.
    // The ordinary tier is what a client gets that asks for none.
    let is_ordinary = name == "service_tier" && (value == "default" || value == "standard");
    let says_nothing = value == false || is_ordinary || (pointer.contains("/usage/") && value == 0);
    if says_nothing {
        return true;
    }
    match name {
        // Answers and their parts get ids of their own; the ids of calls are compared with them.
        "id" | "call_id" => true,
        // Places in a list, which the list says.
        "index" | "output_index" => true,
        // Whether a thought of Mistral's has ended, as it has in a whole answer.
        "closed" => value == true,
        // When and by what it was made.
        "object" | "created" | "created_at" | "completed_at" | "system_fingerprint" => true,
        // Compared as reasons to stop.
        "finish_reason" | "stop_reason" | "status" | "reason" => true,
        // Compared as totals.
        "prompt_tokens"
        | "completion_tokens"
        | "total_tokens"
        | "cached_tokens"
        | "cache_write_tokens"
        | "reasoning_tokens"
        | "input_tokens"
        | "output_tokens"
        | "cache_read_input_tokens"
        | "cache_creation_input_tokens"
        | "thinking_tokens" => true,
        // Thoughts are compared as such, and vendors repeat them in several members.
        "reasoning" | "reasoning_content" | "reasoning_details" | "thinking_blocks" => true,
        // An answer of Responses repeats the settings of its request, and who pays for it, which
        // the client knows.
        name if is_top && pair.case.protocol.as_str() == "responses" => ECHOES.contains(&name),
        _ => false,
    }
}

const ECHOES: &[&str] = &[
    "background",
    "billing",
    "frequency_penalty",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

fn of_error(name: &str) -> bool {
    match name {
        // The kind of an error is one of each protocol's own words, and its status says it too.
        "type" | "code" | "status" => true,
        // Compared with the message of the output.
        "message" => true,
        // A number for the vendor's support, which the header has.
        "request_id" => true,
        _ => false,
    }
}
