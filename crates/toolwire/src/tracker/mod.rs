//! Which tool calls of a conversation are answered, and which are not.
//!
//! A [`Tracker`] follows the calls of a conversation in any protocol, from an
//! answer to its results and on to the next answer. It pairs calls and results
//! as toolwire's encoders do, so what it calls missing, orphaned or duplicated is
//! what they repair.
//!
//! It has no clock. The caller says what time it is, as the time since a point of
//! its own choice.
//!
//! ```
//! use std::time::Duration;
//! use toolwire::Protocol::*;
//! use toolwire::calls::ToolOutput;
//! use toolwire::tracker::{CallState, ResultMatch, Tracker};
//!
//! let seconds = Duration::from_secs;
//! let mut tracker = Tracker::new().timeout(seconds(30));
//! let answer = br#"{"role":"assistant","stop_reason":"tool_use","content":[
//!     {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Paris"}},
//!     {"type":"tool_use","id":"toolu_2","name":"get_weather","input":{"city":"Rome"}}]}"#;
//! tracker.answer(Messages, answer, seconds(0))?;
//!
//! let matched = tracker.result(&ToolOutput::text("toolu_2", "sunny"), seconds(1));
//! assert_eq!(matched, ResultMatch::Answers(1));
//! assert_eq!(tracker.result(&ToolOutput::text("toolu_9", "?"), seconds(2)), ResultMatch::Orphan);
//!
//! assert_eq!(tracker.expire(seconds(30)), 1);
//! let states: Vec<CallState> = tracker.calls().iter().map(|call| call.state).collect();
//! assert_eq!(states, [CallState::TimedOut, CallState::Completed]);
//! # Ok::<(), toolwire::calls::Error>(())
//! ```

mod outputs;
pub(crate) mod pairing;

use std::time::Duration;

pub use outputs::{AnsweredCalls, answer_all};
use pairing::{Paired, Pairing};

use crate::calls::{Error, ToolCall, ToolOutput, parse};
use crate::model::{Item, Protocol, Role, Turn};
use crate::translate::{invalid, utf8};

/// The tool calls of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    pairing: Pairing<String>,
    timeout: Option<Duration>,
    turn: usize,
    calls: Vec<TrackedCall>,
    /// Calls from here on may still be waiting for a result, so that a long
    /// conversation is not searched again and again.
    settled: usize,
    orphans: Vec<OrphanResult>,
}

/// A call, and what has become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackedCall {
    /// The id that its result must have.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Which of the model's turns with calls made it, from 0.
    pub turn: usize,
    /// When it was made.
    pub made: Duration,
    /// When it has to be answered.
    pub deadline: Option<Duration>,
    /// What has become of it.
    pub state: CallState,
    /// When the result came that counts.
    pub answered: Option<Duration>,
    /// How many results came. The last one counts.
    pub results: usize,
}

impl TrackedCall {
    /// Whether it has a result.
    pub fn is_answered(&self) -> bool {
        self.results > 0
    }

    /// Whether it has several results.
    pub fn is_duplicated(&self) -> bool {
        self.results > 1
    }

    /// Whether its result came after the deadline.
    pub fn is_late(&self) -> bool {
        matches!((self.answered, self.deadline), (Some(at), Some(deadline)) if at >= deadline)
    }
}

/// What has become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// It waits for its result.
    Pending,
    /// It has a result.
    Completed,
    /// It has a result, which says that the tool failed.
    Failed,
    /// Its deadline has passed and no result has come, or its result says that
    /// the tool ran out of time.
    TimedOut,
    /// Its turn has ended, and no result has come.
    Missing,
}

/// A result that answers no call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrphanResult {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// When it came.
    pub came: Duration,
}

/// What a result turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultMatch {
    /// The first result of the call with this index.
    Answers(usize),
    /// Another result of the call with this index. The last one counts.
    Duplicates(usize),
    /// It answers no call.
    Orphan,
}

impl Tracker {
    /// A conversation that has no calls yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives every call that is made from now on so long to be answered.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The conversation of a request, from its beginning. The calls of a turn
    /// that others have spoken after are missing if they have no result.
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolwire::Protocol::*;
    /// use toolwire::tracker::{CallState, Tracker};
    ///
    /// let request = br#"{"model":"m","input":[
    ///     {"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
    ///     {"type":"function_call","call_id":"b","name":"f","arguments":"{}"},
    ///     {"type":"function_call_output","call_id":"b","output":"1"},
    ///     {"type":"function_call_output","call_id":"c","output":"2"}]}"#;
    /// let tracker = Tracker::of_request(Responses, request, Duration::ZERO)?;
    /// let missing: Vec<&str> =
    ///     tracker.in_state(CallState::Missing).map(|call| call.id.as_str()).collect();
    /// assert_eq!(missing, ["a"]);
    /// assert_eq!(tracker.orphans()[0].id.as_deref(), Some("c"));
    /// # Ok::<(), toolwire::calls::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Document`] if the request cannot be read.
    pub fn of_request(protocol: Protocol, request: &[u8], now: Duration) -> Result<Self, Error> {
        let source = utf8(request)?;
        let decoded = protocol.codec().decode_request(source);
        let request = decoded.map_err(|error| invalid(source, error))?;
        let mut tracker = Self::of_turns(&request.turns, now);
        if request.turns.last().is_some_and(|turn| turn.role != Role::Assistant) {
            tracker.begin_turn();
        }
        Ok(tracker)
    }

    /// A conversation that is not over yet: the calls of the last answer wait for
    /// their results, whatever others have said since.
    pub(crate) fn of_turns(turns: &[Turn<'_>], now: Duration) -> Self {
        let mut tracker = Self::new();
        let mut models = true;
        for turn in turns {
            let speaks = turn.role == Role::Assistant;
            if speaks && !models {
                tracker.begin_turn();
            } else if !speaks {
                tracker.pairing.end_answer();
            }
            models = speaks;
            for item in &turn.items {
                if let Item::Call(call) = item {
                    // A call without an id goes by its name, as its result does.
                    let id = call.id.as_ref().unwrap_or(&call.name);
                    tracker.register(&id.decode(), &call.name.decode(), now);
                } else if let Item::Result(result) = item {
                    let id = result.call_id.as_ref().or(result.name.as_ref());
                    let id = id.map(|id| id.decode());
                    let failed = result.is_error.as_ref().is_some_and(|flag| flag.value);
                    tracker.take(id.as_deref(), finished(failed), now);
                }
            }
        }
        tracker
    }

    /// Whether every call has exactly one result, and every result a call.
    pub fn is_whole(&self) -> bool {
        self.orphans.is_empty() && self.calls.iter().all(|call| call.results == 1)
    }

    /// Registers the calls of an answer. The model's turn before it is over.
    ///
    /// # Errors
    ///
    /// [`Error::Document`] if the answer cannot be read.
    pub fn answer(
        &mut self,
        protocol: Protocol,
        response: &[u8],
        now: Duration,
    ) -> Result<Vec<ToolCall>, Error> {
        let calls = parse(protocol, response)?;
        self.begin_turn();
        self.pairing.reserve(calls.len());
        self.calls.reserve(calls.len());
        for call in &calls {
            self.call(call, now);
        }
        Ok(calls)
    }

    /// Registers a call, for example one of a
    /// [`StreamedAnswer`](crate::calls::StreamedAnswer). Its index. It belongs to
    /// the turn that goes on until [`Tracker::end_turn`].
    pub fn call(&mut self, call: &ToolCall, now: Duration) -> usize {
        self.register(&call.id, &call.name, now)
    }

    /// Takes a result.
    pub fn result(&mut self, output: &ToolOutput, now: Duration) -> ResultMatch {
        self.take(Some(&output.id), finished(output.is_error), now)
    }

    /// Takes the result that whoever runs the tools made for a call whose tool ran
    /// out of time. It answers the call as any result does.
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolwire::calls::{Input, ToolCall, ToolOutput};
    /// use toolwire::tracker::{CallState, Tracker};
    ///
    /// let mut tracker = Tracker::new();
    /// tracker.call(&ToolCall::new("a", "f", Input::Arguments("{}".into())), Duration::ZERO);
    /// let late = ToolOutput::error("a", "the tool timed out after 5 seconds");
    /// tracker.timed_out(&late, Duration::from_secs(5));
    /// assert_eq!(tracker.calls()[0].state, CallState::TimedOut);
    /// assert!(tracker.is_whole());
    /// ```
    pub fn timed_out(&mut self, output: &ToolOutput, now: Duration) -> ResultMatch {
        self.take(Some(&output.id), CallState::TimedOut, now)
    }

    /// Notes which calls have timed out, and says how many have since the last
    /// time. A result that comes later still answers its call.
    pub fn expire(&mut self, now: Duration) -> usize {
        let mut expired = 0;
        for call in self.unsettled() {
            let is_over = call.deadline.is_some_and(|deadline| deadline <= now);
            if call.state == CallState::Pending && is_over {
                call.state = CallState::TimedOut;
                expired += 1;
            }
        }
        expired
    }

    /// When the next call times out.
    pub fn next_deadline(&self) -> Option<Duration> {
        let waiting = self.calls.iter().skip(self.settled);
        let waiting = waiting.filter(|call| call.state == CallState::Pending);
        waiting.filter_map(|call| call.deadline).min()
    }

    /// The model's turn is over: results are not expected any more, and the
    /// calls that have none are missing. How many those are.
    pub fn end_turn(&mut self) -> usize {
        let mut missing = 0;
        for call in self.unsettled() {
            if !call.is_answered() {
                call.state = CallState::Missing;
                missing += 1;
            }
        }
        self.settled = self.calls.len();
        self.turn += 1;
        self.pairing.end_answer();
        missing
    }

    /// Every call, in the order in which they were made.
    pub fn calls(&self) -> &[TrackedCall] {
        &self.calls
    }

    /// The calls in a state.
    pub fn in_state(&self, state: CallState) -> impl Iterator<Item = &TrackedCall> {
        self.calls.iter().filter(move |call| call.state == state)
    }

    /// The calls that wait for a result.
    pub fn pending(&self) -> impl Iterator<Item = &TrackedCall> {
        self.in_state(CallState::Pending)
    }

    /// The calls with several results.
    pub fn duplicated(&self) -> impl Iterator<Item = &TrackedCall> {
        self.calls.iter().filter(|call| call.is_duplicated())
    }

    /// The results that answer no call.
    pub fn orphans(&self) -> &[OrphanResult] {
        &self.orphans
    }

    /// The model speaks again, so what it called before is over.
    fn begin_turn(&mut self) {
        if self.calls.last().is_some_and(|call| call.turn == self.turn) {
            self.end_turn();
        }
    }

    fn register(&mut self, id: &str, name: &str, now: Duration) -> usize {
        let index = self.calls.len();
        self.pairing.call(id.to_owned());
        self.calls.push(TrackedCall {
            id: id.to_owned(),
            name: name.to_owned(),
            turn: self.turn,
            made: now,
            deadline: self.timeout.map(|timeout| now.saturating_add(timeout)),
            state: CallState::Pending,
            answered: None,
            results: 0,
        });
        index
    }

    fn take(&mut self, id: Option<&str>, state: CallState, now: Duration) -> ResultMatch {
        let (index, matched) = match self.pairing.result(id) {
            Paired::Answers(call) => (call, ResultMatch::Answers(call)),
            Paired::Repeats { call, earlier: _ } => (call, ResultMatch::Duplicates(call)),
            Paired::Orphan => {
                self.orphans.push(OrphanResult { id: id.map(str::to_owned), came: now });
                return ResultMatch::Orphan;
            }
        };
        if let Some(call) = self.calls.get_mut(index) {
            call.state = state;
            call.answered = Some(now);
            call.results += 1;
        }
        matched
    }

    fn unsettled(&mut self) -> impl Iterator<Item = &mut TrackedCall> {
        self.calls.iter_mut().skip(self.settled)
    }
}

/// The state of a call with a result.
fn finished(failed: bool) -> CallState {
    if failed { CallState::Failed } else { CallState::Completed }
}

#[cfg(test)]
mod tests;
