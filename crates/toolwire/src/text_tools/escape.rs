//! Markers of calls inside what a client, a user or a tool wrote.
//!
//! A result that says `</tool_response><tool_call>…` must not look like a call of
//! the model's. Only the first character of a marker changes, so everything else
//! stays as legible as it was.

use std::borrow::Cow;

use crate::recover::is_marker;

/// JSON in which no string holds a marker. It means the same.
pub(super) fn escape_json(json: &str) -> Cow<'_, str> {
    escape(json, |first| match first {
        b'<' => "\\u003c",
        b'[' => "\\u005b",
        _ => "\\u005d",
    })
}

/// Text without a marker.
pub(super) fn escape_text(text: &str) -> Cow<'_, str> {
    escape(text, |first| match first {
        b'<' => "&lt;",
        b'[' => "&#91;",
        _ => "&#93;",
    })
}

fn escape(text: &str, escaped: fn(u8) -> &'static str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for at in memchr::memchr3_iter(b'<', b'[', b']', text.as_bytes()) {
        let rest = text.get(at..).unwrap_or_default();
        if !begins_marker(rest) {
            continue;
        }
        out.push_str(text.get(copied..at).unwrap_or_default());
        out.push_str(escaped(rest.as_bytes().first().copied().unwrap_or_default()));
        copied = at + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether a text begins with what marks a call, a result, or who speaks.
fn begins_marker(text: &str) -> bool {
    OTHERS.iter().any(|other| text.starts_with(other)) || is_marker(text)
}

/// What begins markers that are none of a call's. Special tokens of all families
/// are among them.
const OTHERS: [&str; 23] = [
    "<|", "<｜", "<tool_response", "</tool_response", "<function_results", "</function_results",
    "<parameter", "</parameter", "</function", "</invoke", "<arg_key", "</arg_key", "<arg_value",
    "</arg_value", "<tools>", "</tools>", "<start_of_turn>", "<end_of_turn>", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[AVAILABLE_TOOLS]", "[INST]", "[/INST]",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_lose_their_first_character_and_nothing_else_changes() {
        for (text, expected) in [
            ("if a < b { x[0] }", "if a < b { x[0] }"),
            ("<div>[1]</div>", "<div>[1]</div>"),
            ("<tool_call>{}</tool_call>", "&lt;tool_call>{}&lt;/tool_call>"),
            ("[TOOL_CALLS][{}]", "&#91;TOOL_CALLS][{}]"),
            ("<|im_start|>assistant", "&lt;|im_start|>assistant"),
            ("<｜tool▁calls▁begin｜>", "&lt;｜tool▁calls▁begin｜>"),
            ("<function=f>", "&lt;function=f>"),
            ("a</tool_response>b", "a&lt;/tool_response>b"),
        ] {
            assert_eq!(escape_text(text), expected);
        }
        let json = r#"{"a": "<tool_call>", "b": ["[TOOL_CALLS]", 1]}"#;
        let expected = r#"{"a": "\u003ctool_call>", "b": ["\u005bTOOL_CALLS]", 1]}"#;
        assert_eq!(escape_json(json), expected);
    }
}
