//! An upstream's response, read as it arrives.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::http1::{BodyError, Head, Http1Body, Stream};
use super::{Decoder, MAX_PIECE, TimeoutPhase, UpstreamError};
use crate::memory::Reservation;

/// The head of a response, and its body to be read.
pub(crate) struct UpstreamResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: UpstreamBody,
}

/// The body of a response, decompressed.
pub(crate) struct UpstreamBody {
    source: BodySource,
    decoder: Option<Decoder>,
    /// What was received and is not decoded yet.
    encoded: Bytes,
    /// How long it has decoded since it last let others work.
    turn: Duration,
    /// When the body must be complete.
    pub(crate) deadline: Instant,
}

/// How long a whole response may be, and all of them together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseLimit {
    pub(crate) response: usize,
    pub(crate) total: usize,
}

enum BodySource {
    /// The answer to a request that passed.
    Hyper(Incoming),
    Http1(Http1Body<Stream>),
    Demo(VecDeque<Vec<u8>>),
}

impl UpstreamResponse {
    pub(super) fn from_hyper(
        response: Response<Incoming>,
        deadline: Instant,
    ) -> Result<Self, UpstreamError> {
        let (head, body) = response.into_parts();
        Self::new(head.status, head.headers, BodySource::Hyper(body), deadline)
    }

    pub(super) fn from_http1(
        (head, body): (Head, Http1Body<Stream>),
        deadline: Instant,
    ) -> Result<Self, UpstreamError> {
        Self::new(head.status, head.headers, BodySource::Http1(body), deadline)
    }

    fn new(
        status: StatusCode,
        headers: HeaderMap,
        source: BodySource,
        deadline: Instant,
    ) -> Result<Self, UpstreamError> {
        let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::to_str);
        let encoding = encoding.transpose().map_err(|_| UpstreamError::Undecodable)?;
        let decoder = Decoder::for_encoding(encoding.unwrap_or_default())
            .map_err(|_unknown| UpstreamError::Undecodable)?;
        let body = UpstreamBody::new(source, decoder, deadline);
        Ok(Self { status, headers, body })
    }

    pub(crate) fn from_demo(response: toolwire_demo::Response, deadline: Instant) -> Self {
        let toolwire_demo::Response { status, content_type, chunks } = response;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        let source = BodySource::Demo(chunks.into());
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers,
            body: UpstreamBody::new(source, None, deadline),
        }
    }

    /// The media type without its parameters.
    pub(crate) fn media_type(&self) -> &str {
        let value = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().split(';').next().unwrap_or_default().trim()
    }
}

impl UpstreamBody {
    fn new(source: BodySource, decoder: Option<Decoder>, deadline: Instant) -> Self {
        Self { source, decoder, encoded: Bytes::new(), turn: Duration::ZERO, deadline }
    }

    /// The next chunk.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        loop {
            if !self.encoded.is_empty() {
                match ready!(self.poll_decode(cx)) {
                    Ok(chunk) if chunk.is_empty() => continue,
                    result => return Poll::Ready(Some(result)),
                }
            }
            let data = match &mut self.source {
                BodySource::Demo(chunks) => match chunks.pop_front() {
                    Some(chunk) => Some(Bytes::from(chunk)),
                    None => return Poll::Ready(None),
                },
                BodySource::Hyper(incoming) => match ready!(Pin::new(incoming).poll_frame(cx)) {
                    Some(Ok(frame)) => frame.into_data().ok(),
                    Some(Err(error)) => {
                        return Poll::Ready(Some(Err(UpstreamError::from_hyper(&error))));
                    }
                    None => return Poll::Ready(None),
                },
                BodySource::Http1(body) => match ready!(body.poll_piece(cx)) {
                    Some(Ok(piece)) => Some(piece),
                    Some(Err(BodyError::Cut)) => {
                        return Poll::Ready(Some(Err(UpstreamError::Disconnected)));
                    }
                    Some(Err(BodyError::Malformed)) => {
                        return Poll::Ready(Some(Err(UpstreamError::NotHttp)));
                    }
                    None => return Poll::Ready(None),
                },
            };
            // Trailers hold nothing that a client could use.
            let Some(data) = data else { continue };
            if self.decoder.is_some() {
                self.encoded = data;
            } else if !data.is_empty() {
                return Poll::Ready(Some(Ok(data)));
            }
        }
    }

    /// Whether it is known that no chunk follows.
    pub(crate) fn is_complete(&self) -> bool {
        self.encoded.is_empty()
            && match &self.source {
                BodySource::Demo(chunks) => chunks.is_empty(),
                BodySource::Http1(body) => body.is_complete(),
                BodySource::Hyper(incoming) => incoming.is_end_stream(),
            }
    }

    /// Decodes a piece of what was received. Pending means that it is the turn of
    /// others.
    fn poll_decode(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, UpstreamError>> {
        if self.turn >= LONGEST_TURN {
            self.turn = Duration::ZERO;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let started = std::time::Instant::now();
        let piece = self.encoded.split_to(self.encoded.len().min(MAX_PIECE));
        let decoded = match &mut self.decoder {
            Some(decoder) => decoder.push(&piece).map_err(|_malformed| UpstreamError::Undecodable),
            None => Ok(piece),
        };
        self.turn += started.elapsed();
        Poll::Ready(decoded)
    }

    /// The next chunk, unless it takes too long.
    pub(crate) async fn next_chunk(
        &mut self,
        idle: Duration,
    ) -> Result<Option<Bytes>, UpstreamError> {
        let deadline = (Instant::now() + idle).min(self.deadline);
        let chunk = std::future::poll_fn(|cx| self.poll_chunk(cx));
        match timeout_at(deadline, chunk).await {
            Ok(chunk) => chunk.transpose(),
            Err(_elapsed) if deadline == self.deadline => {
                Err(UpstreamError::Timeout(TimeoutPhase::Total))
            }
            Err(_elapsed) => Err(UpstreamError::Timeout(TimeoutPhase::Idle)),
        }
    }

    /// The whole body, up to a limit.
    pub(crate) async fn read_all(
        &mut self,
        idle: Duration,
        limit: ResponseLimit,
        reservation: &mut Reservation,
    ) -> Result<Bytes, UpstreamError> {
        let mut reserve = |chunk: &Bytes| {
            reservation.grow(chunk.len(), limit.total).map_err(|_| UpstreamError::NoMemory)
        };
        // A body that arrives in one chunk is not copied.
        let Some(first) = self.next_chunk(idle).await? else { return Ok(Bytes::new()) };
        reserve(&first)?;
        if self.is_complete() {
            return Ok(first);
        }
        let Some(second) = self.next_chunk(idle).await? else { return Ok(first) };
        let mut body = Vec::with_capacity(2 * (first.len() + second.len()));
        body.extend_from_slice(&first);
        let mut next = Some(second);
        while let Some(chunk) = next {
            if body.len() + chunk.len() > limit.response {
                return Err(UpstreamError::TooLarge);
            }
            reserve(&chunk)?;
            body.extend_from_slice(&chunk);
            next = self.next_chunk(idle).await?;
        }
        Ok(body.into())
    }
}

/// How long a body is decoded before others work.
const LONGEST_TURN: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests;
