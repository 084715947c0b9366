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
}

impl<'v> Merger<'v> {
    pub(crate) fn new(vocabulary: &'v Vocabulary) -> Self {
        Self { vocabulary, starts: Vec::new(), unions: Vec::new() }
    }

    /// The number of tokens in a piece.
    pub(crate) fn count(&mut self, piece: &str) -> u64 {
        let mut rest = piece;
        let mut count = 0;
        // Merging takes the square of a piece's length, and a run of letters may
        // be as long as the text. Each cut costs at most a token.
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

/// No union, and so not to be merged.
pub(crate) const NO_UNION: Rank = Rank::MAX;

/// Longer pieces are cut.
const LONGEST: usize = 256;
