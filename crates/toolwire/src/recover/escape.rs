//! Text as it is written in a JSON string.

use wide::u8x16;

use super::text::{from, length_without};
use crate::wire::scan::{BLOCK, special};

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
    // No byte of a text has this value.
    push_escaped_until(text, u8::MAX, out, |_| false);
}

/// Appends text to a JSON string, up to the first `stop` where `ends` holds. How many
/// bytes of the text were appended. `stop` is a byte that is not escaped.
///
/// Both what is escaped and what may end the text is found in one pass.
#[inline]
pub(super) fn push_escaped_until(
    text: &str,
    stop: u8,
    out: &mut String,
    mut ends: impl FnMut(usize) -> bool,
) -> usize {
    let bytes = text.as_bytes();
    let mut start = 0;
    // What is before a place and what stands for it. Whether the text ends there.
    let mut reach = |at: usize, out: &mut String| {
        let byte = bytes.get(at).copied().unwrap_or(stop);
        if byte == stop && !ends(at) {
            return false;
        }
        out.push_str(text.get(start..at).unwrap_or_default());
        start = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\n' => out.push_str("\\n"),
            byte if byte == stop => return true,
            byte => push_escaped(char::from(byte), out),
        }
        false
    };
    let mut at = 0;
    let mut padded = [b' '; CHUNK];
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.len() <= SHORT {
            let plain = length_without([b'"', b'\\', stop], rest);
            at += plain;
            if plain < rest.len() {
                if reach(at, out) {
                    return at;
                }
                at += 1;
            }
            continue;
        }
        let chunk = rest.first_chunk::<CHUNK>().unwrap_or_else(|| {
            padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            &padded
        });
        let mut found = places(chunk, stop);
        while found != 0 {
            let place = at + found.trailing_zeros() as usize;
            if reach(place, out) {
                return place;
            }
            found &= found - 1;
        }
        at += rest.len().min(CHUNK);
    }
    out.push_str(from(text, start));
    text.len()
}

/// A bit for each byte that is escaped in a JSON string, or that is `stop`.
#[inline]
fn places(chunk: &[u8; CHUNK], stop: u8) -> u64 {
    let (blocks, _) = chunk.as_chunks::<BLOCK>();
    blocks.iter().rev().fold(0, |later, block| {
        let is_stop = u8x16::new(*block).simd_eq(u8x16::splat(stop));
        later << BLOCK | u64::from((special(*block) | is_stop).to_bitmask())
    })
}

const CHUNK: usize = 64;
/// Up to this length, a text is read from one place to the next.
const SHORT: usize = 24;

#[cfg(test)]
mod tests {
    use super::{push_escaped_str, push_escaped_until};

    #[test]
    fn text_is_escaped_as_serde_json_does_it() {
        for code in 0..=0x200_u32 {
            let c = char::from_u32(code).unwrap();
            for place in (0..=17).chain(60..=68).chain([127, 128]) {
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

    #[test]
    fn text_is_escaped_up_to_where_it_ends() {
        for place in 0..=200 {
            let before = "a<\"é\n".chars().cycle().take(place).collect::<String>();
            let text = format!("{before}<\"rest");
            let mut asked = Vec::new();
            let mut ours = String::new();
            let taken = push_escaped_until(&text, b'<', &mut ours, |at| {
                asked.push(at);
                at == before.len()
            });
            let mut theirs = String::new();
            push_escaped_str(&before, &mut theirs);
            assert_eq!((taken, ours), (before.len(), theirs));
            let stops = text.match_indices('<').map(|(at, _)| at).collect::<Vec<_>>();
            assert_eq!(asked, stops, "{text:?}");
        }
    }
}
