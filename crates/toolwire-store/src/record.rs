//! What engines keep: records and their rows.
//!
//! A response, a conversation and a session are all one kind of thing to an
//! engine: a record with rows. So there is one way to write, read, expire,
//! count and copy them.

use bytes::Bytes;

use crate::model::{Item, Status, ThreadKind};

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Response,
    Conversation,
    Session,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Response, Self::Conversation, Self::Session];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Conversation => "conversation",
            Self::Session => "session",
        }
    }

    pub(crate) fn from_str(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl From<ThreadKind> for Kind {
    fn from(kind: ThreadKind) -> Self {
        match kind {
            ThreadKind::Conversation => Self::Conversation,
            ThreadKind::Session => Self::Session,
        }
    }
}

/// Which list of a record a row is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// What the client sent.
    Input,
    /// What the model answered.
    Output,
    /// The items of a thread.
    Entry,
    /// The events of a response.
    Event,
}

impl Section {
    pub(crate) const ALL: [Self; 4] = [Self::Input, Self::Output, Self::Entry, Self::Event];

    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Input => 0,
            Self::Output => 1,
            Self::Entry => 2,
            Self::Event => 3,
        }
    }

    pub(crate) fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.number() == number)
    }

    /// Whether its rows are kept together as one value.
    pub(crate) fn is_packed(self) -> bool {
        match self {
            Self::Input | Self::Output => true,
            Self::Entry | Self::Event => false,
        }
    }

    /// Whether a model has to know its rows when a conversation goes on.
    pub(crate) fn is_context(self) -> bool {
        match self {
            Self::Input | Self::Output | Self::Entry => true,
            Self::Event => false,
        }
    }
}

impl Status {
    pub(crate) const ALL: [Self; 6] = [
        Self::Queued,
        Self::InProgress,
        Self::Completed,
        Self::Incomplete,
        Self::Failed,
        Self::Cancelled,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) fn from_str(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A response or a thread, without its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) tenant: String,
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    pub(crate) expires: i64,
    pub(crate) previous: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) status: Status,
    pub(crate) model: String,
    /// The response object, or a thread's metadata.
    pub(crate) body: Bytes,
    pub(crate) internal: Bytes,
    /// The position of the next entry or event; a thread's version.
    pub(crate) next: i64,
    /// How many rows there are, events aside.
    pub(crate) items: i64,
    /// How many bytes there are in all.
    pub(crate) bytes: i64,
    /// How many of them are in rows that a model has to know.
    pub(crate) context: i64,
    pub(crate) owner: Option<String>,
    pub(crate) lease: Option<i64>,
}

/// One row of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) section: Section,
    pub(crate) position: i64,
    pub(crate) id: String,
    pub(crate) tag: String,
    pub(crate) body: Bytes,
}

impl Row {
    pub(crate) fn bytes(&self) -> i64 {
        row_bytes(&self.id, &self.tag, &self.body)
    }

    pub(crate) fn into_item(self) -> Item {
        Item { id: self.id, tag: self.tag, body: self.body }
    }
}

/// A record with its rows, ordered by section and position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FullRecord {
    pub(crate) record: Record,
    pub(crate) rows: Vec<Row>,
}

/// How many bytes a row counts for.
pub(crate) fn row_bytes(id: &str, tag: &str, body: &Bytes) -> i64 {
    count(id.len() + tag.len() + body.len())
}

pub(crate) fn length(body: &Bytes) -> i64 {
    count(body.len())
}

pub(crate) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
