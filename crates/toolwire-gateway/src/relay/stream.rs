//! A stream, translated back event by event.
//!
//! The head of the response is held back until the upstream has sent something
//! other than an error. An error before the first event is therefore a plain
//! HTTP error, which clients know how to retry. (If that takes too long,
//! `early_stream` sends the head.) After that the connection pulls: what the
//! client does not read is not read from the upstream either.

mod batching;
mod commit;
mod from_whole;
mod kept_memory;
mod opening;
mod turns;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio::time::Instant;
use toolwire::Entry;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::pipe::Pipe;

use self::batching::Batching;
use self::commit::Commit;
use self::kept_memory::KeptMemory;
pub(super) use self::opening::begin;
use super::loss::LossTrailers;
use super::{Failure, RequestContext};
use crate::observe::{Outcome, Reason, RequestLog};
use crate::response_body::StreamAborted;
use crate::secret_mask::SecretMask;
use crate::server::CancellationToken;
use crate::stored::AnswerRecorder;
use crate::upstream::{TimeoutPhase, Upstream, UpstreamBody, UpstreamError};
use crate::wake_timer::WakeTimer;

/// A stream of events for the client.
pub(crate) struct ResponseStream {
    source: Option<UpstreamBody>,
    pipe: Pipe,
    upstream: Arc<Upstream>,
    /// Bytes that were received and that the pipe has not read yet.
    unread: Bytes,
    /// Whether the pipe has more output before it reads on.
    pipe_has_more: bool,
    /// What is ready for the client.
    out: Vec<u8>,
    /// How much room the next output gets at once: that of the last, and a little.
    room: usize,
    /// Whether the last write ended with a complete event.
    between_events: bool,
    /// When it last looked at the clock.
    now: Instant,
    received_at: Instant,
    sent_at: Instant,
    idle: Duration,
    heartbeat: Duration,
    deadline: Instant,
    /// Wakes the task no later than the next timeout or heartbeat.
    timer: WakeTimer,
    cancellation: CancellationToken,
    log: Option<RequestLog>,
    finished: bool,
    batching: Batching,
    /// How long it has worked since it last let others work.
    turn: Duration,
    /// For a client that takes trailers.
    trailers: Option<LossTrailers>,
    /// What must not be in an error.
    mask: SecretMask,
    kept: KeptMemory,
    /// Keeps the answer before the client gets the end of it.
    commit: Commit,
}

/// Sets the headers that say that the response is a stream.
pub(crate) fn set_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
}

impl ResponseStream {
    fn new(
        context: &RequestContext<'_>,
        upstream: &Arc<Upstream>,
        pipe: Pipe,
        source: UpstreamBody,
        recorder: Option<AnswerRecorder>,
    ) -> Self {
        let upstream = Arc::clone(upstream);
        let pipe = if recorder.is_some() { pipe.with_held_ending() } else { pipe };
        let limits = &context.active.config.limits;
        let now = Instant::now();
        Self {
            pipe: pipe.with_event_limit(limits.event).with_loss_comment(limits.loss_header),
            unread: Bytes::new(),
            pipe_has_more: false,
            out: Vec::new(),
            room: 0,
            between_events: true,
            now,
            received_at: now,
            sent_at: now,
            idle: upstream.config.timeouts.idle,
            heartbeat: limits.heartbeat,
            deadline: source.deadline,
            timer: WakeTimer::new(),
            source: Some(source),
            upstream,
            cancellation: context.state.drain.cancellation(),
            log: None,
            finished: false,
            batching: Batching::default(),
            trailers: LossTrailers::new(&context.parts.headers, limits.loss_header),
            mask: context.secret_mask(),
            kept: KeptMemory::new(&context.state.streams, limits),
            turn: Duration::ZERO,
            commit: Commit::new(recorder),
        }
    }

    /// Gives the stream the log entry of its request.
    pub(super) fn attach_log(&mut self, log: RequestLog) {
        self.log = Some(log);
    }

    /// The next chunk for the client.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        if self.finished {
            return Poll::Ready(None);
        }
        let caught = catch_unwind(AssertUnwindSafe(|| self.advance(cx)));
        caught.unwrap_or_else(|_panic| {
            self.finish(Outcome::Broken);
            Poll::Ready(Some(Err(StreamAborted)))
        })
    }

    /// What follows the last chunk: the losses of the response, if there are any
    /// and the client takes trailers.
    pub(crate) fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()?.into_headers()
    }

    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        if self.ends_turn() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        // When the last step ended. Nothing waits between two steps, so the next one begins
        // then, and the clock is asked once for each.
        let mut step_end = None;
        loop {
            if self.poll_failed(cx).is_pending() {
                return Poll::Pending;
            }
            if self.should_write() {
                return Poll::Ready(Some(Ok(self.take_output())));
            }
            if self.pipe_has_more {
                if self.ends_turn() {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                self.step(step_end.unwrap_or_else(Instant::now));
                step_end = Some(self.now);
                continue;
            }
            if self.pipe.holds_ending() {
                let committed = std::task::ready!(self.poll_commit(cx));
                self.now = Instant::now();
                if let Some(ending) = committed {
                    self.note_sent(&ending);
                    return Poll::Ready(Some(Ok(ending)));
                }
                continue;
            }
            if self.pipe.is_done() || self.source.is_none() {
                self.complete();
                return Poll::Ready(None);
            }
            if self.cancellation.is_cancelled() {
                self.fail(shutting_down());
                continue;
            }
            let Some(source) = &mut self.source else { continue };
            match source.poll_chunk(cx) {
                Poll::Ready(Some(Ok(bytes))) => {
                    let now = step_end.unwrap_or_else(Instant::now);
                    self.batching.record_chunk(now - self.received_at);
                    self.received_at = now;
                    self.unread = bytes;
                    self.step(now);
                    step_end = Some(self.now);
                }
                Poll::Ready(Some(Err(error))) => self.fail_upstream(error),
                Poll::Ready(None) => {
                    self.source = None;
                    self.pipe.finish(&mut self.out);
                    self.mask_error();
                    self.hold_stop();
                }
                Poll::Pending if !self.out.is_empty() => {
                    if self.batching.should_yield() {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    self.now = Instant::now();
                }
                Poll::Pending => match self.poll_timers(cx) {
                    Poll::Ready(()) => {}
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    /// Whether the answer is over, even if the client does not know it yet.
    fn has_ended(&self) -> bool {
        self.pipe.is_done() || self.pipe.holds_ending()
    }

    /// Whether the client has everything but the end of the body.
    pub(crate) fn is_at_end(&self) -> bool {
        !self.finished && self.pipe.is_done() && self.out.is_empty() && !self.pipe_has_more
    }

    /// Whether the output goes to the client now.
    fn should_write(&self) -> bool {
        let more = self.batching.is_on() && self.source.is_some() && !self.has_ended();
        let is_due = !more || self.out.len() >= batching::MAX_BATCH;
        !self.out.is_empty() && is_due && !self.awaits_ending()
    }

    /// Checks timeouts and heartbeats while the upstream sends nothing. Ready
    /// means that there is something to do.
    fn poll_timers(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.cancellation.poll_cancelled(cx).is_ready() {
            return Poll::Ready(());
        }
        // Every deadline only ever moves later.
        if self.timer.is_running(cx) {
            return Poll::Pending;
        }
        loop {
            let now = Instant::now();
            self.now = now;
            let idle_deadline = self.received_at + self.idle;
            let next_heartbeat = self.sent_at + self.heartbeat;
            if now >= self.deadline || now >= idle_deadline {
                let phase =
                    if now >= self.deadline { TimeoutPhase::Total } else { TimeoutPhase::Idle };
                self.fail_upstream(UpstreamError::Timeout(phase));
                return Poll::Ready(());
            }
            if now >= next_heartbeat {
                self.sent_at = now;
                if self.between_events {
                    self.out.extend_from_slice(HEARTBEAT);
                    return Poll::Ready(());
                }
                continue;
            }
            let wake_at = idle_deadline.min(next_heartbeat).min(self.deadline);
            match self.timer.poll(wake_at, cx) {
                Poll::Ready(()) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn take_output(&mut self) -> Bytes {
        let out = into_chunk(std::mem::take(&mut self.out));
        self.room = (out.len() + out.len() / 8).min(batching::MAX_BATCH);
        self.note_sent(&out);
        out
    }

    /// Notes that the client gets a chunk.
    fn note_sent(&mut self, chunk: &[u8]) {
        self.sent_at = self.now;
        self.between_events =
            chunk.ends_with(b"\n\n") || chunk.ends_with(b"\r\n\r\n") || chunk == HEARTBEAT;
        if let Some(log) = &mut self.log {
            log.add_sent(chunk.len());
        }
    }

    fn fail_upstream(&mut self, error: UpstreamError) {
        if let Some(log) = &mut self.log {
            log.set_reason(Reason::Upstream(error));
        }
        self.fail(error.to_api_error(&self.upstream.config.name));
    }

    fn fail(&mut self, error: ApiError) {
        self.source = None;
        self.pipe.fail(error, &mut self.out);
    }

    /// The connection ends, and it had sent everything that it got. If that was
    /// all, the client has its answer: many leave when they have the last event,
    /// without waiting for the end of the body.
    pub(crate) fn all_sent(&mut self) {
        if self.is_at_end() {
            self.complete();
        }
    }

    /// Finishes after the client has got its last byte.
    fn complete(&mut self) {
        let outcome = match &self.pipe.summary().error {
            None => Outcome::Answered,
            Some(_) => Outcome::Broken,
        };
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        self.finished = true;
        match outcome {
            Outcome::Answered => self.upstream.succeeded(),
            Outcome::Broken
                if !self.cancellation.is_cancelled()
                    && !self.kept.is_exhausted()
                    && !self.commit.has_failed() =>
            {
                self.update_health();
            }
            Outcome::Broken | Outcome::Refused | Outcome::Failed | Outcome::Left => {}
        }
        if let Some(log) = &mut self.log {
            log.finish(outcome);
        }
        self.record();
        self.log = None;
        self.release_connection();
    }

    /// Records in the upstream's health what the end of its stream says about it.
    fn update_health(&self) {
        match &self.pipe.summary().error {
            Some(error) => {
                Failure::from_stream_error(error.clone(), &self.upstream)
                    .update_health(&self.upstream);
            }
            None => self.upstream.failed(),
        }
    }

    /// Puts usage and losses into the log.
    fn record(&mut self) {
        let losses = self.take_losses();
        let summary = self.pipe.summary();
        if let Some(log) = &mut self.log {
            log.set_usage(summary.usage.as_ref(), summary.calls);
            log.add_losses(&losses);
        }
    }

    /// What the response has lost since the last call.
    fn take_losses(&mut self) -> Vec<Entry> {
        let losses = self.pipe.take_ledger();
        if let Some(trailers) = &mut self.trailers {
            trailers.add(&losses);
        }
        losses
    }

    /// Gives the upstream's connection back. After a complete response only the
    /// end of the body is missing. Waiting for it briefly lets the pool use the
    /// connection again.
    fn release_connection(&mut self) {
        let Some(mut source) = self.source.take() else { return };
        if !self.pipe.summary().complete {
            return;
        }
        tokio::spawn(async move {
            let rest =
                async { while let Ok(Some(_)) = source.next_chunk(BODY_END_TIMEOUT).await {} };
            let _ = tokio::time::timeout(BODY_END_TIMEOUT, rest).await;
        });
    }
}

impl Drop for ResponseStream {
    fn drop(&mut self) {
        // If the client left, the usage so far is still recorded.
        self.record();
    }
}

/// A chunk for the client. A connection keeps what it cannot send yet, so it gets little room
/// that is not used.
fn into_chunk(mut bytes: Vec<u8>) -> Bytes {
    if bytes.capacity() - bytes.len() > bytes.len() / 4 {
        bytes.shrink_to_fit();
    }
    bytes.into()
}

/// The error of streams that are still open when the gateway stops.
pub(super) fn shutting_down() -> ApiError {
    ApiError::new(ErrorKind::Overloaded, "The gateway is shutting down.")
}

/// A comment, without an empty line after it. An empty line would end an event,
/// and some clients treat an event without data as malformed.
pub(crate) const HEARTBEAT: &[u8] = b": ping\n";

/// How long to wait for the end of a body.
const BODY_END_TIMEOUT: Duration = Duration::from_secs(1);
