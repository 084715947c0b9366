//! What need not be looked for leaf by leaf, each with its reason: it says nothing, or it is
//! compared in another way.

use serde_json::{Value, json};

use super::Pair;
use crate::traffic::case::Kind;

/// Whether a member need not be looked for, because something else checks it or it says nothing.
pub(super) fn exempt(pair: &Pair<'_>, pointer: &str, name: &str, value: &Value) -> bool {
    if is_vocabulary(name, value) {
        return true;
    }
    match pair.case.kind {
        Kind::Request => of_request(pair, pointer, name, value),
        Kind::Response | Kind::Stream => of_answer(pair, pointer, name, value),
        Kind::Error => of_error(pair, pointer, name),
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
        "role" => ROLES.contains(&word),
        _ => false,
    }
}

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

const TYPES: &[&str] = &[
    "adaptive",
    "additional_tools",
    "agent_message",
    "apply_patch_call",
    "apply_patch_call_output",
    "auto",
    "allowed_tools",
    "any",
    "base64",
    "content",
    "custom",
    "custom_tool_call",
    "custom_tool_call_output",
    "document",
    "enabled",
    "encrypted_content",
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
    "tool_addition",
    "tool_definition",
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
        // Places in a list, which the list says.
        "index" => true,
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
        // By what it was made, and when it was finished, which the client sees.
        "object" | "completed_at" | "system_fingerprint" => true,
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

fn of_error(pair: &Pair<'_>, pointer: &str, name: &str) -> bool {
    let is_top = pointer.matches('/').count() == 1;
    let is_in_place_of_answer = pair.before.get("object") == Some(&json!("chat.completion"));
    match name {
        // There is no answer that these could describe.
        "id" | "object" | "created" | "model" if is_top && is_in_place_of_answer => true,
        // The kind of an error is one of each protocol's own words, and its status says it too.
        "type" | "code" | "status" => true,
        // Compared with the message of the output.
        "message" => true,
        // A number for the vendor's support, which the header has.
        "request_id" => true,
        _ => false,
    }
}
