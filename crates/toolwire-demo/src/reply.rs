//! What the demo model replies: a text, or calls.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolwire::model::{Format, Item, Request, Role, Text, Tool, ToolKind, ToolResult, Turn};
use toolwire::wire::Raw;

use crate::arguments::{ArgumentBuilder, freeform_input};
use crate::prompt::Prompt;
use crate::text;
use crate::tool_choice::{ToolChoice, choose_tool};

/// A reply: a text, or calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
    /// Whether the text was cut at the client's token limit.
    pub(crate) truncated: bool,
}

/// A call of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    pub(crate) input: CallInput,
}

/// What a tool is called with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallInput {
    /// A JSON document, for a function.
    Arguments(String),
    /// Any text, for a freeform tool.
    Freeform(String),
}

impl Reply {
    /// The reply to a request. An error is a sentence for the client.
    pub(crate) fn to(request: &Request<'_>, tokens: fn(&str) -> u64) -> Result<Self, String> {
        let input = NewInput::of(request);
        let next_step = if input.results.is_empty() { None } else { next_step(request) };
        let prompt = Prompt::parse(match &next_step {
            Some(step) => step,
            None => steps(&input.prompt).next().unwrap_or_default(),
        });
        let calls = match choose_tool(request, &prompt)? {
            ToolChoice::Required(tool) => tool_calls(request, tool, &prompt),
            ToolChoice::Optional(tool)
                if next_step.is_some() || (input.results.is_empty() && input.has_text) =>
            {
                tool_calls(request, tool, &prompt)
            }
            ToolChoice::Optional(_) | ToolChoice::NoCall => Vec::new(),
        };
        if !calls.is_empty() {
            return Ok(Self { text: String::new(), calls, truncated: false });
        }
        let text = if input.results.is_empty() {
            text::introduction(request, &input.prompt)
        } else {
            text::quoted_results(request, &input.results)
        };
        let text = in_requested_format(request, text, prompt);
        let limit = request.output.max_tokens.map_or(u64::MAX, |limit| limit.value);
        let kept = text::truncate(&text, limit, tokens);
        let truncated = kept.len() < text.len();
        Ok(Self { truncated, text: kept.to_owned(), calls: Vec::new() })
    }

    /// The tokens of the reply.
    pub(crate) fn tokens(&self, tokens: fn(&str) -> u64) -> u64 {
        let of_call =
            |call: &ToolCall| CALL_TOKENS + tokens(&call.name) + tokens(call.input.text());
        tokens(&self.text) + self.calls.iter().map(of_call).sum::<u64>()
    }
}

impl CallInput {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Arguments(text) | Self::Freeform(text) => text,
        }
    }
}

/// What has arrived since the model's last turn.
struct NewInput<'r, 'a> {
    results: Vec<&'r ToolResult<'a>>,
    /// Whether the user has written anything.
    has_text: bool,
    /// The user's last text.
    prompt: String,
}

impl<'r, 'a> NewInput<'r, 'a> {
    fn of(request: &'r Request<'a>) -> Self {
        let is_answer = |turn: &Turn<'_>| turn.role == Role::Assistant;
        let start = request.turns.iter().rposition(is_answer).map_or(0, |last| last + 1);
        let turns = request.turns.get(start..).unwrap_or_default();
        let items =
            || turns.iter().filter(|turn| turn.role == Role::User).flat_map(|turn| &turn.items);
        let results = items().filter_map(as_result).collect();
        let texts: Vec<_> = items().filter_map(as_text).map(|text| text.text.decode()).collect();
        // Agents put reminders of their own, in tags, around what the user
        // has typed.
        let is_typed = |text: &&Cow<'_, str>| !text.trim_start().starts_with('<');
        let prompt = texts.iter().rfind(is_typed).or(texts.last()).map(ToString::to_string);
        Self { results, has_text: !texts.is_empty(), prompt: prompt.unwrap_or_default() }
    }
}

/// The steps of a prompt that wants one thing after the other: "the weather in
/// Paris, then in Rome".
fn steps(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split(", then ").flat_map(|part| part.split(" and then "))
}

/// The step of the user's last prompt that comes next, if the steps before it
/// have been called.
fn next_step(request: &Request<'_>) -> Option<String> {
    let is_prompt = |turn: &Turn<'_>| {
        turn.role == Role::User && turn.items.iter().any(|item| as_text(item).is_some())
    };
    let at = request.turns.iter().rposition(is_prompt)?;
    let (asked, since) = request.turns.get(at..)?.split_first()?;
    let text = asked.items.iter().rev().find_map(as_text)?.text.decode();
    let calls = |turn: &&Turn<'_>| turn.items.iter().any(|item| matches!(item, Item::Call(_)));
    let done = since.iter().filter(calls).count();
    steps(&text).nth(done).filter(|_| done > 0).map(str::to_owned)
}

fn tool_calls(request: &Request<'_>, tool: &Tool<'_>, prompt: &Prompt) -> Vec<ToolCall> {
    let name = tool.name.decode().into_owned();
    let ToolKind::Function { schema } = &tool.kind else {
        let input = CallInput::Freeform(freeform_input(&name, prompt));
        return vec![ToolCall { name, input }];
    };
    let schema = schema.as_ref().map_or_else(|| json!({}), parse_schema);
    let mut builder = ArgumentBuilder::new(&schema, &name, prompt.clone());
    let mut arguments = vec![builder.build()];
    let parallel_calls =
        !request.legacy_functions && request.choice.parallel.is_none_or(|parallel| parallel.value);
    if let Some(used) = builder.last_mention.filter(|_| parallel_calls) {
        // "In Paris and London" is two calls of a tool that takes one city.
        let at = prompt.mentions.iter().position(|mention| mention.name == used);
        let after = prompt.mentions.get(at.unwrap_or_default() + 1..).unwrap_or_default();
        for mention in after.iter().take_while(|mention| mention.in_list).take(MAX_CALLS - 1) {
            let mut prompt = prompt.clone();
            prompt.mentions = vec![mention.clone()];
            let next = ArgumentBuilder::new(&schema, &name, prompt).build();
            // A tool that takes several at once has them already.
            let is_new = !arguments.contains(&next)
                && !arguments.iter().any(|made| made.contains(&mention.name));
            if is_new {
                arguments.push(next);
            }
        }
    }
    let call = |json| ToolCall { name: name.clone(), input: CallInput::Arguments(json) };
    arguments.into_iter().map(call).collect()
}

/// The text in the output format that the client asks for.
fn in_requested_format(request: &Request<'_>, text: String, prompt: Prompt) -> String {
    let as_object = |text: String| json!({"answer": text}).to_string();
    match request.output.format.as_ref().map(|format| &format.value) {
        Some(Format::JsonSchema(format)) => match &format.schema {
            Some(schema) => ArgumentBuilder::new(&parse_schema(schema), "", prompt).build(),
            None => as_object(text),
        },
        Some(Format::JsonObject) => as_object(text),
        Some(Format::Text | Format::Other(_)) | None => text,
    }
}

/// A schema as a tree. The codec has checked that it is JSON, so only a number
/// beyond all bounds fails here; such a schema says nothing.
fn parse_schema(schema: &Raw<'_>) -> Value {
    serde_json::from_str(schema.text()).unwrap_or_default()
}

fn as_text<'r, 'a>(item: &'r Item<'a>) -> Option<&'r Text<'a>> {
    if let Item::Text(text) = item { Some(text) } else { None }
}

fn as_result<'r, 'a>(item: &'r Item<'a>) -> Option<&'r ToolResult<'a>> {
    if let Item::Result(result) = item { Some(result) } else { None }
}

const MAX_CALLS: usize = 8;
/// What a call costs beside its name and input.
const CALL_TOKENS: u64 = 8;
