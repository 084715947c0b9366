//! What a tokenizer tells apart among characters.

/// The class of a character, by its Unicode category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Punctuation, symbols, control characters and whatever else.
    Other,
    /// Uppercase and titlecase letters.
    Upper,
    /// Lowercase letters.
    Lower,
    /// Letters without case.
    Letter,
    /// Accents and other marks.
    Mark,
    /// Digits and other numbers.
    Number,
    /// White space except line ends.
    Space,
    /// Carriage return and line feed.
    LineEnd,
}

impl Class {
    pub(crate) fn of(character: char) -> Self {
        let code = character as usize;
        let block = BLOCK_OF.get(code / 128).and_then(|block| BLOCKS.get(usize::from(*block)));
        match block.and_then(|block| block.get(code % 128)) {
            Some(1) => Self::Upper,
            Some(2) => Self::Lower,
            Some(3) => Self::Letter,
            Some(4) => Self::Mark,
            Some(5) => Self::Number,
            Some(6) => Self::Space,
            Some(7) => Self::LineEnd,
            Some(_) | None => Self::Other,
        }
    }

    pub(crate) fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Letter)
    }

    pub(crate) fn is_white_space(self) -> bool {
        matches!(self, Self::Space | Self::LineEnd)
    }
}

// `BLOCK_OF` and `BLOCKS`.
include!(concat!(env!("OUT_DIR"), "/classes.rs"));
