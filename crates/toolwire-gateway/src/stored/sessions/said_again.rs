//! Requests that say the same as the turn before them.

use std::collections::HashSet;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// The answers after which a client has said the same once more, in a request of its own.
///
/// An SDK that hears no answer sends its request again. If that has the messages of the
/// session's newest turn, it is either that turn, whose answer was lost, or another one with
/// the same words, whose first delivery has failed. Whoever has had the first delivery of the
/// other one, knows. Only this gateway does, as long as it runs, and what comes too often is
/// forgotten: the request is then taken for the turn that is stored, and makes nothing twice.
#[derive(Debug, Default)]
pub(in super::super) struct SaidAgain {
    answers: Mutex<Answers>,
}

/// The ids of answers. When there are many, those that came before the others are forgotten.
#[derive(Debug, Default)]
struct Answers {
    recent: HashSet<String>,
    earlier: HashSet<String>,
}

impl SaidAgain {
    /// Notes that the same was said behind the answer with this id.
    pub(super) fn note(&self, answer: &str) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.recent.len() == MANY {
            answers.earlier = mem::take(&mut answers.recent);
        }
        answers.recent.insert(answer.to_owned());
    }

    /// Whether it was.
    pub(super) fn is_behind(&self, answer: &str) -> bool {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.recent.contains(answer) || answers.earlier.contains(answer)
    }
}

/// How many answers are many. They take a few hundred kilobytes.
const MANY: usize = 2048;

#[cfg(test)]
mod tests;
