//! One output for every call, whatever came.

use super::pairing::{Paired, Pairing};
use crate::calls::{ToolCall, ToolOutput};

/// One output for every call of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnsweredCalls {
    /// The outputs, in the order of the calls.
    pub outputs: Vec<ToolOutput>,
    /// Calls that none came for, by their place. Their output says so.
    pub missing: Vec<usize>,
    /// Outputs that answer no call, and are left out.
    pub orphaned: Vec<ToolOutput>,
    /// Outputs that a later one for the same call supersedes, and are left out.
    pub duplicated: Vec<ToolOutput>,
}

/// Makes one output for every call of an answer out of whatever came, in any
/// order: what [`continuation`](crate::calls::continuation) and
/// [`next_request`](crate::calls::next_request) take. A call without an output
/// gets a failure, with the words that toolwire's encoders use for it.
///
/// ```
/// use toolwire::calls::{Input, ToolCall, ToolOutput};
/// use toolwire::tracker::answer_all;
///
/// let call = |id: &str| ToolCall::new(id, "f", Input::Arguments("{}".to_owned()));
/// let came = vec![ToolOutput::text("b", "2"), ToolOutput::text("x", "?")];
/// let answered = answer_all(&[call("a"), call("b")], came);
/// assert_eq!(answered.outputs, [
///     ToolOutput::error("a", "no result supplied"),
///     ToolOutput::text("b", "2"),
/// ]);
/// assert_eq!((answered.missing, answered.orphaned.len()), (vec![0], 1));
/// ```
pub fn answer_all(calls: &[ToolCall], outputs: Vec<ToolOutput>) -> AnsweredCalls {
    let mut pairing = Pairing::of_answer(calls.iter().map(|call| call.id.as_str()));
    let mut answered = AnsweredCalls::default();
    let mut slots: Vec<Option<ToolOutput>> = vec![None; calls.len()];
    for output in outputs {
        match pairing.result(Some(&output.id)) {
            Paired::Answers(call) | Paired::Repeats { call, earlier: _ } => {
                let earlier = slots.get_mut(call).and_then(|slot| slot.replace(output));
                answered.duplicated.extend(earlier);
            }
            Paired::Orphan => answered.orphaned.push(output),
        }
    }
    answered.outputs.reserve_exact(calls.len());
    for (place, (slot, call)) in slots.into_iter().zip(calls).enumerate() {
        answered.outputs.push(slot.unwrap_or_else(|| {
            answered.missing.push(place);
            ToolOutput::error(&call.id, NO_RESULT)
        }));
    }
    answered
}

/// What the model reads in place of a result that never came.
pub(crate) const NO_RESULT: &str = "no result supplied";
