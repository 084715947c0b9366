//! Copying a store into another one, as JSON Lines.
//!
//! The first line is `{"toolwire_store":1}`, the last one says how many records
//! there are. Between them each record has a line, and its items have theirs
//! behind it. Contents are strings with the exact text, or, if they are not
//! UTF-8, objects with the bytes in base64. Several exports one after the other
//! are an export too.

mod line;

use std::io::{BufRead, Write};

use crate::engine::Engine;
use crate::error::StoreError;
use crate::record::{FullRecord, length};
use crate::store::Store;
use line::Line;

/// What an import has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Responses and threads that were stored.
    pub stored: u64,
    /// Responses and threads that were there already.
    pub present: u64,
}

/// Why an export or an import has stopped.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A line of the file is not what an export writes.
    #[error("line {line}: {reason}")]
    Malformed {
        /// The number of the line, counted from one.
        line: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl Store {
    /// Writes everything as JSON Lines, what has expired too. Returns how many
    /// responses and threads there are.
    ///
    /// Each of them is written as it is at one moment. What is stored meanwhile
    /// may be missing, so a complete copy needs gateways that are stopped.
    pub async fn export(&self, mut out: impl Write) -> Result<u64, TransferError> {
        out.write_all(&Line::Header.to_bytes())?;
        let (mut last, mut records) = (0, 0);
        loop {
            let page = self.engine().export(last, PAGE_BYTES).await?;
            if page.is_empty() {
                break;
            }
            for (key, FullRecord { record, rows }) in page {
                out.write_all(&Line::Record(Box::new(record)).to_bytes())?;
                for row in rows {
                    out.write_all(&Line::Item(row).to_bytes())?;
                }
                last = key;
                records += 1;
            }
        }
        out.write_all(&Line::End { records }.to_bytes())?;
        out.flush()?;
        Ok(records)
    }

    /// Stores what an export has written, or several one after the other, with
    /// its times and owners. What is there already stays as it is, so an import
    /// can be repeated.
    pub async fn import(&self, mut input: impl BufRead) -> Result<Imported, TransferError> {
        let mut importer =
            Importer { pending: Vec::new(), bytes: 0, imported: Imported::default() };
        let (mut place, mut number) = (Place::Start, 0);
        let mut text = Vec::new();
        loop {
            text.clear();
            number += 1;
            let malformed = |reason| TransferError::Malformed { line: number, reason };
            if input.read_until(b'\n', &mut text)? == 0 {
                match place {
                    Place::Ended => break,
                    Place::Start | Place::Inside { .. } => {
                        return Err(malformed("the file ends early; was its export interrupted?"));
                    }
                }
            }
            let Place::Inside { records } = &mut place else {
                // Editors and `cat` leave empty lines behind.
                let is_behind = matches!(place, Place::Ended);
                if !(is_behind && text.trim_ascii().is_empty()) {
                    read_header(&text, is_behind).map_err(malformed)?;
                    place = Place::Inside { records: 0 };
                }
                continue;
            };
            match Line::from_bytes(&text).map_err(malformed)? {
                Line::Header => return Err(malformed("a second beginning before the end")),
                Line::Record(record) => {
                    importer.store_if_enough(self.engine()).await?;
                    importer.bytes += record.bytes;
                    importer.pending.push(FullRecord { record: *record, rows: Vec::new() });
                    *records += 1;
                }
                Line::Item(row) => {
                    // The last record of an export before this one is not meant.
                    let last = importer.pending.last_mut().filter(|_| *records > 0);
                    let FullRecord { record, rows } =
                        last.ok_or_else(|| malformed("an item without its record"))?;
                    let bytes = row.bytes();
                    record.bytes += bytes;
                    if row.section.is_context() {
                        record.items += 1;
                        record.context += bytes;
                    }
                    importer.bytes += length(&row.body);
                    rows.push(row);
                }
                Line::End { records: expected } if expected == *records => place = Place::Ended,
                Line::End { .. } => return Err(malformed("records are missing")),
            }
        }
        importer.store(self.engine()).await?;
        self.forget_usage();
        Ok(importer.imported)
    }
}

/// Where in a file a line is.
enum Place {
    Start,
    /// In an export that has had so many records.
    Inside {
        records: u64,
    },
    /// Behind an export.
    Ended,
}

/// Reads the first line of an export, or says what it is instead.
fn read_header(text: &[u8], is_behind_another: bool) -> Result<(), &'static str> {
    if let Some((_, reason)) = FOREIGN.into_iter().find(|(start, _)| text.starts_with(start)) {
        return Err(reason);
    }
    // Some editors and shells put a mark at the start of a file.
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match (Line::from_bytes(text), is_behind_another) {
        (Ok(Line::Header), _) => Ok(()),
        (Ok(_), false) => Err("this is not an export of a store"),
        (Err(reason), false) => Err(reason),
        (Ok(_) | Err(_), true) => Err("there is something behind the end of the export"),
    }
}

/// Records that are stored together.
struct Importer {
    pending: Vec<FullRecord>,
    bytes: i64,
    imported: Imported,
}

impl Importer {
    async fn store_if_enough(&mut self, engine: &Engine) -> Result<(), StoreError> {
        if self.bytes < PAGE_BYTES && self.pending.len() < PAGE_RECORDS {
            return Ok(());
        }
        self.store(engine).await
    }

    async fn store(&mut self, engine: &Engine) -> Result<(), StoreError> {
        let records = std::mem::take(&mut self.pending);
        let count = u64::try_from(records.len()).unwrap_or(0);
        let stored = engine.import(records).await?;
        self.imported.stored += stored;
        self.imported.present += count - stored;
        self.bytes = 0;
        Ok(())
    }
}

/// How much is read or written at a time.
const PAGE_BYTES: i64 = 4 << 20;

/// How many records are written at a time.
const PAGE_RECORDS: usize = 256;

/// The mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What files begin with that are taken for an export, and what to do with them.
const FOREIGN: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "this is compressed; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "this is compressed; unpack it first"),
    (b"\xff\xfe", "this is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "this is UTF-16; save it as UTF-8"),
    (b"SQLite format 3\0", "this is a SQLite file, and no export; name it in `path` of `[store]`"),
];
