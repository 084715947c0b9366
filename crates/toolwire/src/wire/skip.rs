//! Passing over a list or an object that is known to be JSON.
//!
//! Nothing in it is checked, so it is enough to know which bytes are inside of
//! strings and to count what opens and closes outside of them. Both can be told for
//! 64 bytes at a time, one bit for each.

use wide::u8x16;

/// The position behind a container that begins at `pos`.
pub(crate) fn container_end(bytes: &[u8], pos: usize) -> usize {
    let mut blocks = Blocks::default();
    let mut depth = 0;
    let mut at = pos;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let brackets = match rest.first_chunk::<BLOCK>() {
            Some(block) => blocks.brackets(block),
            None => {
                let mut block = [b' '; BLOCK];
                block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                blocks.brackets(&block)
            }
        };
        let closing = brackets.closing.count_ones();
        if depth > closing {
            // It cannot end in this block.
            depth = depth + brackets.opening.count_ones() - closing;
        } else if let Some(end) = brackets.end(&mut depth) {
            return at + end + 1;
        }
        at += BLOCK;
    }
    bytes.len()
}

/// The brackets and braces of a block that are not inside of strings.
struct Brackets {
    opening: u64,
    closing: u64,
}

impl Brackets {
    /// Where the last open container ends, if it does. `depth` is how many are
    /// open.
    fn end(&self, depth: &mut u32) -> Option<usize> {
        let mut both = self.opening | self.closing;
        while both != 0 {
            let bit = both & both.wrapping_neg();
            if self.opening & bit != 0 {
                *depth += 1;
            } else {
                *depth = depth.saturating_sub(1);
                if *depth == 0 {
                    return Some(bit.trailing_zeros() as usize);
                }
            }
            both ^= bit;
        }
        None
    }
}

/// What a block has to know of those before it.
#[derive(Default)]
struct Blocks {
    /// All ones if the block before ended inside of a string.
    in_string: u64,
    /// One if it ended with a backslash that escapes the next byte.
    escape: u64,
}

impl Blocks {
    fn brackets(&mut self, block: &[u8; BLOCK]) -> Brackets {
        let (mut quotes, mut backslashes, mut opening, mut closing) = (0, 0, 0, 0);
        let (parts, _) = block.as_chunks::<16>();
        for (part, shift) in parts.iter().zip([0, 16, 32, 48]) {
            let bytes = u8x16::new(*part);
            // A bracket and a brace differ in this bit only.
            let folded = bytes | u8x16::splat(0x20);
            let mask = |hits: u8x16| u64::from(hits.to_bitmask()) << shift;
            quotes |= mask(bytes.simd_eq(u8x16::splat(b'"')));
            backslashes |= mask(bytes.simd_eq(u8x16::splat(b'\\')));
            opening |= mask(folded.simd_eq(u8x16::splat(b'{')));
            closing |= mask(folded.simd_eq(u8x16::splat(b'}')));
        }
        if backslashes | self.escape != 0 {
            quotes &= !self.escaped(backslashes);
        }
        let inside = prefix_xor(quotes) ^ self.in_string;
        self.in_string = 0_u64.wrapping_sub(inside >> 63);
        Brackets { opening: opening & !inside, closing: closing & !inside }
    }

    /// The bytes that a backslash escapes. In a run of backslashes, every other
    /// one is escaped itself. An addition carries through each run and so tells
    /// whether it ends behind an odd or an even place.
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = backslashes & !self.escape;
        let follows = backslashes << 1 | self.escape;
        let odd_starts = backslashes & !EVEN & !follows;
        let (sum, carry) = odd_starts.overflowing_add(backslashes);
        self.escape = u64::from(carry);
        (EVEN ^ (sum << 1)) & follows
    }
}

/// Sets each bit that has an odd number of ones at or below it, which are the
/// bytes from an opening quote up to the closing one.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

const BLOCK: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    /// Small steps of a generator, so that the same documents come every time.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % sides
        }
    }

    fn write_value(dice: &mut Dice, depth: u32, out: &mut String) {
        match if depth > 6 { dice.roll(3) } else { dice.roll(6) } {
            0 => out.push_str("12.5e3"),
            1 => out.push_str("null"),
            2 | 3 => write_string(dice, out),
            open => {
                let (open, close) = if open == 4 { ('[', ']') } else { ('{', '}') };
                out.push(open);
                for index in 0..dice.roll(5) {
                    out.push_str(if index == 0 { "" } else { " , " });
                    if open == '{' {
                        write_string(dice, out);
                        out.push(':');
                    }
                    write_value(dice, depth + 1, out);
                }
                out.push(close);
            }
        }
    }

    fn write_string(dice: &mut Dice, out: &mut String) {
        out.push('"');
        for _ in 0..dice.roll(80) {
            let parts = ["\\\"", "\\\\", "{", "]", "x", "é", "\\u0022", "[", "}", ",", " ", "\\n"];
            out.push_str(parts[dice.roll(12) as usize]);
        }
        out.push('"');
    }

    #[test]
    fn ends_where_the_checking_scan_ends() {
        let mut dice = Dice(7);
        for _ in 0..5_000 {
            let mut text = "[".to_owned();
            write_value(&mut dice, 0, &mut text);
            text.push_str("]}],\"");
            let end = scan::value(text.as_bytes(), 0, 0, &mut ()).ok();
            assert_eq!(Some(container_end(text.as_bytes(), 0)), end, "{text}");
        }
    }

    #[test]
    fn ends_somewhere_whatever_it_gets() {
        for text in ["", "[", "{\"", "[\"\\", "x", "]]]", "{\"a\":[}"] {
            assert!(container_end(text.as_bytes(), 0) <= text.len());
        }
    }
}
