//! What engines keep: records and their rows. And what they are asked to do.
//!
//! A response, a conversation and a session are all one kind of thing to an
//! engine: a record with rows. So there is one way to write, read, expire,
//! count and copy them.

use std::ops::Range;

use bytes::Bytes;

use crate::error::{Cap, StoreError};
use crate::id::is_possible_text;
use crate::model::{Item, Status, ThreadKind};
use crate::write::{Lease, NewResponse, NewThread, Update, Write};

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

/// The steps of a write, and the bytes that it adds.
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    pub(crate) bytes: u64,
}

impl Plan {
    /// Checks a write. Engines get only what they can keep.
    pub(crate) fn new(
        tenant: &str,
        writes: Vec<Write>,
        moment: Moment,
        value_limit: u64,
    ) -> Result<Self, StoreError> {
        let checker = Checker { tenant, moment, value_limit };
        let changes = writes.into_iter().map(|write| checker.change(write));
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        let bytes = changes.iter().map(added_bytes).sum::<i64>();
        Ok(Self { changes, bytes: u64::try_from(bytes).unwrap_or(0) })
    }
}

fn added_bytes(change: &Change) -> i64 {
    match change {
        Change::Insert { full, repeats: _ } => full.record.bytes,
        Change::Append(append) => append.bytes,
        Change::Update(update) => {
            let events = update.events.as_ref().map_or(0, |events| events.bytes);
            length(&update.body) + update.output_bytes + events
        }
        Change::Metadata { metadata, .. } => length(metadata),
        Change::RemoveItem { .. } => 0,
    }
}

struct Checker<'a> {
    tenant: &'a str,
    moment: Moment,
    value_limit: u64,
}

impl Checker<'_> {
    fn change(&self, write: Write) -> Result<Change, StoreError> {
        if !write.changes_possible_ids() {
            return Err(StoreError::NotFound);
        }
        Ok(match write {
            Write::Response(mut response) => {
                // What may still change is kept whole.
                let repeats = response.repeats.take().filter(|_| response.status.is_terminal());
                Change::Insert { full: self.response(response)?, repeats }
            }
            Write::Update(update) => Change::Update(self.update(update)?),
            Write::Events { id, owner, first, events } => {
                Change::Append(self.events(id, Some(owner), first, events)?)
            }
            Write::Thread(thread) => Change::Insert { full: self.thread(thread)?, repeats: None },
            Write::Append { kind, id, expected, items } => {
                let bytes = self.items(&items)?;
                let expected = expected.map(|expected| i64::try_from(expected).unwrap_or(-1));
                let (kind, section) = (kind.into(), Section::Entry);
                let (owner, rows) = (None, numbered(section, items).collect());
                Change::Append(Append { kind, section, id, owner, expected, rows, bytes })
            }
            Write::Metadata { kind, id, metadata } => {
                self.value(&metadata)?;
                Change::Metadata { kind: kind.into(), id, metadata }
            }
            Write::RemoveItem { kind, id, item } => {
                Change::RemoveItem { kind: kind.into(), id, item }
            }
        })
    }

    fn response(&self, response: NewResponse) -> Result<FullRecord, StoreError> {
        let NewResponse {
            id,
            previous,
            conversation,
            status,
            model,
            body,
            repeats: _,
            internal,
            input,
            output,
            lease,
        } = response;
        text("the id", &id)?;
        text("the model's name", &model)?;
        text("the id of the previous response", previous.as_deref().unwrap_or_default())?;
        text("the id of the conversation", conversation.as_deref().unwrap_or_default())?;
        self.value(&body)?;
        self.value(&internal)?;
        let context = self.items(&input)? + self.items(&output)?;
        let bytes = length(&body) + length(&internal) + context;
        let items = count(input.len() + output.len());
        let lease = lease.filter(|_| !status.is_terminal());
        let until = lease.as_ref().map(|lease| lease.until(self.moment.now));
        let record = Record {
            previous,
            conversation,
            status,
            model,
            internal,
            items,
            bytes,
            context,
            owner: lease.map(|lease| lease.owner),
            lease: until,
            ..self.record(Kind::Response, id, body)
        };
        let input = numbered(Section::Input, input);
        let rows = input.chain(numbered(Section::Output, output)).collect();
        Ok(FullRecord { record, rows })
    }

    fn thread(&self, thread: NewThread) -> Result<FullRecord, StoreError> {
        let NewThread { kind, id, metadata, items } = thread;
        text("the id", &id)?;
        self.value(&metadata)?;
        let context = self.items(&items)?;
        let record = Record {
            next: count(items.len()),
            items: count(items.len()),
            bytes: length(&metadata) + context,
            context,
            ..self.record(kind.into(), id, metadata)
        };
        Ok(FullRecord { record, rows: numbered(Section::Entry, items).collect() })
    }

    fn update(&self, update: Update) -> Result<RecordUpdate, StoreError> {
        let Update { id, owner, status, body, output, events } = update;
        self.value(&body)?;
        let output_bytes = self.items(&output)?;
        let output = numbered(Section::Output, output).collect();
        let events = match events {
            Some((first, events)) => Some(self.events(id.clone(), owner.clone(), first, events)?),
            None => None,
        };
        Ok(RecordUpdate { id, owner, status, body, output, output_bytes, events })
    }

    fn events(
        &self,
        id: String,
        owner: Option<String>,
        first: u64,
        events: Vec<Bytes>,
    ) -> Result<Append, StoreError> {
        let items: Vec<_> = events.into_iter().map(|body| Item::new("", body)).collect();
        let bytes = self.items(&items)?;
        let expected = Some(i64::try_from(first).unwrap_or(-1));
        let (kind, section) = (Kind::Response, Section::Event);
        let rows = numbered(section, items).collect();
        Ok(Append { kind, section, id, owner, expected, rows, bytes })
    }

    /// A record without anything that is optional.
    fn record(&self, kind: Kind, id: String, body: Bytes) -> Record {
        let Moment { now, expires } = self.moment;
        Record {
            tenant: self.tenant.to_owned(),
            kind,
            id,
            created: now,
            updated: now,
            expires,
            previous: None,
            conversation: None,
            status: Status::Completed,
            model: String::new(),
            body,
            internal: Bytes::new(),
            next: 0,
            items: 0,
            bytes: 0,
            context: 0,
            owner: None,
            lease: None,
        }
    }

    /// Checks items, and counts their bytes.
    fn items(&self, items: &[Item]) -> Result<i64, StoreError> {
        let mut bytes = 0;
        for Item { id, tag, body } in items {
            text("the id of an item", id)?;
            text("the tag of an item", tag)?;
            self.value(body)?;
            bytes += row_bytes(id, tag, body);
        }
        Ok(bytes)
    }

    fn value(&self, body: &Bytes) -> Result<(), StoreError> {
        let limit = self.value_limit;
        if u64::try_from(body.len()).is_ok_and(|length| length <= limit) {
            return Ok(());
        }
        Err(StoreError::TooLarge { cap: Cap::Value, limit })
    }
}

impl Lease {
    pub(crate) fn until(&self, now: i64) -> i64 {
        now.saturating_add(i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX))
    }
}

fn text(what: &'static str, text: &str) -> Result<(), StoreError> {
    if is_possible_text(text) { Ok(()) } else { Err(StoreError::Invalid(what)) }
}

fn numbered(section: Section, items: Vec<Item>) -> impl Iterator<Item = Row> {
    (0..).zip(items).map(move |(position, Item { id, tag, body })| Row {
        section,
        position,
        id,
        tag,
        body,
    })
}

fn row_bytes(id: &str, tag: &str, body: &Bytes) -> i64 {
    count(id.len() + tag.len() + body.len())
}

pub(crate) fn length(body: &Bytes) -> i64 {
    count(body.len())
}

pub(crate) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
