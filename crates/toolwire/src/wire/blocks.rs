//! JSON in blocks of 64 bytes, one bit for each byte.

use wide::u8x16;

/// How many bytes are looked at together.
pub(super) const BLOCK: usize = 64;

/// The block at `pos`, if the document goes on there. Behind its end there are
/// spaces, in `last`.
#[inline(always)]
pub(super) fn load<'a>(
    bytes: &'a [u8],
    pos: usize,
    last: &'a mut [u8; BLOCK],
) -> Option<&'a [u8; BLOCK]> {
    let rest = bytes.get(pos..).filter(|rest| !rest.is_empty())?;
    if let Some(block) = rest.first_chunk() {
        return Some(block);
    }
    *last = [b' '; BLOCK];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    Some(last)
}

/// Gathers what `mark` says of a block's bytes.
#[inline(always)]
pub(super) fn masks<const N: usize>(
    block: &[u8; BLOCK],
    mut mark: impl FnMut(u8x16) -> [u8x16; N],
) -> [u64; N] {
    let mut masks = [0; N];
    let (parts, _) = block.as_chunks::<16>();
    for (part, shift) in parts.iter().zip([0, 16, 32, 48]) {
        for (mask, marked) in masks.iter_mut().zip(mark(u8x16::new(*part))) {
            *mask |= u64::from(marked.to_bitmask()) << shift;
        }
    }
    masks
}

/// Marks the bytes that are this one.
#[inline(always)]
pub(super) fn equal(bytes: u8x16, byte: u8) -> u8x16 {
    bytes.simd_eq(u8x16::splat(byte))
}

/// Marks the bytes that are at most this one.
#[inline(always)]
pub(super) fn at_most(bytes: u8x16, byte: u8) -> u8x16 {
    bytes.min(u8x16::splat(byte)).simd_eq(bytes)
}

/// Whether any byte of a block is at most this one.
#[inline(always)]
pub(super) fn has_at_most(block: &[u8; BLOCK], byte: u8) -> bool {
    let (parts, _) = block.as_chunks::<16>();
    let least = parts.iter().map(|part| u8x16::new(*part)).reduce(|least, part| least.min(part));
    least.is_some_and(|least| at_most(least, byte).any())
}

/// Which bytes are escaped, from block to block.
#[derive(Default)]
pub(super) struct Escapes {
    /// One if the block before ended with a backslash that escapes the next byte.
    pending: u64,
}

impl Escapes {
    /// Whether the next byte is escaped.
    pub(super) fn is_pending(&self) -> bool {
        self.pending == 1
    }

    /// The bytes that a backslash escapes. In a run of backslashes, every other
    /// one is escaped itself. An addition carries through each run and so tells
    /// whether it ends behind an odd or an even place.
    #[inline(always)]
    pub(super) fn next(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        if backslashes | self.pending == 0 {
            return 0;
        }
        let backslashes = backslashes & !self.pending;
        let follows = backslashes << 1 | self.pending;
        let odd_starts = backslashes & !EVEN & !follows;
        let (sum, carry) = odd_starts.overflowing_add(backslashes);
        self.pending = u64::from(carry);
        (EVEN ^ (sum << 1)) & follows
    }
}
