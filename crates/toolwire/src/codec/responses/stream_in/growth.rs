//! The stream: items as they grow.

use std::collections::btree_map::Entry;

use super::Reading;
use super::items::{
    Given, Live, LiveMessage, LivePart, LiveReasoning, Shape, Shown, Sort, Which, late, unsent,
};
use super::text_delta::Grows;
use crate::codec::EventSink;
use crate::codec::responses::content_in;
use crate::codec::responses::turns_in::CallArguments;
use crate::codec::responses::wire::Step;
use crate::ledger::Code;
use crate::model::{Event, Head, Item, Part, Piece};
use crate::wire::{Extra, Raw, ReadError, Str};

/// What an event says about an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Growth {
    Text,
    Refusal,
    Arguments,
    Summary,
    Reasoning,
    Citation,
    PartOpens,
    PartCloses,
    SummaryCloses,
    ItemOpens,
    ItemCloses,
    /// Nothing that other events do not say.
    Nothing,
}

impl Growth {
    /// The sort of item that grows so, if it is by a text.
    pub(super) fn sort(self) -> Option<Sort> {
        match self {
            Self::Text | Self::Refusal => Some(Sort::Message),
            Self::Arguments => Some(Sort::Call),
            Self::Summary | Self::Reasoning => Some(Sort::Reasoning),
            Self::Citation
            | Self::PartOpens
            | Self::PartCloses
            | Self::SummaryCloses
            | Self::ItemOpens
            | Self::ItemCloses
            | Self::Nothing => None,
        }
    }
}

/// A text of an event: a piece, or the whole of what came in pieces.
enum Words<'e> {
    Piece(Str<'e>),
    Whole(Str<'e>),
}

impl<'e> Words<'e> {
    fn of(delta: Option<Str<'e>>, whole: Option<Str<'e>>) -> Option<Self> {
        delta.map(Self::Piece).or(whole.map(Self::Whole))
    }

    /// What of it is to be handed on.
    fn unsent(&self, sent: &mut usize) -> Option<Str<'_>> {
        match self {
            Self::Piece(text) if text.is_empty() => None,
            Self::Piece(text) => {
                *sent += text.decoded_len();
                Some(text.borrowed())
            }
            Self::Whole(text) => unsent(text, sent),
        }
    }
}

impl Reading {
    /// Hands on what an event says about an item.
    pub(super) fn grow(
        &mut self,
        growth: Growth,
        step: Step<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let Step {
            at,
            kind: _,
            sequence_number: _,
            item_id,
            output_index,
            content_index,
            summary_index,
            delta,
            logprobs,
            obfuscation: _,
            text,
            refusal,
            arguments,
            input,
            name: _,
            part,
            item,
            annotation,
            annotation_index: _,
            extra,
        } = step;
        sink.ledger().only(&extra);
        let which = Which { id: item_id.as_ref(), place: output_index.map(|index| index.value) };
        let number = content_index.map(|index| index.value);
        match growth {
            Growth::Text => {
                let logprobs = logprobs.filter(|list| !content_in::is_empty_list(list));
                let words = Words::of(delta, text);
                let item = self.message(which);
                self.speak(Voice::Text, item, number, words, logprobs, sink);
            }
            Growth::Refusal => {
                let words = Words::of(delta, refusal);
                let item = self.message(which);
                self.speak(Voice::Refusal, item, number, words, None, sink);
            }
            Growth::Arguments => {
                let whole = arguments.map(CallArguments::into_text).or(input);
                if let Some(words) = Words::of(delta, whole) {
                    match self.items.find_or_last(which) {
                        Some(item) => self.argue(item, &words, sink),
                        None => {
                            self.items.add(which, Shape::Nameless);
                        }
                    }
                }
            }
            Growth::Summary => {
                let number = summary_index.map(|index| index.value);
                if let Some(words) = Words::of(delta, text) {
                    let item = self.reasoning(which, sink);
                    self.reason(Shown::Summary, item, number, &words, sink);
                }
            }
            Growth::Reasoning => {
                if let Some(words) = Words::of(delta, text) {
                    let item = self.reasoning(which, sink);
                    self.reason(Shown::Content, item, number, &words, sink);
                }
            }
            Growth::SummaryCloses => {
                let number = summary_index.map(|index| index.value);
                if let Some(text) = part.as_ref().and_then(part_text) {
                    let item = self.reasoning(which, sink);
                    self.reason(Shown::Summary, item, number, &Words::Whole(text), sink);
                }
            }
            Growth::Citation => {
                if let Some(citation) = annotation {
                    self.cite(which, number, citation, sink);
                }
            }
            Growth::PartOpens => {
                let part = part.ok_or(ReadError::missing(at, "part"))?;
                self.open_whole_part(which, number, &part, sink)?;
            }
            Growth::PartCloses => {
                let part = part.ok_or(ReadError::missing(at, "part"))?;
                self.close_whole_part(which, number, &part, sink)?;
            }
            Growth::ItemOpens => {
                let item = item.ok_or(ReadError::missing(at, "item"))?;
                self.open_item(which.place, &item, sink)?;
            }
            Growth::ItemCloses => {
                let item = item.ok_or(ReadError::missing(at, "item"))?;
                self.close_item(which.place, &item, sink)?;
            }
            Growth::Nothing => {}
        }
        Ok(())
    }

    /// An item grows by a piece of text.
    pub(super) fn grow_on(&mut self, grows: Grows, text: Str<'_>, sink: &mut dyn EventSink) {
        let Grows { growth, item, number } = grows;
        let words = Words::Piece(text);
        match growth {
            Growth::Text => self.speak(Voice::Text, item, number, Some(words), None, sink),
            Growth::Refusal => self.speak(Voice::Refusal, item, number, Some(words), None, sink),
            Growth::Arguments => self.argue(item, &words, sink),
            Growth::Summary => self.reason(Shown::Summary, item, number, &words, sink),
            Growth::Reasoning => self.reason(Shown::Content, item, number, &words, sink),
            Growth::Citation
            | Growth::PartOpens
            | Growth::PartCloses
            | Growth::SummaryCloses
            | Growth::ItemOpens
            | Growth::ItemCloses
            | Growth::Nothing => debug_assert!(false, "{growth:?} is no text"),
        }
    }

    /// A message says more.
    fn speak(
        &mut self,
        voice: Voice,
        item: usize,
        number: Option<u64>,
        words: Option<Words<'_>>,
        logprobs: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        let Some(part) = self.open_part(voice, item, number, Vec::new(), sink) else { return };
        let text = words.as_ref().and_then(|words| words.unsent(&mut part.sent));
        // The whole repeats what the pieces had.
        let repeated = part.logprobs && matches!(words, Some(Words::Whole(_)));
        let logprobs = logprobs.filter(|_| !repeated);
        part.grow(text, logprobs, sink);
    }

    fn cite(
        &mut self,
        which: Which<'_>,
        number: Option<u64>,
        citation: Raw<'_>,
        sink: &mut dyn EventSink,
    ) {
        let item = self.message(which);
        let Some(part) = self.open_part(Voice::Text, item, number, Vec::new(), sink) else {
            return;
        };
        if part.closed {
            sink.ledger().dropped(citation.pos(), Code::Citations);
            return;
        }
        part.cited += 1;
        sink.event(Event::Delta { block: part.block, piece: Piece::Citation(citation) });
    }

    /// A call's arguments grow.
    fn argue(&mut self, item: usize, words: &Words<'_>, sink: &mut dyn EventSink) {
        let Some(Live { shape: Shape::Call(call), done }) = self.items.get_mut(item) else {
            return;
        };
        call.whole |= matches!(words, Words::Whole(_));
        let Some(text) = words.unsent(&mut call.sent) else { return };
        if *done {
            late(&text, sink);
            return;
        }
        sink.event(Event::Delta { block: call.block, piece: Piece::Arguments(text) });
    }

    /// Reasoning grows.
    fn reason(
        &mut self,
        shown: Shown,
        item: usize,
        number: Option<u64>,
        words: &Words<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Some(Live { shape: Shape::Reasoning(reasoning), done }) = self.items.get_mut(item)
        else {
            return;
        };
        let (part, sent) = reasoning.texts(shown).find(number.unwrap_or_default());
        let Some(text) = words.unsent(sent) else { return };
        if *done {
            late(&text, sink);
            return;
        }
        let piece = shown.piece(part, text);
        sink.event(Event::Delta { block: reasoning.block, piece });
    }

    fn open_whole_part(
        &mut self,
        which: Which<'_>,
        number: Option<u64>,
        part: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let (voice, extra) = match content_in::part(&mut part.reader())? {
            Item::Text(text) => (Voice::Text, text.extra),
            Item::Refusal(refusal) => (Voice::Refusal, refusal.extra),
            // Reasoning opened with its item. What else there is comes whole
            // with its message.
            Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Reasoning(_)
            | Item::Call(_)
            | Item::Result(_)
            | Item::Hosted(_)
            | Item::Tools(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_) => return Ok(()),
        };
        let item = self.message(which);
        self.open_part(voice, item, number, extra, sink);
        Ok(())
    }

    fn close_whole_part(
        &mut self,
        which: Which<'_>,
        number: Option<u64>,
        part: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        if part.reader().tag("type")?.is_some_and(|kind| kind == "reasoning_text") {
            if let Some(text) = part_text(part) {
                let item = self.reasoning(which, sink);
                self.reason(Shown::Content, item, number, &Words::Whole(text), sink);
            }
            return Ok(());
        }
        let part = content_in::part(&mut part.reader())?;
        if let Item::Text(_) | Item::Refusal(_) = part {
            let item = self.message(which);
            self.close_part(item, number, part, sink);
        }
        Ok(())
    }

    /// The reasoning that an event is about, which begins if it has not.
    fn reasoning(&mut self, which: Which<'_>, sink: &mut dyn EventSink) -> usize {
        let known = self.items.find_or_last(which);
        match known.filter(|item| self.items.sort(*item) == Some(Sort::Reasoning)) {
            Some(item) => item,
            None => self.open_reasoning(which, sink),
        }
    }

    /// The message that an event is about, which begins if it has not.
    fn message(&mut self, which: Which<'_>) -> usize {
        let known = self.items.find_or_last(which);
        match known.filter(|item| self.items.sort(*item) == Some(Sort::Message)) {
            Some(item) => item,
            None => self.begin_message(which, LiveMessage::default()),
        }
    }

    /// A message begins. It is nothing to hand on before its first part.
    pub(super) fn begin_message(&mut self, which: Which<'_>, mut message: LiveMessage) -> usize {
        message.number = self.messages;
        self.messages += 1;
        self.items.add(which, Shape::Message(message))
    }

    /// The part of a message, which is opened if it has not been. `None` if
    /// the message is done without it.
    pub(super) fn open_part(
        &mut self,
        voice: Voice,
        item: usize,
        number: Option<u64>,
        extra: Vec<Extra<'_>>,
        sink: &mut dyn EventSink,
    ) -> Option<&mut LivePart> {
        let Live { shape: Shape::Message(message), done } = self.items.get_mut(item)? else {
            return None;
        };
        let last = message.parts.last_key_value().map(|(last, _)| *last);
        let number = number.or(last).unwrap_or_default();
        match message.parts.entry(number) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(_) if *done => None,
            Entry::Vacant(free) => {
                let block = self.blocks;
                self.blocks += 1;
                let given = Given::new(&extra);
                let mut all = std::mem::take(&mut message.extra);
                all.extend(extra.into_iter().map(Extra::into_owned));
                let phase = message.phase.as_deref().map(Str::plain);
                let part = Part { message: message.number, phase, extra: all };
                let head = match voice {
                    Voice::Text => Head::Text(part),
                    Voice::Refusal => Head::Refusal(part),
                };
                self.refused |= voice == Voice::Refusal;
                sink.event(Event::Open { block, head });
                Some(free.insert(LivePart::new(block, given)))
            }
        }
    }

    /// Reasoning begins.
    pub(super) fn open_reasoning(&mut self, which: Which<'_>, sink: &mut dyn EventSink) -> usize {
        let block = self.blocks;
        self.blocks += 1;
        let id = which.id.map(Str::borrowed);
        sink.event(Event::Open { block, head: Head::Reasoning { id } });
        self.items.add(which, Shape::Reasoning(LiveReasoning::new(block)))
    }
}

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Text,
    Refusal,
}

fn part_text<'p>(part: &'p Raw<'_>) -> Option<Str<'p>> {
    part.reader().tag("text").ok().flatten()
}
