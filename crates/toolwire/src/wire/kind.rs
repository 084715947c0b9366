//! What a JSON value is, by how it begins.

use std::fmt;

/// The kind of a JSON value, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
    Invalid,
    End,
}

impl Kind {
    pub(super) fn of(byte: Option<u8>) -> Self {
        match byte {
            Some(b'"') => Self::String,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') => Self::Null,
            Some(b'-' | b'0'..=b'9') => Self::Number,
            Some(_) => Self::Invalid,
            None => Self::End,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Invalid => "invalid JSON",
            Self::End => "the end of the input",
        })
    }
}
