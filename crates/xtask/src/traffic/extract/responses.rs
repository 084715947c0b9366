//! Answers of Responses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Call, Input, ResponseContent, Stop, Usage, list, number, text};

pub(super) fn answer(document: &Value) -> ResponseContent {
    let mut answer = of_items(list(document, "/output"));
    end(document, &mut answer);
    answer
}

/// A stream says everything twice: in fragments, and in the items that end them.
pub(super) fn stream(events: &[Value]) -> ResponseContent {
    let mut items = BTreeMap::new();
    let mut terminal = None;
    let mut fragments = Fragments::default();
    let mut error = None;
    let mut begun = 0;
    for event in events {
        match text(event, "/type") {
            "response.output_item.done" => {
                let item = event.get("item").cloned().unwrap_or_default();
                items.insert(number(event, "/output_index"), item);
            }
            "response.output_text.delta" => fragments.text.push_str(text(event, "/delta")),
            "response.refusal.delta" => fragments.text.push_str(text(event, "/delta")),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                fragments.arguments.push_str(text(event, "/delta"));
            }
            "response.output_item.added" => {
                begun += usize::from(text(event, "/item/type") == "function_call");
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                terminal = event.get("response");
            }
            "error" => error = super::error_message(event),
            _ => {}
        }
    }
    let empty = Value::Null;
    let whole = terminal.unwrap_or(&empty);
    let done: Vec<Value> = items.into_values().collect();
    // Some servers leave the items out of the last event, others out of the stream.
    let mut answer =
        if done.is_empty() { of_items(list(whole, "/output")) } else { of_items(&done) };
    answer.contradiction = fragments.contradiction(&answer, whole);
    answer.other_text = (fragments.text != answer.text).then_some(fragments.text);
    end(whole, &mut answer);
    answer.error = answer.error.or(error);
    // An answer that ends in the middle of a call has not ended.
    answer.ended = terminal.is_some() && begun <= answer.calls.len();
    answer
}

#[derive(Default)]
struct Fragments {
    text: String,
    arguments: String,
}

impl Fragments {
    /// What the fragments or the last event say otherwise than the items.
    fn contradiction(&self, answer: &ResponseContent, whole: &Value) -> Option<String> {
        if self.text != answer.text {
            return Some("the texts of the deltas differ from those of the items".to_owned());
        }
        let length = |call: &Call| match &call.input {
            Input::Json(value) => usize::from(!value.as_object().is_none_or(|map| map.is_empty())),
            Input::Text(text) => text.len(),
            Input::Native => 0,
        };
        let said = answer.calls.iter().map(length).sum::<usize>() > 0;
        if said && self.arguments.is_empty() {
            return Some("calls have arguments that no delta brought".to_owned());
        }
        let last = of_items(list(whole, "/output"));
        let same = last.text == answer.text && last.calls == answer.calls;
        let is_said = !list(whole, "/output").is_empty();
        (is_said && !same).then(|| "the last event differs from the items".to_owned())
    }
}

fn of_items(items: &[Value]) -> ResponseContent {
    let mut answer = ResponseContent::default();
    for item in items {
        match text(item, "/type") {
            "message" => {
                for part in list(item, "/content") {
                    answer.text.push_str(text(part, "/text"));
                    let refusal = text(part, "/refusal");
                    answer.is_refusal |= !refusal.is_empty();
                    answer.text.push_str(refusal);
                }
            }
            "reasoning" => {
                let parts = list(item, "/summary").iter().chain(list(item, "/content"));
                let thoughts = parts.map(|part| text(part, "/text").to_owned());
                answer.reasoning.extend(thoughts.filter(|thought| !thought.is_empty()));
            }
            "function_call" => {
                answer.calls.push(call(item, Input::of_arguments(text(item, "/arguments"))));
            }
            "custom_tool_call" => {
                answer.calls.push(call(item, Input::Text(text(item, "/input").to_owned())));
            }
            "local_shell_call" | "apply_patch_call" | "computer_call" => {
                answer.calls.push(call(item, Input::Native));
            }
            // A shell in the vendor's container, or a search of the vendor's own, has its result
            // beside it and asks nothing of the client.
            "shell_call" if !is_answered(item, items) => {
                answer.calls.push(call(item, Input::Native));
            }
            "tool_search_call" if text(item, "/execution") == "client" => {
                answer.calls.push(call(item, Input::Native));
            }
            _ => answer.hosted += 1,
        }
    }
    answer
}

fn is_answered(call: &Value, items: &[Value]) -> bool {
    let id = text(call, "/call_id");
    items
        .iter()
        .any(|item| text(item, "/type").ends_with("_output") && text(item, "/call_id") == id)
}

fn call(item: &Value, input: Input) -> Call {
    Call {
        id: text(item, "/call_id").to_owned(),
        name: text(item, "/name").to_owned(),
        namespace: text(item, "/namespace").to_owned(),
        input,
    }
}

/// How the answer ended and what it cost.
fn end(response: &Value, answer: &mut ResponseContent) {
    let reason = text(response, "/incomplete_details/reason");
    answer.stop = match (text(response, "/status"), reason) {
        ("", _) => Stop::Unsaid,
        ("completed", _) => Stop::End,
        ("incomplete", "max_output_tokens" | "") => Stop::Length,
        ("incomplete", "content_filter") => Stop::Filter,
        (status, reason) => Stop::Other(format!("{status} {reason}").trim().to_owned()),
    };
    if text(response, "/status") == "failed" {
        answer.error = super::error_message(response);
    }
    let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) else { return };
    let (input, output) = (number(usage, "/input_tokens"), number(usage, "/output_tokens"));
    let total = usage.get("total_tokens").and_then(Value::as_u64);
    answer.usage = Some(Usage {
        input,
        output,
        total: total.unwrap_or(input + output),
        cache_read: number(usage, "/input_tokens_details/cached_tokens"),
        cache_write: number(usage, "/input_tokens_details/cache_write_tokens"),
        reasoning: number(usage, "/output_tokens_details/reasoning_tokens"),
    });
}
