//! The first request of a conversation.

use toolwire::calls::Conversation;
use toolwire::model::{Item, Mode, Role, Text, Turn};
use toolwire::toolset::Toolset;
use toolwire::wire::{At, Kind as JsonKind, Pos, Raw, Str};
use toolwire::{Ledger, Profile, Protocol, codec};

use crate::Error;

/// The first request of a conversation.
#[derive(Clone, Debug)]
pub struct Request(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// A question, which is written for the client's protocol.
    Question { model: String, prompt: String, instructions: Option<String> },
    /// A body in the client's protocol.
    Body(Vec<u8>),
}

impl Request {
    /// A question to a model, in any protocol.
    pub fn new(model: impl Into<String>, prompt: impl Into<String>) -> Self {
        let (model, prompt) = (model.into(), prompt.into());
        Self(Kind::Question { model, prompt, instructions: None })
    }

    /// Instructions for the model, in front of the question. A body that was
    /// given as JSON has its own.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        if let Kind::Question { instructions, .. } = &mut self.0 {
            *instructions = Some(text.into());
        }
        self
    }

    /// A request body in the client's protocol, with any settings. The runner
    /// adds its tools to those that the body has, and sends the rest as it is.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self(Kind::Body(body.into()))
    }

    /// The body for a protocol.
    pub(crate) fn body(self, protocol: Protocol) -> Vec<u8> {
        let (model, prompt, instructions) = match self.0 {
            Kind::Body(body) => return body,
            Kind::Question { model, prompt, instructions } => (model, prompt, instructions),
        };
        let mut request = toolwire::model::Request::new(protocol);
        request.model = Some(Str::plain(model));
        let turn = |role, text: String| {
            Turn::new(Pos::NONE, role, vec![Item::Text(Text::new(Str::plain(text)))])
        };
        request.turns.extend(instructions.map(|text| turn(Role::System, text)));
        request.turns.push(turn(Role::User, prompt));
        // A question of plain texts loses nothing in any protocol.
        encode(&request)
    }
}

impl From<serde_json::Value> for Request {
    fn from(body: serde_json::Value) -> Self {
        Self::json(body.to_string())
    }
}

/// The body with more tools. Every other byte stays as it was.
pub(crate) fn with_tools(protocol: Protocol, body: &[u8], tools: &[u8]) -> Result<Vec<u8>, Error> {
    let [name, ..] = protocol.describe().tool_members else { return Ok(body.to_vec()) };
    let tools = std::str::from_utf8(tools).unwrap_or_default();
    let elements = Raw::made(tools);
    let elements = elements.elements().unwrap_or_default();
    if elements.is_empty() {
        return Ok(body.to_vec());
    }
    let source = text(body)?;
    let member = member(source, name)?;
    match member.value() {
        Some(_) => {
            let more = elements.iter().map(Raw::text);
            member.append(more).map_err(|error| invalid(&error))
        }
        None => Ok(member.replace(tools.as_bytes())),
    }
}

/// The body that asks for a stream, or for none.
pub(crate) fn with_stream(body: &[u8], stream: bool) -> Result<Vec<u8>, Error> {
    Ok(member(text(body)?, "stream")?.replace(if stream { b"true" } else { b"false" }))
}

/// The body that leaves it to the model whether it calls tools. `None` if it does
/// so already. Tools that it is restricted to, and whether it may call several at
/// once, stay as they are.
pub(crate) fn with_free_choice(protocol: Protocol, body: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let source = text(body)?;
    let request = codec(protocol).decode_request(source).map_err(|error| invalid(&error))?;
    let mode = request.choice.mode.as_ref().map(|mode| &mode.value);
    if !matches!(mode, Some(Mode::Any | Mode::Named(_))) {
        return Ok(None);
    }
    // The codec writes the free choice: that of a request with the same tools and
    // no conversation.
    let mut free = toolwire::model::Request::new(protocol);
    free.choice = request.choice;
    free.choice.mode = Some(At::new(Pos::NONE, Mode::Auto));
    free.tools = request.tools;
    let encoded = encode(&free);
    let encoded = text(&encoded)?;
    let members = protocol.describe().choice_members;
    let [main, ..] = members else { return Ok(None) };
    let auto = member(encoded, main)?;
    let mut body = body.to_vec();
    for name in members {
        let old = member(text(&body)?, name)?;
        // `parallel_tool_calls` says how many calls there may be, and stays.
        let is_choice = old.value().is_some_and(|value| value.kind() != JsonKind::Bool);
        let new = member(encoded, name)?;
        // A name that the protocol no longer uses takes the value of its successor.
        let new = new.value().or(auto.value()).filter(|_| is_choice);
        if let Some(changed) = new.map(|new| old.replace(new.text().as_bytes())) {
            body = changed;
        }
    }
    Ok(Some(body))
}

fn member<'a>(body: &'a str, name: &'static str) -> Result<Conversation<'a>, Error> {
    Conversation::find(body, name).map_err(|error| invalid(&error))
}

/// A request as its own protocol writes it.
fn encode(request: &toolwire::model::Request<'_>) -> Vec<u8> {
    let profile = Profile::of(request.origin);
    let tools = Toolset::new(request, &profile);
    let mut body = Vec::new();
    let mut ledger = Ledger::default();
    (codec(request.origin).encode_request)(request, &tools, &profile, &mut body, &mut ledger);
    body
}

fn text(body: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(body).map_err(|error| invalid(&error))
}

fn invalid(error: &dyn std::fmt::Display) -> Error {
    Error::Client(format!("the request is not valid: {error}"))
}
