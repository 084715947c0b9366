//! The runner against scripted models, in every protocol.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod behaviour;
mod checklist;
mod demo;
mod examples;
mod scripted;

use std::time::Duration;

use serde_json::{Value, json};
use toolwire_runner::{Client, Error, Outcome, Protocol, Request, Runner, Tool, ToolSet};

use crate::scripted::ScriptedModel;

/// The schema of a tool that takes a city.
pub(crate) fn city() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

/// A tool that knows the weather of every city but Atlantis, and takes forever
/// for Avalon.
pub(crate) fn weather() -> Tool {
    let run = |arguments: Value| async move {
        match arguments["city"].as_str().unwrap_or_default() {
            "Atlantis" => Err("no such city".to_owned()),
            "Avalon" => std::future::pending().await,
            "Pompeii" => panic!("the volcano"),
            city => Ok(format!("sunny in {city}")),
        }
    };
    Tool::with_schema("get_weather", "The weather in a city", city(), run)
        .timeout(Duration::from_millis(200))
}

/// A runner of the weather.
pub(crate) fn runner() -> Runner {
    Runner::new(ToolSet::new().add(weather()).unwrap())
}

/// Lets a runner answer a model that gives these answers, in a protocol.
pub(crate) async fn run(
    runner: &Runner,
    protocol: Protocol,
    answers: Vec<Value>,
) -> (Result<Outcome, Error>, ScriptedModel) {
    let model = ScriptedModel::start(protocol, answers).await;
    let client = Client::new(protocol, &model.address).unwrap();
    let outcome = runner.run(&client, Request::new("m", "What is the weather?")).await;
    (outcome, model)
}

/// What a model says, in Chat.
pub(crate) fn says(text: &str) -> Value {
    message(json!({"role": "assistant", "content": text}))
}

/// A model's calls of `get_weather`, in Chat.
pub(crate) fn calls(text: Option<&str>, cities: &[(&str, &str)]) -> Value {
    let arguments = |city: &str| json!({"city": city}).to_string();
    let list = cities.iter().map(|(id, city)| call(id, "get_weather", &arguments(city)));
    message(json!({"role": "assistant", "content": text, "tool_calls": list.collect::<Vec<_>>()}))
}

/// One call, in Chat.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// An answer of that message, in Chat.
pub(crate) fn message(message: Value) -> Value {
    let reason = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
}

/// What the model reads of each call: the texts, and whether they are failures.
pub(crate) fn read(outcome: &Outcome) -> Vec<(String, bool)> {
    let text = |output: &toolwire_runner::ToolOutput| match &output.content {
        toolwire_runner::Content::Text(text) => text.clone(),
        other @ (toolwire_runner::Content::Json(_) | _) => panic!("{other:?}"),
    };
    outcome.outputs().iter().map(|output| (text(output), output.is_error)).collect()
}
