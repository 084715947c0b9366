//! Whether a call may run.

use std::pin::Pin;
use std::sync::Arc;

use toolwire::calls::ToolCall;

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may.
    Allow,
    /// It may not. The model reads why.
    Deny(String),
}

/// Decides about each call before it runs.
pub(crate) type Approve =
    Arc<dyn Fn(ToolCall) -> Pin<Box<dyn Future<Output = Approval> + Send>> + Send + Sync>;
