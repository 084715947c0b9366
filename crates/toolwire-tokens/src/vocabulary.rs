//! The tokens of a tokenizer, and the rank of each.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

use crate::merge::NO_UNION;

/// The position of a token in its vocabulary. Pairs with a lower rank are merged
/// first.
pub(crate) type Rank = u32;

/// A vocabulary. It is unpacked when it's first needed, in some milliseconds.
pub(crate) struct Vocabulary {
    bytes: Vec<u8>,
    /// Where each token ends.
    ends: Vec<u32>,
    /// An open hash table: the upper half of the hash above the rank plus one.
    slots: Vec<u64>,
    /// The rank of every token of two bytes, or [`NO_UNION`].
    pairs: Vec<Rank>,
}

impl Vocabulary {
    pub(crate) fn o200k() -> &'static Self {
        static O200K: LazyLock<Vocabulary> = LazyLock::new(|| {
            Vocabulary::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/o200k.deflate")))
        });
        &O200K
    }

    pub(crate) fn cl100k() -> &'static Self {
        static CL100K: LazyLock<Vocabulary> = LazyLock::new(|| {
            Vocabulary::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.deflate")))
        });
        &CL100K
    }

    /// The rank of a token, if these bytes are one.
    #[inline]
    pub(crate) fn rank(&self, bytes: &[u8]) -> Option<Rank> {
        let hash = hash(bytes);
        let mut slot = hash as usize;
        loop {
            let found = *self.slots.get(slot & self.slots.len().checked_sub(1)?)?;
            if found == 0 {
                return None;
            }
            let rank = (found as u32).wrapping_sub(1);
            if found >> 32 == hash >> 32 && self.token(rank) == Some(bytes) {
                return Some(rank);
            }
            slot = slot.wrapping_add(1);
        }
    }

    /// The rank of a token of two bytes, or [`NO_UNION`].
    #[inline]
    pub(crate) fn pair(&self, first: u8, second: u8) -> Rank {
        let index = usize::from(first) << 8 | usize::from(second);
        self.pairs.get(index).copied().unwrap_or(NO_UNION)
    }

    fn token(&self, rank: Rank) -> Option<&[u8]> {
        let rank = rank as usize;
        let start = match rank.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start as usize..*self.ends.get(rank)? as usize)
    }

    /// Reads what the build script wrote.
    fn unpack(packed: &[u8]) -> Self {
        let mut bytes = Vec::new();
        // The tables are part of the program, and a test reads them.
        let _ = DeflateDecoder::new(packed).read_to_end(&mut bytes);
        let Some((count, rest)) = bytes.split_first_chunk::<4>() else { return Self::empty() };
        let count = u32::from_le_bytes(*count) as usize;
        let Some((lengths, tokens)) = rest.split_at_checked(count) else { return Self::empty() };
        let mut end = 0;
        let ends = lengths.iter().map(|length| {
            end += u32::from(*length);
            end
        });
        let ends = ends.collect();
        let slots = vec![0; (count * 2).next_power_of_two()];
        let pairs = vec![NO_UNION; 1 << 16];
        let mut vocabulary = Self { bytes: tokens.to_vec(), ends, slots, pairs };
        for rank in 0..count as u32 {
            vocabulary.insert(rank);
        }
        vocabulary
    }

    fn insert(&mut self, rank: Rank) {
        let token = self.token(rank).unwrap_or_default();
        let hash = hash(token);
        if let [first, second] = *token
            && let Some(pair) = self.pairs.get_mut(usize::from(first) << 8 | usize::from(second))
        {
            *pair = rank;
        }
        let mask = self.slots.len().saturating_sub(1);
        let mut slot = hash as usize & mask;
        while let Some(found) = self.slots.get_mut(slot) {
            if *found == 0 {
                *found = hash & 0xffff_ffff_0000_0000 | u64::from(rank + 1);
                return;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn empty() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), slots: vec![0], pairs: Vec::new() }
    }
}

/// A hash of a few bytes. The vocabulary is fixed, so nobody can make its table
/// any slower than it is.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    let mut hash = bytes.len() as u64;
    for word in &mut words {
        let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        hash = mix(hash, word);
    }
    let rest = words.remainder().iter().rev().fold(0, |rest, byte| rest << 8 | u64::from(*byte));
    mix(hash, rest)
}

fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (product >> 64) as u64 ^ product as u64
}
