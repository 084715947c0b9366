//! What a runner tells while it works.

use std::sync::Arc;
use std::time::Duration;

use toolwire::calls::{ToolCall, ToolOutput};
use toolwire::tracker::CallState;

/// What a runner tells while it works.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A request is sent to the model.
    Asked {
        /// How many were sent before it.
        round: usize,
    },
    /// The request forced the model to call a tool, which it has done. From here on
    /// it may choose, or it could never stop.
    ChoiceRelaxed,
    /// The model has said more. Only streams tell this piece by piece.
    Text(&'e str),
    /// The model has made a call, and its arguments are complete.
    Called(&'e ToolCall),
    /// A tool begins to run.
    Started(&'e ToolCall),
    /// A call has its output, whether its tool has run or not.
    Finished {
        /// The call.
        call: &'e ToolCall,
        /// What the model will read.
        output: &'e ToolOutput,
        /// Whether it succeeded, failed, or ran out of time.
        state: CallState,
        /// How long the tool ran.
        took: Duration,
    },
}

/// Takes events, from several tasks at once.
pub(crate) type Listener = Arc<dyn Fn(Event<'_>) + Send + Sync>;
