//! The values of parameters, and how they are written.

use super::parameters::Parameter;
use crate::recover::text::push_escaped_str;

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
}

/// Writes the values as the arguments of a call.
pub(super) fn write(parameters: &[Parameter<'_>], values: &[Value]) -> String {
    let mut out = String::from("{");
    for (parameter, value) in parameters.iter().zip(values) {
        if matches!(value, Value::Missing) {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        push_string(parameter.name, &mut out);
        out.push(':');
        match value {
            Value::Missing => {}
            Value::Literal(literal) => out.push_str(literal),
            Value::Text(text) | Value::Of(_, text) => push_string(text, &mut out),
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    push_string(item, &mut out);
                }
                out.push(']');
            }
        }
    }
    out.push('}');
    out
}

fn push_string(text: &str, out: &mut String) {
    out.push('"');
    push_escaped_str(text, out);
    out.push('"');
}
