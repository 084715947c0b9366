//! Translates a model's answer back for the client. With the client's request at
//! hand, a tool that was renamed for the model gets its own name back.
//!
//! Run it with `cargo run -p toolwire --example response`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use toolwire::translate::PreparedRequest;
use toolwire::{Options, Protocol};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Chat takes no dots in names, so this tool gets another name there.
    let request = br#"{"model": "fast", "max_tokens": 256,
        "messages": [{"role": "user", "content": "Weather in Paris?"}],
        "tools": [{"name": "weather.now", "input_schema": {"type": "object"}}]}"#;
    let mut prepared = PreparedRequest::new(Protocol::Messages, Protocol::Chat, request)?;
    let sent = prepared.translate(&Options::new().model("gpt-5.1"))?;
    println!("{}", String::from_utf8(sent.body)?);

    // The upstream answers with a call.
    let answer = br#"{"id": "chatcmpl-1", "model": "gpt-5.1", "choices": [{"index": 0,
        "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
        "tool_calls": [{"id": "call_1", "type": "function",
            "function": {"name": "weather_now_700b5356", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49}}"#;
    let translator = prepared.response_translator(&Options::new().model("fast"));
    let received = translator.translate(answer)?;

    println!("{}", std::str::from_utf8(&received.body)?);
    println!("{} call(s)", received.summary.calls);
    Ok(())
}
