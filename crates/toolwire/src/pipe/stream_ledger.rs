//! The ledger of a stream: each place that loses something is reported once,
//! and not with every event that repeats it.

use std::collections::BTreeSet;

use crate::codec::{Codec, EventPlace};
use crate::ledger::{Action, Code, Entry, Ledger, loss_list};

/// The lines of a stream so far.
pub(super) struct StreamLedger {
    /// The upstream's, which knows what its events are about.
    codec: &'static Codec,
    /// Whether anybody wants to know.
    wanted: bool,
    /// What the current event lost.
    ledger: Ledger,
    /// All lines.
    entries: Vec<Entry>,
    /// How many of them somebody has taken.
    taken: usize,
    /// What the lines are about.
    reported: BTreeSet<Report>,
    /// The length of the lines' texts.
    length: usize,
    /// How many places have no line, since there are too many, and of how many
    /// somebody knows.
    unlisted: usize,
    unlisted_taken: usize,
    /// The longest comment for the client, if it gets one.
    comment_limit: Option<usize>,
}

/// What a line is about: what happened, the part of the answer, and the place
/// in the event.
type Report = (Code, Action, EventPlace, String);

impl StreamLedger {
    pub(super) fn new(codec: &'static Codec, wanted: bool) -> Self {
        Self {
            codec,
            wanted,
            ledger: Ledger::default(),
            entries: Vec::new(),
            taken: 0,
            reported: BTreeSet::new(),
            length: 0,
            unlisted: 0,
            unlisted_taken: 0,
            comment_limit: None,
        }
    }

    pub(super) fn set_comment_limit(&mut self, limit: usize) {
        self.comment_limit = Some(limit);
    }

    pub(super) fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// Turns what the event `number` lost into lines. `data` is the event's.
    pub(super) fn settle(&mut self, data: &str, number: usize) {
        if self.ledger.is_empty() {
            return;
        }
        if !self.wanted {
            return self.ledger.clear();
        }
        let place = (self.codec.event_place)(data);
        for entry in self.ledger.entries(data) {
            self.add(entry, place, number);
        }
        self.ledger.clear();
    }

    fn add(&mut self, mut entry: Entry, place: EventPlace, number: usize) {
        if let Code::More(count) = entry.code {
            // What crosses exactly, in another shape, is no loss.
            if entry.action != Action::Emulated {
                self.unlisted += count;
            }
            return;
        }
        let path = std::mem::take(&mut entry.path);
        let report = (entry.code.clone(), entry.action, place, path);
        if self.reported.contains(&report) {
            return;
        }
        let (_, _, _, path) = &report;
        let length = path.len() + entry.detail.len();
        if self.entries.len() == MOST || self.length + length > LONGEST {
            self.unlisted += 1;
            return;
        }
        self.length += length;
        entry.path = format!("/{number}{path}");
        self.entries.push(entry);
        self.reported.insert(report);
    }

    /// The lines that nobody has taken yet.
    pub(super) fn take(&mut self) -> Vec<Entry> {
        let mut lines = self.entries.get(self.taken..).unwrap_or_default().to_vec();
        lines.extend(more(self.unlisted - self.unlisted_taken));
        self.taken = self.entries.len();
        self.unlisted_taken = self.unlisted;
        lines
    }

    /// Writes what was lost as a comment, if the client wants one, at `start`.
    ///
    /// An empty line behind a comment would be an event without data, which
    /// some clients treat as malformed.
    pub(super) fn write_comment(&self, start: usize, out: &mut Vec<u8>) {
        let Some(limit) = self.comment_limit else { return };
        let mut lines = self.entries.clone();
        lines.extend(more(self.unlisted));
        if let Some(list) = loss_list(&[], &lines, limit) {
            let comment = format!(": toolwire-loss {list}\n");
            out.splice(start..start, comment.into_bytes());
        }
    }
}

/// The line for places that have none.
fn more(count: usize) -> Option<Entry> {
    (count > 0).then(|| Entry::new("", Code::More(count), Action::Dropped))
}

/// How many lines there are at most, and how long their texts are together. An
/// upstream that invents a field for every event must not fill the memory.
const MOST: usize = 256;
const LONGEST: usize = 64 * 1024;
