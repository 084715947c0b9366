//! One line of an export.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::id::is_possible_text;
use crate::model::Status;
use crate::record::{Kind, Record, Row, Section, length};

/// One line of an export.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The first line.
    Header,
    /// A record. Its sums come from the lines of its items.
    Record(Box<Record>),
    /// An item of the record before it.
    Item(Row),
    /// The last line.
    End { records: u64 },
}

impl Line {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let value = match self {
            Self::Header => json!({ HEADER: VERSION }),
            Self::Record(record) => json!({ "record": record_value(record) }),
            Self::Item(Row { section, position, id, tag, body }) => json!({ "item": {
                "section": section_name(*section),
                "position": position,
                "id": id,
                "tag": tag,
                "body": body_value(body),
            } }),
            Self::End { records } => json!({ "end": { "records": records } }),
        };
        let mut line = value.to_string().into_bytes();
        line.push(b'\n');
        line
    }

    /// Reads a line, or says what is wrong with it.
    pub(super) fn from_bytes(line: &[u8]) -> Result<Self, &'static str> {
        let value: Value = serde_json::from_slice(line).map_err(|_| "this is not JSON")?;
        if let Some(version) = value.get(HEADER) {
            return if *version == VERSION { Ok(Self::Header) } else { Err(NEWER) };
        }
        if let Some(record) = value.get("record").and_then(Value::as_object) {
            let record = read_record(record).ok_or("a member of the record is missing or wrong")?;
            return Ok(Self::Record(Box::new(record)));
        }
        if let Some(item) = value.get("item").and_then(Value::as_object) {
            let row = read_row(item).ok_or("a member of the item is missing or wrong")?;
            return Ok(Self::Item(row));
        }
        let end = value.get("end").and_then(|end| end.get("records")).and_then(Value::as_u64);
        Ok(Self::End { records: end.ok_or("this is neither a record nor an item")? })
    }
}

fn record_value(record: &Record) -> Value {
    let Record {
        tenant,
        kind,
        id,
        created,
        updated,
        expires,
        previous,
        conversation,
        status,
        model,
        body,
        internal,
        next,
        items: _,
        bytes: _,
        context: _,
        owner,
        lease,
    } = record;
    json!({
        "tenant": tenant,
        "kind": kind.as_str(),
        "id": id,
        "created": created,
        "updated": updated,
        "expires": expires,
        "previous": previous,
        "conversation": conversation,
        "status": status.as_str(),
        "model": model,
        "next": next,
        "owner": owner,
        "lease": lease,
        "internal": body_value(internal),
        "body": body_value(body),
    })
}

fn read_record(record: &Map<String, Value>) -> Option<Record> {
    let (body, internal) = (body(record, "body")?, body(record, "internal")?);
    Some(Record {
        tenant: text(record, "tenant")?,
        kind: Kind::from_str(record.get("kind")?.as_str()?)?,
        id: text(record, "id")?,
        created: record.get("created")?.as_i64()?,
        updated: record.get("updated")?.as_i64()?,
        expires: record.get("expires")?.as_i64()?,
        previous: optional_text(record, "previous")?,
        conversation: optional_text(record, "conversation")?,
        status: Status::from_str(record.get("status")?.as_str()?)?,
        model: text(record, "model")?,
        next: record.get("next")?.as_i64()?,
        items: 0,
        bytes: length(&body) + length(&internal),
        context: 0,
        owner: optional_text(record, "owner")?,
        lease: optional_number(record, "lease")?,
        body,
        internal,
    })
}

fn read_row(row: &Map<String, Value>) -> Option<Row> {
    let name = row.get("section")?.as_str()?;
    Some(Row {
        section: Section::ALL.into_iter().find(|section| section_name(*section) == name)?,
        position: row.get("position")?.as_i64()?,
        id: text(row, "id")?,
        tag: text(row, "tag")?,
        body: body(row, "body")?,
    })
}

fn text(members: &Map<String, Value>, name: &str) -> Option<String> {
    let text = members.get(name)?.as_str()?;
    is_possible_text(text).then(|| text.to_owned())
}

/// The text of a member that may be null, but not missing.
fn optional_text(members: &Map<String, Value>, name: &str) -> Option<Option<String>> {
    if members.get(name)?.is_null() {
        return Some(None);
    }
    text(members, name).map(Some)
}

/// The number of a member that may be null, but not missing.
fn optional_number(members: &Map<String, Value>, name: &str) -> Option<Option<i64>> {
    let value = members.get(name)?;
    if value.is_null() { Some(None) } else { value.as_i64().map(Some) }
}

fn body_value(body: &Bytes) -> Value {
    match std::str::from_utf8(body) {
        Ok(text) => Value::from(text),
        Err(_) => json!({ "base64": STANDARD.encode(body) }),
    }
}

fn body(members: &Map<String, Value>, name: &str) -> Option<Bytes> {
    let value = members.get(name)?;
    if let Some(text) = value.as_str() {
        return Some(Bytes::from(text.to_owned()));
    }
    STANDARD.decode(value.get("base64")?.as_str()?).ok().map(Bytes::from)
}

fn section_name(section: Section) -> &'static str {
    match section {
        Section::Input => "input",
        Section::Output => "output",
        Section::Entry => "entry",
        Section::Event => "event",
    }
}

const HEADER: &str = "toolwire_store";
const VERSION: u64 = 1;
const NEWER: &str = "a newer toolwire has written this export";
