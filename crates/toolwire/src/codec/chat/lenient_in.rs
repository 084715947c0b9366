//! Members that vendors fill with values of another kind, in answers that are good otherwise.

use crate::wire::{At, Extra, Raw, Read, ReadError, Reader, Str};

/// The number of a choice or of a call, if it is one. GLM and Bedrock's gateways send -1, and
/// others a text. vectors/streams/chat-odd-index-and-counts
#[derive(Clone, Copy, Debug)]
pub(super) struct Index(pub(super) Option<u64>);

impl<'a> Read<'a> for Index {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let mut ahead = reader.clone();
        if let Ok(At { value, pos: _ }) = At::<u64>::read(&mut ahead) {
            *reader = ahead;
            return Ok(Self(Some(value)));
        }
        let odd = reader.raw()?;
        Ok(Self(odd.text().trim_matches('"').parse().ok()))
    }
}

/// A member of the token counts. One that cannot be read must not cost the answer.
#[derive(Debug)]
pub(super) enum Lenient<'a, T> {
    Read(T),
    Odd(Raw<'a>),
}

impl<'a, T: Read<'a>> Read<'a> for Lenient<'a, T> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let mut ahead = reader.clone();
        match T::read(&mut ahead) {
            Ok(value) => {
                *reader = ahead;
                Ok(Self::Read(value))
            }
            Err(_) => reader.raw().map(Self::Odd),
        }
    }
}

impl<'a, T> Lenient<'a, T> {
    /// The value. One that cannot be read is kept among the unknown members, for the ledger.
    pub(super) fn or_keep(self, key: &'static str, extra: &mut Vec<Extra<'a>>) -> Option<T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Odd(value) => {
                extra.push(Extra { key: Str::plain(key), value });
                None
            }
        }
    }
}
