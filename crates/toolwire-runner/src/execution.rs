//! The calls of one answer, at work.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout};
use toolwire::calls::{Arrived, ToolCall, ToolOutput};
use toolwire::tracker::CallState;

use crate::Approval;
use crate::event::Event;
use crate::output::Output;
use crate::runner::Settings;

/// The calls of one answer, at work. Dropping it cancels them.
pub(crate) struct Execution {
    settings: Arc<Settings>,
    limiter: Arc<Semaphore>,
    tasks: JoinSet<(usize, Finished)>,
    /// Which call a task runs. A task that panics cannot say it.
    running: HashMap<Id, usize>,
    calls: Vec<ToolCall>,
}

/// A call that has its output.
pub(crate) struct Finished {
    pub(crate) output: ToolOutput,
    pub(crate) state: CallState,
}

impl Execution {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        let limiter = Arc::new(Semaphore::new(settings.concurrency));
        Self {
            settings,
            limiter,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            calls: Vec::new(),
        }
    }

    /// Starts a call, or puts it in line if too many run.
    pub(crate) fn start(&mut self, call: ToolCall) {
        let place = self.calls.len();
        self.settings.notify(Event::Called(&call));
        self.calls.push(call.clone());
        let (settings, limiter) = (Arc::clone(&self.settings), Arc::clone(&self.limiter));
        let task = self.tasks.spawn(async move { (place, settings.run(&call, &limiter).await) });
        self.running.insert(task.id(), place);
    }

    /// Takes what a stream brings: calls that are whole, and text.
    pub(crate) fn take(&mut self, arrived: Arrived) {
        if !arrived.text.is_empty() {
            self.settings.notify(Event::Text(&arrived.text));
        }
        arrived.calls.into_iter().for_each(|call| self.start(call));
    }

    /// Waits for the next call to finish, and says at which place it is.
    pub(crate) async fn next(&mut self) -> Option<(usize, Finished)> {
        match self.tasks.join_next_with_id().await? {
            Ok((_, finished)) => Some(finished),
            Err(error) => {
                let place = *self.running.get(&error.id())?;
                let call = self.calls.get(place)?;
                let failure = Err(failure(error).into());
                Some((place, self.settings.finish(call, failure, Duration::ZERO)))
            }
        }
    }

    /// The calls that were started, in order.
    pub(crate) fn calls(&self) -> &[ToolCall] {
        &self.calls
    }
}

/// Why a call has no result.
struct Failure {
    reason: String,
    state: CallState,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, state: CallState::Failed }
    }
}

impl Settings {
    /// Runs one call to its output.
    async fn run(&self, call: &ToolCall, limiter: &Semaphore) -> Finished {
        let (running, limit) = match self.prepare(call).await {
            Ok(prepared) => prepared,
            Err(reason) => return self.finish(call, Err(reason.into()), Duration::ZERO),
        };
        // The limiter is never closed.
        let _permit = limiter.acquire().await;
        self.notify(Event::Started(call));
        let start = Instant::now();
        let result = match timeout(limit, running).await {
            Ok(result) => result.map_err(Failure::from),
            Err(_elapsed) => Err(Failure { reason: timed_out(limit), state: CallState::TimedOut }),
        };
        self.finish(call, result, start.elapsed())
    }

    /// Makes the output that the model reads, and tells it.
    fn finish(&self, call: &ToolCall, result: Result<Output, Failure>, took: Duration) -> Finished {
        let (output, state) = match result {
            Ok(Output::Text(text)) => (ToolOutput::text(&call.id, text), CallState::Completed),
            Ok(Output::Parts(json)) => (ToolOutput::json(&call.id, json), CallState::Completed),
            Err(Failure { reason, state }) => (ToolOutput::error(&call.id, reason), state),
        };
        self.notify(Event::Finished { call, output: &output, state, took });
        Finished { output, state }
    }

    /// Checks a call and asks whether it may run.
    async fn prepare(&self, call: &ToolCall) -> Result<(crate::tool::Running, Duration), String> {
        let (running, tool) = self.tools.begin(call)?;
        let limit = tool.timeout.unwrap_or(self.timeout);
        if let Some(approve) = &self.approve
            && let Approval::Deny(reason) = approve(call.clone()).await
        {
            return Err(format!("the call was not approved: {reason}"));
        }
        Ok((running, limit))
    }

    pub(crate) fn notify(&self, event: Event<'_>) {
        if let Some(listener) = &self.listener {
            listener(event);
        }
    }
}

fn timed_out(limit: Duration) -> String {
    format!("the tool timed out after {} seconds", limit.as_secs_f64())
}

/// What the model reads of a task that did not end well.
fn failure(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => match message(panic.as_ref()) {
            Some(message) => format!("the tool panicked: {message}"),
            None => "the tool panicked".to_owned(),
        },
        Err(_cancelled) => "the tool was cancelled".to_owned(),
    }
}

fn message(panic: &(dyn Any + Send)) -> Option<&str> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
}
