//! What is wrong with a definition, and what that means for it.

use std::fmt;

use super::OnInvalid;
use crate::wire::Kind;

/// What is wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The definition, counted from 0 among all that were offered.
    pub index: usize,
    /// The tool's name, if it has one.
    pub tool: Option<String>,
    /// The JSON Pointer of the value at fault, in the list of all definitions
    /// that were offered: `/2/function/parameters`.
    pub pointer: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A field that must be there is not.
    #[error("required field `{0}` is missing")]
    Missing(&'static str),
    /// A field that must hold something is empty.
    #[error("field `{0}` is empty")]
    Empty(&'static str),
    /// A value of the wrong kind.
    #[error("expected {wanted}, found {found}")]
    #[expect(missing_docs, reason = "the message says it")]
    Wrong { wanted: Kind, found: Kind },
    /// Another definition has the name. Members of a namespace have it in
    /// front of their name, with two underscores between.
    #[error("the name is taken by definition {first}")]
    #[expect(missing_docs, reason = "the message says it")]
    Taken { first: usize },
    /// A namespace with a name that no protocol takes.
    #[error("a namespace is named with up to 64 letters, digits, `_` and `-`")]
    Namespace,
    /// Something in a namespace that is no function and no freeform tool.
    #[error("only functions and freeform tools can belong to a namespace")]
    Member,
    /// A kind of tool that toolwire does not know. It is a problem under
    /// [`OnInvalid::Filter`] only: otherwise it is
    /// rendered for its own protocol and reported toward the others.
    #[error("toolwire knows no tools of type `{kind}`")]
    #[expect(missing_docs, reason = "the message says it")]
    Unknown { kind: String },
    /// Something that cannot be read at all.
    #[error("{0}")]
    Unreadable(String),
    /// `strict` inside the schema, where it means nothing. It is kept, and a
    /// diagnostic says so.
    #[error("`strict` belongs beside the schema; inside it says nothing")]
    StrictInSchema,
}

/// What a problem means for its definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It cannot be kept.
    Fatal,
    /// It is kept, and a diagnostic says what looks wrong.
    Warning,
    /// It is kept, and the ledger of a rendering says what becomes of it: only
    /// there is it known whether the target has such a kind.
    Silent,
}

impl Reason {
    pub(super) fn weight(&self, on_invalid: OnInvalid) -> Weight {
        match (self, on_invalid) {
            (Self::StrictInSchema, _) => Weight::Warning,
            (Self::Unknown { kind: _ }, OnInvalid::Error) => Weight::Silent,
            (
                Self::Missing(_)
                | Self::Empty(_)
                | Self::Wrong { wanted: _, found: _ }
                | Self::Taken { first: _ }
                | Self::Namespace
                | Self::Member
                | Self::Unknown { kind: _ }
                | Self::Unreadable(_),
                _,
            ) => Weight::Fatal,
        }
    }
}

impl Problem {
    pub(super) fn new(index: usize, tool: Option<&str>, pointer: &str, reason: Reason) -> Self {
        let tool = tool.filter(|tool| !tool.is_empty()).map(str::to_owned);
        Self { index, tool, pointer: pointer.to_owned(), reason }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, tool, pointer, reason } = self;
        match tool {
            Some(tool) => write!(f, "definition {index} ({tool}), {pointer}: {reason}"),
            None => write!(f, "definition {index}, {pointer}: {reason}"),
        }
    }
}
