//! Requests: the calls, results and tools of a conversation. Its texts and settings are compared
//! leaf by leaf.

use serde_json::Value;

use super::{Call, Input, list, text};

/// What a request says about tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::traffic) struct RequestContent {
    pub(in crate::traffic) calls: Vec<Call>,
    pub(in crate::traffic) results: Vec<CallResult>,
    /// The names of the tools that the client runs, and where they are declared.
    pub(in crate::traffic) tools: Vec<(String, String)>,
}

/// What a tool returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::traffic) struct CallResult {
    pub(in crate::traffic) id: String,
    /// Its texts, which may be parted by pictures.
    pub(in crate::traffic) texts: Vec<String>,
}

pub(super) fn chat(document: &Value) -> RequestContent {
    let mut asked = RequestContent::default();
    for message in list(document, "/messages") {
        // What has no name is a kind of call that nobody knows.
        let calls = list(message, "/tool_calls").iter().map(chat_call);
        asked.calls.extend(calls.filter(|call| !call.name.is_empty()));
        if text(message, "/role") == "tool" {
            let id = text(message, "/tool_call_id");
            asked.results.push(result(id, message.get("content")));
        }
    }
    for (at, tool) in list(document, "/tools").iter().enumerate() {
        let name = [text(tool, "/function/name"), text(tool, "/custom/name")].concat();
        asked.tools.extend((!name.is_empty()).then(|| (format!("/tools/{at}"), name)));
    }
    for (at, tool) in list(document, "/functions").iter().enumerate() {
        asked.tools.push((format!("/functions/{at}"), text(tool, "/name").to_owned()));
    }
    asked
}

pub(super) fn responses(document: &Value) -> RequestContent {
    let mut asked = RequestContent::default();
    for item in list(document, "/input") {
        match text(item, "/type") {
            "function_call" => {
                asked.calls.push(item_call(item, Input::of_arguments(text(item, "/arguments"))));
            }
            "custom_tool_call" => {
                asked.calls.push(item_call(item, Input::Text(text(item, "/input").to_owned())));
            }
            "function_call_output" | "custom_tool_call_output" => {
                asked.results.push(result(text(item, "/call_id"), item.get("output")));
            }
            _ => {}
        }
    }
    for (at, tool) in list(document, "/tools").iter().enumerate() {
        let names = match text(tool, "/type") {
            "function" | "custom" => vec![text(tool, "/name").to_owned()],
            "namespace" => {
                let name = |inner| format!("{}__{}", text(tool, "/name"), text(inner, "/name"));
                list(tool, "/tools").iter().map(name).collect()
            }
            _ => Vec::new(),
        };
        asked.tools.extend(names.into_iter().map(|name| (format!("/tools/{at}"), name)));
    }
    asked
}

pub(super) fn messages(document: &Value) -> RequestContent {
    let mut asked = RequestContent::default();
    for block in list(document, "/messages").iter().flat_map(|turn| list(turn, "/content")) {
        match text(block, "/type") {
            "tool_use" => asked.calls.push(Call {
                id: text(block, "/id").to_owned(),
                name: text(block, "/name").to_owned(),
                namespace: String::new(),
                input: Input::Json(block.get("input").cloned().unwrap_or_default()),
            }),
            "tool_result" => {
                asked.results.push(result(text(block, "/tool_use_id"), block.get("content")));
            }
            _ => {}
        }
    }
    for (at, tool) in list(document, "/tools").iter().enumerate() {
        let is_ours = matches!(text(tool, "/type"), "" | "custom");
        asked
            .tools
            .extend(is_ours.then(|| (format!("/tools/{at}"), text(tool, "/name").to_owned())));
    }
    asked
}

fn chat_call(call: &Value) -> Call {
    let custom = call.get("custom").map(|inside| Input::Text(text(inside, "/input").to_owned()));
    let arguments = || match call.pointer("/function/arguments") {
        Some(object @ Value::Object(_)) => Input::Json(object.clone()),
        Some(_) | None => Input::of_arguments(text(call, "/function/arguments")),
    };
    Call {
        id: text(call, "/id").to_owned(),
        name: [text(call, "/function/name"), text(call, "/custom/name")].concat(),
        namespace: String::new(),
        input: custom.unwrap_or_else(arguments),
    }
}

fn item_call(item: &Value, input: Input) -> Call {
    Call {
        id: text(item, "/call_id").to_owned(),
        name: text(item, "/name").to_owned(),
        namespace: text(item, "/namespace").to_owned(),
        input,
    }
}

/// The texts of a result; its pictures are compared as leaves.
fn result(id: &str, content: Option<&Value>) -> CallResult {
    let texts = match content {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| text(part, "/text").to_owned()).collect()
        }
        Some(_) | None => Vec::new(),
    };
    CallResult { id: id.to_owned(), texts }
}
