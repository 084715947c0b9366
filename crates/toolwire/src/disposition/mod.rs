//! What happens to every request field toward each other protocol.
//!
//! The tables say what the codecs do, for people and for the documentation. They
//! decide nothing: a test translates every field that the vendors publish and
//! fails where a table is silent or wrong.
//!
//! A row names its fields by a pattern: the field's path with `*` for any run of
//! characters. As in a routing table, the first row that matches a field counts.
//!
//! ```text
//! tools[type=function].function.strict      a member of the function tools in a list
//! tool_choice(type=function).function.name  the same where the union is not in a list
//! system(string)                            a union's member that is no object
//! *.cache_control*                          cache markers and all that is in them, anywhere
//! ```

mod chat;
mod common;
mod messages;
mod responses;

use crate::ledger::Code;
use crate::model::Protocol;
use crate::wire::glob;

/// What happens to the request fields of a protocol, by groups of fields that
/// belong together.
pub fn table(protocol: Protocol) -> &'static [Row] {
    match protocol {
        Protocol::Chat => chat::TABLE,
        Protocol::Responses => responses::TABLE,
        Protocol::Messages => messages::TABLE,
        Protocol::Custom(_) => &[],
    }
}

/// The row that decides about a field.
pub fn of(protocol: Protocol, path: &str) -> Option<&'static Row> {
    table(protocol).iter().find(|row| row.matches(path))
}

/// What happens to some fields of one protocol.
#[derive(Debug)]
pub struct Row {
    /// What the fields have to do with.
    pub group: &'static str,
    /// The pattern of the fields' paths.
    pub field: &'static str,
    /// What happens toward each other protocol.
    pub toward: [(Protocol, Disposition); 2],
    /// What else there is to say.
    pub note: Option<&'static str>,
}

impl Row {
    /// Whether the pattern fits a path.
    pub fn matches(&self, path: &str) -> bool {
        glob::matches(self.field, path)
    }
}

/// What happens to a field toward one protocol.
#[derive(Debug, PartialEq, Eq)]
pub enum Disposition {
    /// It says the same over there.
    Carried,
    /// It crosses in another shape, under another name or at another place, and
    /// says exactly the same.
    Emulated(Code),
    /// It does not cross, or as less than it was.
    Lost(Code),
    /// It does not cross because only its own protocol has such a field; the
    /// code is `only:` and this name.
    Only(&'static str),
    /// The request is refused because of it.
    Refused(Code),
    /// One of these. The text says when which.
    Depends(&'static [Disposition], &'static str),
}

impl Disposition {
    /// The fate in one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Carried => "carried",
            Self::Emulated(_) => "emulated",
            Self::Lost(_) | Self::Only(_) => "lost",
            Self::Refused(_) => "refused",
            Self::Depends(..) => "depends",
        }
    }

    /// What the ledger may say about the field, if anything.
    pub fn codes(&self) -> Vec<Code> {
        match self {
            Self::Carried => Vec::new(),
            Self::Emulated(code) | Self::Lost(code) | Self::Refused(code) => vec![code.clone()],
            Self::Only(field) => vec![Code::Only((*field).to_owned())],
            Self::Depends(fates, _) => fates.iter().flat_map(Self::codes).collect(),
        }
    }
}

/// Rows of one protocol, toward the two others in the order given.
macro_rules! rows {
    ($first:ident, $second:ident;
     $( $group:literal { $( $field:literal => $one:expr, $two:expr $(, $note:literal)?; )* } )*) => {
        &[$( $( $crate::disposition::Row {
            group: $group,
            field: $field,
            toward: [
                ($crate::model::Protocol::$first, $one),
                ($crate::model::Protocol::$second, $two),
            ],
            note: rows!(@note $($note)?),
        }, )* )*]
    };
    (@note) => { None };
    (@note $note:literal) => { Some($note) };
}
use rows;

#[cfg(test)]
mod tests;
