//! Translates a request for OpenAI Chat Completions into one for Anthropic
//! Messages, and prints what could not be carried.
//!
//! Run it with `cargo run -p toolwire --example request`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use toolwire::{Options, Protocol, translate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let request = br#"{
        "model": "gpt-5.1",
        "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
        "tools": [{"type": "function", "function": {"name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}],
        "tool_choice": "required",
        "logit_bias": {"50256": -100}
    }"#;

    let options = Options::new().model("claude-sonnet-4-5");
    let sent = translate::request(Protocol::Chat, Protocol::Messages, request, &options)?;

    println!("{}", String::from_utf8(sent.body)?);
    for entry in sent.ledger {
        println!("{} ({}): {}", entry.path, entry.code, entry.detail);
    }
    Ok(())
}
