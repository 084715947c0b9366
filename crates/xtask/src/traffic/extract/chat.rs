//! Answers of Chat Completions, as the vendors that speak it write them.

use serde_json::Value;

use super::{Call, Input, ResponseContent, Stop, Usage, list, number, text};

pub(super) fn answer(document: &Value) -> ResponseContent {
    let mut answer = ResponseContent::default();
    let choices = list(document, "/choices");
    answer.others = choices.len().saturating_sub(1);
    answer.usage = usage(document);
    let Some(choice) = choices.first() else { return answer };
    answer.stop = stop(text(choice, "/finish_reason"));
    answer.error = super::error_message(choice);
    // Beside an answer that says that it is finished, an error is about something else.
    if answer.error.is_none() && matches!(answer.stop, Stop::Unsaid | Stop::Other(_)) {
        answer.error = super::error_message(document);
    }
    let message = choice.get("message").unwrap_or(&Value::Null);
    let mut reasoning = Reasoning::default();
    add_message(message, &mut answer, &mut reasoning);
    // A spoken answer has its words beside the sound.
    let transcript = text(message, "/audio/transcript");
    if answer.text.is_empty() {
        answer.text.push_str(transcript);
    } else if answer.text != transcript {
        transcript.clone_into(&mut answer.explanation);
    }
    answer.reasoning = reasoning.thoughts();
    for call in list(message, "/tool_calls") {
        answer.calls.push(whole_call(call));
    }
    let legacy = message.get("function_call").filter(|call| !text(call, "/name").is_empty());
    answer.calls.extend(legacy.map(|call| Call {
        name: text(call, "/name").to_owned(),
        input: Input::of_arguments(text(call, "/arguments")),
        ..Call::default()
    }));
    answer
}

pub(super) fn stream(chunks: &[Value]) -> ResponseContent {
    let mut answer = ResponseContent::default();
    let mut calls = Calls::default();
    let mut reasoning = Reasoning::default();
    let mut transcript = String::new();
    for chunk in chunks {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            answer.error = super::error_message(chunk).or_else(|| Some(error.to_string()));
        }
        answer.usage = usage(chunk).or(answer.usage);
        for choice in list(chunk, "/choices") {
            let index = number(choice, "/index");
            if index > 0 {
                answer.others = answer.others.max(usize::try_from(index).unwrap_or(usize::MAX));
                continue;
            }
            answer.error = super::error_message(choice).or(answer.error);
            let finish = text(choice, "/finish_reason");
            if !finish.is_empty() {
                answer.stop = stop(finish);
            }
            // Kimi counts in the choice.
            answer.usage = usage(choice).or(answer.usage);
            let delta = choice.get("delta").unwrap_or(&Value::Null);
            transcript.push_str(text(delta, "/audio/transcript"));
            add_message(delta, &mut answer, &mut reasoning);
            for call in list(delta, "/tool_calls") {
                calls.push(call);
            }
            if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
                calls.push(&serde_json::json!({ "index": 0, "function": call }));
            }
        }
    }
    answer.ended = answer.stop != Stop::Unsaid && !calls.is_ambiguous;
    if answer.text.is_empty() {
        answer.text = transcript;
    }
    answer.reasoning = reasoning.thoughts();
    answer.calls = calls.list.into_iter().map(CallSoFar::call).collect();
    answer.calls.retain(|call| !call.name.is_empty());
    answer
}

/// Adds what a message or a delta says.
fn add_message(message: &Value, answer: &mut ResponseContent, reasoning: &mut Reasoning) {
    answer.text.push_str(text(message, "/content"));
    for part in list(message, "/content") {
        match text(part, "/type") {
            "thinking" => {
                let thoughts = list(part, "/thinking").iter().map(|thought| text(thought, "/text"));
                reasoning.parts.extend(thoughts);
                reasoning.parts.push_str(text(part, "/thinking"));
            }
            "refusal" => answer.text.push_str(text(part, "/refusal")),
            _ => answer.text.push_str(text(part, "/text")),
        }
    }
    let refusal = text(message, "/refusal");
    answer.is_refusal |= !refusal.is_empty();
    answer.text.push_str(refusal);
    reasoning.content.push_str(text(message, "/reasoning_content"));
    reasoning.plain.push_str(text(message, "/reasoning"));
    for detail in list(message, "/reasoning_details") {
        reasoning.details.push_str(text(detail, "/text"));
        reasoning.details.push_str(text(detail, "/summary"));
    }
    for block in list(message, "/thinking_blocks") {
        reasoning.blocks.push_str(text(block, "/thinking"));
    }
}

/// The same thought in the members of several vendors, which relays like to fill all at once.
#[derive(Default)]
struct Reasoning {
    content: String,
    plain: String,
    details: String,
    blocks: String,
    parts: String,
}

impl Reasoning {
    fn thoughts(self) -> Vec<String> {
        let Self { content, plain, details, blocks, parts } = self;
        let first = [content, plain, details, blocks].into_iter().find(|text| !text.is_empty());
        first.into_iter().chain(Some(parts)).filter(|text| !text.is_empty()).collect()
    }
}

fn whole_call(call: &Value) -> Call {
    let mut calls = Calls::default();
    calls.push(call);
    calls.list.into_iter().next().map(CallSoFar::call).unwrap_or_default()
}

/// The calls of a stream, as their fragments arrive.
#[derive(Default)]
struct Calls {
    list: Vec<CallSoFar>,
    /// Whether there were arguments that may be those of several calls.
    is_ambiguous: bool,
}

struct CallSoFar {
    index: u64,
    id: String,
    name: String,
    arguments: String,
    is_freeform: bool,
}

impl Calls {
    fn push(&mut self, fragment: &Value) {
        let index = number(fragment, "/index");
        let id = text(fragment, "/id");
        // Snowflake writes both members, one of them empty.
        let is_freeform = fragment.get("custom").is_some() && fragment.get("function").is_none();
        let key = if is_freeform { "custom" } else { "function" };
        let inside = fragment.get(key).unwrap_or(&Value::Null);
        let name = text(inside, "/name");
        let arguments = match inside.get("arguments") {
            // Some vendors write the object itself.
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => format!("{}{}", text(inside, "/arguments"), text(inside, "/input")),
        };
        let open = self.list.iter().enumerate().rev().find(|(_, call)| call.index == index);
        // Vendors that number every call 0 give each its own id, or at least its name.
        let same = open.filter(|(_, call)| {
            let same_id = id.is_empty() || call.id.is_empty() || call.id == id;
            let again = !id.is_empty() && call.id == id;
            same_id && (again || name.is_empty() || call.arguments.is_empty())
        });
        let same = same.map(|(number, _)| number);
        let same = if name.is_empty() { self.misnumbered(same, id, &arguments) } else { same };
        match same.and_then(|same| self.list.get_mut(same)) {
            Some(call) => {
                if call.id.is_empty() {
                    id.clone_into(&mut call.id);
                }
                if call.name != name {
                    call.name.push_str(name);
                }
                call.arguments.push_str(&arguments);
            }
            None => self.list.push(CallSoFar {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments,
                is_freeform,
            }),
        }
    }
}

impl Calls {
    /// The call of a piece without a name, which some vendors number otherwise than the beginning
    /// of its call. `found` is the call with its number.
    fn misnumbered(&mut self, found: Option<usize>, id: &str, arguments: &str) -> Option<usize> {
        let with_id = self.list.iter().rposition(|call| !id.is_empty() && call.id == id);
        if with_id.is_some() {
            return with_id;
        }
        let is_newest = found.is_some_and(|found| found + 1 == self.list.len());
        if is_newest || arguments.trim().is_empty() {
            return found;
        }
        let waiting = self.list.iter().enumerate().filter(|(_, call)| !call.is_whole());
        let waiting: Vec<usize> = waiting.map(|(number, _)| number).collect();
        if found.is_some_and(|found| waiting.contains(&found)) {
            return found;
        }
        self.is_ambiguous |= waiting.len() > 1;
        waiting.last().copied().or(found)
    }
}

impl CallSoFar {
    fn is_whole(&self) -> bool {
        serde_json::from_str::<Value>(&self.arguments).is_ok()
    }

    fn call(self) -> Call {
        let Self { index: _, id, name, arguments, is_freeform } = self;
        let input =
            if is_freeform { Input::Text(arguments) } else { Input::of_arguments(&arguments) };
        Call { id, name, namespace: String::new(), input }
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "" => Stop::Unsaid,
        // Mistral and others end with words of their own for the same.
        "stop" | "eos" | "end_turn" => Stop::End,
        "tool_calls" | "function_call" => Stop::Calls,
        "length" | "model_length" | "model_context_window_exceeded" => Stop::Length,
        "content_filter" | "sensitive" => Stop::Filter,
        // Gemini says behind it which of its filters it was.
        other if other.starts_with("content_filter: ") => Stop::Filter,
        other => Stop::Other(other.to_owned()),
    }
}

fn usage(document: &Value) -> Option<Usage> {
    // Groq puts the usage of a stream into a member of its own.
    let usage = [document.get("usage"), document.pointer("/x_groq/usage")];
    let usage = usage.into_iter().flatten().find(|usage| usage.is_object())?;
    let mut input = number(usage, "/prompt_tokens");
    let mut output = number(usage, "/completion_tokens");
    let mut reasoning = number(usage, "/completion_tokens_details/reasoning_tokens");
    let cache_read = first_number(usage, &CACHE_READ);
    let total = usage.get("total_tokens").and_then(Value::as_u64).unwrap_or(input + output);
    // Some vendors count cached tokens, others reasoning, outside of what they belong to. Only the
    // total shows it.
    let beside = total.saturating_sub(input + output);
    if beside > 0 && beside == cache_read && cache_read > input {
        input += beside;
    } else if beside > 0 {
        output += beside;
        reasoning = reasoning.max(beside);
    }
    Some(Usage {
        input,
        output,
        total,
        cache_read,
        cache_write: first_number(usage, &CACHE_WRITE),
        reasoning,
    })
}

/// The first of these members that there is.
fn first_number(usage: &Value, pointers: &[&str]) -> u64 {
    pointers.iter().find_map(|pointer| usage.pointer(pointer)?.as_u64()).unwrap_or_default()
}

/// Where tokens that were read from a cache are counted: OpenAI, Kimi, DeepSeek, and gateways in
/// the words of Messages.
const CACHE_READ: [&str; 4] = [
    "/prompt_tokens_details/cached_tokens",
    "/cached_tokens",
    "/prompt_cache_hit_tokens",
    "/cache_read_input_tokens",
];

/// The same for tokens that were written to one.
const CACHE_WRITE: [&str; 2] =
    ["/prompt_tokens_details/cache_write_tokens", "/cache_creation_input_tokens"];
