//! A stream: events about an item.

use std::collections::btree_map::Entry;

use super::ResponsesStreamReader;
use super::items::{
    ItemKey, ItemKind, ItemState, ReasoningText, SentMembers, StreamItem, StreamMessage,
    StreamPart, StreamReasoning, report_late, unsent,
};
use super::text_delta::ItemTextDelta;
use crate::codec::EventSink;
use crate::codec::responses::content_in;
use crate::codec::responses::wire::OutputItemEvent;
use crate::ledger::Code;
use crate::model::{Arguments, Event, Head, Item, Part, Piece};
use crate::wire::{Extra, Raw, ReadError, Str};

/// What an event says about an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum ItemEvent {
    Text(TextKind),
    Citation,
    PartOpened,
    PartClosed,
    SummaryClosed,
    ItemOpened,
    ItemClosed,
    /// Nothing that other events do not say as well.
    Nothing,
}

impl ItemEvent {
    /// What an event of this name says, if it is about an item.
    pub(super) fn of(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".delta").or(name.strip_suffix(".done"));
        if let Some(kind) = stem.and_then(TextKind::of_event) {
            return Some(Self::Text(kind));
        }
        Some(match name {
            "response.output_text.annotation.added" => Self::Citation,
            "response.content_part.added" => Self::PartOpened,
            "response.content_part.done" => Self::PartClosed,
            "response.reasoning_summary_part.added" => Self::Nothing,
            "response.reasoning_summary_part.done" => Self::SummaryClosed,
            "response.output_item.added" => Self::ItemOpened,
            "response.output_item.done" => Self::ItemClosed,
            _other => return None,
        })
    }
}

/// What text an event adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Part(PartKind),
    Arguments,
    Reasoning(ReasoningText),
}

impl TextKind {
    /// The kind of text in an event of this name, which has come without `.delta`
    /// or `.done` at its end.
    pub(super) fn of_event(name: &str) -> Option<Self> {
        match name {
            "response.output_text" => Some(Self::Part(PartKind::Text)),
            "response.refusal" => Some(Self::Part(PartKind::Refusal)),
            "response.function_call_arguments" | "response.custom_tool_call_input" => {
                Some(Self::Arguments)
            }
            "response.reasoning_summary_text" => Some(Self::Reasoning(ReasoningText::Summary)),
            // Open Responses has the shorter name.
            "response.reasoning_text" | "response.reasoning" => {
                Some(Self::Reasoning(ReasoningText::Content))
            }
            _other => None,
        }
    }

    /// The kind of item that has such text.
    pub(super) fn item_kind(self) -> ItemKind {
        match self {
            Self::Part(_) => ItemKind::Message,
            Self::Arguments => ItemKind::Call,
            Self::Reasoning(_) => ItemKind::Reasoning,
        }
    }
}

/// The text of an event: a piece, or all of what came in pieces.
enum EventText<'e> {
    Piece(Str<'e>),
    Whole(Str<'e>),
}

impl<'e> EventText<'e> {
    fn of(delta: Option<Str<'e>>, whole: Option<Str<'e>>) -> Option<Self> {
        delta.map(Self::Piece).or(whole.map(Self::Whole))
    }

    /// The part of it that has not been passed on.
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

impl ResponsesStreamReader {
    /// Passes on what an event says about an item.
    pub(super) fn item_event(
        &mut self,
        event: ItemEvent,
        body: OutputItemEvent<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let OutputItemEvent {
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
        } = body;
        sink.ledger().only(&extra);
        self.release_before(item.as_ref(), sink);
        let key = ItemKey { id: item_id.as_ref(), place: output_index.map(|index| index.value) };
        let number = content_index.map(|index| index.value);
        let summary_number = summary_index.map(|index| index.value);
        match event {
            ItemEvent::Text(TextKind::Part(part)) => {
                let whole = if part == PartKind::Refusal { refusal } else { text };
                let logprobs = logprobs.filter(|list| part == PartKind::Text && !list.is_empty());
                let item = self.message(key);
                self.push_text(part, item, number, EventText::of(delta, whole), logprobs, sink);
            }
            ItemEvent::Text(TextKind::Arguments) => {
                let whole = arguments.map(Arguments::into_text).or(input);
                if let Some(event_text) = EventText::of(delta, whole) {
                    match self.items.find_or_last(key) {
                        Some(item) => self.push_arguments(item, &event_text, sink),
                        None => {
                            self.items.add(key, ItemState::Unnamed);
                        }
                    }
                }
            }
            ItemEvent::Text(TextKind::Reasoning(field)) => {
                let is_summary = field == ReasoningText::Summary;
                let number = if is_summary { summary_number } else { number };
                if let Some(event_text) = EventText::of(delta, text) {
                    let item = self.reasoning(key, sink);
                    self.push_reasoning(field, item, number, &event_text, sink);
                }
            }
            ItemEvent::SummaryClosed => {
                if let Some(part) = part {
                    let field = ReasoningText::Summary;
                    self.close_reasoning_text(field, key, summary_number, &part, sink);
                }
            }
            ItemEvent::Citation => {
                if let Some(citation) = annotation {
                    self.push_citation(key, number, citation, sink);
                }
            }
            ItemEvent::PartOpened => {
                let part = part.ok_or(ReadError::missing(at, "part"))?;
                self.part_opened(key, number, &part, sink)?;
            }
            ItemEvent::PartClosed => {
                let part = part.ok_or(ReadError::missing(at, "part"))?;
                self.part_closed(key, number, &part, sink)?;
            }
            ItemEvent::ItemOpened => {
                let item = item.ok_or(ReadError::missing(at, "item"))?;
                self.open_item(key.place, &item, sink)?;
            }
            ItemEvent::ItemClosed => {
                let item = item.ok_or(ReadError::missing(at, "item"))?;
                self.close_item(key.place, &item, sink)?;
            }
            ItemEvent::Nothing => {}
        }
        Ok(())
    }

    /// Adds a piece of text to an item.
    pub(super) fn push_text_delta(
        &mut self,
        delta: ItemTextDelta,
        text: Str<'_>,
        sink: &mut dyn EventSink,
    ) {
        let ItemTextDelta { kind, item, number } = delta;
        let event_text = EventText::Piece(text);
        match kind {
            TextKind::Part(part) => {
                self.push_text(part, item, number, Some(event_text), None, sink);
            }
            TextKind::Arguments => self.push_arguments(item, &event_text, sink),
            TextKind::Reasoning(field) => {
                self.push_reasoning(field, item, number, &event_text, sink);
            }
        }
    }

    /// Adds text to a message.
    fn push_text(
        &mut self,
        kind: PartKind,
        item: usize,
        number: Option<u64>,
        event_text: Option<EventText<'_>>,
        logprobs: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        let Some(part) = self.open_part(kind, item, number, Vec::new(), sink) else { return };
        let text = event_text.as_ref().and_then(|event_text| event_text.unsent(&mut part.sent));
        // The whole text repeats the log probabilities of its pieces.
        let repeated = part.logprobs && matches!(event_text, Some(EventText::Whole(_)));
        let logprobs = logprobs.filter(|_| !repeated);
        part.push(text, logprobs, sink);
    }

    fn push_citation(
        &mut self,
        key: ItemKey<'_>,
        number: Option<u64>,
        citation: Raw<'_>,
        sink: &mut dyn EventSink,
    ) {
        let item = self.message(key);
        let Some(part) = self.open_part(PartKind::Text, item, number, Vec::new(), sink) else {
            return;
        };
        if part.closed {
            sink.ledger().dropped(citation.pos(), Code::Citations);
            return;
        }
        part.cited += 1;
        sink.event(Event::Delta { block: part.block, piece: Piece::Citation(citation) });
    }

    /// Adds to the arguments of a call.
    fn push_arguments(
        &mut self,
        item: usize,
        event_text: &EventText<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Some(StreamItem { state: ItemState::Call(call), done }) = self.items.get_mut(item)
        else {
            return;
        };
        call.whole |= matches!(event_text, EventText::Whole(_));
        let Some(text) = event_text.unsent(&mut call.sent) else { return };
        if *done {
            report_late(&text, sink);
            return;
        }
        sink.event(Event::Delta { block: call.block, piece: Piece::Arguments(text) });
    }

    /// Adds to the reasoning.
    fn push_reasoning(
        &mut self,
        field: ReasoningText,
        item: usize,
        number: Option<u64>,
        event_text: &EventText<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Some(StreamItem { state: ItemState::Reasoning(reasoning), done }) =
            self.items.get_mut(item)
        else {
            return;
        };
        let (part, sent) = reasoning.texts(field).find(number.unwrap_or_default());
        let Some(text) = event_text.unsent(sent) else { return };
        if *done {
            report_late(&text, sink);
            return;
        }
        let piece = field.piece(part, text);
        sink.event(Event::Delta { block: reasoning.block, piece });
    }

    fn part_opened(
        &mut self,
        key: ItemKey<'_>,
        number: Option<u64>,
        part: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        // Reasoning was opened with its item. Everything but texts comes whole
        // with its message.
        let part = content_in::part(&mut part.reader())?;
        let (kind, extra) = if let Item::Text(text) = part {
            (PartKind::Text, text.extra)
        } else if let Item::Refusal(refusal) = part {
            (PartKind::Refusal, refusal.extra)
        } else {
            return Ok(());
        };
        let item = self.message(key);
        self.open_part(kind, item, number, extra, sink);
        Ok(())
    }

    fn part_closed(
        &mut self,
        key: ItemKey<'_>,
        number: Option<u64>,
        part: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        if part.reader().tag("type")?.is_some_and(|kind| kind == "reasoning_text") {
            self.close_reasoning_text(ReasoningText::Content, key, number, part, sink);
            return Ok(());
        }
        let part = content_in::part(&mut part.reader())?;
        if let Item::Text(_) | Item::Refusal(_) = part {
            let item = self.message(key);
            self.close_part(item, number, part, sink);
        }
        Ok(())
    }

    /// Adds what is missing of a text of the reasoning that has come whole.
    fn close_reasoning_text(
        &mut self,
        field: ReasoningText,
        key: ItemKey<'_>,
        number: Option<u64>,
        part: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) {
        if let Ok(Some(text)) = part.reader().tag("text") {
            let item = self.reasoning(key, sink);
            self.push_reasoning(field, item, number, &EventText::Whole(text), sink);
        }
    }

    /// The reasoning that an event is about. It is opened if it is not known.
    fn reasoning(&mut self, key: ItemKey<'_>, sink: &mut dyn EventSink) -> usize {
        let known = self.items.find_or_last(key);
        match known.filter(|item| self.items.kind(*item) == Some(ItemKind::Reasoning)) {
            Some(item) => item,
            None => self.open_reasoning(key, sink),
        }
    }

    /// The message that an event is about. It is begun if it is not known.
    fn message(&mut self, key: ItemKey<'_>) -> usize {
        let known = self.items.find_or_last(key);
        match known.filter(|item| self.items.kind(*item) == Some(ItemKind::Message)) {
            Some(item) => item,
            None => self.begin_message(key, StreamMessage::default()),
        }
    }

    /// Begins a message. Nothing is passed on before its first part.
    pub(super) fn begin_message(&mut self, key: ItemKey<'_>, mut message: StreamMessage) -> usize {
        message.number = self.messages;
        self.messages += 1;
        self.items.add(key, ItemState::Message(message))
    }

    /// A part of a message. It is opened if it is not known. `None` if the
    /// message was done without it.
    pub(super) fn open_part(
        &mut self,
        kind: PartKind,
        item: usize,
        number: Option<u64>,
        extra: Vec<Extra<'_>>,
        sink: &mut dyn EventSink,
    ) -> Option<&mut StreamPart> {
        let StreamItem { state: ItemState::Message(message), done } = self.items.get_mut(item)?
        else {
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
                let sent_members = SentMembers::new(&extra);
                let mut all = std::mem::take(&mut message.extra);
                all.extend(extra.into_iter().map(Extra::into_owned));
                let phase = message.phase.as_deref().map(Str::plain);
                let part = Part { message: message.number, phase, extra: all };
                let head = match kind {
                    PartKind::Text => Head::Text(part),
                    PartKind::Refusal => Head::Refusal(part),
                };
                self.refused |= kind == PartKind::Refusal;
                sink.event(Event::Open { block, head });
                Some(free.insert(StreamPart::new(block, sent_members)))
            }
        }
    }

    /// Opens reasoning.
    pub(super) fn open_reasoning(&mut self, key: ItemKey<'_>, sink: &mut dyn EventSink) -> usize {
        let block = self.blocks;
        self.blocks += 1;
        let id = key.id.map(Str::borrowed);
        sink.event(Event::Open { block, head: Head::Reasoning { id } });
        self.items.add(key, ItemState::Reasoning(StreamReasoning::new(block)))
    }
}

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    Text,
    Refusal,
}
