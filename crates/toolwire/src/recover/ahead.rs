//! What comes next in a block: a marker, a call, or something else. Looks at no
//! more text than it needs.

use super::lexer::white;
use super::markers::{Tag, tag};
use super::tags::{OpenTag, Style, call_tag};
use super::text::{beginning, from, may_become, upto};
use super::tools::Tools;

/// What comes next in a block.
pub(super) enum Ahead {
    More,
    Nothing,
    /// A marker or a separator.
    Skip(usize),
    Json,
    /// A call by name with an object, or in Python's syntax, behind so many bytes.
    Named {
        skip: usize,
        name: String,
        python: bool,
    },
    /// A call whose arguments are in tags.
    Tagged {
        style: Style,
        tag: OpenTag,
        skip: usize,
    },
    /// The same, with a bare name before them.
    Bare {
        skip: usize,
        name: String,
    },
    /// An object of arguments whose tool is not named.
    Unnamed {
        skip: usize,
    },
    /// A call by name with one line of text.
    Line {
        skip: usize,
        name: String,
    },
}

/// Whether a block with a call in it begins at a place.
pub(super) enum Begins {
    /// More text is needed. What is known already.
    More(Chain),
    Call,
    /// No call, and no other behind any of the markers in so many bytes.
    Nothing(usize),
}

/// Markers that were read, so that they need not be read again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chain {
    length: usize,
    markers: usize,
}

/// Whether a block with a call in it begins here, behind markers that are known.
pub(super) fn begins(text: &str, chain: Chain, end: bool, tools: &Tools) -> Begins {
    let Chain { length: mut at, mut markers } = chain;
    while markers < MOST_MARKERS {
        let skip = white(from(text, at));
        // However much of the text is there, no more of it decides.
        if at + skip > FARTHEST {
            return Begins::Nothing(at);
        }
        match ahead(from(text, at + skip), end, false, tools) {
            Ahead::More if end => return Begins::Nothing(at),
            Ahead::More => return Begins::More(Chain { length: at, markers }),
            Ahead::Nothing => return Begins::Nothing(at),
            Ahead::Skip(length) => {
                at += skip + length;
                markers += 1;
            }
            Ahead::Json
            | Ahead::Named { .. }
            | Ahead::Tagged { .. }
            | Ahead::Bare { .. }
            | Ahead::Unnamed { .. }
            | Ahead::Line { .. } => return Begins::Call,
        }
    }
    Begins::Nothing(at)
}

/// Whether a block with a call in it begins here. `None` if more text is needed.
pub(super) fn begins_call(text: &str, end: bool, tools: &Tools) -> Option<bool> {
    match begins(text, Chain::default(), end, tools) {
        Begins::More(_) => None,
        Begins::Call => Some(true),
        Begins::Nothing(_) => Some(false),
    }
}

/// What the text begins with. `inside` says that a call came before it.
///
/// However much of the text is there, only its beginning decides, so that a text
/// reads the same in pieces and as a whole.
pub(super) fn ahead(text: &str, end: bool, inside: bool, tools: &Tools) -> Ahead {
    let beginning = beginning(text, FARTHEST);
    look(beginning, end || beginning.len() < text.len(), inside, tools)
}

fn look(text: &str, end: bool, inside: bool, tools: &Tools) -> Ahead {
    let Some(first) = text.chars().next() else {
        return if end { Ahead::Nothing } else { Ahead::More };
    };
    match first {
        '{' => Ahead::Json,
        '[' => match tag(text, end) {
            Tag::Marker(length) | Tag::Edge(length) => Ahead::Skip(length),
            Tag::More => Ahead::More,
            Tag::Call | Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => {
                list(text, end, tools)
            }
        },
        ']' if text.starts_with("]<") || (text.len() == 1 && !end) => match tag(text, end) {
            Tag::Marker(length) | Tag::Edge(length) => Ahead::Skip(length),
            Tag::Call => tagged(text, end, tools),
            Tag::More => Ahead::More,
            Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other if inside => Ahead::Skip(1),
            Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => Ahead::Nothing,
        },
        ']' if inside => Ahead::Skip(1),
        ',' | ';' if inside => {
            let rest = from(text, 1);
            let next = rest.trim_start();
            match look(next, end, false, tools) {
                Ahead::More => Ahead::More,
                Ahead::Nothing => Ahead::Nothing,
                Ahead::Skip(_)
                | Ahead::Json
                | Ahead::Named { .. }
                | Ahead::Tagged { .. }
                | Ahead::Bare { .. }
                | Ahead::Unnamed { .. }
                | Ahead::Line { .. } => Ahead::Skip(text.len() - next.len()),
            }
        }
        '`' => fence(text, end),
        // Some tokenizers write the end of the message as a token of its own.
        '<' if inside && text.starts_with(END_OF_TEXT) => Ahead::Skip(END_OF_TEXT.len()),
        '<' => match tag(text, end) {
            Tag::Marker(length) | Tag::Edge(length) => Ahead::Skip(length),
            Tag::Call => tagged(text, end, tools),
            Tag::More => Ahead::More,
            Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => Ahead::Nothing,
        },
        c if c.is_alphabetic() || c == '_' => named(text, end, tools),
        // Kimi may count its calls and not name them.
        c if c.is_ascii_digit() => {
            unnamed(text, text.trim_start_matches(|c: char| c.is_ascii_digit()), end)
        }
        _ => Ahead::Nothing,
    }
}

/// Kimi's mark before arguments, without a tool's name before it.
fn unnamed(text: &str, rest: &str, end: bool) -> Ahead {
    let more = |is_more: bool| if is_more && !end { Ahead::More } else { Ahead::Nothing };
    let Some(arguments) = rest.strip_prefix(ARGUMENTS) else {
        let is_short = text.len() - rest.len() < LONGEST_ID;
        return more(is_short && (rest.is_empty() || may_become(rest, ARGUMENTS)));
    };
    let object = arguments.trim_start();
    match object.starts_with('{') {
        true => Ahead::Unnamed { skip: text.len() - object.len() },
        false => more(object.is_empty()),
    }
}

/// A list of objects, or of calls in Python's syntax.
fn list(text: &str, end: bool, tools: &Tools) -> Ahead {
    let rest = from(text, 1).trim_start();
    match rest.chars().next() {
        None if !end => Ahead::More,
        Some('{') => Ahead::Json,
        Some(c) if c.is_alphabetic() || c == '_' => match named(rest, end, tools) {
            Ahead::Named { python: true, .. } => Ahead::Skip(text.len() - rest.len()),
            Ahead::More => Ahead::More,
            Ahead::Nothing
            | Ahead::Skip(_)
            | Ahead::Json
            | Ahead::Named { .. }
            | Ahead::Tagged { .. }
            | Ahead::Bare { .. }
            | Ahead::Unnamed { .. }
            | Ahead::Line { .. } => Ahead::Nothing,
        },
        _ => Ahead::Nothing,
    }
}

/// A fence inside a block, with the word behind it.
pub(super) fn fence(text: &str, end: bool) -> Ahead {
    match fence_length(text, end) {
        Ok(Some(length)) => Ahead::Skip(length),
        Ok(None) => Ahead::Nothing,
        Err(()) => Ahead::More,
    }
}

/// The length of a fence and the word behind it. `Err` if more is needed.
fn fence_length(text: &str, end: bool) -> Result<Option<usize>, ()> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let rest = from(text, ticks);
    let word =
        rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    if ticks + word == text.len() && !end {
        return if ticks > 0 || text.is_empty() { Err(()) } else { Ok(None) };
    }
    Ok((ticks >= 3).then_some(ticks + word))
}

fn tagged(text: &str, end: bool, tools: &Tools) -> Ahead {
    match call_tag(text) {
        Ok(Some((style, tag))) => {
            if tag.name().is_some_and(|name| tools.find(name).is_some()) {
                let skip = tag.length();
                return Ahead::Tagged { style, tag, skip };
            }
            Ahead::Nothing
        }
        Ok(None) => Ahead::Nothing,
        Err(()) if end => Ahead::Nothing,
        Err(()) => Ahead::More,
    }
}

/// A call that begins with its name.
fn named(text: &str, end: bool, tools: &Tools) -> Ahead {
    let length = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
    if length == text.len() && !end {
        return Ahead::More;
    }
    let name = upto(text, length);
    if let Some(rest) = from(text, 0).strip_prefix("Action:") {
        return action(text, rest, end, tools);
    }
    // DeepSeek says what kind of call it is.
    if name == "function" {
        return match tag(from(text, length), end) {
            Tag::Marker(more) | Tag::Edge(more) => Ahead::Skip(length + more),
            Tag::More => Ahead::More,
            Tag::Call | Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => {
                Ahead::Nothing
            }
        };
    }
    if name == "functools" {
        return Ahead::Skip(length);
    }
    // What follows is a call object that repeats the name.
    let after = from(text, length);
    if after.starts_with(REPEATS) {
        return Ahead::Skip(length + REPEATS.len());
    }
    if !end && may_become(after, REPEATS) {
        return Ahead::More;
    }
    if tools.find(name).is_none() {
        return if name.starts_with("call_") { unnamed(text, after, end) } else { Ahead::Nothing };
    }
    let name = name.to_owned();
    if after.starts_with('(') {
        return Ahead::Named { skip: length + 1, name, python: true };
    }
    let mut at = length;
    loop {
        at += white(from(text, at));
        let rest = from(text, at);
        match rest.as_bytes().first() {
            None if !end => return Ahead::More,
            Some(b'{') => return Ahead::Named { skip: at, name, python: false },
            Some(b'<') if rest.starts_with("<arg_key") => return Ahead::Bare { skip: at, name },
            Some(b'<') if !end && may_become(rest, "<arg_key") => return Ahead::More,
            Some(b'<') => match tag(rest, end) {
                Tag::Marker(_) | Tag::Edge(_) if rest.starts_with("</") => {
                    return Ahead::Bare { skip: at, name };
                }
                Tag::Marker(more) | Tag::Edge(more) => at += more,
                Tag::More => return Ahead::More,
                Tag::Call | Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => {
                    return Ahead::Nothing;
                }
            },
            // A line break that the template escaped.
            Some(b'\\') if rest.starts_with("\\n") => at += 2,
            Some(b'\\') if rest.len() == 1 && !end => return Ahead::More,
            Some(b'[') => match argument_marker(rest) {
                Ok(Some(more)) => at += more,
                Ok(None) => return Ahead::Nothing,
                Err(()) if !end => return Ahead::More,
                Err(()) => return Ahead::Nothing,
            },
            Some(b'`') => match fence_length(rest, end) {
                Ok(Some(more)) => at += more,
                Ok(None) => return Ahead::Nothing,
                Err(()) => return Ahead::More,
            },
            _ => return Ahead::Nothing,
        }
    }
}

/// Mistral's `[ARGS]`, with `[CALL_ID]ID` before it. `Err` if more is needed.
fn argument_marker(text: &str) -> Result<Option<usize>, ()> {
    if text.starts_with("[ARGS]") {
        return Ok(Some("[ARGS]".len()));
    }
    if let Some(rest) = text.strip_prefix("[CALL_ID]") {
        return match rest.find('[') {
            Some(length) => Ok(Some("[CALL_ID]".len() + length)),
            None => Err(()),
        };
    }
    if may_become(text, "[ARGS]") || may_become(text, "[CALL_ID]") { Err(()) } else { Ok(None) }
}

/// `Action: NAME` and `Action Input: …`, or `Action:` and a list of calls.
fn action(text: &str, rest: &str, end: bool, tools: &Tools) -> Ahead {
    let rest = rest.trim_start();
    if rest.is_empty() {
        return if end { Ahead::Nothing } else { Ahead::More };
    }
    if rest.starts_with(['`', '[', '{']) {
        return Ahead::Skip(text.len() - rest.len());
    }
    let length = rest.find('\n').unwrap_or(rest.len());
    let name = upto(rest, length).trim().trim_matches(['`', '"', '*']);
    if length == rest.len() && !tools.has_name_like(name) {
        return Ahead::Nothing;
    }
    let after = from(rest, length).trim_start();
    if after.is_empty() || may_become(after, INPUT) {
        return if end { Ahead::Nothing } else { Ahead::More };
    }
    let Some(input) = after.strip_prefix(INPUT) else { return Ahead::Nothing };
    if tools.find(name).is_none() {
        return Ahead::Nothing;
    }
    let input = input.trim_start_matches([' ', '\t']);
    let json = input.trim_start();
    let skip = text.len() - json.len();
    let name = name.to_owned();
    match json.chars().next() {
        None if !end => Ahead::More,
        Some('{') => Ahead::Named { skip, name, python: false },
        Some('`') => match fence_length(json, end) {
            Ok(Some(more)) => {
                let inner = from(json, more).trim_start();
                match inner.chars().next() {
                    None if !end => Ahead::More,
                    Some('{') => {
                        Ahead::Named { skip: text.len() - inner.len(), name, python: false }
                    }
                    _ => Ahead::Nothing,
                }
            }
            Ok(None) => Ahead::Nothing,
            Err(()) => Ahead::More,
        },
        _ => Ahead::Line { skip: text.len() - input.len(), name },
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/')
}

/// Inkling names the author before a call object.
const REPEATS: &str = "<|content_invoke_tool_json|>";
const ARGUMENTS: &str = "<|tool_call_argument_begin|>";
const END_OF_TEXT: &str = "</s>";
const LONGEST_ID: usize = 40;
const INPUT: &str = "Action Input:";
/// How many markers may come before the first call.
const MOST_MARKERS: usize = 8;
/// How far a block looks ahead before it decides.
const FARTHEST: usize = 512;
