//! An estimate of a request's tokens, for upstreams that cannot count.
//!
//! Agents shorten their conversation when it nears the model's limit. If the
//! estimate is too low, a request is refused; if it is too high, the summary only
//! comes a little early. The estimate therefore counts everything and errs on the
//! high side: at least what OpenAI's `o200k` counts, at most twice that for
//! English prose. In practice it is about 1.7 times that, because newer Claude
//! models need up to 1.6 times as many tokens for a page
//! (huggingface.co/datasets/JOHNISKING/pdf-token-cost).
//!
//! | part | tokens | reason |
//! |---|---|---|
//! | text | see `text` | by script, in the pieces that tokenizers make |
//! | a turn | 8 | OpenAI wraps a message in 3 or 4 tokens, its name in 1 |
//! | a tool | 16 and its name, description and schema as JSON | OpenAI rewrites schemas more tersely than JSON |
//! | any tools at all | 350 | Anthropic adds its own instructions: its guide shows 403 for one small tool and a question |
//! | a call, a result | 12 and its ids, names and content | |
//! | an image | its area / 750, at most 4,800; unknown size: 4,800, or 300 at low detail | Anthropic's rule of thumb, with room for models that use more than the usual 1,568 |
//! | a document | its text; otherwise 1 for 16 bytes, at least 4,600 | measured with Claude, a page has 1,600 to 2,500, about half of that |
//! | audio | 1 for 400 bytes | OpenAI: 10 a second, at 4 kB a second |
//! | sealed reasoning | 1 for 4 bytes | |
//! | an item of an unknown kind | its JSON as text | |

mod media;
mod text;

use toolwire::model::{
    Arguments, Call, Document, Format, Grammar, HostedItem, Image, Item, Opaque, Reasoning,
    Request, Source, Tool, ToolKind, ToolResult, Turn,
};
use toolwire::wire::{Raw, Str};

pub use text::tokens;

/// An estimate of a request's tokens.
pub fn estimate(request: &Request<'_>) -> u64 {
    Method::ByText.request(request)
}

/// A rougher estimate that costs almost nothing, because it only uses the length
/// of each text. It is for clients that need a number before the upstream has
/// counted.
pub fn quick_estimate(request: &Request<'_>) -> u64 {
    Method::ByLength.request(request)
}

/// How the tokens of a text are estimated.
#[derive(Clone, Copy)]
enum Method {
    ByText,
    ByLength,
}

impl Method {
    fn request(self, request: &Request<'_>) -> u64 {
        let turns: u64 = request.turns.iter().map(|turn| self.turn(turn)).sum();
        let tools = self.tools(&request.tools);
        let instructions = if tools > 0 { TOOL_INSTRUCTIONS } else { 0 };
        REQUEST + turns + tools + instructions + self.format(request)
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
            Self::ByText => tokens(&text.decode()),
            Self::ByLength => by_length(text.size_hint()),
        }
    }

    fn text(self, text: &str) -> u64 {
        match self {
            Self::ByText => tokens(text),
            Self::ByLength => by_length(text.len()),
        }
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

#[cfg(test)]
mod tests;
