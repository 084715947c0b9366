//! The loop between a model and its tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;
use toolwire::calls::{self, StreamedAnswer, ToolCall, ToolOutput};
use toolwire::tracker::{CallState, Tracker, answer_all};

use crate::approval::{Approval, Approve};
use crate::client::{Client, ModelResponse};
use crate::event::{Event, Listener};
use crate::execution::{Execution, Finished};
use crate::request::{Request, with_free_choice, with_stream, with_tools};
use crate::{Error, Outcome, ToolSet};

/// Sends requests to a model and runs the tools that it calls.
#[derive(Clone)]
pub struct Runner {
    settings: Settings,
    rounds: usize,
    stream: Option<bool>,
}

/// What the tasks of a runner share.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) tools: ToolSet,
    pub(crate) concurrency: usize,
    pub(crate) timeout: Duration,
    pub(crate) approve: Option<Approve>,
    pub(crate) listener: Option<Listener>,
}

impl Runner {
    /// A runner of these tools.
    pub fn new(tools: ToolSet) -> Self {
        let (concurrency, timeout) = (DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT);
        Self {
            settings: Settings { tools, concurrency, timeout, approve: None, listener: None },
            rounds: DEFAULT_ROUNDS,
            stream: None,
        }
    }

    /// How many tools may run at the same time; 16 if nothing is said. With 1
    /// they run one after the other.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.settings.concurrency = calls.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// How long a tool may run that has no limit of its own; a minute if nothing
    /// is said. Waiting for its turn and for approval does not count.
    #[must_use]
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// How many requests may be sent for one question; 32 if nothing is said.
    #[must_use]
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds.max(1);
        self
    }

    /// Asks the model for streams, so that a tool starts as soon as its arguments
    /// are complete, and text is told as it comes. Without this, the request says
    /// what it wants itself.
    #[must_use]
    pub fn streaming(mut self, stream: bool) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Asks before each call whether it may run. The arguments fit the tool's
    /// schema by then.
    #[must_use]
    pub fn approve<F>(mut self, approve: impl Fn(ToolCall) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Approval> + Send + 'static,
    {
        self.settings.approve = Some(Arc::new(move |call| Box::pin(approve(call))));
        self
    }

    /// Tells what happens. Tools that run in parallel tell it from several tasks
    /// at once.
    #[must_use]
    pub fn on_event(mut self, listener: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        self.settings.listener = Some(Arc::new(listener));
        self
    }

    /// Sends a request, runs the calls of the answer, and goes on until the model
    /// calls nothing more.
    ///
    /// A request that forces the model to call a tool forces it once: behind the
    /// first calls the choice becomes `auto`, as [`Event::ChoiceRelaxed`] tells.
    ///
    /// # Errors
    ///
    /// If the model's API cannot be reached or refuses a request, if an answer
    /// cannot be read, and [`Error::RoundLimit`]. What tools have done by then
    /// stays done.
    pub async fn run(
        &self,
        client: &Client,
        request: impl Into<Request>,
    ) -> Result<Outcome, Error> {
        let protocol = client.protocol();
        let settings = Arc::new(self.settings.clone());
        let tools = settings.tools.render(protocol)?;
        let body = request.into().body(protocol);
        let mut body = with_tools(protocol, &body, &tools.body)?;
        if let Some(stream) = self.stream {
            body = with_stream(&body, stream)?;
        }
        let start = Instant::now();
        let mut tracker = Tracker::new();
        let mut outputs = Vec::new();
        let mut rounds = 0;
        loop {
            settings.notify(Event::Asked { round: rounds });
            let answer = client.send(&body).await?;
            rounds += 1;
            let mut execution = Execution::new(Arc::clone(&settings));
            let response = receive(answer, protocol, &mut execution).await?;
            if execution.calls().is_empty() {
                return Ok(Outcome { protocol, request: body, response, rounds, tracker, outputs });
            }
            let answered = answer_calls(&mut execution, &mut tracker, start).await;
            body = calls::next_request(protocol, &body, &response, &answered)?;
            if rounds == 1
                && let Some(free) = with_free_choice(protocol, &body)?
            {
                settings.notify(Event::ChoiceRelaxed);
                body = free;
            }
            outputs.extend(answered);
            if rounds == self.rounds {
                let request = body;
                let outcome = Outcome { protocol, request, response, rounds, tracker, outputs };
                return Err(Error::RoundLimit { outcome: Box::new(outcome) });
            }
        }
    }

    /// Runs calls and gives one output for each, in their order.
    pub async fn run_calls(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolOutput> {
        let mut execution = Execution::new(Arc::new(self.settings.clone()));
        calls.into_iter().for_each(|call| execution.start(call));
        answer_calls(&mut execution, &mut Tracker::new(), Instant::now()).await
    }

    /// Runs the calls of a whole answer, for a program that sends its requests
    /// itself: [`next_request`](toolwire::calls::next_request) takes what comes
    /// out.
    ///
    /// # Errors
    ///
    /// [`Error::Answer`] if the answer cannot be read.
    pub async fn run_response(
        &self,
        protocol: Protocol,
        response: &[u8],
    ) -> Result<Vec<ToolOutput>, Error> {
        Ok(self.run_calls(calls::parse(protocol, response)?).await)
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("tools", &self.settings.tools).finish_non_exhaustive()
    }
}

/// Takes an answer and starts its calls, those of a stream as they come. Gives
/// the whole answer.
async fn receive(
    answer: ModelResponse,
    protocol: Protocol,
    execution: &mut Execution,
) -> Result<Vec<u8>, Error> {
    let mut body = match answer {
        ModelResponse::Whole(response) => {
            for call in calls::parse(protocol, &response)? {
                execution.start(call);
            }
            return Ok(response);
        }
        ModelResponse::Stream(body) => body,
    };
    let mut streamed = StreamedAnswer::new(protocol);
    while let Some(chunk) = body.next().await? {
        execution.take(streamed.push(&chunk)?);
    }
    let (last, response) = streamed.finish()?;
    execution.take(last);
    Ok(response)
}

/// Waits for every call of an answer. Its outputs, in the order of the calls in
/// the answer.
async fn answer_calls(
    execution: &mut Execution,
    tracker: &mut Tracker,
    start: Instant,
) -> Vec<ToolOutput> {
    for call in execution.calls() {
        tracker.call(call, start.elapsed());
    }
    let mut outputs: Vec<Option<ToolOutput>> = vec![None; execution.calls().len()];
    while let Some((place, Finished { output, state })) = execution.next().await {
        match state {
            CallState::TimedOut => tracker.timed_out(&output, start.elapsed()),
            CallState::Pending | CallState::Completed | CallState::Failed | CallState::Missing => {
                tracker.result(&output, start.elapsed())
            }
        };
        if let Some(slot) = outputs.get_mut(place) {
            *slot = Some(output);
        }
    }
    tracker.end_turn();
    answer_all(execution.calls(), outputs.into_iter().flatten().collect()).outputs
}

const DEFAULT_CONCURRENCY: usize = 16;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
const DEFAULT_ROUNDS: usize = 32;
