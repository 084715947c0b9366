//! Documents with one of their places stretched.

use serde_json::{Value, json};

/// What is done to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stretch {
    /// A list has its elements again and again.
    Alike,
    /// The same, and ids, names and indexes are new in each copy.
    Fresh,
    /// An object has many members that nobody knows.
    Members,
    /// A text is long.
    Long,
    /// A text is long and full of escapes.
    Escaped,
}

impl Stretch {
    pub(crate) const ALL: [Self; 5] =
        [Self::Alike, Self::Fresh, Self::Members, Self::Long, Self::Escaped];

    /// Whether it can be done to a value.
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Alike | Self::Fresh => value.as_array().is_some_and(|list| !list.is_empty()),
            Self::Members => value.is_object(),
            Self::Long | Self::Escaped => value.is_string(),
        }
    }

    /// How far a value is stretched at first, so that ten times as much is still
    /// a document that somebody would accept.
    pub(crate) fn size(self, value: &Value) -> usize {
        match self {
            Self::Alike | Self::Fresh => {
                let element = value.to_string().len() / value.as_array().map_or(1, Vec::len).max(1);
                (SIZE / element.max(1)).clamp(20, MOST_ELEMENTS)
            }
            Self::Members => MOST_ELEMENTS,
            Self::Long | Self::Escaped => SIZE,
        }
    }

    /// Stretches a value.
    pub(crate) fn apply(self, value: &mut Value, size: usize) {
        match (self, value) {
            (Self::Alike, Value::Array(list)) => {
                *list = list.iter().cycle().take(size).cloned().collect();
            }
            (Self::Fresh, Value::Array(list)) => {
                // What belongs together has the same number, as a call and its result.
                let length = list.len();
                let copies = list.iter().cycle().take(size).enumerate();
                *list =
                    copies.map(|(number, value)| fresh(value.clone(), number / length)).collect();
            }
            (Self::Members, Value::Object(members)) => {
                members.extend((0..size).map(|number| (format!("x{number}"), json!(number))));
            }
            (Self::Long, Value::String(text)) => text.extend(std::iter::repeat_n('x', size)),
            (Self::Escaped, Value::String(text)) => {
                let pattern = "\"\\\u{1}é\n".chars();
                text.extend(pattern.cycle().take(size));
            }
            (stretch, value) => panic!("{stretch:?} does not fit {value}"),
        }
    }
}

/// A copy with ids, names and indexes of its own.
pub(crate) fn fresh(mut value: Value, number: usize) -> Value {
    renew(&mut value, number);
    value
}

fn renew(value: &mut Value, number: usize) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| renew(value, number)),
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if IDS.contains(&key.as_str()) => {
                        text.push_str(&format!("_{number}"));
                    }
                    Value::Number(index) if INDEXES.contains(&key.as_str()) => {
                        *index = (index.as_u64().unwrap_or_default() + number as u64).into();
                    }
                    other => renew(other, number),
                }
            }
        }
        _scalar => {}
    }
}

/// Every place of a document that can be stretched, as JSON Pointers.
pub(crate) fn places(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(document, &mut String::new(), &mut found);
    found
}

fn collect(value: &Value, path: &mut String, found: &mut Vec<String>) {
    found.push(path.clone());
    let before = path.len();
    let mut enter = |step: &str, value: &Value| {
        path.push('/');
        path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        collect(value, path, found);
        path.truncate(before);
    };
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                enter(&index.to_string(), value);
            }
        }
        Value::Object(members) => members.iter().for_each(|(key, value)| enter(key, value)),
        _scalar => {}
    }
}

const IDS: [&str; 7] =
    ["id", "call_id", "tool_call_id", "tool_use_id", "item_id", "name", "type_id"];
const INDEXES: [&str; 5] =
    ["index", "output_index", "content_index", "summary_index", "sequence_number"];

/// About how many bytes the shorter document of a case has.
const SIZE: usize = 10_000;
const MOST_ELEMENTS: usize = 300;
