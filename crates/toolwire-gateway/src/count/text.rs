//! The tokens of a text, estimated from its characters.
//!
//! Tokenizers first split a text into words, numbers, punctuation and spaces, and
//! then split each piece into tokens. This module splits the same way and
//! estimates each piece by its script, on the high side.

/// An estimate of a text's tokens.
///
/// | piece | tokens |
/// |---|---|
/// | a word of Latin letters | 1 for each 3 letters |
/// | capitals, or letters that are not a word | 2 for each 3 letters |
/// | a word of accented, Greek or Cyrillic letters | 1 for each 2 letters |
/// | digits | 1 for each 2 |
/// | punctuation | 1 for each 2 marks |
/// | spaces | none before a word; 1 for a line break or an indentation |
/// | Chinese, Japanese, Korean | 5 for 4 characters |
/// | other alphabets | 3 for each 4 letters |
/// | emoji and rare characters | 1 for each byte |
pub fn tokens(text: &str) -> u64 {
    let mut quarters = 0;
    let mut rest = text.chars().peekable();
    let mut before = ' ';
    while let Some(first) = rest.next() {
        let class = Class::of(first);
        let mut piece = Piece::new(before, first);
        while let Some(next) = rest.next_if(|next| piece.continues(class, *next)) {
            piece.push(next);
        }
        quarters += piece.quarters(class);
        before = piece.last;
    }
    quarters.div_ceil(4)
}

/// The class of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// ASCII letters.
    Letter,
    /// Letters of European alphabets beyond ASCII.
    European,
    Digit,
    Space,
    /// ASCII punctuation.
    Mark,
    /// Chinese, Japanese, Korean.
    Ideograph,
    /// Letters of other alphabets.
    Alphabet,
    /// Everything else.
    Rare,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' => Self::Letter,
            '0'..='9' => Self::Digit,
            ' ' | '\t' | '\n' | '\r' => Self::Space,
            _ if c.is_ascii_graphic() => Self::Mark,
            '\u{3000}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}' => Self::Ideograph,
            '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}' => {
                Self::European
            }
            _ if c.is_alphabetic() && (c as u32) < 0x3000 => Self::Alphabet,
            _ => Self::Rare,
        }
    }
}

/// A run of characters that a tokenizer keeps together.
struct Piece {
    length: u64,
    bytes: u64,
    capitals: u64,
    /// The longest run of consonants so far, and the current one.
    consonants: (u64, u64),
    european: bool,
    line_ends: u64,
    /// The character before the piece, and its last one.
    before: char,
    last: char,
}

impl Piece {
    fn new(before: char, first: char) -> Self {
        let mut piece = Self {
            length: 0,
            bytes: 0,
            capitals: 0,
            consonants: (0, 0),
            european: false,
            line_ends: 0,
            before,
            last: first,
        };
        piece.push(first);
        piece
    }

    fn push(&mut self, c: char) {
        self.length += 1;
        self.bytes += c.len_utf8() as u64;
        self.capitals += u64::from(c.is_ascii_uppercase());
        self.european |= Class::of(c) == Class::European;
        self.line_ends += u64::from(c == '\n');
        let (most, run) = self.consonants;
        let vowel = matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
        let run = if vowel { 0 } else { run + 1 };
        self.consonants = (most.max(run), run);
        self.last = c;
    }

    /// Whether a character continues the piece, which began with `class`.
    fn continues(&self, class: Class, next: char) -> bool {
        let word = |class| class == Class::Letter || class == Class::European;
        let next_class = Class::of(next);
        match class {
            // A capital after a lowercase letter begins another word.
            Class::Letter | Class::European => {
                word(next_class) && !(next.is_uppercase() && self.last.is_lowercase())
            }
            Class::Digit
            | Class::Space
            | Class::Mark
            | Class::Ideograph
            | Class::Alphabet
            | Class::Rare => next_class == class,
        }
    }

    /// The piece's tokens, in quarters.
    fn quarters(&self, class: Class) -> u64 {
        let length = self.length;
        match class {
            Class::Letter | Class::European => 4 * self.word(),
            Class::Digit => 4 * length.div_ceil(2),
            // A single space belongs to the word after it.
            Class::Space if length == 1 && self.last == ' ' => 0,
            Class::Space => 4 * (1 + self.line_ends / 2 + length / 16),
            Class::Mark => 4 * length.div_ceil(2),
            Class::Ideograph => 5 * length,
            Class::Alphabet => 3 * length,
            Class::Rare => 4 * self.bytes,
        }
    }

    fn word(&self) -> u64 {
        let length = self.length;
        if self.european {
            return length.div_ceil(2);
        }
        // Five consonants in a row, several capitals, or letters right after a
        // digit are rarely a word. They are a key, a hash or an id.
        let is_glued = self.before.is_ascii_digit()
            || (self.before.is_ascii_lowercase() && self.consonants.0 == length);
        if self.consonants.0 >= 5 || self.capitals > 1 || is_glued {
            return (2 * length).div_ceil(3);
        }
        1 + length.saturating_sub(1) / 3
    }
}
