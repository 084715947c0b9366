//! The model's name in a stream whose bytes pass otherwise as they are.
//!
//! Chat names the model in every event, and what stands before the name is the
//! same in all of them. So an event is first compared with the one before, and
//! most are looked at no further.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::codec::Codec;
use crate::model::ResponseSummary;
use crate::wire::sse::Frame;
use crate::wire::string_under;
use crate::wire::write_str;

/// Gives the model another name.
pub(super) struct Rename {
    codec: &'static Codec,
    name: String,
    /// The name as a literal.
    literal: Vec<u8>,
    /// Finds the member's name as everybody spells it.
    spelled: Finder<'static>,
    /// Finds letters that are spelled by number.
    numbered: Finder<'static>,
    /// The last event that named the model, up to the end of the name.
    last: Vec<u8>,
    /// Where the name begins in it.
    at: usize,
}

impl Rename {
    pub(super) fn new(codec: &'static Codec, name: &str) -> Self {
        let mut literal = Vec::with_capacity(name.len() + 2);
        write_str(name, &mut literal);
        let member = format!("\"{}\"", codec.description.model_member);
        Self {
            codec,
            name: name.to_owned(),
            literal,
            spelled: Finder::new(&member).into_owned(),
            numbered: Finder::new(b"\\u00"),
            last: Vec::new(),
            at: 0,
        }
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Writes an event with the model's other name, and notes the upstream's.
    pub(super) fn write(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
        out: &mut Vec<u8>,
    ) {
        let Some(place) = self.place(frame, summary) else {
            return out.extend_from_slice(frame.raw);
        };
        out.extend_from_slice(frame.raw.get(..place.start).unwrap_or_default());
        out.extend_from_slice(&self.literal);
        out.extend_from_slice(frame.raw.get(place.end..).unwrap_or_default());
    }

    /// Where an event names the model.
    fn place(&mut self, frame: &Frame<'_>, summary: &mut ResponseSummary) -> Option<Range<usize>> {
        if !self.last.is_empty() && frame.raw.starts_with(&self.last) {
            return Some(self.at..self.last.len());
        }
        let data = frame.data.as_bytes();
        if self.spelled.find(data).is_none() && self.numbered.find(data).is_none() {
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
