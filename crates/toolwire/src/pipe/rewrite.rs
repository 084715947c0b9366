//! Members of the answer that the client sees with other values, in a stream whose bytes
//! pass otherwise as they are: the model's name, and what is kept of the answer.
//!
//! Chat names the model in every event, and what stands before the name is the
//! same in all of them. So an event is first compared with the one before, and
//! most are looked at no further.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use memchr::memmem::Finder;

use crate::codec::Codec;
use crate::model::{KeptState, ResponseSummary};
use crate::stateful::KeptAnswer;
use crate::wire::edits::{Edit, write_edited};
use crate::wire::sse::{Frame, Frames};
use crate::wire::string_under;
use crate::wire::write_str;

/// Writes events with other values for some members.
pub(super) struct Rewrite {
    model: Option<Rename>,
    kept: Option<KeptMembers>,
}

impl Rewrite {
    /// Gives the model another name, and says what is kept of the answer. `None` if there is
    /// nothing to write over.
    pub(super) fn new(
        codec: &'static Codec,
        model: Option<&str>,
        kept: Option<&KeptState>,
    ) -> Option<Self> {
        let model = model.map(|model| Rename::new(codec, model));
        let kept = KeptAnswer::new(codec, kept).map(KeptMembers::new);
        (model.is_some() || kept.is_some()).then_some(Self { model, kept })
    }

    /// The model's name toward the client.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_ref().map(|model| model.name.as_str())
    }

    /// Writes an event, and notes the upstream's name of the model.
    pub(super) fn write(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
        out: &mut Vec<u8>,
    ) {
        let Self { model, kept } = self;
        let name = model.as_mut().and_then(|model| model.edit(frame, summary));
        let mut edits = kept.as_ref().map_or_else(Vec::new, |kept| kept.edits(frame));
        if edits.is_empty() {
            return write_edited(frame.raw, name, out);
        }
        edits.extend(name);
        edits.sort_unstable_by_key(|edit| edit.place.start);
        write_edited(frame.raw, edits, out);
    }

    /// Writes events of toolwire's own, which name the model as the client does.
    pub(super) fn write_own(&self, events: &[u8], out: &mut Vec<u8>) {
        let Some(kept) = &self.kept else { return out.extend_from_slice(events) };
        let mut frames = Frames::new(usize::MAX);
        let each = |frame: Frame<'_>| {
            write_edited(frame.raw, kept.edits(&frame), out);
            ControlFlow::Continue(())
        };
        // They are UTF-8, end whole and have no limit.
        _ = frames.push(events, each);
    }
}

/// Gives the model another name.
struct Rename {
    codec: &'static Codec,
    name: String,
    /// The name as a literal.
    literal: Vec<u8>,
    /// Finds the member.
    finder: MemberFinder,
    /// The last event that named the model, up to the end of the name.
    last: Vec<u8>,
    /// Where the name begins in it.
    at: usize,
}

impl Rename {
    fn new(codec: &'static Codec, name: &str) -> Self {
        let mut literal = Vec::with_capacity(name.len() + 2);
        write_str(name, &mut literal);
        Self {
            codec,
            name: name.to_owned(),
            literal,
            finder: MemberFinder::new(codec.description.model_member),
            last: Vec::new(),
            at: 0,
        }
    }

    /// What to write over an event. Notes the upstream's name.
    fn edit(&mut self, frame: &Frame<'_>, summary: &mut ResponseSummary) -> Option<Edit<'_>> {
        let place = self.place(frame, summary)?;
        Some(Edit { place, text: Cow::Borrowed(&self.literal) })
    }

    /// Where an event names the model.
    fn place(&mut self, frame: &Frame<'_>, summary: &mut ResponseSummary) -> Option<Range<usize>> {
        if !self.last.is_empty() && frame.raw.starts_with(&self.last) {
            return Some(self.at..self.last.len());
        }
        if !self.finder.may_be_in(frame) {
            return None;
        }
        let name = string_under(frame.data, self.codec.model_path)?;
        summary.called(Some(&name));
        let place = frame.place(name.span(frame.data)?)?;
        self.last.clear();
        self.last.extend_from_slice(frame.raw.get(..place.end)?);
        self.at = place.start;
        Some(place)
    }
}

/// Says what is kept of the answer.
struct KeptMembers {
    answer: KeptAnswer,
    /// Finds the member with the answer.
    finder: MemberFinder,
}

impl KeptMembers {
    fn new(answer: KeptAnswer) -> Self {
        let finder = MemberFinder::new(answer.answer_member());
        Self { answer, finder }
    }

    /// What to write over the bytes of an event, in order.
    fn edits(&self, frame: &Frame<'_>) -> Vec<Edit<'_>> {
        if !self.finder.may_be_in(frame) {
            return Vec::new();
        }
        let mut edits = self.answer.event_edits(frame.data).unwrap_or_default();
        let line = frame.place(0..frame.data.len());
        edits.retain_mut(|Edit { place, text: _ }| {
            let found = match &line {
                Some(line) => Some(line.start + place.start..line.start + place.end),
                None => frame.stretch(place.clone()),
            };
            found.map(|found| *place = found).is_some()
        });
        edits
    }
}

/// Finds the events that may have a member.
struct MemberFinder {
    /// Finds its name as everybody spells it.
    spelled: Finder<'static>,
    /// Finds letters that are spelled by number.
    numbered: Finder<'static>,
}

impl MemberFinder {
    fn new(member: &str) -> Self {
        let spelled = Finder::new(&format!("\"{member}\"")).into_owned();
        Self { spelled, numbered: Finder::new(b"\\u00") }
    }

    fn may_be_in(&self, frame: &Frame<'_>) -> bool {
        let data = frame.data.as_bytes();
        self.spelled.find(data).is_some() || self.numbered.find(data).is_some()
    }
}
