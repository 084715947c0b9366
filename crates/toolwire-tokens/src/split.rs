//! Splits a text into the pieces that OpenAI's tokenizers encode one by one.
//!
//! They describe the pieces by regular expressions, of which the first that
//! matches counts. `cl100k`:
//!
//! ```text
//! (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//! |\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! `o200k` has words instead of `\p{L}+`, which end before a capital, and lets
//! slashes follow punctuation:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|…)?
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|…)?
//! |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! Each is a few loops here. No character is looked at more than a few times,
//! whatever the text.

use crate::classes::Class;

/// Whose pieces to make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    Cl100k,
    O200k,
}

/// The pieces of a text.
pub(crate) fn pieces(text: &str, rules: Rules) -> Pieces<'_> {
    Pieces { text, rules, at: 0 }
}

pub(crate) struct Pieces<'a> {
    text: &'a str,
    rules: Rules,
    at: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self.at;
        let (class, _) = self.class_at(start)?;
        self.at = self.end_of_piece(start, class);
        self.text.get(start..self.at)
    }
}

impl Pieces<'_> {
    fn end_of_piece(&self, start: usize, class: Class) -> usize {
        let word = match self.rules {
            Rules::O200k => self.o200k_word(start, class),
            Rules::Cl100k => {
                let contraction = self.after_contraction(start);
                if contraction > start { Some(contraction) } else { self.cl100k_word(start, class) }
            }
        };
        if let Some(end) = word {
            return end;
        }
        match class {
            Class::Number => self.after_at_most_three_numbers(start),
            Class::Space | Class::LineEnd => self.after_white_space(start),
            Class::Other | Class::Mark => self.after_symbols(start),
            // A letter is always a word.
            Class::Upper | Class::Lower | Class::Letter => start + self.length_at(start),
        }
    }

    /// `[^\r\n\p{L}\p{N}]?\p{L}+`
    fn cl100k_word(&self, start: usize, class: Class) -> Option<usize> {
        let word = if class.is_letter() { start } else { self.after_prefix(start, class)? };
        let end = self.skip(word, Class::is_letter);
        (end > word).then_some(end)
    }

    /// The two kinds of words of `o200k`. A mark may be the prefix of a word or
    /// its beginning, so each kind is tried both ways.
    fn o200k_word(&self, start: usize, class: Class) -> Option<usize> {
        let begins_word = class.is_letter() || class == Class::Mark;
        let after_prefix = self.after_prefix(start, class);
        let places = [after_prefix, begins_word.then_some(start)];
        let ends_small =
            || places.iter().flatten().find_map(|place| self.word_that_ends_small(*place));
        let capitals = || places.iter().flatten().find_map(|place| self.capitals(*place));
        let end = ends_small().or_else(capitals)?;
        Some(self.after_contraction(end))
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
    fn word_that_ends_small(&self, start: usize) -> Option<usize> {
        let (mut at, mut last_small) = (start, None);
        while let Some((class, length)) = self.class_at(at) {
            match class {
                Class::Upper => at += length,
                Class::Letter | Class::Mark => {
                    at += length;
                    last_small = Some(at);
                }
                Class::Lower => return Some(self.skip(at, is_small)),
                Class::Other | Class::Number | Class::Space | Class::LineEnd => break,
            }
        }
        last_small
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+`. What would follow it, was found before.
    fn capitals(&self, start: usize) -> Option<usize> {
        let end =
            self.skip(start, |class| matches!(class, Class::Upper | Class::Letter | Class::Mark));
        (end > start).then_some(end)
    }

    /// `[^\r\n\p{L}\p{N}]`
    fn after_prefix(&self, start: usize, class: Class) -> Option<usize> {
        let is_prefix = matches!(class, Class::Other | Class::Mark | Class::Space);
        is_prefix.then(|| start + self.length_at(start))
    }

    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`. Without case, `s` is also the long one.
    fn after_contraction(&self, at: usize) -> usize {
        let Some([b'\'', rest @ ..]) = self.text.as_bytes().get(at..) else { return at };
        let length = match rest {
            [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
            [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] => 3,
            [0xc5, 0xbf, ..] => 3,
            _ => 0,
        };
        at + length
    }

    /// `\p{N}{1,3}`
    fn after_at_most_three_numbers(&self, start: usize) -> usize {
        let mut at = start;
        for _ in 0..3 {
            match self.class_at(at) {
                Some((Class::Number, length)) => at += length,
                Some(_) | None => break,
            }
        }
        at
    }

    /// `[^\s\p{L}\p{N}]+[\r\n/]*`
    fn after_symbols(&self, start: usize) -> usize {
        let end = self.skip(start, |class| matches!(class, Class::Other | Class::Mark));
        let slashes = self.rules == Rules::O200k;
        let rest = self.text.as_bytes().get(end..).unwrap_or_default();
        let follows = |byte: &&u8| matches!(byte, b'\r' | b'\n') || (slashes && **byte == b'/');
        end + rest.iter().take_while(follows).count()
    }

    /// ` ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    fn after_white_space(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        if bytes.get(start) == Some(&b' ')
            && let Some((Class::Other | Class::Mark, _)) = self.class_at(start + 1)
        {
            return self.after_symbols(start + 1);
        }
        let (mut at, mut last, mut after_line_end) = (start, start, None);
        while let Some((class, length)) = self.class_at(at) {
            if !class.is_white_space() {
                break;
            }
            last = at;
            at += length;
            if class == Class::LineEnd {
                after_line_end = Some(at);
            }
        }
        match after_line_end {
            Some(end) => end,
            None if at == bytes.len() || last == start => at,
            // The last space belongs to what follows.
            None => last,
        }
    }

    fn skip(&self, start: usize, belongs: impl Fn(Class) -> bool) -> usize {
        let mut at = start;
        while let Some((class, length)) = self.class_at(at) {
            if !belongs(class) {
                break;
            }
            at += length;
        }
        at
    }

    fn length_at(&self, at: usize) -> usize {
        self.class_at(at).map_or(0, |(_, length)| length)
    }

    /// The class of the character at a place, and its length.
    fn class_at(&self, at: usize) -> Option<(Class, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte.is_ascii() {
            return Some((Class::of(char::from(byte)), 1));
        }
        let character = self.text.get(at..)?.chars().next()?;
        Some((Class::of(character), character.len_utf8()))
    }
}

/// What the second half of a word has.
fn is_small(class: Class) -> bool {
    matches!(class, Class::Lower | Class::Letter | Class::Mark)
}
