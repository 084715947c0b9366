//! Tags with attributes, in the spellings of several dialects.

use super::markers::LEAD;
use super::text::{from, may_become, upto};

/// How the tags of a call are spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// What begins a tag, with the prefix of the dialect: `<`, `<｜DSML｜`.
    pub(super) open: String,
    /// What begins a closing tag: `</`.
    pub(super) close: String,
    /// What ends a tag: `>`.
    pub(super) end: &'static str,
}

/// A tag with its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenTag {
    pub(super) word: String,
    /// The name it gives: `=NAME`, `name="NAME"`, `key="NAME"`.
    pub(super) name: Option<String>,
    /// Whether the tag says that its value is a text, or that it is not.
    pub(super) is_text: Option<bool>,
    /// Whether it ends with `/>`, so that nothing is in it.
    pub(super) is_empty: bool,
    pub(super) length: usize,
}

impl OpenTag {
    /// The name that the tag gives.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Style {
    /// The byte that every tag begins with.
    pub(super) fn first(&self) -> u8 {
        self.open.as_bytes().first().copied().unwrap_or(b'<')
    }

    pub(super) fn plain() -> Self {
        Self { open: "<".to_owned(), close: "</".to_owned(), end: ">" }
    }
}

/// The style and the tag that a call begins with. `Err` if more text is needed.
pub(super) fn call_tag(text: &str) -> Result<Option<(Style, OpenTag)>, ()> {
    if text.starts_with("<|open|>") {
        let style =
            Style { open: "<|open|>".to_owned(), close: "<|close|>".to_owned(), end: "<|sep|>" };
        return open_tag(&style, text).map(|tag| tag.map(|tag| (style, tag)));
    }
    let lead = if text.starts_with(LEAD) { LEAD } else { "" };
    let inside = from(text, lead.len() + 1);
    let inside = upto(inside, inside.find('>').unwrap_or(inside.len()));
    let stop = ["invoke", "function"].iter().filter_map(|word| inside.find(word)).min();
    let Some(prefix) = stop.map(|stop| upto(inside, stop)) else { return Ok(None) };
    let style =
        Style { open: format!("{lead}<{prefix}"), close: format!("{lead}</{prefix}"), end: ">" };
    open_tag(&style, text).map(|tag| tag.map(|tag| (style, tag)))
}

/// The tag that a text begins with. `Err` if more text is needed.
pub(super) fn open_tag(style: &Style, text: &str) -> Result<Option<OpenTag>, ()> {
    let Some(inside) = text.strip_prefix(style.open.as_str()) else {
        return if may_become(text, &style.open) { Err(()) } else { Ok(None) };
    };
    let Some(stop) = tag_end(inside, style.end) else { return Err(()) };
    let content = upto(inside, stop).trim_start();
    let length = style.open.len() + stop + style.end.len();
    let (content, is_empty) = match content.strip_suffix('/') {
        Some(content) => (content, true),
        None => (content, false),
    };
    let (word, rest) = word_of(content);
    if word.is_empty() || word.starts_with('/') {
        return Ok(None);
    }
    let name = match rest.strip_prefix('=') {
        Some(name) => Some(unquoted(name)),
        None => ["name", "key", "tool"].iter().find_map(|key| attribute(rest, key)),
    };
    let is_text = match (attribute(rest, "string").as_deref(), attribute(rest, "type").as_deref()) {
        (Some("true"), _) | (_, Some("string")) => Some(true),
        (Some(_), _) | (_, Some(_)) => Some(false),
        (None, None) => None,
    };
    Ok(Some(OpenTag { word: word.to_owned(), name, is_text, is_empty, length }))
}

/// The first word of a tag and what follows it. Some tokenizers lose the space
/// between them (`paramname=`), or write it as `Ġ`.
fn word_of(content: &str) -> (&str, &str) {
    let collapsed = ["function", "invoke", "parameter", "param"].iter().find_map(|word| {
        let rest = content.strip_prefix(word)?;
        rest.starts_with("name=").then_some((*word, rest))
    });
    collapsed.unwrap_or_else(|| {
        let end = content.find([' ', '=', '\n', '\t', 'Ġ']).unwrap_or(content.len());
        (upto(content, end), from(content, end).trim_start_matches('Ġ'))
    })
}

/// Where a tag ends, quotes aside.
fn tag_end(inside: &str, end: &str) -> Option<usize> {
    if end.len() > 1 {
        return inside.find(end);
    }
    let mut quoted = false;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'>' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn attribute(text: &str, key: &str) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find(key) {
        let before = upto(rest, at);
        let after = from(rest, at + key.len()).trim_start();
        if (before.is_empty() || before.ends_with([' ', '\n', '\t', '"']))
            && let Some(value) = after.strip_prefix('=')
        {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
            let value = match quote {
                Some(quote) => from(value, 1).split(quote).next().unwrap_or_default(),
                None => value.split([' ', '\n']).next().unwrap_or_default(),
            };
            return Some(unescaped(value));
        }
        rest = from(rest, at + key.len());
    }
    None
}

/// The value of an attribute, without XML's escapes.
fn unescaped(value: &str) -> String {
    let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    if !value.contains('&') {
        return value.to_owned();
    }
    escapes.iter().fold(value.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}
