//! A question to a model that calls a tool, as the readme shows it.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use toolwire_runner::{Client, Protocol, Request, Runner, Tool, ToolSet};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    city: String,
}

async fn weather(place: Place) -> String {
    format!("Sunny in {}, 21 °C", place.city)
}

#[tokio::main]
async fn main() -> Result<(), toolwire_runner::Error> {
    let tools = ToolSet::new().add(Tool::new("get_weather", "The weather in a city", weather))?;
    let question = Request::new("demo", "What is the weather in Paris and Rome?");
    let outcome = Runner::new(tools).run(&Client::gateway(Protocol::Messages)?, question).await?;
    println!("{}", outcome.text());
    Ok(())
}
