//! A stream: its reasoning.

use super::ResponsesStreamWriter;
use super::event_writer::{self, EventWriter, part_place};
use super::items::{GroupKind, ItemGroup};
use crate::fold::Fold;
use crate::ledger::Ledger;
use crate::model::Item;
use crate::wire::{Str, Write};

/// Reasoning while it is written: the texts of its summary and its own.
#[derive(Debug, Default)]
pub(super) struct ReasoningWriter {
    summary: ReasoningTexts,
    content: ReasoningTexts,
}

/// The texts of one kind.
#[derive(Debug, Default)]
struct ReasoningTexts {
    /// How many there are.
    count: usize,
    /// How many the client has been told about.
    shown: u64,
    /// Where the events of the last one belong, while it is open.
    place: Option<Vec<u8>>,
}

/// Where the whole texts are kept: an entry of the fold.
type FoldEntry<'f> = (&'f Fold, usize);

impl ResponsesStreamWriter {
    /// Begins reasoning.
    pub(super) fn open_reasoning(
        &mut self,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> (usize, ReasoningWriter) {
        let number = self.begin_group(GroupKind::Reasoning, out, ledger);
        self.place_group(number, "rs");
        self.begin_item_added(number, out);
        out.extend_from_slice(b"{\"type\":\"reasoning\",\"id\":");
        if let Some(group) = self.groups.get(number) {
            group.id.write(out);
        }
        out.extend_from_slice(b",\"summary\":[]}");
        EventWriter::end(out);
        (number, ReasoningWriter::default())
    }
}

impl ReasoningWriter {
    /// Writes a piece of the summary.
    pub(super) fn summary(
        &mut self,
        part: usize,
        text: &Str<'_>,
        kept: FoldEntry<'_>,
        group: &ItemGroup,
        events: &mut EventWriter,
        out: &mut Vec<u8>,
    ) {
        if part >= self.summary.count {
            self.finish_summary(kept, events, out);
            self.summary.count += 1;
        }
        // A whole answer has no empty texts in its summary either.
        if text.is_empty() {
            return;
        }
        let ReasoningTexts { count: _, shown, place } = &mut self.summary;
        let place = place.get_or_insert_with(|| {
            let output = group.place.unwrap_or_default();
            let place = part_place(&group.id, output, "summary_index", *shown);
            *shown += 1;
            events.begin("response.reasoning_summary_part.added", out);
            out.extend_from_slice(&place);
            out.extend_from_slice(b",\"part\":{\"type\":\"summary_text\",\"text\":\"\"}");
            EventWriter::end(out);
            place
        });
        events.delta(event_writer::SUMMARY, place, out);
        text.write_inside(out);
        out.extend_from_slice(b"\"}\n\n");
    }

    /// Writes a piece of the reasoning itself.
    pub(super) fn content(
        &mut self,
        part: usize,
        text: &Str<'_>,
        kept: FoldEntry<'_>,
        group: &ItemGroup,
        events: &mut EventWriter,
        out: &mut Vec<u8>,
    ) {
        if part >= self.content.count {
            self.finish_content(kept, events, out);
            self.content.count += 1;
            let output = group.place.unwrap_or_default();
            let place = part_place(&group.id, output, "content_index", self.content.shown);
            self.content.shown += 1;
            events.begin("response.content_part.added", out);
            out.extend_from_slice(&place);
            out.extend_from_slice(b",\"part\":{\"type\":\"reasoning_text\",\"text\":\"\"}");
            EventWriter::end(out);
            self.content.place = Some(place);
        }
        if let Some(place) = &self.content.place
            && !text.is_empty()
        {
            events.delta(event_writer::REASONING, place, out);
            text.write_inside(out);
            out.extend_from_slice(b"\"}\n\n");
        }
    }

    /// Ends the reasoning.
    pub(super) fn finish(
        &mut self,
        kept: FoldEntry<'_>,
        events: &mut EventWriter,
        out: &mut Vec<u8>,
    ) {
        self.finish_summary(kept, events, out);
        self.finish_content(kept, events, out);
    }

    fn finish_summary(&mut self, kept: FoldEntry<'_>, events: &mut EventWriter, out: &mut Vec<u8>) {
        let Some(place) = self.summary.place.take() else { return };
        let Some(Item::Reasoning(reasoning)) = kept.0.item(kept.1) else { return };
        let Some(text) = reasoning.summary.get(self.summary.count.saturating_sub(1)) else {
            return;
        };
        let text_done = "response.reasoning_summary_text.done";
        finish_text(text_done, &place, text, events, out);
        let part_done = "response.reasoning_summary_part.done";
        finish_part(part_done, "summary_text", &place, text, events, out);
    }

    fn finish_content(&mut self, kept: FoldEntry<'_>, events: &mut EventWriter, out: &mut Vec<u8>) {
        let Some(place) = self.content.place.take() else { return };
        let Some(Item::Reasoning(reasoning)) = kept.0.item(kept.1) else { return };
        let Some(text) = reasoning.content.get(self.content.count.saturating_sub(1)) else {
            return;
        };
        finish_text("response.reasoning_text.done", &place, text, events, out);
        finish_part("response.content_part.done", "reasoning_text", &place, text, events, out);
    }
}

fn finish_text(
    kind: &str,
    place: &[u8],
    text: &Str<'_>,
    events: &mut EventWriter,
    out: &mut Vec<u8>,
) {
    EventWriter::make_room(2 * text.size_hint(), out);
    events.begin(kind, out);
    out.extend_from_slice(place);
    out.extend_from_slice(b",\"text\":");
    text.write(out);
    EventWriter::end(out);
}

fn finish_part(
    kind: &str,
    part: &str,
    place: &[u8],
    text: &Str<'_>,
    events: &mut EventWriter,
    out: &mut Vec<u8>,
) {
    events.begin(kind, out);
    out.extend_from_slice(place);
    out.extend_from_slice(b",\"part\":{\"type\":");
    part.write(out);
    out.extend_from_slice(b",\"text\":");
    text.write(out);
    out.push(b'}');
    EventWriter::end(out);
}
