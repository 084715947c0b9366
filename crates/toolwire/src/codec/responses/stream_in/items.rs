//! What has been read of each item of a stream.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{Event, Piece, Tail};
use crate::wire::{Extra, Raw, Str};

/// The items of a stream so far, in the order of their first events.
///
/// Events name their item twice, by its id and by its place in the output.
/// Some relays rewrite the ids in some of the events, so either is enough.
#[derive(Debug, Default)]
pub(super) struct StreamItems {
    list: Vec<StreamItem>,
    by_id: BTreeMap<String, usize>,
    by_place: BTreeMap<u64, usize>,
    by_call: BTreeMap<String, usize>,
}

impl StreamItems {
    /// The item that an event is about.
    pub(super) fn find(&self, key: ItemKey<'_>) -> Option<usize> {
        let by_id = key.id.and_then(|id| self.find_id(id));
        by_id.or_else(|| key.place.and_then(|place| self.find_place(place)))
    }

    /// Like [`StreamItems::find`], but an event without a place means the last
    /// item.
    pub(super) fn find_or_last(&self, key: ItemKey<'_>) -> Option<usize> {
        match key.place {
            None => self.find(key).or(self.list.len().checked_sub(1)),
            Some(_) => self.find(key),
        }
    }

    /// The item with that id.
    pub(super) fn find_id(&self, id: &Str<'_>) -> Option<usize> {
        self.by_id.get(id.decode().as_ref()).copied()
    }

    /// The item at that place of the output.
    pub(super) fn find_place(&self, place: u64) -> Option<usize> {
        self.by_place.get(&place).copied()
    }

    /// Remembers an item. An id or place that is taken keeps its first owner.
    pub(super) fn add(&mut self, key: ItemKey<'_>, state: ItemState) -> usize {
        let ItemKey { id, place } = key;
        let number = self.list.len();
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            self.by_id.entry(id.decode().into_owned()).or_insert(number);
        }
        if let Some(place) = place {
            self.by_place.entry(place).or_insert(number);
        }
        self.list.push(StreamItem { state, done: false });
        number
    }

    /// Remembers the id that a call's result will have.
    pub(super) fn name_call(&mut self, call_id: &Str<'_>, number: usize) {
        self.by_call.entry(call_id.decode().into_owned()).or_insert(number);
    }

    /// The call with that call id.
    pub(super) fn find_call(&self, call_id: &Str<'_>) -> Option<usize> {
        self.by_call.get(call_id.decode().as_ref()).copied()
    }

    /// What an item is.
    pub(super) fn kind(&self, number: usize) -> Option<ItemKind> {
        self.list.get(number).map(|item| item.state.kind())
    }

    /// Whether all of an item has been passed on.
    pub(super) fn is_done(&self, number: usize) -> bool {
        self.list.get(number).is_some_and(|item| item.done)
    }

    /// Whether an item is a call whose name is not known yet.
    pub(super) fn is_unnamed(&self, number: usize) -> bool {
        let item = self.list.get(number);
        item.is_some_and(|item| matches!(item.state, ItemState::Unnamed))
    }

    /// Marks an item as passed on.
    pub(super) fn finish(&mut self, number: usize) {
        if let Some(item) = self.list.get_mut(number) {
            item.done = true;
        }
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut StreamItem> {
        self.list.get_mut(number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &StreamItem> {
        self.list.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut StreamItem> {
        self.list.iter_mut()
    }
}

/// Which item an event is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemKey<'e> {
    /// The item's id.
    pub(super) id: Option<&'e Str<'e>>,
    /// Its place in the output.
    pub(super) place: Option<u64>,
}

/// One item.
#[derive(Debug)]
pub(super) struct StreamItem {
    pub(super) state: ItemState,
    /// Whether all of it has been passed on.
    pub(super) done: bool,
}

impl StreamItem {
    /// Closes its open blocks.
    pub(super) fn close(&mut self, sink: &mut dyn EventSink) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        let mut close = |block| sink.event(Event::Close { block, tail: Tail::default() });
        match &mut self.state {
            ItemState::Call(call) => close(call.block),
            ItemState::Reasoning(reasoning) => close(reasoning.block),
            ItemState::Message(message) => {
                for part in message.parts.values_mut().filter(|part| !part.closed) {
                    part.closed = true;
                    close(part.block);
                }
            }
            ItemState::Unnamed | ItemState::Whole => {}
        }
    }
}

/// What is known of an item.
#[derive(Debug)]
pub(super) enum ItemState {
    Call(StreamCall),
    /// A call whose arguments came before its name. They are repeated with it.
    Unnamed,
    Reasoning(StreamReasoning),
    Message(StreamMessage),
    /// Something that is passed on in one piece when it is done.
    Whole,
}

impl ItemState {
    pub(super) fn kind(&self) -> ItemKind {
        match self {
            Self::Call(_) | Self::Unnamed => ItemKind::Call,
            Self::Reasoning(_) => ItemKind::Reasoning,
            Self::Message(_) => ItemKind::Message,
            Self::Whole => ItemKind::Whole,
        }
    }
}

/// What kind of item it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemKind {
    Call,
    Reasoning,
    Message,
    Whole,
}

#[derive(Debug)]
pub(super) struct StreamCall {
    pub(super) block: usize,
    /// How many bytes of the arguments have been passed on.
    pub(super) sent: usize,
    /// Whether the arguments are known to be complete.
    pub(super) whole: bool,
    pub(super) sent_members: SentMembers,
}

#[derive(Debug)]
pub(super) struct StreamReasoning {
    pub(super) block: usize,
    pub(super) summary: SentTexts,
    pub(super) content: SentTexts,
}

impl StreamReasoning {
    pub(super) fn new(block: usize) -> Self {
        Self { block, summary: SentTexts::default(), content: SentTexts::default() }
    }

    pub(super) fn texts(&mut self, field: ReasoningText) -> &mut SentTexts {
        match field {
            ReasoningText::Summary => &mut self.summary,
            ReasoningText::Content => &mut self.content,
        }
    }
}

/// Which texts of reasoning are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningText {
    Summary,
    Content,
}

impl ReasoningText {
    pub(super) fn piece(self, part: usize, text: Str<'_>) -> Piece<'_> {
        match self {
            Self::Summary => Piece::Summary { part, text },
            Self::Content => Piece::Reasoning { part, text },
        }
    }
}

/// How much of the texts of reasoning has been passed on.
#[derive(Debug, Default)]
pub(super) struct SentTexts {
    /// By the vendor's number of a text: our number, and how many bytes of it
    /// have been passed on.
    sent: BTreeMap<u64, (usize, usize)>,
    latest: usize,
}

impl SentTexts {
    /// A text by the vendor's number: our number, which has no gaps and never
    /// decreases, and how many bytes of it have been passed on.
    pub(super) fn find(&mut self, number: u64) -> (usize, &mut usize) {
        let next = self.sent.len();
        let (part, sent) = self.sent.entry(number).or_insert((next, 0));
        self.latest = self.latest.max(*part);
        (self.latest, sent)
    }

    /// Whether a text with that number is known.
    pub(super) fn has(&self, number: u64) -> bool {
        self.sent.contains_key(&number)
    }
}

#[derive(Debug, Default)]
pub(super) struct StreamMessage {
    /// Which message of the answer it is.
    pub(super) number: usize,
    pub(super) phase: Option<String>,
    /// Members of the message, until they are passed on with its first part.
    pub(super) extra: Vec<Extra<'static>>,
    pub(super) sent_members: SentMembers,
    /// The parts by their number in the message.
    pub(super) parts: BTreeMap<u64, StreamPart>,
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct StreamPart {
    pub(super) block: usize,
    /// How many bytes have been passed on.
    pub(super) sent: usize,
    /// How many citations have been.
    pub(super) cited: usize,
    /// Whether log probabilities have been.
    pub(super) logprobs: bool,
    pub(super) sent_members: SentMembers,
    pub(super) closed: bool,
}

impl StreamPart {
    pub(super) fn new(block: usize, sent_members: SentMembers) -> Self {
        Self { block, sent: 0, cited: 0, logprobs: false, sent_members, closed: false }
    }

    /// Passes on more of the part.
    pub(super) fn push(
        &mut self,
        text: Option<Str<'_>>,
        logprobs: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        if text.is_none() && logprobs.is_none() {
            return;
        }
        let text = text.unwrap_or(Str::plain(""));
        if self.closed {
            return report_late(&text, sink);
        }
        self.logprobs |= logprobs.is_some();
        sink.event(Event::Delta { block: self.block, piece: Piece::Text { text, logprobs } });
    }
}

/// The names of other members that were passed on with the beginning, so that
/// the end only adds those that are new.
#[derive(Debug, Default)]
pub(super) struct SentMembers(BTreeSet<String>);

impl SentMembers {
    pub(super) fn new(extra: &[Extra<'_>]) -> Self {
        Self(extra.iter().map(|field| field.key.decode().into_owned()).collect())
    }

    /// The members that have not been passed on.
    pub(super) fn rest<'e>(&self, mut extra: Vec<Extra<'e>>) -> Vec<Extra<'e>> {
        extra.retain(|field| !self.0.contains(field.key.decode().as_ref()));
        extra
    }
}

/// The end of a text that has not been passed on, if there is any.
pub(super) fn unsent<'t>(text: &'t Str<'_>, sent: &mut usize) -> Option<Str<'t>> {
    let rest = text.after(*sent).filter(|rest| !rest.is_empty())?;
    *sent += rest.decoded_len();
    Some(rest)
}

/// Reports text that came after its item was done.
pub(super) fn report_late(text: &Str<'_>, sink: &mut dyn EventSink) {
    let detail = "It came after its item was done.";
    sink.ledger().dropped(text.pos(), Code::UnknownItem).detail(detail);
}
