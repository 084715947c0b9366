//! Which result answers which call, by their ids alone.
//!
//! Encoders and the tracker pair with this, so a conversation is repaired the
//! same way everywhere.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Calls and results in the order of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Pairing<K> {
    by_id: HashMap<K, Known>,
    /// Counts the stretches in which the model speaks: several items of one
    /// answer may be turns of their own.
    group: usize,
    calls: Vec<Waiting>,
    results: usize,
}

/// What a result turned out to be. Calls and results are known by their place
/// among all calls and among all results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paired {
    /// The first result of a call.
    Answers(usize),
    /// Another result of a call that had one, which it supersedes.
    Repeats {
        /// The call.
        call: usize,
        /// The result that counted until now.
        earlier: usize,
    },
    /// No call has this id.
    Orphan,
}

/// The calls made under one id.
#[derive(Clone, Debug, Default)]
struct Known {
    count: usize,
    /// The call that the next result answers. A vendor that numbers its calls
    /// anew in each answer makes the same id again and again: a result means the
    /// latest of them, and within an answer the first.
    next: Option<usize>,
    /// The call made last.
    last: usize,
    /// The call answered last, with the result that did.
    answered: Option<(usize, usize)>,
}

/// A call that may have no result yet, and those that wait behind it under the
/// same id.
#[derive(Clone, Debug)]
struct Waiting {
    group: usize,
    /// The next call of the same answer.
    sibling: Option<usize>,
    /// The first call without a result of an earlier answer.
    earlier: Option<usize>,
}

impl<K> Default for Pairing<K> {
    fn default() -> Self {
        Self { by_id: HashMap::new(), group: 0, calls: Vec::new(), results: 0 }
    }
}

impl<K: Eq + Hash + Borrow<str>> Pairing<K> {
    /// The calls of one answer, in their order.
    pub(crate) fn of_answer(ids: impl ExactSizeIterator<Item = K>) -> Self {
        let mut pairing = Self::default();
        pairing.reserve(ids.len());
        for id in ids {
            pairing.call(id);
        }
        pairing
    }

    /// Makes room for so many calls.
    pub(crate) fn reserve(&mut self, calls: usize) {
        self.by_id.reserve(calls);
        self.calls.reserve(calls);
    }

    /// Somebody else than the model has spoken: what it calls from here on
    /// belongs to another answer.
    pub(crate) fn end_answer(&mut self) {
        self.group += 1;
    }

    /// Takes the next call. How many calls had the same id before.
    pub(crate) fn call(&mut self, id: K) -> usize {
        let call = self.calls.len();
        let mut waiting = Waiting { group: self.group, sibling: None, earlier: None };
        let known = self.by_id.entry(id).or_default();
        let next = known.next.and_then(|next| self.calls.get(next));
        if next.is_some_and(|next| next.group == self.group) {
            if let Some(last) = self.calls.get_mut(known.last) {
                last.sibling = Some(call);
            }
        } else {
            waiting.earlier = known.next.replace(call);
        }
        known.last = call;
        self.calls.push(waiting);
        let earlier = known.count;
        known.count += 1;
        earlier
    }

    /// Takes the next result.
    pub(crate) fn result(&mut self, id: Option<&str>) -> Paired {
        let order = self.results;
        self.results += 1;
        let Some(known) = id.and_then(|id| self.by_id.get_mut(id)) else { return Paired::Orphan };
        let (call, paired) = match (known.next, known.answered) {
            (Some(call), _) => (call, Paired::Answers(call)),
            (None, Some((call, earlier))) => (call, Paired::Repeats { call, earlier }),
            (None, None) => return Paired::Orphan,
        };
        if known.next.is_some() {
            known.next = after(&mut self.calls, call);
        }
        known.answered = Some((call, order));
        paired
    }

    /// Whether a call has this id.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }
}

/// The call that is next when this one has its result.
fn after(calls: &mut [Waiting], call: usize) -> Option<usize> {
    let Waiting { group: _, sibling, earlier } = calls.get(call)?.clone();
    let Some(sibling) = sibling else { return earlier };
    calls.get_mut(sibling)?.earlier = earlier;
    Some(sibling)
}
