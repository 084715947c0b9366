//! The tokens of a request, item by item.
//!
//! | part | tokens | reason |
//! |---|---|---|
//! | text | what the tokenizer counts | |
//! | a turn | 8 | OpenAI wraps a message in 3 or 4 tokens, its name in 1 |
//! | a tool | 16 and its name, description and schema as JSON | OpenAI rewrites schemas more tersely than JSON |
//! | any tools at all | 350 | Anthropic adds its own instructions: its guide shows 403 for one small tool and a question |
//! | a call, a result | 12 and its ids, names and content | |
//! | an image | its area / 750, at most 4,800; unknown size: 4,800, or 300 at low detail | Anthropic's rule of thumb, with room for models that use more than the usual 1,568 |
//! | a document | its text; otherwise 1 for 16 bytes, at least 4,600 | measured with Claude, a page has 1,600 to 2,500, about half of that |
//! | audio | 1 for 400 bytes | OpenAI: 10 a second, at 4 kB a second |
//! | sealed reasoning | 1 for 4 bytes | |
//! | an item of an unknown kind | its JSON as text | |

use toolwire::model::{
    Arguments, Call, Document, Format, Grammar, HostedItem, Image, Item, Opaque, Reasoning,
    Request, Role, Source, Tool, ToolKind, ToolResult, Turn,
};
use toolwire::translate::PreparedRequest;
use toolwire::wire::{Raw, Str};
use toolwire::{Error, Protocol};

use crate::{Tokenizer, media};

/// The tokens of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCount {
    /// What was counted, in the order of the request: the conversation, then the
    /// tools and the output schema, then what surrounds them.
    pub parts: Vec<Part>,
    /// All of it together.
    pub total: u64,
}

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it belongs: the role of its turn, `tools`, `output` or `request`.
    pub section: &'static str,
    /// Its turn, counted from 0. Tools and the rest have none.
    pub turn: Option<usize>,
    /// What it is: `text`, `image`, `call`, `result`, `tool` and so on.
    pub kind: &'static str,
    /// The name of the tool, or the id of the call that a result answers.
    pub name: Option<String>,
    /// Its tokens.
    pub tokens: u64,
}

impl RequestCount {
    /// Counts a request of a protocol.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the body isn't a request of the protocol.
    pub fn of(protocol: Protocol, body: &[u8], tokenizer: Tokenizer) -> Result<Self, Error> {
        // Only a request for another protocol is read.
        let other = Protocol::ALL.into_iter().find(|other| *other != protocol);
        let prepared = PreparedRequest::new(protocol, other.unwrap_or(protocol), body)?;
        let empty = Self { parts: Vec::new(), total: 0 };
        Ok(prepared.request().map_or(empty, |request| Self::of_request(request, tokenizer)))
    }

    /// Counts a request that was read.
    #[doc(hidden)]
    pub fn of_request(request: &Request<'_>, tokenizer: Tokenizer) -> Self {
        let method = Method::ByText(tokenizer);
        let mut parts = Vec::new();
        for (index, turn) in request.turns.iter().enumerate() {
            method.list_turn(index, turn, &mut parts);
        }
        let part = |section, kind, name, tokens| Part { section, turn: None, kind, name, tokens };
        for tool in &request.tools {
            let name = Some(tool.name.decode().into_owned());
            parts.push(part("tools", "tool", name, method.tool(tool)));
        }
        if !request.tools.is_empty() {
            parts.push(part("tools", "instructions", None, TOOL_INSTRUCTIONS));
        }
        let format = method.format(request);
        if format > 0 {
            parts.push(part("output", "schema", None, format));
        }
        parts.push(part("request", "framing", None, REQUEST));
        let total = parts.iter().map(|part| part.tokens).sum();
        Self { parts, total }
    }
}

/// The tokens of a request, without a list.
#[doc(hidden)]
pub fn count_request(request: &Request<'_>, tokenizer: Tokenizer) -> u64 {
    Method::ByText(tokenizer).request(request)
}

/// A rougher estimate that costs almost nothing, because it only uses the length
/// of each text. It is for clients that need a number before the upstream has
/// counted.
#[doc(hidden)]
pub fn quick_estimate(request: &Request<'_>) -> u64 {
    Method::ByLength.request(request)
}

/// How the tokens of a text are counted.
#[derive(Clone, Copy)]
enum Method {
    ByText(Tokenizer),
    ByLength,
}

impl Method {
    fn request(self, request: &Request<'_>) -> u64 {
        let turns: u64 = request.turns.iter().map(|turn| self.turn(turn)).sum();
        let tools = self.tools(&request.tools);
        let instructions = if tools > 0 { TOOL_INSTRUCTIONS } else { 0 };
        REQUEST + turns + tools + instructions + self.format(request)
    }

    /// The parts of a turn. What wraps it is counted with the first.
    fn list_turn(self, index: usize, turn: &Turn<'_>, parts: &mut Vec<Part>) {
        let section = section(&turn.role);
        let mut wrap = TURN + self.optional(turn.name.as_ref());
        for item in &turn.items {
            let (kind, name) = title(item);
            let tokens = self.item(item) + std::mem::take(&mut wrap);
            parts.push(Part { section, turn: Some(index), kind, name, tokens });
        }
        if turn.items.is_empty() {
            let (kind, tokens) = ("empty", wrap);
            parts.push(Part { section, turn: Some(index), kind, name: None, tokens });
        }
    }

    fn turn(self, turn: &Turn<'_>) -> u64 {
        TURN + self.optional(turn.name.as_ref()) + self.items(&turn.items)
    }

    fn items(self, items: &[Item<'_>]) -> u64 {
        items.iter().map(|item| self.item(item)).sum()
    }

    fn item(self, part: &Item<'_>) -> u64 {
        match part {
            Item::Text(text) => self.string(&text.text) + self.json(text.citations.as_ref()),
            Item::Image(Image { source, detail, .. }) => {
                media::image(source, detail.as_ref().is_some_and(|detail| *detail == "low"))
            }
            Item::Document(document) => self.document(document),
            Item::Audio(audio) => {
                let bytes = audio.data.as_ref().map_or(0, Str::size_hint);
                (bytes as u64).div_ceil(AUDIO_BYTES_PER_TOKEN)
            }
            Item::SearchResult(found) => {
                let names =
                    self.optional(found.source.as_ref()) + self.optional(found.title.as_ref());
                PART + names + self.items(&found.content)
            }
            Item::Refusal(refusal) => self.string(&refusal.text),
            Item::Reasoning(reasoning) => self.reasoning(reasoning),
            Item::Call(call) => self.call(call),
            Item::Result(result) => self.result(result),
            Item::Hosted(HostedItem { class: _, raw }) | Item::Opaque(Opaque { kind: _, raw }) => {
                self.text(raw.text())
            }
            Item::Tools(list) => self.tools(list),
            Item::ToolReference(name) => PART + self.string(&name.value),
            Item::Json(raw) => self.text(raw.text()),
        }
    }

    fn call(self, call: &Call<'_>) -> u64 {
        let arguments = match &call.arguments {
            Arguments::Text(text) | Arguments::Freeform(text) => self.string(text),
            Arguments::Json(raw) | Arguments::Native(_, raw) => self.text(raw.text()),
        };
        let names = self.string(&call.name)
            + self.optional(call.namespace.as_ref())
            + self.optional(call.id.as_ref());
        PART + names + arguments
    }

    fn result(self, result: &ToolResult<'_>) -> u64 {
        let names = self.optional(result.call_id.as_ref()) + self.optional(result.name.as_ref());
        PART + names + self.items(&result.content)
    }

    fn reasoning(self, reasoning: &Reasoning<'_>) -> u64 {
        let visible = reasoning.summary.iter().chain(&reasoning.content);
        let sealed = reasoning.sealed.as_ref().and_then(|sealed| sealed.blob.as_ref());
        visible.map(|text| self.string(text)).sum::<u64>()
            + sealed.map_or(0, |blob| (blob.size_hint() as u64).div_ceil(SEALED_BYTES_PER_TOKEN))
    }

    fn document(self, document: &Document<'_>) -> u64 {
        let about =
            self.optional(document.name.as_ref()) + self.optional(document.context.as_ref());
        let content = match &document.source {
            Source::Text { media: _, data } => self.string(data),
            Source::Base64 { media, data } => media::document(media, data),
            Source::Url(_) | Source::File(_) => media::DOCUMENT,
            Source::Other(raw) => self.text(raw.text()),
        };
        PART + about + content
    }

    fn tools(self, tools: &[Tool<'_>]) -> u64 {
        tools.iter().map(|tool| self.tool(tool)).sum()
    }

    fn tool(self, tool: &Tool<'_>) -> u64 {
        let about = self.string(&tool.name) + self.optional(tool.description.as_ref());
        let shape = match &tool.kind {
            ToolKind::Function { schema } => self.json(schema.as_ref()),
            ToolKind::Freeform { grammar } => {
                grammar.as_ref().map_or(0, |grammar| self.grammar(grammar))
            }
            ToolKind::Namespace { tools } => self.tools(tools),
            // The request does not contain the vendor's description.
            ToolKind::Native(_) | ToolKind::Hosted(_) => VENDOR_TOOL,
            ToolKind::Unknown(raw) => self.text(raw.text()),
        };
        let rest = self.json(tool.examples.as_ref()) + self.json(tool.output_schema.as_ref());
        TOOL + about + shape + rest
    }

    fn grammar(self, grammar: &Grammar<'_>) -> u64 {
        self.optional(grammar.syntax.as_ref()) + self.optional(grammar.definition.as_ref())
    }

    /// The output schema is part of the prompt.
    fn format(self, request: &Request<'_>) -> u64 {
        match request.output.format.as_ref().map(|format| &format.value) {
            Some(Format::JsonSchema(schema)) => {
                let about = self.optional(schema.name.as_ref())
                    + self.optional(schema.description.as_ref());
                TOOL + about + self.json(schema.schema.as_ref())
            }
            Some(Format::Other(raw)) => self.text(raw.text()),
            Some(Format::Text | Format::JsonObject) | None => 0,
        }
    }

    fn optional(self, text: Option<&Str<'_>>) -> u64 {
        text.map_or(0, |text| self.string(text))
    }

    fn json(self, raw: Option<&Raw<'_>>) -> u64 {
        raw.map_or(0, |raw| self.text(raw.text()))
    }

    fn string(self, text: &Str<'_>) -> u64 {
        match self {
            Self::ByText(tokenizer) => tokenizer.count(&text.decode()),
            Self::ByLength => by_length(text.size_hint()),
        }
    }

    fn text(self, text: &str) -> u64 {
        match self {
            Self::ByText(tokenizer) => tokenizer.count(text),
            Self::ByLength => by_length(text.len()),
        }
    }
}

fn section(role: &Role<'_>) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Other(_) => "other",
    }
}

/// What an item is called, and its own name.
fn title(item: &Item<'_>) -> (&'static str, Option<String>) {
    let named = |name: &Str<'_>| Some(name.decode().into_owned());
    match item {
        Item::Text(_) => ("text", None),
        Item::Image(_) => ("image", None),
        Item::Document(document) => ("document", document.name.as_ref().and_then(named)),
        Item::Audio(_) => ("audio", None),
        Item::SearchResult(_) => ("search result", None),
        Item::Refusal(_) => ("refusal", None),
        Item::Reasoning(_) => ("reasoning", None),
        Item::Call(call) => ("call", named(&call.name)),
        Item::Result(result) => {
            ("result", result.name.as_ref().or(result.call_id.as_ref()).and_then(named))
        }
        Item::Hosted(_) => ("hosted tool", None),
        Item::Opaque(_) => ("unknown item", None),
        Item::Tools(_) => ("tools", None),
        Item::ToolReference(name) => ("tool reference", named(&name.value)),
        Item::Json(_) => ("JSON", None),
    }
}

/// Prose has about four bytes per token and code three. Two and a half errs on
/// the high side.
fn by_length(bytes: usize) -> u64 {
    (bytes as u64 * 2).div_ceil(5)
}

const REQUEST: u64 = 8;
const TURN: u64 = 8;
const PART: u64 = 12;
const TOOL: u64 = 16;
const TOOL_INSTRUCTIONS: u64 = 350;
/// The largest of these tools, the editor, is described in a page of text.
const VENDOR_TOOL: u64 = 700;
const AUDIO_BYTES_PER_TOKEN: u64 = 400;
const SEALED_BYTES_PER_TOKEN: u64 = 4;
