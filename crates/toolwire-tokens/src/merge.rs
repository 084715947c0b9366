//! The number of tokens in a piece of text: byte pair encoding.
//!
//! A piece begins as single bytes. The neighbours whose union has the lowest rank
//! are merged, the leftmost first, until no union is a token.

use crate::vocabulary::{Rank, Vocabulary};

/// Counts the tokens of pieces. It keeps its memory from one piece to the next.
pub(crate) struct Merger<'v> {
    vocabulary: &'v Vocabulary,
    /// Where each part of the piece starts, and where the last one ends.
    starts: Vec<u16>,
    /// For each part, the rank of its union with the next one.
    unions: Vec<Rank>,
    long: LongPiece,
}

impl<'v> Merger<'v> {
    pub(crate) fn new(vocabulary: &'v Vocabulary) -> Self {
        Self { vocabulary, starts: Vec::new(), unions: Vec::new(), long: LongPiece::default() }
    }

    /// The number of tokens in a piece.
    pub(crate) fn count(&mut self, piece: &str) -> u64 {
        let mut rest = piece;
        let mut count = 0;
        // Merging takes longer for each byte of a longer piece, and a run of letters
        // may be as long as the text. Each cut costs at most a token.
        while rest.len() > LONGEST {
            let is_boundary = |at: &usize| rest.is_char_boundary(*at);
            let (start, end) = rest.split_at((1..=LONGEST).rev().find(is_boundary).unwrap_or(1));
            count += self.count_short(start.as_bytes());
            rest = end;
        }
        count + self.count_short(rest.as_bytes())
    }

    fn count_short(&mut self, piece: &[u8]) -> u64 {
        if piece.len() < 2 || self.vocabulary.rank(piece).is_some() {
            return piece.len().min(1) as u64;
        }
        if piece.len() > SHORT {
            return self.long.count(piece, self.vocabulary);
        }
        let length = piece.len() as u16;
        self.starts.clear();
        self.starts.extend(0..=length);
        self.unions.clear();
        let pairs = piece.iter().zip(piece.iter().skip(1));
        self.unions.extend(pairs.map(|(first, second)| self.vocabulary.pair(*first, *second)));
        while let Some(at) = self.lowest() {
            self.starts.remove(at + 1);
            self.unions.remove(at);
            self.refresh(piece, at);
            if let Some(before) = at.checked_sub(1) {
                self.refresh(piece, before);
            }
        }
        self.starts.len() as u64 - 1
    }

    /// The first part with the lowest union. Looking through all of them is
    /// faster than a queue, because the processor compares many at once.
    fn lowest(&self) -> Option<usize> {
        let lowest = self.unions.iter().fold(NO_UNION, |lowest, union| lowest.min(*union));
        if lowest == NO_UNION {
            return None;
        }
        self.unions.iter().position(|union| *union == lowest)
    }

    /// Looks up the union of a part and the next one. The last part has none.
    fn refresh(&mut self, piece: &[u8], at: usize) {
        let place = |at: usize| self.starts.get(at).map(|start| usize::from(*start));
        let union = place(at).zip(place(at + 2)).and_then(|(start, end)| piece.get(start..end));
        let rank = union.and_then(|union| self.vocabulary.rank(union));
        if let Some(slot) = self.unions.get_mut(at) {
            *slot = rank.unwrap_or(NO_UNION);
        }
    }
}

/// A piece of so many bytes that looking through all its unions for each merge
/// would take most of the time.
///
/// A part is known by the byte that it starts with. The unions are in blocks, and
/// the lowest of each block is kept: a merge changes three unions, and so at most
/// three blocks.
struct LongPiece {
    /// For the start of each part, the rank of its union with the next one. Bytes
    /// that no part starts with have [`NO_UNION`].
    unions: [[Rank; BLOCK]; BLOCKS],
    lowest: [Rank; BLOCKS],
    /// For the start of each part, the start of the next one.
    next: [u16; LONGEST],
    /// For the start of each part, the start of the one before.
    before: [u16; LONGEST],
}

impl Default for LongPiece {
    fn default() -> Self {
        Self {
            unions: [[NO_UNION; BLOCK]; BLOCKS],
            lowest: [NO_UNION; BLOCKS],
            next: [0; LONGEST],
            before: [0; LONGEST],
        }
    }
}

impl LongPiece {
    /// The number of tokens in a piece of at most [`LONGEST`] bytes.
    fn count(&mut self, piece: &[u8], vocabulary: &Vocabulary) -> u64 {
        for (at, (next, before)) in (0u16..).zip(self.next.iter_mut().zip(&mut self.before)) {
            (*next, *before) = (at + 1, at.saturating_sub(1));
        }
        let pairs = piece.iter().zip(piece.iter().skip(1));
        let mut ranks = pairs.map(|(first, second)| vocabulary.pair(*first, *second));
        for (block, lowest) in self.unions.iter_mut().zip(&mut self.lowest) {
            block.fill_with(|| ranks.next().unwrap_or(NO_UNION));
            *lowest = least(block);
        }
        let mut count = piece.len() as u64;
        while let Some(at) = self.first_lowest() {
            let merged = self.next_of(at);
            let end = self.next_of(merged);
            self.set(merged, NO_UNION);
            if let Some(next) = self.next.get_mut(at) {
                *next = end as u16;
            }
            if let Some(before) = self.before.get_mut(end) {
                *before = at as u16;
            }
            self.refresh(at, piece, vocabulary);
            if at > 0 {
                self.refresh(
                    self.before.get(at).map_or(0, |at| usize::from(*at)),
                    piece,
                    vocabulary,
                );
            }
            count -= 1;
        }
        count
    }

    /// The start of the first part with the lowest union.
    fn first_lowest(&self) -> Option<usize> {
        let lowest = least(&self.lowest);
        if lowest == NO_UNION {
            return None;
        }
        let block = self.lowest.iter().position(|rank| *rank == lowest)?;
        let place = self.unions.get(block)?.iter().position(|rank| *rank == lowest)?;
        Some(block * BLOCK + place)
    }

    fn next_of(&self, at: usize) -> usize {
        self.next.get(at).map_or(LONGEST, |next| usize::from(*next))
    }

    /// Looks up the union of a part and the next one. The last part has none.
    fn refresh(&mut self, at: usize, piece: &[u8], vocabulary: &Vocabulary) {
        let second = self.next_of(at);
        let union = if second < piece.len() { piece.get(at..self.next_of(second)) } else { None };
        self.set(at, union.and_then(|union| vocabulary.rank(union)).unwrap_or(NO_UNION));
    }

    fn set(&mut self, at: usize, rank: Rank) {
        let block = at / BLOCK;
        let Some(unions) = self.unions.get_mut(block) else { return };
        if let Some(slot) = unions.get_mut(at % BLOCK) {
            *slot = rank;
        }
        if let Some(lowest) = self.lowest.get_mut(block) {
            *lowest = least(unions);
        }
    }
}

fn least<const N: usize>(ranks: &[Rank; N]) -> Rank {
    ranks.iter().fold(NO_UNION, |lowest, rank| lowest.min(*rank))
}

/// No union, and so not to be merged.
pub(crate) const NO_UNION: Rank = Rank::MAX;

/// Longer pieces are cut.
const LONGEST: usize = BLOCK * BLOCKS;
const BLOCK: usize = 16;
const BLOCKS: usize = 16;

/// Up to here, looking through all unions of a piece takes no longer.
const SHORT: usize = 32;
