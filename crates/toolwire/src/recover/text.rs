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
    let bytes = text.as_bytes();
    let (words, rest) = bytes.as_chunks::<8>();
    let mut start = 0;
    let mut escape = |at: usize, out: &mut String| {
        out.push_str(text.get(start..at).unwrap_or_default());
        start = at + 1;
        match bytes.get(at) {
            Some(b'\n') => out.push_str("\\n"),
            Some(b'"') => out.push_str("\\\""),
            Some(byte) => push_escaped(char::from(*byte), out),
            None => {}
        }
    };
    for (index, word) in words.iter().enumerate() {
        let mut found = escaped_bytes(u64::from_le_bytes(*word));
        while found != 0 {
            escape(index * 8 + found.trailing_zeros() as usize / 8, out);
            found &= found - 1;
        }
    }
    let behind = bytes.len() - rest.len();
    for (index, byte) in rest.iter().enumerate() {
        if *byte < b' ' || matches!(byte, b'"' | b'\\') {
            escape(behind + index, out);
        }
    }
    out.push_str(from(text, start));
}

/// The bytes of a word that are escaped in a JSON string, by their highest bits.
fn escaped_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const LOW: u64 = ONES * 0x7F;
    // No byte carries into the next one, so each is told by itself.
    let is_zero = |word: u64| !(((word & LOW) + LOW) | word);
    let control = !(((word & LOW) + ONES * 0x60) | word);
    let quote = is_zero(word ^ (ONES * u64::from(b'"')));
    let backslash = is_zero(word ^ (ONES * u64::from(b'\\')));
    (control | quote | backslash) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::push_escaped_str;

    #[test]
    fn text_is_escaped_as_serde_json_does_it() {
        for code in 0..=0x200_u32 {
            let c = char::from_u32(code).unwrap();
            for place in 0..=17 {
                let text = format!("{}{c}{c}{}", "x".repeat(place), "#!]~é".repeat(place % 3));
                let mut ours = String::new();
                push_escaped_str(&text, &mut ours);
                let theirs = serde_json::to_string(&text).unwrap();
                let theirs = theirs.get(1..theirs.len() - 1).unwrap();
                // serde_json has short forms for two more control characters.
                let theirs = theirs.replace("\\b", "\\u0008").replace("\\f", "\\u000c");
                assert_eq!(ours, theirs, "{text:?}");
            }
        }
    }
}
