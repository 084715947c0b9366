//! Runs the tools that a model calls, until it answers without a call. The model
//! is scripted here; a real program would send each request over HTTP.
//!
//! Run it with `cargo run -p toolwire --example tool_loop`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use toolwire::Protocol;
use toolwire::calls::{self, ToolCall, ToolOutput};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut request = br#"{"model":"claude-haiku-4-5","max_tokens":256,
        "tools":[{"name":"get_weather","input_schema":{"type":"object"}}],
        "messages":[{"role":"user","content":"Weather in Paris and Rome?"}]}"#
        .to_vec();

    for answer in ANSWERS {
        let calls = calls::parse(Protocol::Messages, answer)?;
        if calls.is_empty() {
            println!("The model is done.");
            break;
        }
        let outputs: Vec<ToolOutput> = calls.iter().map(run).collect();
        // The answer goes back as it came, followed by the results.
        request = calls::next_request(Protocol::Messages, &request, answer, &outputs)?;
        println!("{}", std::str::from_utf8(&request)?);
    }
    Ok(())
}

fn run(call: &ToolCall) -> ToolOutput {
    println!("{} {}", call.name, call.arguments().unwrap_or_default());
    match call.arguments() {
        Some(arguments) if arguments.contains("Paris") => ToolOutput::text(&call.id, "sunny"),
        Some(_) | None => ToolOutput::error(&call.id, "no such city"),
    }
}

const ANSWERS: [&[u8]; 2] = [
    br#"{"role":"assistant","stop_reason":"tool_use","content":[
        {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Paris"}},
        {"type":"tool_use","id":"toolu_2","name":"get_weather","input":{"city":"Rom"}}]}"#,
    br#"{"role":"assistant","stop_reason":"end_turn","content":[
        {"type":"text","text":"Sunny in Paris. I could not find Rome."}]}"#,
];
