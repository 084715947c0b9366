//! Checks a write, and makes steps of it. Engines get only what they can keep.

use bytes::Bytes;

use crate::change::{Append, Change, Moment, RecordUpdate};
use crate::error::{Cap, StoreError};
use crate::id::is_possible_text;
use crate::model::{Item, Status};
use crate::record::{FullRecord, Kind, Record, Row, Section, count, length, row_bytes};
use crate::write::{Lease, NewResponse, NewThread, Update, Write};

/// The steps of a write, and the bytes that it adds.
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    pub(crate) bytes: u64,
}

impl Plan {
    /// Checks a write of a tenant.
    pub(crate) fn new(
        tenant: &str,
        writes: Vec<Write>,
        moment: Moment,
        value_limit: u64,
    ) -> Result<Self, StoreError> {
        let checker = Checker { tenant, moment, value_limit };
        // A list that is collected from results grows, and what is in it is moved each time.
        let mut changes = Vec::with_capacity(writes.len());
        for write in writes {
            changes.push(checker.change(write)?);
        }
        let bytes = changes.iter().map(Change::added_bytes).sum::<i64>();
        Ok(Self { changes, bytes: u64::try_from(bytes).unwrap_or(0) })
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
