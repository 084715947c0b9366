//! A whole answer told as the stream it would have been: what
//! [`crate::fold::Fold`] does, the other way round.

use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{
    Arguments, Call, CallHead, Candidate, Event, Head, Item, Part, Piece, Protocol, Reasoning,
    Refusal, Response, Role, Start, Stop, Tail, Text, Turn,
};
use crate::wire::{Extra, Raw, Str};

/// Hands on the events of an answer. An answer that is not finished gets no
/// end, as a stream that is cut has none.
pub fn unfold(response: &Response<'_>, sink: &mut dyn EventSink) {
    let Response { origin, id, model, created, candidates, usage, tier, extra } = response;
    sink.event(Event::Start(Start {
        origin: *origin,
        id: id.as_ref().map(Str::borrowed),
        model: model.as_ref().map(Str::borrowed),
        created: *created,
    }));
    for other in candidates.iter().skip(1) {
        sink.ledger().dropped(other.at, Code::MultipleAnswers);
    }
    if let Some(answer) = candidates.first() {
        let logprobs = Logprobs::read(answer.logprobs.as_ref());
        let mut unfolding = Unfolding { origin: *origin, blocks: 0, messages: 0, logprobs, sink };
        answer.turns.iter().for_each(|turn| unfolding.turn(turn));
    }
    if tier.is_some() || !extra.is_empty() {
        let tier = tier.as_ref().map(Str::borrowed);
        sink.event(Event::About { tier, extra: extra.clone() });
    }
    if let Some(usage) = usage {
        sink.event(Event::Usage(usage.clone()));
    }
    let Some(Candidate { at: _, turns: _, stop, logprobs: _, extra }) = candidates.first() else {
        return;
    };
    if let Stop::Failed(error) = &stop.value {
        sink.event(Event::Error(error.as_ref().clone()));
    } else if stop.value != Stop::Running {
        sink.event(Event::Stop { stop: stop.clone(), extra: extra.clone() });
        sink.event(Event::End);
    }
}

/// An answer being told.
struct Unfolding<'t> {
    origin: Protocol,
    /// How many blocks have begun.
    blocks: usize,
    /// How many messages have begun.
    messages: usize,
    logprobs: Logprobs<'t>,
    sink: &'t mut dyn EventSink,
}

/// Log probabilities that Chat keeps beside the message: of its text, and of
/// its refusal.
#[derive(Default)]
struct Logprobs<'t> {
    text: Option<Raw<'t>>,
    refusal: Option<Raw<'t>>,
}

impl<'t> Logprobs<'t> {
    fn read(raw: Option<&'t Raw<'_>>) -> Self {
        let Some(Ok([text, refusal])) = raw.map(|raw| raw.reader().pick(["content", "refusal"]))
        else {
            return Self::default();
        };
        Self { text, refusal }
    }
}

impl Unfolding<'_> {
    fn turn<'a>(&mut self, turn: &Turn<'a>) {
        let Turn { at, role, slot: _, items, id, name: _, status: _, phase, extra } = turn;
        if *role != Role::Assistant || self.is_item(turn) {
            return self.sink.event(Event::Whole(turn.clone()));
        }
        // What belongs to the message is told with its first part.
        let mut extra = extra.clone();
        let message = self.messages;
        self.messages += 1;
        for item in items {
            let mut part = |own: &[Extra<'a>]| Part {
                message,
                phase: phase.clone(),
                extra: std::mem::take(&mut extra).into_iter().chain(own.iter().cloned()).collect(),
            };
            if let Item::Text(text) = item {
                self.text(text, part(&text.extra));
            } else if let Item::Refusal(refusal) = item {
                self.refusal(refusal, part(&refusal.extra));
            } else if let Item::Reasoning(reasoning) = item
                && !comes_whole(reasoning)
            {
                self.reasoning(reasoning, id.as_ref());
            } else if let Item::Call(call) = item
                && !is_native(call)
            {
                self.call(call);
            } else {
                let turn = Turn::new(*at, Role::Assistant, vec![item.clone()]);
                self.sink.event(Event::Whole(turn));
            }
        }
        self.sink.ledger().only(&extra);
    }

    /// Whether a turn is an item of Responses that is no message and does not
    /// grow either.
    fn is_item(&self, turn: &Turn<'_>) -> bool {
        let alone = match turn.items.as_slice() {
            [Item::Call(call)] => is_native(call),
            [Item::Reasoning(reasoning)] => comes_whole(reasoning),
            [Item::Hosted(_) | Item::Result(_) | Item::Tools(_)] => true,
            [Item::Opaque(opaque)] => opaque.raw.pos() == turn.at,
            _parts => false,
        };
        alone && self.origin.conventions().answers_are_items
    }

    fn text(&mut self, text: &Text<'_>, part: Part<'_>) {
        let Text { at: _, text, citations, logprobs, cache: _, extra: _ } = text;
        let beside = self.logprobs.text.take();
        let block = self.open(Head::Text(part));
        let logprobs = logprobs.clone().or(beside);
        self.grow(block, Piece::Text { text: text.borrowed(), logprobs });
        let citations = citations.as_ref().map(Raw::elements);
        for citation in citations.into_iter().flatten().flatten() {
            self.grow(block, Piece::Citation(citation));
        }
        self.close(block, Tail::default());
    }

    fn refusal(&mut self, refusal: &Refusal<'_>, part: Part<'_>) {
        let Refusal { at: _, text, extra: _ } = refusal;
        let logprobs = self.logprobs.refusal.take();
        let block = self.open(Head::Refusal(part));
        self.grow(block, Piece::Text { text: text.borrowed(), logprobs });
        self.close(block, Tail::default());
    }

    fn reasoning(&mut self, reasoning: &Reasoning<'_>, id: Option<&Str<'_>>) {
        let Reasoning { at: _, summary, content, sealed, place: _, extra } = reasoning;
        let block = self.open(Head::Reasoning { id: id.map(Str::borrowed) });
        for (part, text) in summary.iter().enumerate() {
            self.grow(block, Piece::Summary { part, text: text.borrowed() });
        }
        for (part, text) in content.iter().enumerate() {
            self.grow(block, Piece::Reasoning { part, text: text.borrowed() });
        }
        self.close(block, Tail { sealed: sealed.clone(), extra: extra.clone() });
    }

    fn call(&mut self, call: &Call<'_>) {
        let text = match &call.arguments {
            Arguments::Text(text) | Arguments::Freeform(text) => text.borrowed(),
            Arguments::Json(raw) | Arguments::Native(_, raw) => Str::plain(raw.text()),
        };
        let block = self.open(Head::Call(CallHead::of(call)));
        self.grow(block, Piece::Arguments(text));
        self.close(block, Tail::default());
    }

    fn open(&mut self, head: Head<'_>) -> usize {
        let block = self.blocks;
        self.blocks += 1;
        self.sink.event(Event::Open { block, head });
        block
    }

    fn grow(&mut self, block: usize, piece: Piece<'_>) {
        self.sink.event(Event::Delta { block, piece });
    }

    fn close(&mut self, block: usize, tail: Tail<'_>) {
        self.sink.event(Event::Close { block, tail });
    }
}

/// Whether reasoning has anything that only a whole item can tell.
fn comes_whole(reasoning: &Reasoning<'_>) -> bool {
    let withheld = reasoning.sealed.as_ref().is_some_and(|sealed| sealed.redacted);
    withheld || reasoning.place.is_some()
}

fn is_native(call: &Call<'_>) -> bool {
    matches!(call.arguments, Arguments::Native(_, _))
}
