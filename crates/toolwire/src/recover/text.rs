//! Cutting text without panicking.

/// The text from a byte on; empty if there is none.
pub(super) fn from(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// The text up to a byte; empty if the byte is not a boundary.
pub(super) fn upto(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or_default()
}

/// The text up to a length, or a little less, where a character ends.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let mut length = most.min(text.len());
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    upto(text, length)
}

/// Whether the text may still become `marker` when more of it arrives.
pub(super) fn may_become(text: &str, marker: &str) -> bool {
    text.len() < marker.len() && marker.starts_with(text)
}

/// How many bytes the text begins with that are neither control characters nor
/// any of `others`. Eight are tested at a time.
pub(super) fn length_without<const N: usize>(others: [u8; N], text: &str) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let bytes = text.as_bytes();
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The highest bit of a byte is set where one of the tests holds.
        let mut found = word.wrapping_sub(ONES * 0x20) & !word;
        for other in others {
            let differs = word ^ (ONES * u64::from(other));
            found |= differs.wrapping_sub(ONES) & !differs;
        }
        found &= ONES << 7;
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let is_found = |byte: &u8| *byte < b' ' || others.contains(byte);
    bytes.len() - rest.len() + rest.iter().position(is_found).unwrap_or(rest.len())
}

/// How many bytes the text begins with that need no care in a JSON string.
pub(super) fn plain_length(text: &str) -> usize {
    length_without([b'"', b'\\'], text)
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
    out.reserve(text.len() + text.len() / 8);
    let mut at = 0;
    loop {
        let start = at;
        at += plain_length(from(text, at));
        out.push_str(text.get(start..at).unwrap_or_default());
        match text.as_bytes().get(at) {
            None => return,
            Some(b'\n') => out.push_str("\\n"),
            Some(b'"') => out.push_str("\\\""),
            Some(byte) => push_escaped(char::from(*byte), out),
        }
        at += 1;
    }
}
