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

    /// The name of the model that answers so and speaks this. Its beginning tells the gateway where to
    /// send the request, and its end tells the model what is wanted of it.
    pub(super) fn model(self, upstream: Speaks) -> String {
        format!("{}-{}", upstream.name(), self.word())
    }

    /// How the names of its models end.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Large => "large",
            Self::Paced => "paced",
            Self::Burst => "burst",
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

    fn is_stream(self) -> bool {
        matches!(self, Self::Paced | Self::Burst)
    }

    /// What the body of a complete answer ends with.
    pub(super) fn ending(self, pair: Pair) -> &'static str {
        match (self.is_stream(), pair.client) {
            (false, _) => "}",
            // What passes ends with its last event.
            (true, Speaks::Responses) if pair.upstream == Speaks::Responses => "}}\n\n",
            (true, Speaks::Chat | Speaks::Responses) => "data: [DONE]\n\n",
            (true, Speaks::Messages) => "data: {\"type\":\"message_stop\"}\n\n",
        }
    }
}

/// What a client or a model speaks.
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

/// Who speaks what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) client: Speaks,
    pub(super) upstream: Speaks,
}

impl Pair {
    /// Nothing is translated, so that other programs can do the same.
    pub(super) const PLAIN: Self = Self { client: Speaks::Chat, upstream: Speaks::Chat };

    /// All there are.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let clients =
            |upstream| Speaks::ALL.into_iter().map(move |client| Self { client, upstream });
        Speaks::ALL.into_iter().flat_map(clients)
    }

    pub(super) fn name(self) -> String {
        format!("{} → {}", self.client.name(), self.upstream.name())
    }
}

/// A request of about 12 KB with twenty tools, or a long turn of an agent.
pub(super) fn request(kind: Kind, pair: Pair, program: &Path) -> Result<Vec<u8>> {
    let chat = chat(kind, pair.upstream).into_bytes();
    translated(chat, "request", pair.client, program)
}

fn chat(kind: Kind, upstream: Speaks) -> String {
    let (model, stream) = (kind.model(upstream), kind.is_stream());
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

/// The same document in the words of another protocol, by the program that is measured.
fn translated(chat: Vec<u8>, kind: &str, to: Speaks, program: &Path) -> Result<Vec<u8>> {
    if to == Speaks::Chat {
        return Ok(chat);
    }
    let mut command = Command::new(program);
    command.args(["translate", "--from", "chat", "--to", to.name(), "--kind", kind]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().context("toolwire cannot be started")?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&chat)?;
    }
    let output = child.wait_with_output()?;
    cmd::succeed(&command, output.status)?;
    Ok(output.stdout)
}

/// What a model says that speaks this.
pub(super) fn answer(speaks: Speaks, program: &Path) -> Result<Vec<u8>> {
    let answer = translated(chat_answer().into_bytes(), "response", speaks, program)?;
    Ok(answer.trim_ascii_end().to_vec())
}

/// The same as a stream, event by event.
pub(super) fn events(speaks: Speaks, program: &Path) -> Result<Vec<String>> {
    let chat = chat_events().concat().into_bytes();
    let stream = String::from_utf8(translated(chat, "stream", speaks, program)?)?;
    Ok(stream.split_inclusive("\n\n").map(str::to_owned).collect())
}

/// A document of about 1 KB that calls a tool.
fn chat_answer() -> String {
    let why = "It holds the state machine, and the failing case is in its tests. ".repeat(6);
    format!(
        r#"{{"id":"chatcmpl-CaJ4tFzTn8kq2wVYp0sHx3LbR","object":"chat.completion","created":1763200000,"model":"gpt-5.2-2026-08-11","choices":[{{"index":0,"message":{{"role":"assistant","content":"I look at the parser first.","refusal":null,"annotations":[],"tool_calls":[{{"id":"call_m5nYF0xQpLw2TbS8","type":"function","function":{{"name":"read_file_1","arguments":"{{\"path\":\"src/parser.rs\",\"why\":\"{why}\"}}"}}}}]}},"logprobs":null,"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":2472,"completion_tokens":89,"total_tokens":2561,"prompt_tokens_details":{{"cached_tokens":0}}}},"service_tier":"default","system_fingerprint":"fp_50cad350e4"}}"#
    )
}

/// A stream of 256 pieces of text, event by event.
fn chat_events() -> Vec<String> {
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
