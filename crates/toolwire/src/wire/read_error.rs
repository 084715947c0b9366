//! Why a document cannot be read.

use super::scan::MAX_DEPTH;
use super::{Kind, Pos};

/// Why a document could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ReadError {
    /// The value at fault.
    pub pos: Pos,
    /// What is wrong with it.
    pub what: What,
}

impl ReadError {
    /// An error at a position.
    pub fn new(pos: Pos, what: What) -> Self {
        Self { pos, what }
    }

    /// A required field that is not there.
    pub fn missing(at: Pos, field: &'static str) -> Self {
        Self::new(at, What::Missing(field))
    }
}

/// What is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum What {
    /// A value of the wrong kind.
    #[error("expected {wanted}, found {found}")]
    #[expect(missing_docs, reason = "the message says it")]
    Expected { wanted: Kind, found: Kind },
    /// A value that the field does not allow.
    #[error("{0}")]
    Invalid(String),
    /// A required field is missing.
    #[error("required field `{0}` is missing")]
    Missing(&'static str),
    /// A field appears twice.
    #[error("field `{0}` appears twice")]
    Duplicate(String),
    /// The document stops in the middle.
    #[error("the JSON ends in the middle of a value")]
    End,
    /// There is more text after the document.
    #[error("unexpected text behind the JSON value")]
    Trailing,
    /// Too many containers are open.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    Depth,
    /// A raw control character in a string.
    #[error("control character inside a string; it must be escaped")]
    Control,
    /// An unknown escape.
    #[error("invalid escape in a string")]
    Escape,
    /// Half of a UTF-16 pair.
    #[error("lone surrogate escape in a string; it stands for no character")]
    Surrogate,
    /// A malformed number.
    #[error("malformed number")]
    Number,
    /// No value where one must be.
    #[error("expected a JSON value")]
    Value,
    /// No key where one must be.
    #[error("expected a field name in double quotes")]
    Key,
    /// No colon behind a key.
    #[error("expected `:` behind a field name")]
    Colon,
    /// Neither comma nor brace.
    #[error("expected `,` or `}}`")]
    CommaOrBrace,
    /// Neither comma nor bracket.
    #[error("expected `,` or `]`")]
    CommaOrBracket,
    /// The document is not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
}
