//! The values of parameters, and how they are written.

use super::parameters::Parameter;
use crate::recover::escape::push_escaped_str;

/// A parameter's value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Missing,
    /// A number or a boolean.
    Literal(String),
    Text(String),
    /// The text of a candidate.
    Of(usize, String),
    List(Vec<String>),
    /// A list of numbers.
    Numbers(Vec<String>),
}

/// Writes the values as the arguments of a call.
pub(super) fn write(parameters: &[Parameter<'_>], values: &[Value]) -> String {
    let mut out = String::from("{");
    let mut open: Option<&str> = None;
    let given = parameters.iter().zip(values).filter(|(_, value)| !matches!(value, Value::Missing));
    for (parameter, value) in given {
        let parent = parameter.parent.map(|parent| parent.name);
        if open.is_some() && parent != open {
            out.push('}');
            open = None;
        }
        if !out.ends_with('{') {
            out.push(',');
        }
        if let Some(name) = parent
            && open.is_none()
        {
            push_string(name, &mut out);
            out.push_str(":{");
            open = parent;
        }
        push_string(parameter.name, &mut out);
        out.push(':');
        push_value(value, &mut out);
    }
    if open.is_some() {
        out.push('}');
    }
    out.push('}');
    out
}

fn push_value(value: &Value, out: &mut String) {
    match value {
        Value::Missing => {}
        Value::Literal(literal) => out.push_str(literal),
        Value::Text(text) | Value::Of(_, text) => push_string(text, out),
        Value::Numbers(items) => {
            out.push('[');
            out.push_str(&items.join(","));
            out.push(']');
        }
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_string(item, out);
            }
            out.push(']');
        }
    }
}

fn push_string(text: &str, out: &mut String) {
    out.push('"');
    push_escaped_str(text, out);
    out.push('"');
}
