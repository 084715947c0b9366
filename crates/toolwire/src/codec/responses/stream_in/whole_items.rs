//! A stream: items that come whole, and what had not come of them before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::ResponsesStreamReader;
use super::held_call::HeldCall;
use super::item_events::PartKind;
use super::items::{
    ItemKey, ItemKind, ItemState, ReasoningText, SentMembers, StreamCall, StreamItem, StreamItems,
    StreamMessage, unsent,
};
use crate::codec::EventSink;
use crate::codec::responses::output_in::drop_bookkeeping;
use crate::codec::responses::turns_in::item_alone;
use crate::ledger::Code;
use crate::model::{
    Arguments, Call, CallHead, Event, Head, Item, Piece, Reasoning, Refusal, Role, Tail, Text, Turn,
};
use crate::wire::{Extra, Raw, Read, ReadError, Str};

impl ResponsesStreamReader {
    /// Opens an item.
    pub(super) fn open_item(
        &mut self,
        place: Option<u64>,
        item: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let id = item.reader().tag("id")?;
        let key = ItemKey { id: id.as_ref(), place };
        let known = match &id {
            Some(id) => self.items.find_id(id),
            None => self.items.find(key),
        };
        if known.is_some() {
            return Ok(());
        }
        let kind = item.reader().tag("type")?;
        match kind.as_ref().map(Str::decode).as_deref() {
            Some("reasoning") => {
                self.open_reasoning(key, sink);
            }
            Some("message") => {
                let turn = item_alone(&mut item.reader())?;
                self.open_message(key, &turn);
            }
            Some("function_call" | "custom_tool_call") => {
                if item.reader().tag("name")?.is_none() {
                    self.items.add(key, ItemState::Unnamed);
                    return Ok(());
                }
                let turn = item_alone(&mut item.reader())?;
                match turn.items.as_slice() {
                    [Item::Call(call)] => self.open_call(key, call, sink),
                    _kept_as_it_came => self.items.add(key, ItemState::Whole),
                };
            }
            Some(_) | None => {
                self.items.add(key, ItemState::Whole);
            }
        }
        Ok(())
    }

    /// Closes an item.
    pub(super) fn close_item(
        &mut self,
        place: Option<u64>,
        item: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let id = item.reader().tag("id")?;
        let turn = item_alone(&mut item.reader())?;
        let key = ItemKey { id: id.as_ref(), place };
        // An item that is done cannot be the one at this place.
        let at_place = |items: &StreamItems| {
            let found = items.find_place(place?)?;
            (!items.is_done(found) && items.kind(found) == Some(kind(&turn))).then_some(found)
        };
        let known = self.known_item(&turn, id.as_ref()).or_else(|| at_place(&self.items));
        if !known.is_some_and(|known| self.items.is_done(known))
            && let Some(held) = HeldCall::new(&turn, item)
        {
            report_status(&turn, sink);
            let item = known.unwrap_or_else(|| self.items.add(key, ItemState::Whole));
            self.items.finish(item);
            self.held = Some(held);
            return Ok(());
        }
        self.finish_item(known, key, turn, sink);
        Ok(())
    }

    /// Passes on what of a whole answer has not come before.
    pub(super) fn push_rest(&mut self, turns: Vec<Turn<'_>>, sink: &mut dyn EventSink) {
        let ids: Vec<_> = turns.iter().map(own_id).collect();
        let claims: Vec<_> =
            turns.iter().zip(&ids).map(|(turn, id)| self.known_item(turn, id.as_ref())).collect();
        // If ids were rewritten, items of one kind are still in the same order.
        let taken: BTreeSet<usize> = claims.iter().flatten().copied().collect();
        let mut free: BTreeMap<ItemKind, VecDeque<usize>> = BTreeMap::new();
        for (number, item) in self.items.iter().enumerate() {
            if !taken.contains(&number) {
                free.entry(item.state.kind()).or_default().push_back(number);
            }
        }
        for ((turn, claim), place) in turns.into_iter().zip(claims).zip(0u64..) {
            let kind = kind(&turn);
            let mut next = || free.get_mut(&kind).and_then(VecDeque::pop_front);
            let known = match (kind, claim) {
                (_sort, Some(claim)) => Some(claim),
                // Call ids are never rewritten.
                (ItemKind::Call, None) if has_call_id(&turn) => self.unnamed(place),
                (ItemKind::Call, None) => next(),
                (ItemKind::Reasoning | ItemKind::Message | ItemKind::Whole, None) => next(),
            };
            let id = own_id(&turn).map(Str::into_owned);
            self.finish_item(known, ItemKey { id: id.as_ref(), place: None }, turn, sink);
        }
    }

    /// The item that a whole item was known as before.
    fn known_item(&self, turn: &Turn<'_>, id: Option<&Str<'_>>) -> Option<usize> {
        let by_call = || match turn.items.as_slice() {
            [Item::Call(call)] => self.items.find_call(call.id.as_ref()?),
            _no_call => None,
        };
        id.and_then(|id| self.items.find_id(id)).or_else(by_call)
    }

    fn unnamed(&self, place: u64) -> Option<usize> {
        let found = self.items.find_place(place)?;
        self.items.is_unnamed(found).then_some(found)
    }

    /// Passes on the rest of an item and closes it.
    fn finish_item(
        &mut self,
        known: Option<usize>,
        key: ItemKey<'_>,
        mut turn: Turn<'_>,
        sink: &mut dyn EventSink,
    ) {
        if known.is_some_and(|known| self.items.is_done(known)) {
            return;
        }
        let kind = kind(&turn);
        let known = known.filter(|known| self.items.kind(*known) == Some(kind));
        drop_bookkeeping(&mut turn);
        // What comes whole still has its status.
        if kind != ItemKind::Whole {
            report_status(&turn, sink);
        }
        match kind {
            ItemKind::Call => {
                if let Some(Item::Call(call)) = turn.items.into_iter().next() {
                    self.finish_call(known, key, call, sink);
                }
            }
            ItemKind::Reasoning => {
                if let Some(Item::Reasoning(reasoning)) = turn.items.into_iter().next() {
                    let item = known.unwrap_or_else(|| self.open_reasoning(key, sink));
                    self.finish_reasoning(item, reasoning, sink);
                }
            }
            ItemKind::Message => {
                let item = known.unwrap_or_else(|| self.open_message(key, &turn));
                self.finish_message(item, turn, sink);
            }
            ItemKind::Whole => {
                let item = known.unwrap_or_else(|| self.items.add(key, ItemState::Whole));
                self.called |= turn.items.iter().any(|item| matches!(item, Item::Call(_)));
                sink.event(Event::Whole(turn));
                self.items.finish(item);
            }
        }
    }

    fn open_call(&mut self, key: ItemKey<'_>, call: &Call<'_>, sink: &mut dyn EventSink) -> usize {
        let item = self.items.add(key, ItemState::Unnamed);
        self.name_call(item, call, sink);
        item
    }

    fn name_call(&mut self, item: usize, call: &Call<'_>, sink: &mut dyn EventSink) {
        if let Some(id) = &call.id {
            self.items.name_call(id, item);
        }
        let block = self.blocks;
        self.blocks += 1;
        self.called = true;
        let mut head = CallHead::of(call);
        head.namespace = head.namespace.filter(|space| *space != call.name);
        sink.event(Event::Open { block, head: Head::Call(head) });
        if let Some(open) = self.items.get_mut(item) {
            let sent_members = SentMembers::new(&call.extra);
            open.state = ItemState::Call(StreamCall { block, sent: 0, whole: false, sent_members });
        }
    }

    fn finish_call(
        &mut self,
        known: Option<usize>,
        key: ItemKey<'_>,
        call: Call<'_>,
        sink: &mut dyn EventSink,
    ) {
        let item = match known {
            Some(item) if self.items.is_unnamed(item) => {
                self.name_call(item, &call, sink);
                item
            }
            Some(item) => item,
            None => self.open_call(key, &call, sink),
        };
        let Some(StreamItem { state: ItemState::Call(open), done }) = self.items.get_mut(item)
        else {
            return;
        };
        let text = call.arguments.into_text();
        if let Some(text) = unsent(&text, &mut open.sent) {
            sink.event(Event::Delta { block: open.block, piece: Piece::Arguments(text) });
        }
        *done = true;
        let tail = Tail { sealed: None, extra: open.sent_members.rest(call.extra) };
        sink.event(Event::Close { block: open.block, tail });
    }

    fn finish_reasoning(
        &mut self,
        item: usize,
        reasoning: Reasoning<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Reasoning { at: _, summary, content, sealed, place: _, extra } = reasoning;
        let Some(StreamItem { state: ItemState::Reasoning(open), done }) = self.items.get_mut(item)
        else {
            return;
        };
        let block = open.block;
        for (field, texts) in [(ReasoningText::Summary, summary), (ReasoningText::Content, content)]
        {
            for (number, text) in (0u64..).zip(&texts) {
                let fresh = !open.texts(field).has(number);
                let (part, sent) = open.texts(field).find(number);
                // An empty text still counts as one of several.
                let rest = unsent(text, sent).or(fresh.then(|| text.borrowed()));
                if let Some(text) = rest {
                    sink.event(Event::Delta { block, piece: field.piece(part, text) });
                }
            }
        }
        *done = true;
        sink.event(Event::Close { block, tail: Tail { sealed, extra } });
    }

    fn open_message(&mut self, key: ItemKey<'_>, turn: &Turn<'_>) -> usize {
        let phase = turn.phase.as_ref().map(|phase| phase.decode().into_owned());
        let extra: Vec<_> = turn.extra.iter().cloned().map(Extra::into_owned).collect();
        let sent_members = SentMembers::new(&extra);
        let message =
            StreamMessage { number: 0, phase, extra, sent_members, parts: BTreeMap::new() };
        self.begin_message(key, message)
    }

    fn finish_message(&mut self, item: usize, turn: Turn<'_>, sink: &mut dyn EventSink) {
        let Turn { at, role: _, slot: _, items, id: _, name: _, status: _, phase, extra } = turn;
        let mut numbers = self.part_numbers(item, items.len());
        for part in items {
            let number = numbers.next();
            if let Item::Text(_) | Item::Refusal(_) = part {
                self.close_part(item, number, part, sink);
            } else {
                sink.event(Event::Whole(Turn::new(at, Role::Assistant, vec![part])));
            }
        }
        if let Some(open) = self.items.get_mut(item) {
            if let ItemState::Message(message) = &open.state {
                sink.ledger().only(&message.sent_members.rest(extra));
                // A phase that comes with the end comes after its text.
                let late = phase.filter(|_| message.phase.is_none() && !message.parts.is_empty());
                sink.ledger().lost_info(&late, Code::Phase);
            }
            open.close(sink);
        }
    }

    /// The numbers under which the parts of a message have come. Some servers
    /// count them differently in the deltas and in the message itself, so parts
    /// under numbers that the message does not have are those that it has under
    /// other numbers, in the same order.
    /// vectors/streams/responses-parts-counted-differently.
    fn part_numbers(&mut self, item: usize, parts: usize) -> impl Iterator<Item = u64> + use<> {
        let known = match self.items.get_mut(item).map(|item| &item.state) {
            Some(ItemState::Message(message)) => message.parts.keys().copied().collect(),
            Some(_) | None => Vec::new(),
        };
        let places = parts as u64;
        let strangers: Vec<u64> =
            known.iter().copied().filter(|number| *number >= places).collect();
        let mut strangers = strangers.into_iter();
        (0..places).map(move |place| {
            if known.contains(&place) { place } else { strangers.next().unwrap_or(place) }
        })
    }

    /// Passes on the rest of a text or a refusal and closes it.
    pub(super) fn close_part(
        &mut self,
        item: usize,
        number: Option<u64>,
        part: Item<'_>,
        sink: &mut dyn EventSink,
    ) {
        let (kind, text) = if let Item::Text(text) = part {
            (PartKind::Text, text)
        } else if let Item::Refusal(Refusal { at, text, extra }) = part {
            let text = Text { at, text, citations: None, logprobs: None, cache: None, extra };
            (PartKind::Refusal, text)
        } else {
            return;
        };
        let Text { at: _, text, citations, logprobs, cache: _, extra } = text;
        let Some(open) = self.open_part(kind, item, number, Vec::new(), sink) else { return };
        if open.closed {
            return;
        }
        let rest = unsent(&text, &mut open.sent);
        let logprobs = logprobs.filter(|_| !open.logprobs);
        open.push(rest, logprobs, sink);
        let cited: Vec<Raw<'_>> = match &citations {
            Some(list) => Vec::read(&mut list.reader()).unwrap_or_default(),
            None => Vec::new(),
        };
        let block = open.block;
        for citation in cited.into_iter().skip(open.cited) {
            sink.event(Event::Delta { block, piece: Piece::Citation(citation) });
        }
        open.closed = true;
        let tail = Tail { sealed: None, extra: open.sent_members.rest(extra) };
        sink.event(Event::Close { block, tail });
    }

    /// Closes everything that is open.
    pub(super) fn close_all(&mut self, sink: &mut dyn EventSink) {
        for item in self.items.iter_mut() {
            item.close(sink);
        }
    }
}

/// Reports that an item is not complete.
fn report_status(turn: &Turn<'_>, sink: &mut dyn EventSink) {
    if let Some(status) = turn.status.as_ref().filter(|status| **status != "completed") {
        sink.ledger().dropped(status.pos(), Code::Status).info();
    }
}

/// What kind of item it is.
fn kind(turn: &Turn<'_>) -> ItemKind {
    match turn.items.as_slice() {
        [Item::Call(call)] => match call.arguments {
            Arguments::Text(_) | Arguments::Json(_) | Arguments::Freeform(_) => ItemKind::Call,
            Arguments::Native(_, _) => ItemKind::Whole,
        },
        [Item::Reasoning(_)] => ItemKind::Reasoning,
        [Item::Hosted(_) | Item::Result(_) | Item::Tools(_)] => ItemKind::Whole,
        [Item::Opaque(opaque)] if opaque.raw.pos() == turn.at => ItemKind::Whole,
        _parts if turn.role == Role::Assistant => ItemKind::Message,
        _parts => ItemKind::Whole,
    }
}

fn has_call_id(turn: &Turn<'_>) -> bool {
    turn.items.iter().any(|item| matches!(item, Item::Call(call) if call.id.is_some()))
}

/// The item's own id. Items that are kept as they came still hold it.
fn own_id<'t>(turn: &'t Turn<'_>) -> Option<Str<'t>> {
    let inside = |raw: &'t Raw<'_>| raw.reader().tag("id").ok().flatten();
    match (&turn.id, turn.items.as_slice()) {
        (Some(id), _) => Some(id.borrowed()),
        (None, [Item::Hosted(hosted)]) => inside(&hosted.raw),
        (None, [Item::Opaque(opaque)]) => inside(&opaque.raw),
        (None, _items) => None,
    }
}
