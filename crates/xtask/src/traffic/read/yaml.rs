//! YAML as JSON values. Built from the parser's events, because the tag of a scalar matters:
//! `!!binary` is how recorders write what is not text, or what they did not look at.

use std::collections::BTreeMap;

use saphyr_parser::{Event, EventReceiver, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value, json};

use super::body::{decompressed, from_base64};

/// The first document of a YAML file. A binary scalar becomes its text, or `{base64_string}` if it
/// is none.
pub(super) fn parse(text: &str) -> Option<Value> {
    let mut builder = Builder::default();
    Parser::new_from_str(text).load(&mut builder, false).ok()?;
    builder.document
}

/// The value that the events so far amount to.
#[derive(Default)]
struct Builder {
    open: Vec<Node>,
    anchors: BTreeMap<usize, Value>,
    document: Option<Value>,
}

/// A collection that has not ended yet.
struct Node {
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Value>),
    /// The members so far, and the key whose value comes next.
    Members(Map<String, Value>, Option<String>),
}

impl<'input> EventReceiver<'input> for Builder {
    fn on_event(&mut self, event: Event<'input>) {
        match event {
            Event::SequenceStart(anchor, _) => {
                self.open.push(Node { anchor, content: Content::List(Vec::new()) });
            }
            Event::MappingStart(anchor, _) => {
                self.open.push(Node { anchor, content: Content::Members(Map::new(), None) });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Node { anchor, content }) = self.open.pop() else { return };
                let value = match content {
                    Content::List(list) => Value::Array(list),
                    Content::Members(members, _) => Value::Object(members),
                };
                self.add(anchor, value);
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.add(anchor, scalar(&text, style, tag.as_deref()));
            }
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().unwrap_or_default();
                self.add(0, value);
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }
}

impl Builder {
    fn add(&mut self, anchor: usize, value: Value) {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut().map(|node| &mut node.content) {
            Some(Content::List(list)) => list.push(value),
            Some(Content::Members(members, key)) => match key.take() {
                Some(key) => {
                    members.insert(key, value);
                }
                None => *key = Some(text_of(value)),
            },
            None => self.document = Some(value),
        }
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    // `!!binary` of Python, `!binary` of Ruby.
    if tag.is_some_and(|tag| tag.suffix == "binary") {
        return binary(text);
    }
    let is_text = tag.is_some_and(|tag| tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// Numbers as JSON writes them; YAML's other notations do not occur in what came from JSON.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let starts_well = digits.starts_with(|first: char| first.is_ascii_digit());
    starts_well.then(|| serde_json::from_str::<Value>(text).ok()).flatten()
}

fn binary(text: &str) -> Value {
    let Some(bytes) = from_base64(text) else { return Value::String(text.to_owned()) };
    match str::from_utf8(&decompressed(&bytes)) {
        Ok(text) => Value::String(text.to_owned()),
        Err(_) => json!({ "base64_string": text }),
    }
}

fn text_of(key: Value) -> String {
    match key {
        Value::String(key) => key,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    }
}
