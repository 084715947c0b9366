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

/// Where the first byte is that `is` picks. Blocks are tested as a whole, which
/// the compiler does with vectors; so `is` must not branch.
pub(super) fn find_byte(text: &str, is: impl Fn(u8) -> bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let clean = |block: &&[u8; BLOCK]| !block.iter().fold(false, |found, byte| found | is(*byte));
    let start = blocks.iter().take_while(clean).count() * BLOCK;
    let rest = bytes.get(start..).unwrap_or_default();
    rest.iter().position(|byte| is(*byte)).map(|at| start + at)
}

/// How many bytes the text begins with that need no care in a JSON string: no
/// quote, no backslash and no control character. Eight are tested at a time.
pub(super) fn plain_length(text: &str) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let bytes = text.as_bytes();
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // A byte of these is less than zero where the test holds.
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = word ^ (ONES * u64::from(b'"'));
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        let found = (control | quote | backslash) & (ONES << 7);
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let odd = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    bytes.len() - rest.len() + rest.iter().position(odd).unwrap_or(rest.len())
}

const BLOCK: usize = 32;

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
    loop {
        let plain = plain_length(rest);
        out.push_str(upto(rest, plain));
        let Some(odd) = from(rest, plain).chars().next() else { return };
        push_escaped(odd, out);
        rest = from(rest, plain + odd.len_utf8());
    }
}
