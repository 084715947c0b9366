//! What a translation changed or could not carry.
//!
//! Encoders get a ledger and nothing is lost without a line in it. A line names
//! the place in what the client sent, a code that software can act on, and a
//! sentence that a person can.

mod code;
mod list;
mod unlisted;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub use code::Code;
pub use list::loss_list;

pub use crate::model::HostedClass;

use self::unlisted::Unlisted;
use crate::model::Item;
use crate::wire::{Extra, Kind, Placed, Pos, Write, pointer_step, pointers_past, shorten};

/// The lines of one translation, in the order in which they came up.
///
/// A document can lose something at every few bytes, and a list that long helps
/// nobody: `MOST_NOTES` lines are kept and the rest is counted.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Ledger {
    notes: Vec<Note>,
    /// The lines beyond those that are kept.
    unlisted: Unlisted,
    required_features: Vec<&'static str>,
}

/// A line that still refers to the input by offset.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Note {
    pos: Pos,
    below: Below,
    code: Code,
    action: Action,
    level: Level,
    detail: Cow<'static, str>,
}

/// What a line is about, seen from the value at its position.
#[derive(Clone, Debug, Default)]
enum Below {
    /// The value itself.
    #[default]
    Nothing,
    /// A member of it.
    Key(Cow<'static, str>),
    /// Something in it, by its JSON Pointer.
    Pointer(Arc<str>),
}

impl Note {
    /// Names a member of the value at the position, for a member that has no
    /// position of its own.
    pub fn key(&mut self, key: impl Into<Cow<'static, str>>) -> &mut Self {
        self.below = Below::Key(key.into());
        self
    }

    /// Says what happened, in a sentence for the user.
    pub fn detail(&mut self, detail: impl Into<Cow<'static, str>>) -> &mut Self {
        self.detail = match detail.into() {
            Cow::Owned(text) => Cow::Owned(shorten(&text, LONGEST_DETAIL).into_owned()),
            sentence @ Cow::Borrowed(_) => sentence,
        };
        self
    }

    /// Marks a loss that changes nothing a caller relies on. It is reported
    /// like any other but not refused.
    pub fn info(&mut self) -> &mut Self {
        self.level = Level::Info;
        self
    }
}

impl Ledger {
    /// Something did not cross.
    pub fn dropped(&mut self, pos: Pos, code: Code) -> &mut Note {
        self.note(pos, code, Action::Dropped)
    }

    /// A member did not cross, if it was there.
    pub(crate) fn lost<T: Placed>(&mut self, member: &Option<T>, code: Code) {
        if let Some(member) = member {
            self.dropped(member.pos(), code);
        }
    }

    /// A member did not cross, if it was there. No caller relies on it.
    pub(crate) fn lost_info<T: Placed>(&mut self, member: &Option<T>, code: Code) {
        if let Some(member) = member {
            self.dropped(member.pos(), code).info();
        }
    }

    /// Something crossed as less than it was.
    pub fn degraded(&mut self, pos: Pos, code: Code) -> &mut Note {
        self.note(pos, code, Action::Degraded)
    }

    /// Something crossed to another place.
    pub fn moved(&mut self, pos: Pos, code: Code) -> &mut Note {
        self.note(pos, code, Action::Moved)
    }

    /// Something crossed under another name and comes back under its own.
    pub fn renamed(&mut self, pos: Pos, code: Code) -> &mut Note {
        self.note(pos, code, Action::Renamed)
    }

    /// Something crossed in another shape that says exactly the same.
    pub fn emulated(&mut self, pos: Pos, code: Code) -> &mut Note {
        self.note(pos, code, Action::Emulated)
    }

    /// The request means nothing without this, so it is refused whatever the
    /// policy.
    pub fn refused(&mut self, pos: Pos, code: Code) -> &mut Note {
        self.note(pos, code, Action::Refused)
    }

    /// Fields that exist in one protocol only did not cross.
    pub fn only(&mut self, fields: &[Extra<'_>]) {
        // An explicit null means the same as no field at all.
        let fields = fields.iter().filter(|field| field.value.kind() != Kind::Null);
        for (number, field) in fields.enumerate() {
            let key = field.key.decode();
            let (pos, code) = (field.value.pos(), Code::of_field(&key));
            // One object must not leave the others without a place.
            let note = if number < MOST_MEMBERS {
                self.dropped(pos, code)
            } else {
                self.unlisted.note(Note::new(pos, code, Action::Dropped))
            };
            // A nested field is named with where it stands.
            let name = key.rsplit('.').next().unwrap_or_default();
            if RESTATED.contains(&name) || name == SYSTEM_FINGERPRINT {
                note.info();
            }
        }
    }

    /// An item stands where the target has no room for such an item at all.
    pub fn misplaced(&mut self, item: &Item<'_>) {
        let (pos, code) = item.loss();
        self.dropped(pos, code).detail("The target has no room for such an item at this place.");
    }

    /// The target must switch on a feature for what was written.
    pub fn require(&mut self, feature: &'static str) {
        if !self.required_features.contains(&feature) {
            self.required_features.push(feature);
        }
    }

    /// The features that the target must switch on.
    pub fn required_features(&self) -> &[&'static str] {
        &self.required_features
    }

    /// Forgets every line.
    pub(crate) fn clear(&mut self) {
        self.notes.clear();
        self.unlisted = Unlisted::default();
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.unlisted.is_empty()
    }

    /// The lines with their JSON Pointers into `source`, the document that was
    /// translated.
    pub fn entries(&self, source: &str) -> Vec<Entry> {
        self.entries_past(source, &[])
    }

    /// Whether a line has its position inside a value, for whoever looks for pointers.
    pub(crate) fn points_into(&self, value: Range<usize>) -> bool {
        let is_inside = |pos: usize| value.contains(&pos) && pos != value.start;
        self.notes.iter().any(|note| note.pos.offset().is_some_and(is_inside))
    }

    /// The lines about a value that is a document of its own, for [`Ledger::repeat`]. Those
    /// that are only counted are not among them.
    pub(crate) fn to_repeat(&self, value: &str) -> Arc<[Note]> {
        let positions: Vec<Pos> = self.notes.iter().map(|note| note.pos).collect();
        let placed = self.notes.iter().zip(pointers_past(value, &positions, &[]));
        let notes = placed.map(|(note, pointer)| {
            let pointer = note.entry(pointer).path.into();
            Note { pos: Pos::NONE, below: Below::Pointer(pointer), ..note.clone() }
        });
        notes.collect()
    }

    /// Adds lines that came up when the same value was somewhere else.
    pub(crate) fn repeat(&mut self, notes: &[Note], at: Pos) {
        for note in notes {
            let Note { pos: _, below, code, action, level, detail } = note.clone();
            let added = self.note(at, code, action);
            (added.below, added.level, added.detail) = (below, level, detail);
        }
    }

    /// Whether every line is about one of these places, which are in order, and none is only
    /// counted.
    pub(crate) fn is_only_about(&self, places: &[Pos]) -> bool {
        let is_among = |note: &Note| places.binary_search(&note.pos).is_ok();
        self.unlisted.is_empty() && self.notes.iter().all(is_among)
    }

    /// Like [`Ledger::entries`], with string literals and other values of `source`, in order,
    /// that need not be looked through for the pointers.
    #[doc(hidden)]
    pub fn entries_past(&self, source: &str, known: &[Range<usize>]) -> Vec<Entry> {
        let positions: Vec<Pos> = self.notes.iter().map(|note| note.pos).collect();
        let paths = pointers_past(source, &positions, known);
        let listed = self.notes.iter().zip(paths).map(|(note, path)| note.entry(path));
        listed.chain(self.unlisted.entries()).collect()
    }

    fn note(&mut self, pos: Pos, code: Code, action: Action) -> &mut Note {
        // A refusal says why there is no translation, so it is named however
        // much was lost before it.
        let room = if action == Action::Refused { MOST_REFUSALS } else { 0 };
        if self.notes.len() >= MOST_NOTES + room {
            return self.unlisted.note(Note::new(pos, code, action));
        }
        self.notes.push(Note::new(pos, code, action));
        let last = self.notes.len() - 1;
        // The note was pushed one line above.
        #[expect(clippy::indexing_slicing, reason = "the index is that of the last element")]
        &mut self.notes[last]
    }
}

impl Note {
    fn new(pos: Pos, code: Code, action: Action) -> Self {
        let detail = Cow::Borrowed(code.meaning());
        Self { pos, below: Below::Nothing, code, action, level: Level::Loss, detail }
    }

    fn entry(&self, mut path: String) -> Entry {
        let Self { pos: _, below, code, action, level, detail } = self;
        match below {
            Below::Nothing => {}
            Below::Key(key) => pointer_step(key, &mut path),
            Below::Pointer(pointer) => path.push_str(pointer),
        }
        Entry { path, code: code.clone(), action: *action, level: *level, detail: detail.clone() }
    }
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The JSON Pointer of what was lost or changed, in the document that was
    /// translated.
    pub path: String,
    /// What it is about.
    pub code: Code,
    /// What was done.
    pub action: Action,
    /// How much it matters.
    pub level: Level,
    /// What happened, in a sentence.
    pub detail: Cow<'static, str>,
}

impl Entry {
    /// A line about a loss, with the code's own meaning as its detail.
    pub fn new(path: impl Into<String>, code: Code, action: Action) -> Self {
        let detail = Cow::Borrowed(code.meaning());
        Self { path: path.into(), code, action, level: Level::Loss, detail }
    }

    /// Says how much it matters.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Says what happened, in a sentence.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Whether a client that wants no loss would refuse this.
    pub fn is_loss(&self) -> bool {
        self.action.is_loss(self.level)
    }
}

/// One JSON object, without a line end.
impl Write for Entry {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { path, code, action, level, detail } = self;
        let mut object = crate::wire::Object::new(out);
        object.put("path", path);
        object.put("code", &code.as_text());
        object.put("action", action.as_str());
        match level {
            Level::Loss => {}
            Level::Info => object.put("level", "info"),
        }
        object.put("detail", detail);
    }
}

/// What was done with something that could not cross as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Action {
    /// It is missing from what was written.
    Dropped,
    /// It was written as less than it was.
    Degraded,
    /// It was written in another place.
    Moved,
    /// It has another name there and its own name again in the answer.
    Renamed,
    /// It was written in another shape that says exactly the same.
    Emulated,
    /// The document means nothing without it, so there is no translation.
    Refused,
}

impl Action {
    /// The action as it appears in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Degraded => "degraded",
            Self::Moved => "moved",
            Self::Renamed => "renamed",
            Self::Emulated => "emulated",
            Self::Refused => "refused",
        }
    }

    /// Whether a client that wants no loss would refuse this, where it matters
    /// as much as `level` says.
    fn is_loss(self, level: Level) -> bool {
        match self {
            Self::Dropped | Self::Degraded | Self::Moved | Self::Refused => level == Level::Loss,
            Self::Renamed | Self::Emulated => false,
        }
    }
}

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// The model or the caller may behave differently.
    Loss,
    /// Nothing that a caller relies on changes.
    Info,
}

/// What to do about losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPolicy {
    /// Go on and report them.
    #[default]
    Report,
    /// Refuse the request and name them.
    Refuse,
    /// Go on and say nothing, except where a request means nothing without
    /// what is lost.
    Ignore,
}

/// How many lines are kept.
pub(crate) const MOST_NOTES: usize = 1000;

/// How many refusals are kept beyond these.
const MOST_REFUSALS: usize = 16;

/// How many members of one object are listed.
const MOST_MEMBERS: usize = 100;

/// The longest detail, in bytes. It may repeat what an upstream says.
const LONGEST_DETAIL: usize = 1024;

/// What the SDKs' helpers add to messages that they hand to an application, and
/// that come back when it sends them on: the content once more, parsed, and
/// the place of a call in its list.
const RESTATED: [&str; 3] = ["index", "parsed", "parsed_arguments"];

/// Which build of a vendor's servers answered. Every answer has it, and it only
/// compares with itself.
const SYSTEM_FINGERPRINT: &str = "system_fingerprint";

#[cfg(test)]
mod tests;
