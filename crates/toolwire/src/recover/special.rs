//! The bytes that may begin something in ordinary text.

/// The next place from `at` on, or the end of the text.
#[inline]
pub(super) fn next_special(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes().get(at..).unwrap_or_default();
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    let mut skipped = 0;
    for chunk in chunks {
        if has_any(chunk) {
            return at + skipped + position(chunk);
        }
        skipped += CHUNK;
    }
    at + skipped + position(rest)
}

/// Whether there is such a byte in the text.
#[inline]
pub(super) fn has_special(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    if chunks.iter().any(has_any) {
        return true;
    }
    // What is behind the last chunk is tested together with bytes of that chunk.
    match bytes.last_chunk::<CHUNK>() {
        Some(last) => !rest.is_empty() && has_any(last),
        None => position(rest) < rest.len(),
    }
}

/// Whether such a byte, with what follows it, may be more than text. Most are not:
/// links, indices and comparisons.
#[inline]
pub(super) fn may_begin(text: &[u8]) -> bool {
    match text {
        [b'<', next, ..] => {
            next.is_ascii_alphabetic() || matches!(next, b'/' | b'|') || !next.is_ascii()
        }
        [b'[', next, ..] => matches!(next, b'T' | b'E' | b'B' | b'/'),
        [b']', next, ..] => *next == b'<',
        _ => true,
    }
}

/// All bytes are tested, whatever is found: such a loop becomes a few instructions
/// that test many at once.
// Inlined, the compiler takes it apart into tests of single bytes.
#[inline(never)]
fn has_any(bytes: &[u8; CHUNK]) -> bool {
    bytes.iter().fold(false, |found, byte| found | is_special(*byte))
}

/// Where the first one is, or the length. Eight are tested at a time.
#[inline]
fn position(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut found = 0;
        for special in SPECIAL {
            // The highest bit of a byte is set where the byte is equal.
            let differs = word ^ (ONES * u64::from(special));
            found |= differs.wrapping_sub(ONES) & !differs;
        }
        found &= ONES << 7;
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let behind = rest.iter().position(|byte| matches!(byte, b'<' | b'[' | b'\n' | b']' | b'`'));
    bytes.len() - rest.len() + behind.unwrap_or(rest.len())
}

#[inline]
fn is_special(byte: u8) -> bool {
    let [a, b, c, d, e] = SPECIAL;
    (byte == a) | (byte == b) | (byte == c) | (byte == d) | (byte == e)
}

const SPECIAL: [u8; 5] = [b'<', b'[', b'\n', b']', b'`'];
const CHUNK: usize = 32;
