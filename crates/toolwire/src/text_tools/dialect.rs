//! How each family of models writes calls and results.
//!
//! Every dialect is one row: what surrounds the calls of a turn, what surrounds
//! each, and how a name and its arguments are written inside. Whatever is written
//! here, [`recover`](crate::recover) reads.

use std::fmt;

use super::escape::{escape_json, escape_text};
use super::python;
use crate::wire::glob;
use crate::wire::{Kind, Raw, Reader, write_str};

/// A way of writing calls as text.
#[derive(Clone, Copy)]
pub struct Dialect(&'static Row);

/// What is known of a dialect.
struct Row {
    name: &'static str,
    /// The models that were trained on it, by their names in lower case.
    models: &'static [&'static str],
    /// What surrounds all calls of a turn.
    calls: (&'static str, &'static str),
    /// What separates two calls.
    separator: &'static str,
    /// What surrounds one call.
    call: (&'static str, &'static str),
    form: Form,
    /// What surrounds one result.
    result: (&'static str, &'static str),
}

/// How a name and its arguments are written.
enum Form {
    /// `{"name": …, "arguments": …}`, with this key for the arguments.
    Object(&'static str),
    /// The name, this text, the arguments as JSON.
    NameAndJson(&'static str),
    /// The same with the number of the call behind the name.
    NumberedAndJson(&'static str),
    /// The name between two texts, then each argument: key between the first
    /// two, value between the last two, and a text at the end.
    Members {
        name: (&'static str, &'static str),
        key: (&'static str, &'static str),
        value_end: &'static str,
        end: &'static str,
    },
    /// `name(key=value, …)` in Python's syntax.
    Python,
}

impl Dialect {
    /// The dialect of Hermes and of most models that were trained on no other.
    pub const HERMES: Self = Self(&HERMES);

    /// All dialects.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| Self(row))
    }

    /// The dialect with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|dialect| dialect.name() == name)
    }

    /// The dialect that a model of this name was trained on, as far as that is
    /// known, and otherwise [`Dialect::HERMES`].
    pub fn of_model(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let knows = |row: &Row| row.models.iter().any(|pattern| glob::matches(pattern, &name));
        ROWS.iter().find(|row| knows(row)).map_or(Self::HERMES, |row| Self(row))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Writes the calls of one turn: names and arguments as JSON.
    pub(super) fn write_calls<'c>(
        self,
        calls: impl IntoIterator<Item = (&'c str, &'c str)>,
        out: &mut String,
    ) {
        let Row { calls: (open, close), separator, call: (begin, end), form, .. } = self.0;
        out.push_str(open);
        for (index, (name, arguments)) in calls.into_iter().enumerate() {
            if index > 0 {
                out.push_str(separator);
            }
            out.push_str(begin);
            form.write(index, name, arguments, out);
            out.push_str(end);
        }
        out.push_str(close);
    }

    /// Writes one result, as an object with the tool's name and what it gave.
    /// `content` is JSON.
    pub(super) fn write_result(self, name: &str, content: &str, out: &mut String) {
        let (begin, end) = self.0.result;
        out.push_str(begin);
        out.push_str("{\"name\": ");
        out.push_str(&quoted(name));
        out.push_str(", \"content\": ");
        out.push_str(&escape_json(content));
        out.push('}');
        out.push_str(end);
    }

    /// What a result begins with, for the instructions.
    pub(super) fn result_marker(self) -> &'static str {
        self.0.result.0.trim()
    }

    /// A call in this dialect, for the instructions.
    pub(super) fn example(self) -> String {
        let mut example = String::new();
        self.write_calls([("TOOL_NAME", r#"{"PARAMETER": "VALUE"}"#)], &mut example);
        example
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Dialect {}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dialect({})", self.name())
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Form {
    fn write(&self, index: usize, name: &str, arguments: &str, out: &mut String) {
        match self {
            Self::Object(key) => {
                out.push_str("{\"name\": ");
                out.push_str(&quoted(name));
                out.push_str(", \"");
                out.push_str(key);
                out.push_str("\": ");
                out.push_str(&escape_json(arguments));
                out.push('}');
            }
            Self::NameAndJson(between) => {
                out.push_str(name);
                out.push_str(between);
                out.push_str(&escape_json(arguments));
            }
            Self::NumberedAndJson(between) => {
                out.push_str(&format!("{name}:{index}{between}"));
                out.push_str(&escape_json(arguments));
            }
            Self::Members { name: (before, behind), key: (open, close), value_end, end } => {
                out.push_str(before);
                out.push_str(name);
                out.push_str(behind);
                for (key, value) in members(arguments) {
                    out.push_str(open);
                    out.push_str(&key);
                    out.push_str(close);
                    out.push_str(&value);
                    out.push_str(value_end);
                }
                out.push_str(end);
            }
            Self::Python => {
                out.push_str(name);
                out.push('(');
                python::write_keywords(arguments, out);
                out.push(')');
            }
        }
    }
}

/// The members of an object: strings as their text, other values as JSON.
/// Anything else that a call may have as arguments is the one member `value`.
fn members(arguments: &str) -> Vec<(String, String)> {
    read_members(arguments)
        .unwrap_or_else(|| vec![("value".to_owned(), escape_json(arguments).into_owned())])
}

fn read_members(arguments: &str) -> Option<Vec<(String, String)>> {
    let mut reader = Reader::new(arguments);
    if reader.peek() != Kind::Object {
        return None;
    }
    let mut members = reader.object().ok()?;
    let mut list = Vec::new();
    while let Some(key) = members.next(&mut reader).ok()? {
        let value: Raw<'_> = reader.raw().ok()?;
        let text = match value.kind() {
            Kind::String => escape_text(&value.reader().string().ok()?.decode()).into_owned(),
            Kind::Null
            | Kind::Bool
            | Kind::Number
            | Kind::Array
            | Kind::Object
            | Kind::Invalid
            | Kind::End => escape_json(value.text()).into_owned(),
        };
        list.push((escape_text(&key.decode()).into_owned(), text));
    }
    reader.finish().ok()?;
    Some(list)
}

/// A JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_str(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

static HERMES: Row = Row {
    name: "hermes",
    models: &[],
    calls: ("", ""),
    separator: "\n",
    call: ("<tool_call>\n", "\n</tool_call>"),
    form: Form::Object("arguments"),
    result: ("<tool_response>\n", "\n</tool_response>"),
};

static QWEN_XML: Row = Row {
    name: "qwen3_coder",
    models: &["*qwen3-coder*", "*qwen3.5*", "*qwen3-next-coder*"],
    calls: ("", ""),
    separator: "\n",
    call: ("<tool_call>\n", "\n</tool_call>"),
    form: Form::Members {
        name: ("<function=", ">\n"),
        key: ("<parameter=", ">\n"),
        value_end: "\n</parameter>\n",
        end: "</function>",
    },
    result: ("<tool_response>\n", "\n</tool_response>"),
};

static GLM: Row = Row {
    name: "glm45",
    models: &["*glm-4.5*", "*glm-4.6*", "*glm-4.7*", "*glm-5*"],
    calls: ("", ""),
    separator: "\n",
    call: ("<tool_call>", "</tool_call>"),
    form: Form::Members {
        name: ("", "\n"),
        key: ("<arg_key>", "</arg_key>\n<arg_value>"),
        value_end: "</arg_value>\n",
        end: "",
    },
    result: ("<tool_response>\n", "\n</tool_response>"),
};

static CLAUDE_XML: Row = Row {
    name: "claude_xml",
    models: &["*claude*"],
    calls: ("<function_calls>\n", "\n</function_calls>"),
    separator: "\n",
    call: ("", ""),
    form: Form::Members {
        name: ("<invoke name=\"", "\">\n"),
        key: ("<parameter name=\"", "\">"),
        value_end: "</parameter>\n",
        end: "</invoke>",
    },
    result: ("<function_results>\n", "\n</function_results>"),
};

static MISTRAL: Row = Row {
    name: "mistral",
    models: &["*mistral*", "*mixtral*", "*ministral*", "*codestral*", "*devstral*", "*magistral*"],
    calls: ("[TOOL_CALLS][", "]"),
    separator: ", ",
    call: ("", ""),
    form: Form::Object("arguments"),
    result: ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
};

static LLAMA: Row = Row {
    name: "llama3_json",
    models: &["*llama-3*", "*llama3*"],
    calls: ("", ""),
    separator: "\n",
    call: ("", ""),
    form: Form::Object("parameters"),
    result: ("<tool_response>\n", "\n</tool_response>"),
};

static PYTHONIC: Row = Row {
    name: "pythonic",
    models: &["*llama-4*", "*llama4*"],
    calls: ("[", "]"),
    separator: ", ",
    call: ("", ""),
    form: Form::Python,
    result: ("<tool_response>\n", "\n</tool_response>"),
};

static DEEPSEEK: Row = Row {
    name: "deepseek",
    models: &["*deepseek-v3*", "*deepseek-r1*", "*deepseek-chat*", "*deepseek-reasoner*"],
    calls: ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    separator: "\n",
    call: ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    form: Form::NameAndJson("<｜tool▁sep｜>"),
    result: ("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
};

static KIMI: Row = Row {
    name: "kimi_k2",
    models: &["*kimi-k2*"],
    calls: ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    separator: "",
    call: ("<|tool_call_begin|>functions.", "<|tool_call_end|>"),
    form: Form::NumberedAndJson("<|tool_call_argument_begin|>"),
    result: ("<|tool_response_begin|>", "<|tool_response_end|>"),
};

static ROWS: [&Row; 9] =
    [&HERMES, &QWEN_XML, &GLM, &CLAUDE_XML, &MISTRAL, &LLAMA, &PYTHONIC, &DEEPSEEK, &KIMI];
