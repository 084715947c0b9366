//! What engines are asked to do.

use std::ops::Range;

use bytes::Bytes;

use crate::model::Status;
use crate::record::{FullRecord, Kind, Row, Section, count, length};

/// One step of a write.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Insert {
        full: FullRecord,
        /// The part of the body that other records probably have too.
        repeats: Option<Range<usize>>,
    },
    Append(Append),
    Update(RecordUpdate),
    Metadata {
        kind: Kind,
        id: String,
        metadata: Bytes,
    },
    RemoveItem {
        kind: Kind,
        id: String,
        item: String,
    },
}

impl Change {
    /// The record that it changes.
    pub(crate) fn record(&self) -> (Kind, &str) {
        match self {
            Self::Insert { full, .. } => (full.record.kind, &full.record.id),
            Self::Append(append) => (append.kind, &append.id),
            Self::Update(update) => (Kind::Response, &update.id),
            Self::Metadata { kind, id, .. } | Self::RemoveItem { kind, id, .. } => (*kind, id),
        }
    }

    /// How many bytes there are more after it.
    pub(crate) fn added_bytes(&self) -> i64 {
        match self {
            Self::Insert { full, repeats: _ } => full.record.bytes,
            Self::Append(append) => append.bytes,
            Self::Update(update) => {
                let events = update.events.as_ref().map_or(0, |events| events.bytes);
                length(&update.body) + update.output_bytes + events
            }
            Self::Metadata { metadata, .. } => length(metadata),
            Self::RemoveItem { .. } => 0,
        }
    }
}

/// Rows to append to a thread, or events to a running response.
#[derive(Clone, Debug)]
pub(crate) struct Append {
    pub(crate) kind: Kind,
    pub(crate) section: Section,
    pub(crate) id: String,
    /// Who must own it. Only a running response has an owner.
    pub(crate) owner: Option<String>,
    pub(crate) expected: Option<i64>,
    /// Their positions are counted from the end of the list.
    pub(crate) rows: Vec<Row>,
    pub(crate) bytes: i64,
}

impl Append {
    /// How many rows count as items.
    pub(crate) fn items_added(&self) -> i64 {
        if self.section.is_context() { count(self.rows.len()) } else { 0 }
    }

    /// How many bytes a model has to know.
    pub(crate) fn context_added(&self) -> i64 {
        if self.section.is_context() { self.bytes } else { 0 }
    }
}

/// A change of a running response.
#[derive(Clone, Debug)]
pub(crate) struct RecordUpdate {
    pub(crate) id: String,
    pub(crate) owner: Option<String>,
    pub(crate) status: Status,
    pub(crate) body: Bytes,
    pub(crate) output: Vec<Row>,
    pub(crate) output_bytes: i64,
    /// The last events: their numbers begin with `expected`.
    pub(crate) events: Option<Append>,
}

/// When a write happens, and when what it writes expires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: i64,
    pub(crate) expires: i64,
}
