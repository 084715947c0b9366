//! Which result answers which call, by their ids alone.
//!
//! Encoders and the tracker pair with this, so a conversation is repaired the
//! same way everywhere.

use std::borrow::Borrow;
use std::collections::{BTreeMap, VecDeque};

/// Calls and results in the order of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Pairing<K> {
    by_id: BTreeMap<K, Known>,
    /// Counts the stretches in which the model speaks: several items of one
    /// answer may be turns of their own.
    group: usize,
    calls: usize,
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
    /// Calls without a result, by the answer that made them. A vendor that
    /// numbers its calls anew in each answer makes the same id again and again:
    /// a result means the latest of them, and within an answer the first.
    open: Vec<(usize, VecDeque<usize>)>,
    /// The call answered last, with the result that did.
    answered: Option<(usize, usize)>,
}

impl<K> Default for Pairing<K> {
    fn default() -> Self {
        Self { by_id: BTreeMap::new(), group: 0, calls: 0, results: 0 }
    }
}

impl<K: Ord + Borrow<str>> Pairing<K> {
    /// Somebody else than the model has spoken: what it calls from here on
    /// belongs to another answer.
    pub(crate) fn end_answer(&mut self) {
        self.group += 1;
    }

    /// Takes the next call. How many calls had the same id before.
    pub(crate) fn call(&mut self, id: K) -> usize {
        let known = self.by_id.entry(id).or_default();
        let earlier = known.count;
        known.count += 1;
        match known.open.last_mut() {
            Some((last, open)) if *last == self.group => open.push_back(self.calls),
            Some(_) | None => known.open.push((self.group, VecDeque::from([self.calls]))),
        }
        self.calls += 1;
        earlier
    }

    /// Takes the next result.
    pub(crate) fn result(&mut self, id: Option<&str>) -> Paired {
        let order = self.results;
        self.results += 1;
        let Some(known) = id.and_then(|id| self.by_id.get_mut(id)) else { return Paired::Orphan };
        let open = known.open.last_mut().and_then(|(_, open)| open.pop_front());
        if known.open.last().is_some_and(|(_, open)| open.is_empty()) {
            known.open.pop();
        }
        let (call, paired) = match (open, known.answered) {
            (Some(call), _) => (call, Paired::Answers(call)),
            (None, Some((call, earlier))) => (call, Paired::Repeats { call, earlier }),
            (None, None) => return Paired::Orphan,
        };
        known.answered = Some((call, order));
        paired
    }

    /// Whether a call has this id.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }
}
