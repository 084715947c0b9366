//! What the clients ask and what the model says.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cmd;

/// How the model answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// With one document.
    Whole,
    /// With one document, to a request of 200 KB.
    Large,
    /// With a stream whose events come one at a time, as from a model that thinks.
    Paced,
    /// With a stream that is there all at once.
    Burst,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Whole, Self::Large, Self::Paced, Self::Burst];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole answer",
            Self::Large => "whole answer to 200 KB",
            Self::Paced => "stream, an event at a time",
            Self::Burst => "stream, all at once",
        }
    }

    /// The model's name, which is how the model knows what is wanted of it.
    pub(super) fn model(self) -> &'static str {
        match self {
            Self::Whole => "bench-whole",
            Self::Large => "bench-large",
            Self::Paced => "bench-paced",
            Self::Burst => "bench-burst",
        }
    }

    /// Requests in one round: enough for the clock, few enough for many rounds.
    pub(super) fn requests(self, connections: usize) -> usize {
        match (self, connections) {
            (Self::Whole, 1) => 1000,
            (Self::Whole, _) => 6000,
            (Self::Large, 1) => 250,
            (Self::Large, _) => 1000,
            (Self::Paced, 1) => 4,
            (Self::Paced, _) => 128,
            (Self::Burst, 1) => 250,
            (Self::Burst, _) => 1000,
        }
    }

    /// What the body of a complete answer ends with.
    pub(super) fn ending(self, speaks: Speaks) -> &'static str {
        match (self, speaks) {
            (Self::Whole | Self::Large, _) => "}",
            (Self::Paced | Self::Burst, Speaks::Chat | Speaks::Responses) => "data: [DONE]\n\n",
            (Self::Paced | Self::Burst, Speaks::Messages) => {
                "data: {\"type\":\"message_stop\"}\n\n"
            }
        }
    }
}

/// What the client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    Chat,
    Responses,
    Messages,
}

impl Speaks {
    pub(super) const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }
}

/// A request of about 12 KB with twenty tools, or a long turn of an agent.
pub(super) fn request(kind: Kind, speaks: Speaks, program: &Path) -> Result<Vec<u8>> {
    let chat = chat(kind).into_bytes();
    match speaks {
        Speaks::Chat => Ok(chat),
        Speaks::Responses | Speaks::Messages => translated(&chat, speaks.name(), program),
    }
}

fn chat(kind: Kind) -> String {
    let (model, stream) = (kind.model(), matches!(kind, Kind::Paced | Kind::Burst));
    let turns = if kind == Kind::Large { 120 } else { 1 };
    let mut text =
        format!(r#"{{"model":"{model}","stream":{stream},"max_completion_tokens":8192,"#);
    text.push_str(r#""messages":[{"role":"system","content":"You are a careful engineer.\n"#);
    for rule in 1..=40 {
        _ = write!(text, r"{rule}. Say what you do before you do it, and why it is needed.\n");
    }
    text.push_str(r#""},{"role":"user","content":"Find out why the parser's test fails."},"#);
    for turn in 0..turns {
        let comma = if turn > 0 { "," } else { "" };
        _ = write!(
            text,
            r#"{comma}{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{turn}","type":"function","function":{{"name":"read_file_0","arguments":"{{\"path\":\"src/parser.rs\"}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{turn}","content":""#
        );
        for line in 1..=30 {
            _ = write!(text, r"{line:>4}\tfn parse_{line}(input: &str) -> Option<Value> {{\n");
        }
        text.push_str(r#""}"#);
    }
    text.push_str(r#"],"tools":["#);
    for tool in 0..20 {
        let comma = if tool > 0 { "," } else { "" };
        _ = write!(
            text,
            r#"{comma}{{"type":"function","function":{{"name":"read_file_{tool}","description":"Reads a part of a file. Lines are numbered from 1.","parameters":{{"type":"object","properties":{{"path":{{"type":"string","description":"The path of the file."}},"from":{{"type":"integer","minimum":1,"default":1}},"encoding":{{"type":"string","enum":["utf-8","latin-1"]}}}},"required":["path"],"additionalProperties":false}}}}}}"#
        );
    }
    text.push_str(r#"],"tool_choice":"auto","parallel_tool_calls":true}"#);
    text
}

/// The same request in the words of another protocol, by the program that is measured.
fn translated(chat: &[u8], to: &str, program: &Path) -> Result<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(["translate", "--from", "chat", "--to", to]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().context("toolwire cannot be started")?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(chat)?;
    }
    let output = child.wait_with_output()?;
    cmd::succeed(&command, output.status)?;
    Ok(output.stdout)
}

/// A document of about 1 KB that calls a tool.
pub(super) fn answer() -> String {
    let why = "It holds the state machine, and the failing case is in its tests. ".repeat(6);
    format!(
        r#"{{"id":"chatcmpl-CaJ4tFzTn8kq2wVYp0sHx3LbR","object":"chat.completion","created":1763200000,"model":"gpt-5.2-2026-08-11","choices":[{{"index":0,"message":{{"role":"assistant","content":"I look at the parser first.","refusal":null,"annotations":[],"tool_calls":[{{"id":"call_m5nYF0xQpLw2TbS8","type":"function","function":{{"name":"read_file_1","arguments":"{{\"path\":\"src/parser.rs\",\"why\":\"{why}\"}}"}}}}]}},"logprobs":null,"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":2472,"completion_tokens":89,"total_tokens":2561,"prompt_tokens_details":{{"cached_tokens":0}}}},"service_tier":"default","system_fingerprint":"fp_50cad350e4"}}"#
    )
}

/// A stream of 256 pieces of text, event by event.
pub(super) fn events() -> Vec<String> {
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-CaJ4tFzTn8kq2wVYp0sHx3LbR\",\"object\":\"chat.completion.chunk\",\
             \"created\":1763200000,\"model\":\"gpt-5.2-2026-08-11\",\"service_tier\":\"default\",\
             \"system_fingerprint\":\"fp_50cad350e4\",\"choices\":[{{\"index\":0,\"delta\":{delta},\
             \"logprobs\":null,\"finish_reason\":{finish}}}],\"usage\":null,\"obfuscation\":\"aJ3kQ\"}}\n\n"
        )
    };
    let mut events = vec![chunk(r#"{"role":"assistant","content":"","refusal":null}"#, "null")];
    for piece in 0..256 {
        events.push(chunk(&format!(r#"{{"content":" word{piece}"}}"#), "null"));
    }
    events.push(chunk("{}", r#""stop""#));
    events.push("data: [DONE]\n\n".to_owned());
    events
}
