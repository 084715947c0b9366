//! Which result answers which call, and the order in which a strict protocol
//! wants them.
//!
//! Responses lets a result come anywhere after its call. Chat wants all results
//! right behind the message that called, Messages wants them in the next user
//! message, and both answer 400 to a call without a result or a result without
//! a call. This module pairs them once, for every encoder.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use crate::ledger::{Code, Ledger};
use crate::model::{Call, Item, Protocol, Role, ToolResult, Turn};
use crate::profile::Profile;
use crate::tracker::pairing::{self, Pairing};
use crate::wire::ids::{self, IdRule};
use crate::wire::{Pos, Str};

/// A conversation with its calls and results paired.
#[derive(Debug)]
pub struct Thread<'r, 'a> {
    /// Every call, in the order of the conversation.
    pub calls: Vec<Paired<'r, 'a>>,
    /// What became of every result, in the order of the conversation.
    pub fates: Vec<ResultMatch>,
}

/// A call and what answers it.
#[derive(Debug)]
pub struct Paired<'r, 'a> {
    /// The call.
    pub call: &'r Call<'a>,
    /// Its id as the target gets it.
    pub id: Cow<'r, str>,
    /// The result that answers it, if any.
    pub result: Option<&'r ToolResult<'a>>,
}

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultMatch {
    /// It answers the call with this index.
    Answers(usize),
    /// A later result answers the same call.
    Superseded,
    /// It answers no call.
    Orphan,
}

/// A stretch of the conversation in the order of a strict protocol.
#[derive(Debug)]
pub enum Step<'r, 'a> {
    /// Instructions.
    System(&'r Turn<'a>),
    /// Everything the model said and called until somebody else spoke. The
    /// calls are those of `calls`, in order.
    Assistant {
        /// The turns.
        turns: Vec<&'r Turn<'a>>,
        /// Which of [`Thread::calls`] they make.
        calls: std::ops::Range<usize>,
    },
    /// The results of the calls of the step before, as indexes into
    /// [`Thread::calls`]: those that came, in the order they came, then those
    /// that are missing.
    Results(Vec<usize>),
    /// What the user said. Results that answer a call are not part of it: the
    /// fates of its results are `fates`, in order.
    User {
        /// The turn.
        turn: &'r Turn<'a>,
        /// Which of [`Thread::fates`] are its results'.
        fates: std::ops::Range<usize>,
    },
}

impl<'r, 'a> Thread<'r, 'a> {
    /// Pairs the calls and results of a conversation that a client of `origin` sent.
    /// `rule` is what the target accepts.
    pub fn new(turns: &'r [Turn<'a>], origin: Protocol, rule: IdRule, ledger: &mut Ledger) -> Self {
        let client = Profile::of(origin).ids;
        let mut builder = ThreadBuilder {
            client,
            rule,
            pairing: Pairing::default(),
            calls: Vec::new(),
            fates: Vec::new(),
            made: BTreeSet::new(),
        };
        let items = turns.iter().flat_map(|turn| &turn.items);
        builder.reserve(items.filter(|item| matches!(item, Item::Call(_))).count());
        for turn in turns {
            if turn.role != Role::Assistant {
                builder.pairing.end_answer();
            }
            for item in &turn.items {
                if let Item::Call(call) = item {
                    builder.call(call, ledger);
                } else if let Item::Result(result) = item {
                    builder.result(result, ledger);
                }
            }
        }
        for paired in &builder.calls {
            if paired.result.is_none() {
                ledger.degraded(paired.call.at, Code::MissingResult);
            }
        }
        Self { calls: builder.calls, fates: builder.fates }
    }

    /// The conversation in the order of a strict protocol.
    pub fn steps(&self, turns: &'r [Turn<'a>], ledger: &mut Ledger) -> Vec<Step<'r, 'a>> {
        let arrivals = self.arrivals();
        let mut steps = Vec::with_capacity(turns.len());
        let mut run: Vec<&'r Turn<'a>> = Vec::new();
        let (mut calls, mut fates) = (0, 0);
        let mut due: VecDeque<usize> = VecDeque::new();
        // Results that were moved, with nothing behind them yet.
        let mut late: Vec<Pos> = Vec::new();
        for turn in turns {
            let results = turn.items.iter().filter(|item| matches!(item, Item::Result(_))).count();
            let own = fates..fates + results;
            fates += results;
            let orphans = self
                .fates
                .get(own.clone())
                .unwrap_or_default()
                .iter()
                .any(|fate| !matches!(fate, ResultMatch::Answers(_)));
            let models = is_models(turn, results, orphans);
            let plain_results = !models && results == turn.items.len();
            let instructs = matches!(turn.role, Role::System | Role::Developer);
            let told = instructs && !models && results > 0;
            if (told || models != (turn.role == Role::Assistant)) && !plain_results {
                let note = ledger.degraded(turn.at, Code::Role);
                note.detail(
                    "Calls are the model's and results the user's, so the turn crosses as theirs.",
                );
            }
            if models {
                run.push(turn);
                continue;
            }
            if !run.is_empty() {
                report_moved(&mut late, ledger);
            }
            self.close(&mut run, &mut calls, &arrivals, &mut due, &mut steps);
            for fate in self.fates.get(own.clone()).unwrap_or_default() {
                // A result that is not the next one due was hoisted over
                // something else.
                if let ResultMatch::Answers(call) = fate
                    && due.pop_front() != Some(*call)
                    && let Some(result) = self.calls.get(*call).and_then(|paired| paired.result)
                {
                    late.push(result.at);
                }
            }
            if instructs && results == 0 {
                due.clear();
                report_moved(&mut late, ledger);
                steps.push(Step::System(turn));
            } else if orphans || results < turn.items.len() || turn.items.is_empty() {
                due.clear();
                report_moved(&mut late, ledger);
                steps.push(Step::User { turn, fates: own });
            }
        }
        if let (true, Some(Step::Assistant { .. })) = (run.is_empty(), steps.last()) {
            for at in late.drain(..) {
                ledger.moved(at, Code::ResultMoved).detail(ENDS_WITH_MODEL);
            }
        }
        report_moved(&mut late, ledger);
        self.close(&mut run, &mut calls, &arrivals, &mut due, &mut steps);
        steps
    }

    /// For every call, when its result arrived.
    fn arrivals(&self) -> Vec<Option<usize>> {
        let mut arrivals = vec![None; self.calls.len()];
        for (order, fate) in self.fates.iter().enumerate() {
            if let ResultMatch::Answers(call) = fate
                && let Some(slot) = arrivals.get_mut(*call)
            {
                *slot = Some(order);
            }
        }
        arrivals
    }

    fn close(
        &self,
        run: &mut Vec<&'r Turn<'a>>,
        calls: &mut usize,
        arrivals: &[Option<usize>],
        due: &mut VecDeque<usize>,
        steps: &mut Vec<Step<'r, 'a>>,
    ) {
        if run.is_empty() {
            return;
        }
        let turns = std::mem::take(run);
        let made = turns
            .iter()
            .flat_map(|turn| &turn.items)
            .filter(|item| matches!(item, Item::Call(_)))
            .count();
        let own = *calls..*calls + made;
        *calls += made;
        steps.push(Step::Assistant { turns, calls: own.clone() });
        // A result that comes after this answers it, or was moved over it.
        due.clear();
        if made > 0 {
            let mut order: Vec<usize> = own.collect();
            order.sort_by_key(|&call| {
                let arrival = arrivals.get(call).copied().flatten();
                (arrival.is_none(), arrival)
            });
            due.extend(
                order
                    .iter()
                    .copied()
                    .filter(|&call| arrivals.get(call).copied().flatten().is_some()),
            );
            steps.push(Step::Results(order));
        }
    }
}

/// Reports results that stand with their calls now. What came after them still does.
fn report_moved(late: &mut Vec<Pos>, ledger: &mut Ledger) {
    for at in late.drain(..) {
        ledger.moved(at, Code::ResultMoved).info();
    }
}

/// Whether a turn is part of what the model said. A turn that calls is, whoever
/// it says speaks, or its calls would have no place; results that stand in a
/// turn of the model's are the user's all the same.
fn is_models(turn: &Turn<'_>, results: usize, orphans: bool) -> bool {
    let said = results == 0 || (results < turn.items.len() && !orphans);
    (turn.role == Role::Assistant && said)
        || turn.items.iter().any(|item| matches!(item, Item::Call(_)))
}

/// A thread, call by call and result by result.
struct ThreadBuilder<'r, 'a> {
    /// What the client's protocol accepts.
    client: IdRule,
    /// What the target accepts.
    rule: IdRule,
    pairing: Pairing<Cow<'r, str>>,
    calls: Vec<Paired<'r, 'a>>,
    fates: Vec<ResultMatch>,
    /// Ids that stand for others.
    made: BTreeSet<String>,
}

impl<'r, 'a> ThreadBuilder<'r, 'a> {
    /// Makes room for so many calls and their results.
    fn reserve(&mut self, calls: usize) {
        self.pairing.reserve(calls);
        self.calls.reserve(calls);
        self.fates.reserve(calls);
    }

    fn call(&mut self, call: &'r Call<'a>, ledger: &mut Ledger) {
        // A call without an id (Chat's deprecated functions) goes by its name.
        let key = match &call.id {
            Some(id) => id.decode(),
            None => call.name.decode(),
        };
        let occurrence = self.pairing.call(key.clone());
        let id = self.id(call, &key, occurrence);
        if let Some(own) = &call.id {
            report_id(self.client, own, &id, ledger);
        }
        self.calls.push(Paired { call, id, result: None });
    }

    /// The call's id as the target gets it. If the client's own stands for one that
    /// the upstream gave and the client could not have taken, it is made of that:
    /// the upstream meets its own id again.
    fn id(&mut self, call: &Call<'_>, key: &Cow<'r, str>, earlier: usize) -> Cow<'r, str> {
        let index = self.calls.len();
        let mut occurrence = earlier;
        let given = self.client.original(key).map_or_else(|| key.clone(), Cow::Owned);
        let mut id = match &call.id {
            Some(id) if !id.is_empty() => render(self.rule, &given, occurrence),
            Some(_) | None => Cow::Owned(self.rule.render(&ids::mint(key, index), 0).into_owned()),
        };
        // A client may return, as an id of its own, what toolwire makes of
        // another id of the conversation.
        while self.rule.unique && self.is_taken(&id, key) && occurrence <= index {
            occurrence += 1;
            id = render(self.rule, &given, occurrence);
        }
        if id != *key {
            self.made.insert(id.to_string());
        }
        id
    }

    fn is_taken(&self, id: &str, key: &str) -> bool {
        self.made.contains(id) || (id != key && self.pairing.has_call(id))
    }

    fn result(&mut self, result: &'r ToolResult<'a>, ledger: &mut Ledger) {
        let key = result.call_id.as_ref().or(result.name.as_ref()).map(|key| key.decode());
        let call = match self.pairing.result(key.as_deref()) {
            pairing::Paired::Answers(call) => call,
            pairing::Paired::Repeats { call, earlier } => {
                if let Some(earlier) = self.calls.get(call).and_then(|paired| paired.result) {
                    ledger.dropped(earlier.at, Code::DuplicateResult);
                }
                if let Some(fate) = self.fates.get_mut(earlier) {
                    *fate = ResultMatch::Superseded;
                }
                call
            }
            pairing::Paired::Orphan => {
                ledger.degraded(result.at, Code::OrphanResult);
                self.fates.push(ResultMatch::Orphan);
                return;
            }
        };
        if let Some(paired) = self.calls.get_mut(call) {
            paired.result = Some(result);
            if let Some(own) = &result.call_id {
                report_id(self.client, own, &paired.id, ledger);
            }
        }
        self.fates.push(ResultMatch::Answers(call));
    }
}

/// Reports an id that is another toward the target than the client's `own`.
fn report_id(client: IdRule, own: &Str<'_>, id: &str, ledger: &mut Ledger) {
    if *own == *id {
        return;
    }
    let note = ledger.renamed(own.pos(), Code::CallId);
    if client.original(&own.decode()).is_some_and(|original| original == id) {
        note.detail("The upstream's own id, which the client could not have taken, was put back.");
    }
}

fn render<'r>(rule: IdRule, id: &Cow<'r, str>, occurrence: usize) -> Cow<'r, str> {
    match id {
        Cow::Borrowed(id) => rule.render(id, occurrence),
        Cow::Owned(id) => Cow::Owned(rule.render(id, occurrence).into_owned()),
    }
}

const ENDS_WITH_MODEL: &str = "The target wants results right behind their calls; this one was moved there, so the \
     conversation ends with the model's own words.";

#[cfg(test)]
mod tests;
