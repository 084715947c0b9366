//! A stream: its reasoning.

use super::ResponsesStreamWriter;
use super::event_writer::{self, EventWriter, part_place};
use super::items::{GroupKind, ItemGroup};
use crate::fold::Fold;
use crate::ledger::Ledger;
use crate::model::{Item, Reasoning};
use crate::wire::{Object, Str};

/// Reasoning while it is written: the texts of its summary and its own.
#[derive(Debug)]
pub(super) struct ReasoningWriter {
    pub(super) summary: ReasoningTexts,
    pub(super) content: ReasoningTexts,
}

/// The texts of one kind.
#[derive(Debug)]
pub(super) struct ReasoningTexts {
    words: &'static Words,
    /// How many there are.
    count: usize,
    /// How many the client has been told about.
    shown: u64,
    /// Where the events of the last one belong, while it is open.
    place: Option<Vec<u8>>,
}

/// What Responses calls texts of a kind and the events about them.
#[derive(Debug)]
struct Words {
    texts: for<'r, 'a> fn(&'r Reasoning<'a>) -> &'r [Str<'a>],
    /// Whether a client is told about texts that are empty.
    shows_empty: bool,
    part: &'static str,
    index: &'static str,
    part_added: &'static str,
    delta: &'static str,
    text_done: &'static str,
    part_done: &'static str,
}

/// A whole answer has no empty texts in its summary either.
static SUMMARY: Words = Words {
    texts: |reasoning| &reasoning.summary,
    shows_empty: false,
    part: "summary_text",
    index: "summary_index",
    part_added: "response.reasoning_summary_part.added",
    delta: event_writer::SUMMARY,
    text_done: "response.reasoning_summary_text.done",
    part_done: "response.reasoning_summary_part.done",
};

static CONTENT: Words = Words {
    texts: |reasoning| &reasoning.content,
    shows_empty: true,
    part: "reasoning_text",
    index: "content_index",
    part_added: "response.content_part.added",
    delta: event_writer::REASONING,
    text_done: "response.reasoning_text.done",
    part_done: "response.content_part.done",
};

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
        if let Some(group) = self.groups.get(number) {
            let mut item = Object::new(out);
            item.put("type", "reasoning");
            item.put("id", &group.id);
            item.array("summary");
        }
        EventWriter::end(out);
        let texts = |words| ReasoningTexts { words, count: 0, shown: 0, place: None };
        (number, ReasoningWriter { summary: texts(&SUMMARY), content: texts(&CONTENT) })
    }
}

impl ReasoningWriter {
    /// Ends the reasoning.
    pub(super) fn finish(
        &mut self,
        kept: FoldEntry<'_>,
        events: &mut EventWriter,
        out: &mut Vec<u8>,
    ) {
        self.summary.finish(kept, events, out);
        self.content.finish(kept, events, out);
    }
}

impl ReasoningTexts {
    /// Writes a piece of the text with that number.
    pub(super) fn push(
        &mut self,
        part: usize,
        text: &Str<'_>,
        kept: FoldEntry<'_>,
        group: Option<&ItemGroup>,
        events: &mut EventWriter,
        out: &mut Vec<u8>,
    ) {
        let Some(group) = group else { return };
        if part >= self.count {
            self.finish(kept, events, out);
            self.count += 1;
        }
        let Self { words, count: _, shown, place } = self;
        if text.is_empty() && !words.shows_empty {
            return;
        }
        let place = place.get_or_insert_with(|| {
            let output = group.place.unwrap_or_default();
            let place = part_place(&group.id, output, words.index, *shown);
            *shown += 1;
            events.write(words.part_added, &place, out, |event| {
                write_part(words, &Str::plain(""), event.object("part"));
            });
            place
        });
        events.text_delta(words.delta, place, text, out);
    }

    /// Ends the text that is open.
    fn finish(&mut self, kept: FoldEntry<'_>, events: &mut EventWriter, out: &mut Vec<u8>) {
        let Some(place) = self.place.take() else { return };
        let (words, last) = (self.words, self.count.saturating_sub(1));
        let Some(Item::Reasoning(reasoning)) = kept.0.item(kept.1) else { return };
        let Some(text) = (words.texts)(&reasoning).get(last) else { return };
        EventWriter::make_room(2 * text.size_hint(), out);
        events.write(words.text_done, &place, out, |event| event.put("text", text));
        events.write(words.part_done, &place, out, |event| {
            write_part(words, text, event.object("part"));
        });
    }
}

fn write_part(words: &Words, text: &Str<'_>, mut part: Object<'_>) {
    part.put("type", words.part);
    part.put("text", text);
}
