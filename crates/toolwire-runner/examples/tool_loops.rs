//! Tool loops of every kind against the demo model of a gateway: a single call,
//! parallel calls, sequential calls, a tool that fails and one that is too slow.
//!
//! Start a gateway with `toolwire`, then
//! `cargo run -p toolwire-runner --example tool_loops -- messages`. The protocol is
//! `chat`, `responses` or `messages`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use toolwire_runner::{Client, Event, Protocol, Request, Runner, Tool, ToolSet};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    /// The name of a city.
    city: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Account {
    /// The name of a customer.
    name: String,
}

/// Knows the weather of every city but one.
async fn weather(place: Place) -> Result<String, String> {
    match place.city.as_str() {
        "Atlantis" => Err("there is no such city".to_owned()),
        city => Ok(format!("sunny in {city}, 21 °C")),
    }
}

/// Takes longer than anybody waits.
async fn audit(account: Account) -> String {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    format!("{} owes nothing", account.name)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "chat".to_owned());
    let protocol = Protocol::parse(&name).ok_or("expected chat, responses or messages")?;
    let client = Client::gateway(protocol)?;
    let tools =
        ToolSet::new().add(Tool::new("get_weather", "The weather in a city", weather))?.add(
            Tool::new("audit_account", "Audits the account of a customer", audit)
                .timeout(Duration::from_millis(100)),
        )?;
    for (kind, question) in [
        ("single", "What is the weather in Paris?"),
        ("parallel", "What is the weather in Paris and Rome?"),
        ("sequential", "What is the weather in Paris, then in Rome?"),
        ("failing", "What is the weather in Oslo and Atlantis?"),
        ("slow", "Please audit the account of Ada."),
    ] {
        println!("{kind}: {question}");
        let runner = Runner::new(tools.clone()).streaming(kind != "single").on_event(|event| {
            if let Event::Asked { round } = event {
                println!("  round {}", round + 1);
            }
        });
        let outcome = runner.run(&client, Request::new("demo", question)).await?;
        for (call, output) in outcome.calls().iter().zip(outcome.outputs()) {
            println!("  {} {:?}: {:?}", call.name, call.state, output.content);
        }
        println!("  {}", outcome.text().replace('\n', "\n  "));
    }
    Ok(())
}
