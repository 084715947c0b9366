//! A request whose client does not wait for the answer.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::protocol::PathMatch;
use toolwire::wire::sse::Frames;

use super::stream::{self, HEARTBEAT};
use super::{
    ClientResponse, Failure, RequestContext, ResponseStream, RoutedRequest, headers,
    respond_with_error, send,
};
use crate::active_config::ActiveConfig;
use crate::guard::Credentials;
use crate::observe::{Outcome, RequestLog};
use crate::response_body::StreamAborted;
use crate::state::GatewayState;
use crate::stored::{Job, JobEnd};

/// Everything that the work needs after the client has left.
pub(super) struct BackgroundRequest {
    pub(super) state: Arc<GatewayState>,
    pub(super) active: Arc<ActiveConfig>,
    pub(super) parts: Parts,
    pub(super) credentials: Credentials,
    pub(super) client: Protocol,
    pub(super) path: PathMatch,
    pub(super) routed: RoutedRequest,
}

impl BackgroundRequest {
    /// Stores that the answer is being made, and begins to make it. `id` is that
    /// of the client's request.
    pub(super) async fn begin(mut self, id: &str) -> Result<ClientResponse, Failure> {
        let job = self.routed.begin_job(&self.state.stored).await?;
        let mut headers = HeaderMap::new();
        headers::set_request_id(self.client, id, &mut headers);
        let response = if self.routed.is_stream() {
            stream::set_headers(&mut headers);
            let heartbeat = self.active.config.limits.heartbeat;
            let replay = Box::new(job.replay(&self.state, heartbeat));
            ClientResponse::Replay { headers, replay }
        } else {
            ClientResponse::Whole { headers, body: job.queued(), outcome: Outcome::Answered }
        };
        let (state, format, client) = (&self.state, self.active.config.log, self.client);
        let log = RequestLog::start(state, format, id.to_owned(), client, LOG_PATH);
        let metrics_owner = Arc::clone(&self.state);
        let work = tokio::spawn(self.run(job.clone(), log));
        tokio::spawn(async move {
            // The answer must not be awaited for ever because of a defect.
            if work.await.is_err() {
                metrics_owner.metrics.panicked();
                job.fail(&interrupted()).await;
            }
        });
        Ok(response)
    }

    /// Makes the answer. If it is not wanted any more, the upstream's request
    /// ends with this future.
    async fn run(self, job: Job, log: RequestLog) {
        let stopped = job.clone();
        let mut shutdown = self.state.drain.cancellation();
        let is_stream = self.routed.is_stream();
        let ended = tokio::select! {
            ended = self.answer(&job, log) => ended,
            () = stopped.stopped() => Err(JobEnd::Stopped),
            // A stream knows by itself, and says what it has.
            () = std::future::poll_fn(|cx| shutdown.poll_cancelled(cx)), if !is_stream => {
                Err(JobEnd::Failed(stream::shutting_down()))
            }
        };
        if let Err(JobEnd::Failed(error)) = ended {
            job.fail(&error).await;
        }
    }

    async fn answer(self, job: &Job, log: RequestLog) -> Result<(), JobEnd> {
        let Self { state, active, parts, credentials, client, path, mut routed } = self;
        let (state, active, parts, credentials) = (&state, &active, &parts, &credentials);
        let mut context = RequestContext { state, active, parts, credentials, client, path, log };
        context.log.set_request(routed.model(), routed.size());
        let result = send(&mut context, &mut routed).await;
        let result = result.map_err(|failure| failure.without_secrets(&context.secret_mask()));
        let mut log = context.log;
        match result {
            Ok(ClientResponse::Whole { headers: _, body, outcome }) => {
                log.set_status(200);
                log.finish(outcome);
                job.complete(body, Vec::new()).await
            }
            Ok(ClientResponse::Stream { headers: _, mut stream }) => {
                log.set_status(200);
                log.pause();
                stream.attach_log(log);
                follow(job, stream).await
            }
            // Only the client's own request is answered with stored events.
            Ok(ClientResponse::Replay { .. }) => Err(JobEnd::Failed(interrupted())),
            Err(failure) => {
                let error = failure.error().clone();
                // Nobody waits for this response. It is what the log says.
                drop(respond_with_error(log, failure, client));
                Err(JobEnd::Failed(error))
            }
        }
    }
}

/// Stores the events of a stream until it ends.
async fn follow(job: &Job, mut stream: Box<ResponseStream>) -> Result<(), JobEnd> {
    // The stream has limits of its own.
    let mut frames = Frames::new(usize::MAX);
    let mut ending: Option<Bytes> = None;
    let mut events: Vec<Bytes> = Vec::new();
    loop {
        let chunk = std::future::poll_fn(|cx| stream.poll_chunk(cx)).await;
        let bytes = match chunk {
            Some(Ok(bytes)) if bytes == HEARTBEAT => continue,
            Some(Ok(bytes)) => bytes,
            Some(Err(StreamAborted)) | None => break,
        };
        let pushed = frames.push(&bytes, |frame| {
            match events.last_mut().filter(|_| ending.is_some()) {
                // What follows the last event belongs to it.
                Some(last) => *last = [last.as_ref(), frame.raw].concat().into(),
                None => {
                    ending = job.ending(frame.data);
                    events.push(Bytes::copy_from_slice(frame.raw));
                }
            }
            ControlFlow::Continue(())
        });
        if pushed.is_err() {
            break;
        }
        if ending.is_none() {
            job.append(std::mem::take(&mut events)).await?;
        }
    }
    match ending {
        Some(answer) => job.complete(answer, events).await,
        None => Err(JobEnd::Failed(interrupted())),
    }
}

fn interrupted() -> ApiError {
    ApiError::new(ErrorKind::Server, "The gateway was interrupted while it made this response.")
}

/// What the log says instead of the path of a request.
const LOG_PATH: &str = "background";
