//! A stream whose head is sent before the upstream has answered.
//!
//! Proxies in front of the gateway close a connection on which nothing arrives,
//! often after 60 seconds, some after 30. A model may take longer to begin. The
//! client of a stream therefore gets the head of its response after a while, and
//! heartbeats. None of this is part of an answer, so another upstream may still
//! get the request; only an error has to be an event.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderMap;
use tokio::time::{Instant, Sleep, sleep_until};
use toolwire::Protocol;

use super::stream::{self, HEARTBEAT};
use super::{ClientResponse, Failure, ResponseStream, headers};
use crate::observe::{Outcome, RequestLog};
use crate::response_body::StreamAborted;
use crate::server::CancellationToken;
use crate::state::GatewayState;
use crate::stored::EventReplay;

/// The work for a request, with its log entry and what the client gets.
pub(super) type Forwarding =
    Pin<Box<dyn Future<Output = (RequestLog, Result<ClientResponse, Failure>)> + Send>>;

/// When the client asked for a stream, once that is known.
pub(super) type StreamRequested = Arc<OnceLock<Instant>>;

/// Waits for the result, or for the time when the client of a stream gets the
/// head of its response.
pub(super) async fn finish_or_begin(
    forwarding: &mut Forwarding,
    requested: &StreamRequested,
    early_head: Duration,
) -> Option<(RequestLog, Result<ClientResponse, Failure>)> {
    let mut timer: Option<Pin<Box<Sleep>>> = None;
    std::future::poll_fn(|cx| {
        if let Poll::Ready(finished) = forwarding.as_mut().poll(cx) {
            return Poll::Ready(Some(finished));
        }
        // It is set while the request is read, which is done above.
        let Some(since) = requested.get() else { return Poll::Pending };
        let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(*since + early_head)));
        timer.as_mut().poll(cx).map(|()| None)
    })
    .await
}

/// A stream that has not begun, or has.
pub(crate) struct EarlyStream {
    state: State,
    gateway: Arc<GatewayState>,
    client: Protocol,
    id: String,
    heartbeat: Duration,
    timer: Pin<Box<Sleep>>,
    cancellation: CancellationToken,
}

enum State {
    Waiting(Forwarding),
    Begun(Box<ResponseStream>),
    Replayed(Box<EventReplay>),
    Ended,
}

impl EarlyStream {
    pub(super) fn new(
        gateway: &Arc<GatewayState>,
        client: Protocol,
        id: String,
        heartbeat: Duration,
        forwarding: Forwarding,
    ) -> Self {
        Self {
            state: State::Waiting(forwarding),
            gateway: Arc::clone(gateway),
            client,
            id,
            heartbeat,
            timer: Box::pin(sleep_until(Instant::now())),
            cancellation: gateway.drain.cancellation(),
        }
    }

    /// The headers that can be sent before the upstream has answered.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers::set_request_id(self.client, &self.id, &mut headers);
        stream::set_headers(&mut headers);
        headers
    }

    /// The next chunk for the client.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        let forwarding = match &mut self.state {
            State::Waiting(forwarding) => forwarding,
            State::Begun(stream) => return stream.poll_chunk(cx),
            State::Replayed(replay) => return replay.poll_chunk(cx),
            State::Ended => return Poll::Ready(None),
        };
        match catch_unwind(AssertUnwindSafe(|| forwarding.as_mut().poll(cx))) {
            Ok(Poll::Ready((log, result))) => self.begin(log, result, cx),
            Ok(Poll::Pending) => self.poll_heartbeat(cx),
            Err(_panic) => {
                self.gateway.metrics.panicked();
                self.state = State::Ended;
                Poll::Ready(Some(Err(StreamAborted)))
            }
        }
    }

    /// What follows the last chunk.
    pub(crate) fn take_trailers(&mut self) -> Option<HeaderMap> {
        match &mut self.state {
            State::Begun(stream) => stream.take_trailers(),
            State::Waiting(_) | State::Replayed(_) | State::Ended => None,
        }
    }

    /// Whether the client has everything but the end of the body.
    pub(crate) fn is_at_end(&self) -> bool {
        match &self.state {
            State::Begun(stream) => stream.is_at_end(),
            State::Waiting(_) | State::Replayed(_) | State::Ended => false,
        }
    }

    /// The connection ends, and it had sent everything that it got.
    pub(crate) fn all_sent(&mut self) {
        match &mut self.state {
            State::Begun(stream) => stream.all_sent(),
            State::Waiting(_) | State::Replayed(_) | State::Ended => {}
        }
    }

    /// Goes on with the stream, or ends with an error.
    fn begin(
        &mut self,
        mut log: RequestLog,
        result: Result<ClientResponse, Failure>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        log.set_status(200);
        match result {
            Ok(ClientResponse::Stream { headers, mut stream }) => {
                log.pause();
                stream.attach_log(log);
                let comments = late_headers(&headers);
                self.state = State::Begun(stream);
                if comments.is_empty() {
                    return self.poll_chunk(cx);
                }
                Poll::Ready(Some(Ok(comments)))
            }
            Err(failure) => {
                log.set_reason(failure.reason());
                let event = failure.into_event(self.client, &self.id);
                log.add_sent(event.len());
                log.finish(Outcome::Broken);
                self.end(event)
            }
            Ok(ClientResponse::Replay { headers: _, replay }) => {
                log.finish(Outcome::Answered);
                self.state = State::Replayed(replay);
                self.poll_chunk(cx)
            }
            // A request for a stream never gets one.
            Ok(ClientResponse::Whole { .. }) => {
                self.state = State::Ended;
                Poll::Ready(Some(Err(StreamAborted)))
            }
        }
    }

    /// Ends with an error event. If the protocol has none, the body is broken.
    fn end(&mut self, event: Bytes) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        self.state = State::Ended;
        Poll::Ready(Some(if event.is_empty() { Err(StreamAborted) } else { Ok(event) }))
    }

    fn poll_heartbeat(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        if self.cancellation.poll_cancelled(cx).is_ready() {
            let failure = Failure::new(stream::shutting_down());
            return self.end(failure.into_event(self.client, &self.id));
        }
        if self.timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.timer.as_mut().reset(Instant::now() + self.heartbeat);
        Poll::Ready(Some(Ok(Bytes::from_static(HEARTBEAT))))
    }
}

/// The gateway's own headers, which were not known when the head was sent, as
/// comments.
fn late_headers(headers: &HeaderMap) -> Bytes {
    let mut comments = Vec::new();
    for (name, value) in headers {
        if name.as_str().starts_with("toolwire-") {
            comments.extend_from_slice(b": ");
            comments.extend_from_slice(name.as_str().as_bytes());
            comments.push(b' ');
            comments.extend_from_slice(value.as_bytes());
            comments.push(b'\n');
        }
    }
    comments.into()
}
