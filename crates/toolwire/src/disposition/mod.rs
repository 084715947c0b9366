//! What happens to every field toward each other protocol: of requests, and of
//! answers, whole, in streams and in errors.
//!
//! The tables say what the codecs do, for people and for the documentation. They
//! decide nothing: tests translate every field that the vendors publish and fail
//! where a table is silent or wrong.
//!
//! A row names its fields by a pattern: the field's path, in which `*` matches any
//! run of characters. As in a routing table, the first row that matches a field
//! counts.
//!
//! ```text
//! tools[type=function].function.strict      a member of the function tools in a list
//! tool_choice(type=function).function.name  the same where the union is not in a list
//! system(string)                            a union's member that is no object
//! *.cache_control*                          cache markers and all that is in them, anywhere
//! ```
//!
//! The events of a stream hold pieces of an answer, so a field that belongs to the
//! answer has the same name in both. A field that only an event has is named with
//! it, and a field of an error's body with that.
//!
//! ```text
//! output[type=function_call].name           in a whole answer, and in the item that an event holds
//! event(type=message_stop).type             a member of an event
//! error_body.error.message                  a member of an error
//! ```

pub(crate) mod common;

use crate::ledger::Code;
use crate::protocol::Protocol;
use crate::wire::glob;

/// What happens to the request fields of a protocol. Related fields are grouped.
pub fn table(protocol: Protocol) -> &'static [Row] {
    protocol.codec().dispositions
}

/// What happens to the fields of a protocol's answers, streams and errors.
pub fn answers(protocol: Protocol) -> &'static [Row] {
    protocol.codec().answer_dispositions
}

/// The row that decides about a field of a request.
pub fn of(protocol: Protocol, path: &str) -> Option<&'static Row> {
    table(protocol).iter().find(|row| row.matches(path))
}

/// The row that decides about a field of an answer.
pub fn of_answer(protocol: Protocol, path: &str) -> Option<&'static Row> {
    answers(protocol).iter().find(|row| row.matches(path))
}

/// What happens to some fields of one protocol.
#[derive(Debug)]
pub struct Row {
    /// The heading that the fields belong under.
    pub group: &'static str,
    /// The pattern of the fields' paths.
    pub field: &'static str,
    /// What happens toward each protocol that the table covers.
    pub toward: &'static [(Protocol, Disposition)],
    /// What else there is to say.
    pub note: Option<&'static str>,
}

impl Row {
    /// What happens toward a protocol. `None` if the table does not cover it.
    pub fn toward(&self, target: Protocol) -> Option<&'static Disposition> {
        let found = self.toward.iter().find(|(protocol, _)| *protocol == target);
        found.map(|(_, disposition)| disposition)
    }

    /// Whether the pattern fits a path.
    pub fn matches(&self, path: &str) -> bool {
        glob::matches(self.field, path)
    }
}

/// What happens to a field toward one protocol.
#[derive(Debug, PartialEq, Eq)]
pub enum Disposition {
    /// It means the same in the target protocol.
    Carried,
    /// It is written in another shape, under another name or in another place,
    /// and means exactly the same.
    Emulated(Code),
    /// It is left out, or carried in part.
    Lost(Code),
    /// It is left out because only its own protocol has such a field. The code
    /// is `only:` and this name.
    Only(&'static str),
    /// The document is refused because of it.
    Refused(Code),
    /// It tells a client nothing that it does not know anyway, for the reason
    /// given. The ledger does not mention it.
    SaysNothing(&'static str),
    /// One of these. The text says which one when.
    Depends(&'static [Disposition], &'static str),
}

impl Disposition {
    /// The disposition in one word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Carried => "carried",
            Self::Emulated(_) => "emulated",
            Self::Lost(_) | Self::Only(_) => "lost",
            Self::Refused(_) => "refused",
            Self::SaysNothing(_) => "says nothing",
            Self::Depends(..) => "depends",
        }
    }

    /// What the ledger may say about the field, if anything.
    pub fn codes(&self) -> Vec<Code> {
        match self {
            Self::Carried | Self::SaysNothing(_) => Vec::new(),
            Self::Emulated(code) | Self::Lost(code) | Self::Refused(code) => vec![code.clone()],
            Self::Only(field) => vec![Code::Only((*field).to_owned())],
            Self::Depends(any_of, _) => any_of.iter().flat_map(Self::codes).collect(),
        }
    }
}

/// Rows of one protocol. The first line lists the targets; each row has one
/// disposition for each of them, in that order.
macro_rules! rows {
    ($targets:tt
     $( $group:literal { $( $field:literal => $($toward:expr),+ $(=> $note:literal)?; )* } )*) => {
        &[$( $( $crate::disposition::Row {
            group: $group,
            field: $field,
            toward: rows!(@toward $targets $($toward),+),
            note: rows!(@note $($note)?),
        }, )* )*]
    };
    (@toward [$($target:ident),+] $($toward:expr),+) => {
        &[$( ($crate::protocol::Protocol::$target, $toward) ),+]
    };
    (@note) => { None };
    (@note $note:literal) => { Some($note) };
}
pub(crate) use rows;

#[cfg(test)]
mod tests;
