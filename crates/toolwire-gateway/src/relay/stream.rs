//! A stream, translated back event by event.
//!
//! The head of the answer is held back until the upstream has said something
//! that is no error, so that an error before the first event is a plain HTTP
//! error that clients know how to repeat. After that the connection pulls: what
//! the client does not take is not read from the upstream either.

mod batching;
mod from_whole;
mod opening;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant as Clock};

use bytes::{Buf, Bytes};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use toolwire::Entry;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::pipe::Pipe;

use self::batching::Rush;
use super::{Back, Failure, Reply, Visit, headers, loss};
use crate::observe::{Access, Ending};
use crate::response_body::Broken;
use crate::server::Cut;
use crate::upstream::{Answer, Body, Phase, Trouble, Upstream};

/// A stream that has begun.
pub(crate) struct Stream {
    source: Option<Body>,
    pipe: Pipe,
    upstream: Arc<Upstream>,
    /// What has come and is not in the pipe yet, and whether more will come out
    /// of the pipe before anything else goes in.
    rest: Bytes,
    more: bool,
    /// What is ready for the client.
    out: Vec<u8>,
    /// Whether the client stands between two events.
    between: bool,
    received: Instant,
    sent: Instant,
    idle: Duration,
    heartbeat: Duration,
    deadline: Instant,
    /// Wakes at the earliest time at which anything may be due.
    timer: Pin<Box<Sleep>>,
    cut: Cut,
    access: Option<Access>,
    over: bool,
    /// Whether more may be there in a moment.
    rush: Rush,
}

/// Waits for the first event of a stream.
pub(super) async fn begin(
    visit: &mut Visit<'_>,
    back: Back<'_>,
    pipe: Pipe,
    answer: Answer,
) -> Result<Reply, Failure> {
    if !answer.status.is_success() || answer.media_type().eq_ignore_ascii_case("application/json") {
        return from_whole::unroll(visit, back, pipe, answer).await;
    }
    let upstream = back.upstream;
    let mut stream = Box::new(Stream::new(visit, upstream, pipe, answer.body));
    let headers = headers::inbound(upstream.config.protocol, visit.client, &answer.headers);
    visit.access.pause();
    let first = stream.first(upstream.config.timeouts.first_event).await;
    visit.access.resume();
    visit.access.heard();
    if let Err(trouble) = first {
        return Err(Failure::of_trouble(trouble, upstream).came_with(headers));
    }
    if let Some(error) = &stream.pipe.seen().error {
        return Err(Failure::of_event(error.clone()).came_with(headers));
    }
    Ok(reply(visit, &back, stream, headers, &[]))
}

/// The head of a stream, and the stream behind it.
fn reply(
    visit: &Visit<'_>,
    back: &Back<'_>,
    stream: Box<Stream>,
    mut headers: HeaderMap,
    losses: &[Entry],
) -> Reply {
    headers::renamed(stream.pipe.seen().model.as_deref(), &mut headers);
    headers::identify(visit.client, &visit.access.id, &mut headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    let limit = visit.live.config.limits.loss_header;
    loss::report(&back.losses, losses, limit, &mut headers);
    Reply::Stream { headers, stream }
}

impl Stream {
    fn new(visit: &Visit<'_>, upstream: &Arc<Upstream>, pipe: Pipe, source: Body) -> Self {
        let upstream = Arc::clone(upstream);
        let limits = &visit.live.config.limits;
        let now = Instant::now();
        Self {
            pipe: pipe.with_event_limit(limits.event),
            rest: Bytes::new(),
            more: false,
            out: Vec::new(),
            between: true,
            received: now,
            sent: now,
            idle: upstream.config.timeouts.idle,
            heartbeat: limits.heartbeat,
            deadline: source.deadline,
            timer: Box::pin(sleep_until(now)),
            source: Some(source),
            upstream,
            cut: visit.shared.drain.cut(),
            access: None,
            over: false,
            rush: Rush::default(),
        }
    }

    /// Settles who keeps the record.
    pub(super) fn observed_by(&mut self, access: Access) {
        self.access = Some(access);
    }

    /// Reads until there is something for the client that means something, or
    /// until the client has waited so long that it gets the head and heartbeats
    /// in the meantime.
    async fn first(&mut self, limit: Duration) -> Result<(), Trouble> {
        let began = Instant::now();
        let by = (began + limit).min(self.deadline);
        let mut patience = began + self.heartbeat;
        loop {
            let Some(source) = &mut self.source else { return Ok(()) };
            let piece = std::future::poll_fn(|cx| source.poll_piece(cx));
            let Ok(piece) = timeout_at(by.min(patience), piece).await else {
                if patience < by || !self.out.is_empty() {
                    return Ok(());
                }
                return Err(Trouble::Late(Phase::FirstEvent));
            };
            self.received = Instant::now();
            match piece {
                Some(Ok(bytes)) => self.pipe.push(&bytes, &mut self.out),
                Some(Err(trouble)) if self.out.is_empty() => return Err(trouble),
                Some(Err(trouble)) => self.fail(trouble.error(&self.upstream.config.name)),
                None => {
                    self.source = None;
                    self.pipe.finish(&mut self.out);
                }
            }
            if self.pipe.is_done() || self.pipe.seen().error.is_some() {
                return Ok(());
            }
            if !self.out.is_empty() {
                if !opening::is_only(&self.out) {
                    return Ok(());
                }
                patience = patience.min(self.received + OPENING);
            }
        }
    }

    /// The next piece for the client.
    pub(crate) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Broken>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let caught = catch_unwind(AssertUnwindSafe(|| self.advance(cx)));
        caught.unwrap_or_else(|_panic| {
            self.end(Ending::Broken);
            Poll::Ready(Some(Err(Broken)))
        })
    }

    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        loop {
            if self.is_enough() {
                return Poll::Ready(Some(Ok(self.take())));
            }
            if self.more {
                self.step();
                continue;
            }
            if self.pipe.is_done() || self.source.is_none() {
                self.settle();
                return Poll::Ready(None);
            }
            if self.cut.is_cut() {
                self.fail(shutting_down());
                continue;
            }
            let Some(source) = &mut self.source else { continue };
            match source.poll_piece(cx) {
                Poll::Ready(Some(Ok(bytes))) => {
                    let now = Instant::now();
                    self.rush.came(now - self.received);
                    self.received = now;
                    self.rest = bytes;
                    self.step();
                }
                Poll::Ready(Some(Err(trouble))) => {
                    self.fail(trouble.error(&self.upstream.config.name))
                }
                Poll::Ready(None) => {
                    self.source = None;
                    self.pipe.finish(&mut self.out);
                }
                Poll::Pending if !self.out.is_empty() => {
                    if self.rush.steps_aside() {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
                Poll::Pending => match self.wait(cx) {
                    Poll::Ready(()) => {}
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    /// Lets the pipe take what it will before the client takes what is ready.
    fn step(&mut self) {
        let before = Clock::now();
        let mut rest = self.rest.as_ref();
        self.more = self.pipe.step(&mut rest, &mut self.out);
        let left = rest.len();
        self.rest.advance(self.rest.len() - left);
        if let Some(access) = &mut self.access {
            access.worked(before.elapsed());
        }
    }

    /// Whether what is ready goes to the client at once.
    fn is_enough(&self) -> bool {
        let more = self.rush.is_on() && self.source.is_some() && !self.pipe.is_done();
        !self.out.is_empty() && (!more || self.out.len() >= batching::ENOUGH)
    }

    /// Looks at the clock while the upstream is silent.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.cut.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        loop {
            let now = Instant::now();
            let (idle, beat) = (self.received + self.idle, self.sent + self.heartbeat);
            if now >= self.deadline || now >= idle {
                let phase = if now >= self.deadline { Phase::Whole } else { Phase::Next };
                self.fail(Trouble::Late(phase).error(&self.upstream.config.name));
                return Poll::Ready(());
            }
            if now >= beat {
                self.sent = now;
                if self.between {
                    self.out.extend_from_slice(HEARTBEAT);
                    return Poll::Ready(());
                }
                continue;
            }
            // What is due only ever moves away, so a timer that was set for
            // earlier does: it wakes, and is set again.
            let due = idle.min(beat).min(self.deadline);
            if self.timer.is_elapsed() || self.timer.deadline() > due {
                self.timer.as_mut().reset(due);
            }
            match self.timer.as_mut().poll(cx) {
                Poll::Ready(()) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn take(&mut self) -> Bytes {
        let out = std::mem::take(&mut self.out);
        self.sent = Instant::now();
        self.between = out.ends_with(b"\n\n") || out.ends_with(b"\r\n\r\n") || out == HEARTBEAT;
        if let Some(access) = &mut self.access {
            access.sent(out.len());
        }
        out.into()
    }

    fn fail(&mut self, error: ApiError) {
        self.source = None;
        self.pipe.fail(error, &mut self.out);
    }

    /// The client has its last byte.
    fn settle(&mut self) {
        let ending = match &self.pipe.seen().error {
            None => Ending::Answered,
            Some(_) => Ending::Broken,
        };
        self.end(ending);
    }

    fn end(&mut self, ending: Ending) {
        self.over = true;
        match ending {
            Ending::Answered => self.upstream.succeeded(),
            Ending::Broken if !self.cut.is_cut() => self.upstream.failed(),
            Ending::Broken | Ending::Refused | Ending::Failed | Ending::Left => {}
        }
        if let Some(access) = &mut self.access {
            access.end(ending);
        }
        self.record();
        self.access = None;
        self.release();
    }

    fn record(&mut self) {
        let losses = self.pipe.take_ledger();
        let seen = self.pipe.seen();
        if let Some(access) = &mut self.access {
            access.used(seen.usage.as_ref(), seen.calls);
            access.lost(&losses);
        }
    }

    /// Lets go of the upstream. After a complete answer only the end of the
    /// body is missing; a moment's patience gets the connection back for the
    /// next request.
    fn release(&mut self) {
        let Some(mut source) = self.source.take() else { return };
        if !self.pipe.seen().complete {
            return;
        }
        tokio::spawn(async move {
            let rest = async { while let Ok(Some(_)) = source.piece(TAIL).await {} };
            let _ = tokio::time::timeout(TAIL, rest).await;
        });
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The client left: what is known of the costs is still recorded.
        self.record();
    }
}

/// Why a stream is cut when the gateway stops.
fn shutting_down() -> ApiError {
    ApiError::new(ErrorKind::Overloaded, "The gateway is shutting down.")
}

/// A comment, without an empty line behind it. An empty line ends an event, and
/// some clients take an event without data for a broken one.
const HEARTBEAT: &[u8] = b": ping\n";

/// How long the opening of a stream is held back, in the hope that what follows
/// tells whether the upstream can answer at all.
const OPENING: Duration = Duration::from_millis(500);

/// How long the end of a body is waited for.
const TAIL: Duration = Duration::from_secs(1);
