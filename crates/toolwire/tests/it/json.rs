//! Small JSON tools for the tests. They keep spelling and order, so that a
//! difference in either is a difference.

use serde_json::Value;

/// The document indented, byte for byte otherwise as it was.
pub(crate) fn pretty(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut depth = 0;
    let mut in_string = false;
    let mut escaped = false;
    let mut previous = ' ';
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    for c in compact.chars() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            previous = c;
            continue;
        }
        match c {
            ' ' | '\n' | '\t' | '\r' => continue,
            '{' | '[' => {
                open(&mut out, &mut depth, previous, line);
                out.push(c);
                depth += 1;
            }
            '}' | ']' => {
                depth -= 1;
                if !matches!(previous, '{' | '[') {
                    line(&mut out, depth);
                }
                out.push(c);
            }
            ',' => out.push(c),
            ':' => out.push_str(": "),
            other => {
                open(&mut out, &mut depth, previous, line);
                out.push(other);
                in_string = other == '"';
            }
        }
        previous = c;
    }
    out.push('\n');
    out
}

fn open(out: &mut String, depth: &mut usize, previous: char, line: impl Fn(&mut String, usize)) {
    if matches!(previous, '{' | '[' | ',') {
        line(out, *depth);
    }
}

/// The document without explicit nulls, which mean the same as absence.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
