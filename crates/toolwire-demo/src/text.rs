//! The text of a reply that is no call.

use toolwire::model::{Call, Document, Image, Item, Request, Role, ToolResult};
use toolwire::wire::Str;

/// What the demo model is, what it was sent, and how to make it call a tool.
pub(crate) fn introduction(request: &Request<'_>, prompt: &str) -> String {
    let mut text = String::from(INTRODUCTION);
    if !prompt.trim().is_empty() {
        text.push_str(&format!("\n\nYou said: “{}”", shortened(prompt.trim())));
    }
    let contents = contents(request);
    if !contents.is_empty() {
        text.push_str(&format!("\nI also see {}.", joined(&contents)));
    }
    text.push_str(if request.tools.is_empty() {
        "\nDeclare a tool in your request, and I will call it."
    } else {
        "\nAsk for something that a tool does, and I will call it."
    });
    text
}

/// The results of the tools, one on each line.
pub(crate) fn quoted_results(request: &Request<'_>, results: &[&ToolResult<'_>]) -> String {
    let mut lines = Vec::new();
    for result in results {
        let parts: Vec<String> = result.content.iter().map(item_text).collect();
        let content = shortened(parts.join(" ").trim());
        let name = tool_name(request, result);
        lines.push(if content.is_empty() {
            format!("{name} returned nothing.")
        } else {
            format!("{name} returned: {content}")
        });
    }
    lines.join("\n")
}

/// As much of a text as fits into `limit` tokens.
pub(crate) fn truncate(text: &str, limit: u64, tokens: fn(&str) -> u64) -> &str {
    if tokens(text) <= limit {
        return text;
    }
    // A longer text never has fewer tokens, except at its very end, so the
    // place can be found by bisection.
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let head = |end: &usize| text.get(..*end).unwrap_or_default();
    let fits = ends.partition_point(|end| tokens(head(end)) <= limit);
    ends.get(fits.saturating_sub(1)).map(head).unwrap_or_default()
}

/// What a request contains besides the prompt.
fn contents(request: &Request<'_>) -> Vec<String> {
    let count = |fits: fn(&Item<'_>) -> bool| {
        request.turns.iter().flat_map(|turn| &turn.items).filter(|item| fits(item)).count()
    };
    let answers = request.turns.iter().filter(|turn| turn.role == Role::Assistant).count();
    let has_instructions =
        request.turns.iter().any(|turn| matches!(turn.role, Role::System | Role::Developer));
    let mut contents = Vec::new();
    for (number, one, many) in [
        (usize::from(has_instructions), "system instructions", ""),
        (answers, "an earlier answer", "earlier answers"),
        (count(|item| matches!(item, Item::Image(_))), "an image", "images"),
        (count(|item| matches!(item, Item::Document(_))), "a document", "documents"),
        (request.tools.len(), "a tool", "tools"),
    ] {
        match number {
            0 => {}
            1 => contents.push(one.to_owned()),
            number => contents.push(format!("{number} {many}")),
        }
    }
    contents
}

/// The name of the tool that a result comes from.
fn tool_name(request: &Request<'_>, result: &ToolResult<'_>) -> String {
    let mut calls = request.turns.iter().flat_map(|turn| &turn.items).filter_map(as_call);
    let owned = |text: &Str<'_>| text.decode().into_owned();
    let is_answered = |call: &&Call<'_>| call.id.is_some() && call.id == result.call_id;
    let name = calls.rfind(is_answered).map(|call| owned(&call.name));
    name.or_else(|| result.name.as_ref().map(owned)).unwrap_or_else(|| "The tool".to_owned())
}

/// A text, or the beginning of a long one.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn item_text(item: &Item<'_>) -> String {
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

fn as_call<'r, 'a>(item: &'r Item<'a>) -> Option<&'r Call<'a>> {
    if let Item::Call(call) = item { Some(call) } else { None }
}

/// "one, two and three".
fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

const INTRODUCTION: &str = "Hello. This is toolwire's demo model. It needs no key and no network, \
                            and says the same every time.";
/// The longest quotation, in characters.
const MAX_QUOTE: usize = 400;
