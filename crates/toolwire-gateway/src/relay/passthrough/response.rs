//! A response that passes as it is, while it arrives.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{
    CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue,
    TRANSFER_ENCODING,
};
use tokio::time::{Instant, Sleep, sleep_until};
use toolwire::model::ErrorKind;

use crate::observe::{Outcome, Reason, RequestLog};
use crate::relay::{RequestContext, headers};
use crate::response_body::StreamAborted;
use crate::server::CancellationToken;
use crate::upstream::{TimeoutPhase, Upstream, UpstreamBody, UpstreamError, UpstreamResponse};

/// The head of a response that passes, and its body.
pub(super) struct PassedResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Box<PassedBody>,
}

impl PassedResponse {
    pub(super) fn new(
        context: &RequestContext<'_>,
        upstream: &Arc<Upstream>,
        response: UpstreamResponse,
    ) -> Self {
        let headers = client_headers(context, upstream, &response.headers);
        let cancellation = context.state.drain.cancellation();
        let UpstreamResponse { status, headers: _, body } = response;
        Self { status, headers, body: Box::new(PassedBody::new(upstream, body, cancellation)) }
    }
}

/// The headers for the client: those of the lists, and what describes the body.
pub(super) fn client_headers(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    upstream_headers: &HeaderMap,
) -> HeaderMap {
    let mut headers = headers::for_client(context, upstream, upstream_headers);
    let mut described = vec![CONTENT_TYPE, CONTENT_DISPOSITION];
    // A body that was compressed has another length for the client, and one with a
    // transfer coding has none that counts (RFC 9112, section 6.3).
    if !upstream_headers.contains_key(CONTENT_ENCODING)
        && !upstream_headers.contains_key(TRANSFER_ENCODING)
    {
        described.push(CONTENT_LENGTH);
    }
    for name in described {
        if let Some(value) = upstream_headers.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    context.remove_secrets(&mut headers);
    headers::set_request_id(context.client, &context.log.id, &mut headers);
    // Whatever an upstream sends, a browser that shows it runs nothing of it.
    headers
        .insert("content-security-policy", HeaderValue::from_static("default-src 'none'; sandbox"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers
}

/// A body that the connection pulls from the upstream.
pub(crate) struct PassedBody {
    source: Option<UpstreamBody>,
    upstream: Arc<Upstream>,
    received_at: Instant,
    timer: Pin<Box<Sleep>>,
    cancellation: CancellationToken,
    log: Option<RequestLog>,
}

impl PassedBody {
    fn new(
        upstream: &Arc<Upstream>,
        source: UpstreamBody,
        cancellation: CancellationToken,
    ) -> Self {
        let (upstream, now) = (Arc::clone(upstream), Instant::now());
        let timer = Box::pin(sleep_until(now));
        Self { source: Some(source), upstream, received_at: now, timer, cancellation, log: None }
    }

    /// Gives the body the log entry of its request.
    pub(super) fn attach_log(&mut self, log: RequestLog) {
        self.log = Some(log);
        self.finish_if_complete();
    }

    /// The next chunk. A body that is cut upstream is cut here, too.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        let Some(source) = &mut self.source else { return Poll::Ready(None) };
        match source.poll_chunk(cx) {
            Poll::Ready(Some(Ok(chunk))) => {
                self.received_at = Instant::now();
                if let Some(log) = &mut self.log {
                    log.add_sent(chunk.len());
                }
                self.finish_if_complete();
                Poll::Ready(Some(Ok(chunk)))
            }
            Poll::Ready(None) => {
                self.complete();
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(error))) => {
                self.upstream.failed();
                self.abort(Reason::Upstream(error))
            }
            Poll::Pending if self.cancellation.poll_cancelled(cx).is_ready() => {
                self.abort(Reason::Kind(ErrorKind::Overloaded))
            }
            Poll::Pending => self.poll_timeout(cx),
        }
    }

    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        let total = self.source.as_ref().map_or(self.received_at, |source| source.deadline);
        let deadline = total.min(self.received_at + self.upstream.config.timeouts.idle);
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        std::task::ready!(self.timer.as_mut().poll(cx));
        self.upstream.failed();
        let phase = if deadline == total { TimeoutPhase::Total } else { TimeoutPhase::Idle };
        self.abort(Reason::Upstream(UpstreamError::Timeout(phase)))
    }

    /// Finishes as soon as nothing can follow. A connection that has got as many
    /// bytes as the head announced never asks for more.
    fn finish_if_complete(&mut self) {
        if self.source.as_ref().is_some_and(UpstreamBody::is_complete) {
            self.complete();
        }
    }

    fn complete(&mut self) {
        self.upstream.succeeded();
        self.finish(Outcome::Answered);
    }

    fn abort(&mut self, reason: Reason) -> Poll<Option<Result<Bytes, StreamAborted>>> {
        if let Some(log) = &mut self.log {
            log.attempt_failed(reason);
            log.set_reason(reason);
        }
        self.finish(Outcome::Broken);
        Poll::Ready(Some(Err(StreamAborted)))
    }

    fn finish(&mut self, outcome: Outcome) {
        self.source = None;
        if let Some(mut log) = self.log.take() {
            log.finish(outcome);
        }
    }
}
