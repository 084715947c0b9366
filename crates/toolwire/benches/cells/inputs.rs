//! The documents that are measured: the same conversation in every protocol.

use std::fmt::Write;

use toolwire::Protocol;
use toolwire::translate::{self, Options};

/// A kind of request.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    /// A first question with twenty tools, about 12 KB.
    Tools,
    /// An agent at work: sixty calls with their results, about 200 KB.
    Agent,
    /// The same with ten times the turns.
    AgentLong,
}

impl Case {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Agent => "agent",
            Self::AgentLong => "agent-long",
        }
    }

    pub(crate) fn parse(name: &str) -> Self {
        [Self::Tools, Self::Agent, Self::AgentLong]
            .into_iter()
            .find(|case| case.name() == name)
            .unwrap()
    }

    /// The request as a client of the protocol sends it.
    pub(crate) fn body(self, protocol: Protocol) -> Vec<u8> {
        let chat = match self {
            Self::Tools => chat(20, 0),
            Self::Agent => chat(12, 60),
            Self::AgentLong => chat(12, 600),
        };
        if protocol == Protocol::Chat {
            return chat.into_bytes();
        }
        translate::request(Protocol::Chat, protocol, chat.as_bytes(), &Options::default())
            .unwrap()
            .body
    }
}

fn chat(tools: usize, calls: usize) -> String {
    let mut text = String::from(r#"{"model":"gpt-5.6","max_completion_tokens":8192,"messages":["#);
    text.push_str(r#"{"role":"system","content":"You are a careful engineer.\nUse the tools, say what you do."}"#);
    text.push_str(
        r#",{"role":"user","content":"Find out why the \"parser\" test fails and mend it."}"#,
    );
    for call in 0..calls {
        // Three calls a turn, so that parallel results are part of it.
        if call % 3 == 0 {
            _ = write!(
                text,
                r#",{{"role":"assistant","content":"Step {call}: I look at the next files.","tool_calls":["#
            );
            for id in call..call + 3 {
                let comma = if id > call { "," } else { "" };
                _ = write!(
                    text,
                    r#"{comma}{{"id":"call_{id:024}","type":"function","function":{{"name":"read_file_{}","arguments":"{{\"path\":\"src/module_{id}/parser.rs\",\"from\":{id},\"to\":{},\"why\":\"It holds the state machine.\\nThe failing case is there.\"}}"}}}}"#,
                    id % 12,
                    id + 200,
                );
            }
            text.push_str("]}");
        }
        _ = write!(text, r#",{{"role":"tool","tool_call_id":"call_{call:024}","content":""#);
        for line in 0..40 {
            _ = write!(
                text,
                r#"{line:>4}\tfn parse_{line}(input: &str) -> Result<Value, \"Error\"> {{ /* ünïcode */ }}\n"#
            );
        }
        text.push_str(r#""}"#);
    }
    text.push_str(r#"],"tools":["#);
    for tool in 0..tools {
        let comma = if tool > 0 { "," } else { "" };
        _ = write!(
            text,
            r#"{comma}{{"type":"function","function":{{"name":"read_file_{tool}","description":"Reads a part of a file of the project. Lines are numbered from 1, long lines are cut.","parameters":{{"type":"object","properties":{{"path":{{"type":"string","description":"The path of the file, from the root of the project."}},"from":{{"type":"integer","minimum":1,"default":1}},"to":{{"type":"integer","maximum":1e6}},"encoding":{{"type":"string","enum":["utf-8","latin-1","utf-16"]}},"why":{{"type":"string","description":"A reason, for the log."}}}},"required":["path"],"additionalProperties":false}}}}}}"#
        );
    }
    text.push_str(r#"],"tool_choice":"auto","parallel_tool_calls":true,"stream":false}"#);
    text
}
