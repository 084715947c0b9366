//! Cutting text without panicking.

/// The text from a byte on; empty if there is none.
pub(super) fn from(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// The text up to a byte; empty if the byte is not a boundary.
pub(super) fn upto(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or_default()
}

/// Whether the text may still become `marker` when more of it arrives.
pub(super) fn may_become(text: &str, marker: &str) -> bool {
    text.len() < marker.len() && marker.starts_with(text)
}

/// Appends a character to a JSON string.
pub(super) fn push_escaped(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c < ' ' => {
            let code = u32::from(c);
            out.push_str("\\u00");
            for digit in [code >> 4, code & 15] {
                out.push(char::from_digit(digit, 16).unwrap_or('0'));
            }
        }
        c => out.push(c),
    }
}

/// Appends text to a JSON string.
pub(super) fn push_escaped_str(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\')
    {
        out.push_str(upto(rest, at));
        let odd = from(rest, at).chars().next().unwrap_or(' ');
        push_escaped(odd, out);
        rest = from(rest, at + odd.len_utf8());
    }
    out.push_str(rest);
}
