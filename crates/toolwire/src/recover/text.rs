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

/// How many bytes there are before the first control character or one of `others`.
/// Eight are tested at a time.
pub(super) fn length_without<const N: usize>(others: [u8; N], bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
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
    length_without([b'"', b'\\'], text.as_bytes())
}
