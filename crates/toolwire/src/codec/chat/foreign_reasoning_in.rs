//! Reasoning that another vendor sealed, in a request whose bytes pass.

use std::ops::Range;

use super::reasoning_in;
use super::reasoning_out::NOT_TAKEN_BACK;
use super::wire::{REASONING_CONTENT, REASONING_DETAILS, THINKING_BLOCKS, ThinkingBlock};
use crate::ledger::{Code, Ledger};
use crate::wire::cuts::{ContainerCuts, Cuts};
use crate::wire::envelope::Envelope;
use crate::wire::{Kind, Pos, Raw, Read, ReadError, Reader, Str};

/// Cuts out the envelopes of every message and the text that toolwire showed
/// beside them. A list that held nothing else goes with its member.
pub(super) fn find(source: &str, ledger: &mut Ledger) -> Result<Vec<Range<usize>>, ReadError> {
    let mut reader = Reader::new(source);
    let [messages] = reader.pick(["messages"])?;
    reader.finish()?;
    let mut cuts = Cuts::default();
    if let Some(messages) = &messages {
        for message in messages.elements()? {
            if message.kind() == Kind::Object {
                cut_message(&message, cuts.container(), ledger)?;
            }
        }
    }
    Ok(cuts.into_ranges())
}

fn cut_message(
    message: &Raw<'_>,
    mut members: ContainerCuts<'_>,
    ledger: &mut Ledger,
) -> Result<(), ReadError> {
    let envelopes = Envelopes::read(message)?;
    if envelopes.is_empty() {
        return Ok(());
    }
    let mut reader = message.reader();
    let mut fields = reader.object()?;
    while let Some(key) = fields.next(&mut reader)? {
        let value = reader.raw()?;
        let (Some(start), Some(range)) = (key.pos().offset(), value.range()) else { continue };
        let known = key.decode();
        let is_cut = match known.as_ref() {
            REASONING_DETAILS => cut_entries(&value, &envelopes.details, members.container())?,
            THINKING_BLOCKS => cut_entries(&value, &envelopes.blocks, members.container())?,
            // What toolwire showed beside its envelopes is inside them.
            REASONING_CONTENT => value.kind() == Kind::String && !envelopes.details.is_empty(),
            _other => false,
        };
        if is_cut {
            members.cut(start..range.end);
        } else {
            members.keep(start..range.end);
        }
    }
    members.finish();
    envelopes.report(ledger);
    Ok(())
}

/// Cuts the entries that stand at the given places, and says whether none is
/// left.
fn cut_entries(
    list: &Raw<'_>,
    places: &[(u64, Pos)],
    mut entries: ContainerCuts<'_>,
) -> Result<bool, ReadError> {
    if places.is_empty() {
        return Ok(false);
    }
    // Both are in the order of the list.
    let mut cut = places.iter().map(|(_, pos)| *pos).peekable();
    for entry in list.elements()? {
        let Some(range) = entry.range() else { continue };
        if cut.next_if_eq(&entry.pos()).is_some() {
            entries.cut(range);
        } else {
            entries.keep(range);
        }
    }
    Ok(!entries.finish())
}

/// The envelopes of one message: the place of each in the turn, and where it
/// stands in the request.
struct Envelopes {
    details: Vec<(u64, Pos)>,
    blocks: Vec<(u64, Pos)>,
}

impl Envelopes {
    fn read(message: &Raw<'_>) -> Result<Self, ReadError> {
        let [details, blocks] = message.reader().pick([REASONING_DETAILS, THINKING_BLOCKS])?;
        let mut found = Self { details: Vec::new(), blocks: Vec::new() };
        for raw in details.iter().flat_map(Raw::elements).flatten() {
            if let Some(opened) = reasoning_in::open(&raw) {
                found.details.push((opened.place.unwrap_or_default(), raw.pos()));
            }
        }
        for raw in blocks.iter().flat_map(Raw::elements).flatten() {
            if is_enveloped(&raw) {
                found.blocks.push((0, raw.pos()));
            }
        }
        Ok(found)
    }

    fn is_empty(&self) -> bool {
        self.details.is_empty() && self.blocks.is_empty()
    }

    /// Reports them in the order in which they stood before Chat took the turn
    /// apart.
    fn report(self, ledger: &mut Ledger) {
        let Self { details, mut blocks } = self;
        blocks.extend(details);
        blocks.sort_by_key(|(place, _)| *place);
        for (_, at) in blocks {
            let note = ledger.dropped(at, Code::ReasoningForeign);
            note.detail(NOT_TAKEN_BACK);
        }
    }
}

/// Whether a block has an envelope for a signature, which no vendor signed.
fn is_enveloped(block: &Raw<'_>) -> bool {
    let Ok(ThinkingBlock { at: _, kind: _, thinking: _, signature, data, extra: _ }) =
        ThinkingBlock::read(&mut block.reader())
    else {
        return false;
    };
    let is_sealed = |text: &Str<'_>| Envelope::is_sealed(&text.decode());
    signature.as_ref().is_some_and(is_sealed) || data.as_ref().is_some_and(is_sealed)
}
