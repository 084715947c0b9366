//! Another program's configuration as a value. YAML and JSON are read, JSON with
//! the comments and trailing commas that JSON5 allows.
//!
//! The file may come from anybody: its size, its depth and what its aliases expand
//! to are limited.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Reads a configuration.
pub(super) fn parse(text: &str) -> Result<Document, String> {
    if text.len() > MAX_SIZE {
        return Err(format!("it is longer than {} KiB", MAX_SIZE / 1024));
    }
    let text = text.trim_start_matches('\u{feff}');
    let plain = json_of(text);
    if plain.trim_start().starts_with('{') {
        match serde_json::from_str(&plain) {
            Ok(value) => return Ok(Document { value, repeated: Vec::new() }),
            Err(error) => {
                // YAML knows keys without quotes and single quotes, which JSON5 allows.
                return yaml(&plain).map_err(|_| format!("it is not valid JSON: {error}"));
            }
        }
    }
    yaml(text)
}

/// What a file says.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) value: Value,
    /// Keys that one object has twice. The last one counts, as for most readers.
    pub(super) repeated: Vec<String>,
}

/// JSON5's comments and trailing commas are removed; strings stay as they are.
fn json_of(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    // Where the last comma is, if only spaces and comments have followed it.
    let mut comma = None;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => string_length(rest, first),
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").and_then(|end| rest.get(end + 2..)).unwrap_or_default();
                plain.push(' ');
                continue;
            }
            '}' | ']' => {
                if let Some(at) = comma {
                    plain.replace_range(at..=at, " ");
                }
                1
            }
            other => other.len_utf8(),
        };
        let (taken, after) = rest.split_at(length);
        comma = match first {
            ',' => Some(plain.len()),
            ' ' | '\t' | '\n' | '\r' => comma,
            _ => None,
        };
        plain.push_str(taken);
        rest = after;
    }
    plain
}

/// The length of the string at the start of a text, with its quotes.
fn string_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn yaml(text: &str) -> Result<Document, String> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| format!("it is not valid YAML: {error}"))?;
        if let Some(value) = builder.add_event(event)? {
            return Ok(Document { value, repeated: builder.repeated });
        }
    }
    Err("it is empty".to_owned())
}

/// The value that the events so far amount to.
#[derive(Default)]
struct Builder {
    open: Vec<Node>,
    /// What aliases stand for, and how many values that is.
    anchors: HashMap<usize, (Value, usize)>,
    /// How many values there are, with those that aliases have added.
    count: usize,
    repeated: Vec<String>,
}

/// A collection that has not ended yet.
struct Node {
    anchor: usize,
    /// How many values there were when it began.
    begin: usize,
    content: Content,
}

enum Content {
    List(Vec<Value>),
    Members(Members),
}

#[derive(Default)]
struct Members {
    members: Map<String, Value>,
    /// The key whose value comes next.
    key: Option<String>,
    /// What `<<` adds.
    merged: Vec<Value>,
}

impl Builder {
    /// Takes the next event, and returns the document when it has ended.
    fn add_event(&mut self, event: Event<'_>) -> Result<Option<Value>, String> {
        match event {
            Event::SequenceStart(anchor, _) => {
                self.begin(anchor, Content::List(Vec::new()))?;
                Ok(None)
            }
            Event::MappingStart(anchor, _) => {
                self.begin(anchor, Content::Members(Members::default()))?;
                Ok(None)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Node { anchor, begin, content }) = self.open.pop() else {
                    return Ok(None);
                };
                let value = match content {
                    Content::List(list) => Value::Array(list),
                    Content::Members(members) => members.finish(),
                };
                let size = self.count - begin;
                Ok(self.add(anchor, value, size))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.grow(1)?;
                let is_text = tag.is_some_and(|tag| tag.suffix == "str");
                let is_plain = style == ScalarStyle::Plain && !is_text;
                let value = if is_plain { scalar(&text) } else { Value::String(text.into_owned()) };
                Ok(self.add(anchor, value, 1))
            }
            Event::Alias(anchor) => {
                let size = self.anchors.get(&anchor).map_or(1, |(_, size)| *size);
                self.grow(size)?;
                let value = self.anchors.get(&anchor).map(|(value, _)| value.clone());
                Ok(self.add(0, value.unwrap_or_default(), size))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(None),
        }
    }

    fn begin(&mut self, anchor: usize, content: Content) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        let begin = self.count;
        self.grow(1)?;
        self.open.push(Node { anchor, begin, content });
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), String> {
        self.count = self.count.saturating_add(by);
        if self.count > MAX_VALUES {
            return Err(format!("it holds more than {MAX_VALUES} values, aliases included"));
        }
        Ok(())
    }

    /// Adds a value to what is open, or returns it if nothing is.
    fn add(&mut self, anchor: usize, value: Value, size: usize) -> Option<Value> {
        if anchor > 0 {
            // A copy counts like the value itself.
            self.count = self.count.saturating_add(size);
            self.anchors.insert(anchor, (value.clone(), size));
        }
        match self.open.last_mut().map(|node| &mut node.content) {
            Some(Content::List(list)) => list.push(value),
            Some(Content::Members(members)) => self.repeated.extend(members.add(value)),
            None => return Some(value),
        }
        None
    }
}

impl Members {
    /// Adds a key or a value. Returns the key if it was there before.
    fn add(&mut self, value: Value) -> Option<String> {
        let Some(key) = self.key.take() else {
            let key = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.key = Some(key);
            return None;
        };
        if key == "<<" {
            self.merged.push(value);
            return None;
        }
        self.members.insert(key.clone(), value).map(|_| key)
    }

    /// The object, with what `<<` adds where it says nothing itself.
    fn finish(self) -> Value {
        let Self { mut members, key: _, merged } = self;
        for value in merged {
            let sources = match value {
                Value::Array(list) => list,
                other @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Object(_)) => vec![other],
            };
            for source in sources {
                let Value::Object(source) = source else { continue };
                for (key, value) in source {
                    members.entry(key).or_insert(value);
                }
            }
        }
        Value::Object(members)
    }
}

fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// Numbers as JSON writes them, and with the underscores that YAML allows.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let starts_well = digits.starts_with(|first: char| first.is_ascii_digit());
    starts_well.then(|| serde_json::from_str(&text.replace('_', "")).ok()).flatten()
}

/// The longest file. Configurations that people write are a hundred times shorter.
pub(super) const MAX_SIZE: usize = 1024 * 1024;
const MAX_DEPTH: usize = 64;
const MAX_VALUES: usize = 100_000;
