//! The calls in a whole answer.

use super::recovery::{Recovery, SegmentSink, Segmenter};
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call, Candidate, Item, Reasoning, Response, Stop, Text};
use crate::recover::intent;
use crate::wire::{At, Pos, Str};

/// What was found in an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// The dialect of the first call, if there are any.
    pub(crate) dialect: Option<&'static str>,
    /// Whether the answer is another one now, be it only because reasoning was
    /// taken out of its text.
    pub(crate) has_changed: bool,
}

impl Recovery {
    /// Turns the calls and the reasoning in the texts of an answer into calls and
    /// reasoning.
    pub(crate) fn apply(&self, response: &mut Response<'_>, ledger: &mut Ledger) -> Found {
        let id = response.id.as_ref().map(|id| id.decode().into_owned()).unwrap_or_default();
        let mut found = Found::default();
        let mut calls = 0;
        for candidate in &mut response.candidates {
            let Found { dialect, has_changed } = self.candidate(candidate, &id, &mut calls, ledger);
            found.dialect = found.dialect.or(dialect);
            found.has_changed |= has_changed;
        }
        found
    }

    fn candidate(
        &self,
        candidate: &mut Candidate<'_>,
        answer_id: &str,
        calls: &mut usize,
        ledger: &mut Ledger,
    ) -> Found {
        let (mut dialect, mut was_cut, mut has_changed) = (None, false, false);
        let mut said = String::new();
        for turn in &mut candidate.turns {
            let mut items = Vec::with_capacity(turn.items.len());
            for item in std::mem::take(&mut turn.items) {
                let Item::Text(text) = item else {
                    items.push(item);
                    continue;
                };
                let whole = text.text.decode();
                let mut segments = ItemSink {
                    recovery: self,
                    answer_id,
                    calls: &mut *calls,
                    at: text.at,
                    items: Vec::new(),
                    dialect: None,
                    was_cut: false,
                    ledger: &mut *ledger,
                };
                let mut segmenter = Segmenter::new(self.tools.clone());
                segmenter.push(&whole, &mut segments);
                segmenter.finish(&mut segments);
                let is_whole = match segments.items.as_slice() {
                    [Item::Text(one)] => one.text.decode() == whole,
                    [] => whole.is_empty(),
                    _several => false,
                };
                for item in &segments.items {
                    if let Item::Text(text) = item {
                        said.push_str(&text.text.decode());
                    }
                }
                if is_whole {
                    // Nothing was found, so whatever is attached to the text stays.
                    drop(whole);
                    items.push(Item::Text(text));
                    continue;
                }
                has_changed = true;
                if segments.items.is_empty() {
                    segments.text("");
                }
                dialect = dialect.or(segments.dialect);
                was_cut |= segments.was_cut;
                items.extend(std::mem::take(&mut segments.items));
                ledger.lost(&text.logprobs, Code::Logprobs);
                ledger.lost(&text.citations, Code::Citations);
                ledger.only(&text.extra);
            }
            turn.items = items;
        }
        let is_final = matches!(candidate.stop.value, Stop::EndTurn);
        let has_calls = || {
            candidate
                .turns
                .iter()
                .flat_map(|turn| &turn.items)
                .any(|item| matches!(item, Item::Call(_)))
        };
        if dialect.is_none() && self.reads_intent && is_final && !has_calls() {
            let announced = intent::detect(&said, &self.tools).calls;
            if let Some(last) = candidate.turns.last_mut() {
                for call in announced {
                    let id = self.call_id(answer_id, *calls);
                    *calls += 1;
                    last.items.push(Item::Call(new_call(Pos::NONE, id, call.name, call.arguments)));
                    dialect = Some(INTENT);
                    has_changed = true;
                }
            }
        }
        if let Some(stop) = changed_stop(&candidate.stop.value, dialect.is_some(), was_cut) {
            candidate.stop = At { value: stop, pos: candidate.stop.pos };
        }
        Found { dialect, has_changed }
    }
}

/// Why a model stopped whose calls were read from its text, if that is not the
/// reason that the upstream gave. The upstream knows of no calls.
pub(crate) fn changed_stop(
    stop: &Stop<'_>,
    has_calls: bool,
    was_cut: bool,
) -> Option<Stop<'static>> {
    let ended_well = matches!(stop, Stop::EndTurn | Stop::ToolCalls | Stop::StopSequence(_));
    match () {
        // The one reason by which every client knows not to run the last call.
        () if was_cut && ended_well => Some(Stop::MaxTokens),
        () if has_calls && matches!(stop, Stop::EndTurn | Stop::StopSequence(_)) => {
            Some(Stop::ToolCalls)
        }
        () => None,
    }
}

/// What stands for the dialect of a call that was announced in plain words.
pub(crate) const INTENT: &str = "intent";

fn new_call(at: Pos, id: String, name: String, arguments: String) -> Call<'static> {
    Call {
        at,
        id: Some(Str::plain(id)),
        name: Str::plain(name).at(at),
        namespace: None,
        arguments: Arguments::Text(Str::plain(arguments).at(at)),
        caller: None,
        cache: None,
        extra: Vec::new(),
    }
}

/// Reports what had to be done to a call.
pub(crate) fn report_call(repaired: bool, valid: bool, at: Pos, ledger: &mut Ledger) {
    if repaired {
        ledger.degraded(at, Code::ArgumentsRepaired).info();
    }
    if !valid {
        ledger.degraded(at, Code::ArgumentsUnfit).info();
    }
}

/// Collects the parts of a text as items.
struct ItemSink<'s> {
    recovery: &'s Recovery,
    answer_id: &'s str,
    calls: &'s mut usize,
    at: Pos,
    items: Vec<Item<'static>>,
    dialect: Option<&'static str>,
    was_cut: bool,
    ledger: &'s mut Ledger,
}

impl SegmentSink for ItemSink<'_> {
    fn text(&mut self, piece: &str) {
        match self.items.last_mut() {
            Some(Item::Text(text)) => append(&mut text.text, piece),
            _other => {
                let text = Str::plain(piece.to_owned()).at(self.at);
                self.items.push(Item::Text(Text::new(text)));
            }
        }
    }

    fn reasoning(&mut self, piece: &str) {
        if let Some(Item::Reasoning(reasoning)) = self.items.last_mut()
            && let Some(last) = reasoning.content.last_mut()
        {
            return append(last, piece);
        }
        self.items.push(Item::Reasoning(Reasoning {
            at: self.at,
            summary: Vec::new(),
            content: vec![Str::plain(piece.to_owned()).at(self.at)],
            sealed: None,
            place: None,
            extra: Vec::new(),
        }));
    }

    fn open_call(&mut self, name: &str, dialect: &'static str) {
        self.dialect = self.dialect.or(Some(dialect));
        let id = self.recovery.call_id(self.answer_id, *self.calls);
        *self.calls += 1;
        self.items.push(Item::Call(new_call(self.at, id, name.to_owned(), String::new())));
    }

    fn arguments(&mut self, json: &str) {
        if let Some(Item::Call(Call { arguments: Arguments::Text(text), .. })) =
            self.items.last_mut()
        {
            append(text, json);
        }
    }

    fn close_call(&mut self, repaired: bool, valid: bool) {
        report_call(repaired, valid, self.at, self.ledger);
    }

    fn cut_call(&mut self) {
        self.was_cut = true;
        self.ledger.degraded(self.at, Code::ArgumentsTruncated);
    }
}

fn append(text: &mut Str<'static>, piece: &str) {
    let pos = text.pos();
    let mut whole = std::mem::replace(text, Str::plain("")).into_decoded().into_owned();
    whole.push_str(piece);
    *text = Str::plain(whole).at(pos);
}
