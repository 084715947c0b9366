//! What the demo model answers.

use toolwire::model::{
    Call, Document, Format, Image, Item, Request, Role, Text, Tool, ToolKind, ToolResult, Turn,
};
use toolwire::wire::Str;

use super::arguments::{Filler, freeform};
use super::json::Json;
use super::prompt::Words;
use super::tool_choice::{Wish, choose};

/// What is answered: a text, or calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) calls: Vec<Made>,
    /// Whether the text was cut at the limit that the client set.
    pub(super) cut: bool,
}

/// A call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) name: String,
    pub(super) input: Input,
}

/// What a tool is called with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A JSON document.
    Arguments(String),
    /// Any text.
    Freeform(String),
}

/// Decides about a request. An error is a sentence for the client.
pub(super) fn decide(request: &Request<'_>, tokens: fn(&str) -> u64) -> Result<Said, String> {
    let open = Open::of(request);
    let words = Words::of(&open.asked);
    let calls = match choose(request, &words)? {
        Wish::Must(tool) => calls(request, tool, &words),
        Wish::May(tool) if open.results.is_empty() && open.spoken => calls(request, tool, &words),
        Wish::May(_) | Wish::Talk => Vec::new(),
    };
    if !calls.is_empty() {
        return Ok(Said { text: String::new(), calls, cut: false });
    }
    let text =
        if !open.results.is_empty() { quote(request, &open.results) } else { talk(request, &open) };
    let text = shaped(request, text, words);
    let most = request.output.max_tokens.map_or(u64::MAX, |most| most.value);
    let kept = cut(&text, most, tokens);
    Ok(Said { cut: kept.len() < text.len(), text: kept.to_owned(), calls: Vec::new() })
}

/// What has come since the model spoke last.
struct Open<'r, 'a> {
    results: Vec<&'r ToolResult<'a>>,
    /// Whether the user is the last who spoke.
    spoken: bool,
    /// What the user asks.
    asked: String,
}

impl<'r, 'a> Open<'r, 'a> {
    fn of(request: &'r Request<'a>) -> Self {
        let answered = |turn: &Turn<'_>| turn.role == Role::Assistant;
        let from = request.turns.iter().rposition(answered).map_or(0, |last| last + 1);
        let turns = request.turns.get(from..).unwrap_or_default();
        let items =
            || turns.iter().filter(|turn| turn.role == Role::User).flat_map(|turn| &turn.items);
        let results = items().filter_map(result).collect();
        let texts: Vec<_> = items().filter_map(text).map(|text| text.text.decode()).collect();
        // Agents put reminders of their own, in tags, around what the user
        // has typed.
        let typed = |text: &&std::borrow::Cow<'_, str>| !text.trim_start().starts_with('<');
        let asked = texts.iter().rfind(typed).or(texts.last()).map(ToString::to_string);
        Self { results, spoken: !texts.is_empty(), asked: asked.unwrap_or_default() }
    }
}

fn calls(request: &Request<'_>, tool: &Tool<'_>, words: &Words) -> Vec<Made> {
    let name = tool.name.decode().into_owned();
    let ToolKind::Function { schema } = &tool.kind else {
        let input = Input::Freeform(freeform(&name, words));
        return vec![Made { name, input }];
    };
    let schema = schema.as_ref().map_or(Json::Object(Vec::new()), Json::of);
    let mut filler = Filler::new(&schema, &name, words.clone());
    let mut made = vec![filler.value()];
    let several =
        !request.legacy_functions && request.choice.parallel.is_none_or(|parallel| parallel.value);
    if let Some(used) = filler.used.filter(|_| several) {
        // "In Paris and London" is two calls of a tool that takes one city.
        let at = words.things.iter().position(|thing| thing.name == used).unwrap_or_default();
        let after = words.things.get(at + 1..).unwrap_or_default();
        for thing in after.iter().take_while(|thing| thing.joined).take(MOST_CALLS - 1) {
            let mut words = words.clone();
            words.things = vec![thing.clone()];
            let value = Filler::new(&schema, &name, words).value();
            // A tool that takes several at once has them already.
            if !made.contains(&value) && !made.iter().any(|made| made.print().contains(&thing.name))
            {
                made.push(value);
            }
        }
    }
    let input = |value: Json| Input::Arguments(value.print());
    made.into_iter().map(|value| Made { name: name.clone(), input: input(value) }).collect()
}

/// What the tools have answered, in their own words.
fn quote(request: &Request<'_>, results: &[&ToolResult<'_>]) -> String {
    let mut lines = Vec::new();
    for result in results {
        let said: Vec<String> = result.content.iter().map(spoken).collect();
        let said = short(said.join(" ").trim());
        let name = caller(request, result);
        lines.push(match said.is_empty() {
            true => format!("{name} returned nothing."),
            false => format!("{name} returned: {said}"),
        });
    }
    lines.join("\n")
}

/// The name of the tool that a result comes from.
fn caller(request: &Request<'_>, result: &ToolResult<'_>) -> String {
    let mut calls = request.turns.iter().flat_map(|turn| &turn.items).filter_map(call);
    let own = |text: &Str<'_>| text.decode().into_owned();
    let same = |call: &&Call<'_>| call.id.is_some() && call.id == result.call_id;
    let name = calls.rfind(same).map(|call| own(&call.name));
    name.or_else(|| result.name.as_ref().map(own)).unwrap_or_else(|| "The tool".to_owned())
}

fn talk(request: &Request<'_>, open: &Open<'_, '_>) -> String {
    let mut text = String::from(INTRODUCTION);
    if !open.asked.trim().is_empty() {
        text.push_str(&format!("\n\nYou said: “{}”", short(open.asked.trim())));
    }
    let count = |fits: fn(&Item<'_>) -> bool| {
        request.turns.iter().flat_map(|turn| &turn.items).filter(|item| fits(item)).count()
    };
    let earlier = request.turns.iter().filter(|turn| turn.role == Role::Assistant).count();
    let system =
        request.turns.iter().any(|turn| matches!(turn.role, Role::System | Role::Developer));
    let mut seen = Vec::new();
    for (number, one, many) in [
        (usize::from(system), "system instructions", ""),
        (earlier, "an earlier answer", "earlier answers"),
        (count(|item| matches!(item, Item::Image(_))), "an image", "images"),
        (count(|item| matches!(item, Item::Document(_))), "a document", "documents"),
        (request.tools.len(), "a tool", "tools"),
    ] {
        match number {
            0 => {}
            1 => seen.push(one.to_owned()),
            number => seen.push(format!("{number} {many}")),
        }
    }
    if !seen.is_empty() {
        text.push_str(&format!("\nI also see {}.", listed(&seen)));
    }
    text.push_str(if request.tools.is_empty() {
        "\nDeclare a tool in your request, and I will call it."
    } else {
        "\nAsk for something that a tool does, and I will call it."
    });
    text
}

/// The text in the format that the client wants.
fn shaped(request: &Request<'_>, text: String, words: Words) -> String {
    match request.output.format.as_ref().map(|format| &format.value) {
        Some(Format::JsonSchema(format)) => match &format.schema {
            Some(schema) => Filler::new(&Json::of(schema), "", words).value().print(),
            None => Json::Object(vec![("answer".to_owned(), Json::Text(text))]).print(),
        },
        Some(Format::JsonObject) => {
            Json::Object(vec![("answer".to_owned(), Json::Text(text))]).print()
        }
        Some(Format::Text | Format::Other(_)) | None => text,
    }
}

/// As much of a text as fits a number of tokens.
fn cut(text: &str, most: u64, tokens: fn(&str) -> u64) -> &str {
    if tokens(text) <= most {
        return text;
    }
    // More text is never fewer tokens by more than the last of them, so halving
    // finds the place.
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let head = |end: &usize| text.get(..*end).unwrap_or_default();
    let fits = ends.partition_point(|end| tokens(head(end)) <= most);
    ends.get(fits.saturating_sub(1)).map(head).unwrap_or_default()
}

/// A text, or the beginning of a long one.
fn short(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn spoken(item: &Item<'_>) -> String {
    match item {
        Item::Text(text) => text.text.decode().into_owned(),
        Item::Image(Image { .. }) => "[an image]".to_owned(),
        Item::Document(Document { .. }) => "[a document]".to_owned(),
        Item::Json(raw) => raw.text().to_owned(),
        Item::Refusal(refusal) => refusal.text.decode().into_owned(),
        Item::Audio(_)
        | Item::SearchResult(_)
        | Item::Reasoning(_)
        | Item::Call(_)
        | Item::Result(_)
        | Item::Hosted(_)
        | Item::Tools(_)
        | Item::ToolReference(_)
        | Item::Opaque(_) => "[something else]".to_owned(),
    }
}

fn text<'r, 'a>(item: &'r Item<'a>) -> Option<&'r Text<'a>> {
    if let Item::Text(text) = item { Some(text) } else { None }
}

fn result<'r, 'a>(item: &'r Item<'a>) -> Option<&'r ToolResult<'a>> {
    if let Item::Result(result) = item { Some(result) } else { None }
}

fn call<'r, 'a>(item: &'r Item<'a>) -> Option<&'r Call<'a>> {
    if let Item::Call(call) = item { Some(call) } else { None }
}

fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

const INTRODUCTION: &str = "Hello. This is toolwire's demo model. It needs no key and no network, \
                            and says the same every time.";
const QUOTED: usize = 400;
const MOST_CALLS: usize = 8;
