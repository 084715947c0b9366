//! Values whose members are tags (MiniMax).

use super::align;
use super::tags::{Style, open_tag};
use super::text::{from, upto};

/// Members written as tags, as an object; several of the same name, or `item`s,
/// as a list.
pub(super) fn nested(style: &Style, text: &str, depth: usize) -> String {
    let mut members: Vec<(String, String)> = Vec::new();
    let mut rest = text.trim();
    while let Ok(Some(tag)) = open_tag(style, rest) {
        let inside = from(rest, tag.length);
        let closing = format!("{}{}{}", style.close, tag.word, style.end);
        let Some(stop) = inside.find(&closing) else { break };
        let value = upto(inside, stop);
        let json = match value.trim_start().starts_with(&style.open) && depth < DEEPEST {
            true => nested(style, value, depth + 1),
            false => align::raw_text(None, value).unwrap_or_default(),
        };
        members.push((tag.word, json));
        rest = from(inside, stop + closing.len()).trim_start();
    }
    let list = members.iter().all(|(word, _)| word == "item") && !members.is_empty();
    let parts = members.iter().map(|(word, json)| match list {
        true => json.clone(),
        false => format!("{}:{json}", align::quoted(word)),
    });
    let parts: Vec<String> = parts.collect();
    let parts = parts.join(",");
    if list { format!("[{parts}]") } else { format!("{{{parts}}}") }
}

const DEEPEST: usize = 16;
