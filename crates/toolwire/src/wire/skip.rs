//! Passing over a list or an object that is known to be JSON.
//!
//! Nothing in it is checked, so it is enough to know which bytes are inside of
//! strings and to count what opens and closes outside of them. Both can be told for
//! 64 bytes at a time, one bit for each.

use wide::u8x16;

use super::blocks::{self, BLOCK, Escapes};

/// The position behind a container that begins at `pos`.
pub(crate) fn container_end(bytes: &[u8], pos: usize) -> usize {
    let mut strings = Strings::default();
    let mut last = [0; BLOCK];
    let mut depth = 0;
    let mut at = pos;
    while let Some(block) = blocks::load(bytes, at, &mut last) {
        let brackets = Brackets::find(block, &mut strings);
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
    #[inline(always)]
    fn find(block: &[u8; BLOCK], strings: &mut Strings) -> Self {
        let [quotes, backslashes, opening, closing] = blocks::masks(block, |bytes| {
            // A bracket and a brace differ in this bit only.
            let folded = bytes | u8x16::splat(0x20);
            let is = |byte| blocks::equal(bytes, byte);
            let is_folded = |byte| blocks::equal(folded, byte);
            [is(b'"'), is(b'\\'), is_folded(b'{'), is_folded(b'}')]
        });
        let inside = strings.inside(quotes, backslashes);
        Self { opening: opening & !inside, closing: closing & !inside }
    }

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

/// Where strings are, from block to block.
#[derive(Default)]
struct Strings {
    escapes: Escapes,
    /// All ones if the block before ended inside of a string.
    last: u64,
}

impl Strings {
    /// The bytes from each quote that begins a string up to the one that ends it.
    #[inline(always)]
    fn inside(&mut self, quotes: u64, backslashes: u64) -> u64 {
        let quotes = quotes & !self.escapes.next(backslashes);
        let inside = prefix_xor(quotes) ^ self.last;
        self.last = 0_u64.wrapping_sub(inside >> 63);
        inside
    }
}

/// Sets each bit that has an odd number of ones at or below it.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}
