//! The body of a client's request, read within its limits.

use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use tokio::time::{Instant, timeout_at};
use toolwire::model::{ApiError, ErrorKind, Retry};

use super::Failure;
use crate::config::Limits;
use crate::memory::{MemoryBudget, Reservation};
use crate::upstream::{DecodeError, Decoder, MAX_PIECE, MAX_RATIO};

/// A body, which counts as memory in use for as long as it lives.
pub(crate) struct RequestBody {
    bytes: Bytes,
    _reservation: Reservation,
}

impl RequestBody {
    /// The body as bytes that several parts can share.
    pub(super) fn into_bytes(self) -> Bytes {
        self._reservation.hold(self.bytes)
    }
}

impl Deref for RequestBody {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body to its end and decompresses it.
pub(super) async fn read(
    mut body: Incoming,
    headers: &HeaderMap,
    limits: &Limits,
    budget: &Arc<MemoryBudget>,
) -> Result<RequestBody, Failure> {
    let content_length: Option<usize> =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    // Asking for a part of the body would tell a client that waits to send it all.
    if content_length.is_some_and(|length| length > limits.body) {
        return Err(too_large(limits));
    }
    // What is announced is not reserved: announcing costs a client nothing.
    if budget.has_room(content_length.unwrap_or(0), limits.bodies_total).is_err() {
        return Err(out_of_memory().unread());
    }
    let mut reservation = budget.reservation();
    let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::to_str);
    let encoding = encoding.transpose().map_err(|_| undecodable())?.unwrap_or_default();
    let mut decoder = Decoder::for_encoding(encoding).map_err(|_unknown| undecodable())?;
    let started = Instant::now();
    let mut received = 0;
    let mut whole = None;
    let mut decoded = Vec::new();
    loop {
        // A client that sends too slowly would hold its connection forever.
        let earned = Duration::from_millis(received as u64 * 1000 / MIN_BYTES_PER_SECOND);
        let deadline = started + limits.head_time + earned;
        let frame = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
        let Ok(frame) = timeout_at(deadline, frame).await else { return Err(too_slow()) };
        let chunk = match frame {
            None => {
                let bytes = whole.unwrap_or_else(|| decoded.into());
                return Ok(RequestBody { bytes, _reservation: reservation });
            }
            Some(Ok(frame)) => frame.into_data().unwrap_or_else(|_trailers| Bytes::new()),
            Some(Err(_disconnected)) => return Err(incomplete()),
        };
        received += chunk.len();
        if received > limits.body {
            return Err(too_large(limits));
        }
        // A body that arrives in one piece is not copied.
        let is_whole = decoder.is_none() && content_length == Some(chunk.len()) && whole.is_none();
        if is_whole && reservation.grow(chunk.len(), limits.bodies_total).is_ok() {
            whole = Some(chunk);
            continue;
        }
        let mut rest = chunk;
        let mut turn = std::time::Instant::now();
        while !rest.is_empty() {
            let piece = match &mut decoder {
                Some(decoder) => {
                    if turn.elapsed() >= LONGEST_TURN {
                        tokio::task::yield_now().await;
                        turn = std::time::Instant::now();
                    }
                    let piece = rest.split_to(rest.len().min(MAX_PIECE));
                    decoder.push(&piece).map_err(|error| match error {
                        DecodeError::Bomb => expands_too_much(),
                        DecodeError::Unknown(_) | DecodeError::Malformed => undecodable(),
                    })?
                }
                None => std::mem::take(&mut rest),
            };
            if decoded.len() + piece.len() > limits.body {
                return Err(too_large(limits));
            }
            if reservation.grow(piece.len(), limits.bodies_total).is_err() {
                return Err(out_of_memory().unread());
            }
            if decoded.capacity() == 0 {
                let expected = content_length.unwrap_or_default().min(MAX_PREALLOCATION);
                decoded.reserve(expected.max(piece.len()));
            }
            decoded.extend_from_slice(&piece);
        }
    }
}

fn too_large(limits: &Limits) -> Failure {
    let message =
        format!("The request is longer than {} bytes, the limit of this gateway.", limits.body);
    Failure::new(ApiError::new(ErrorKind::TooLarge, message)).unread()
}

/// The bodies of all requests together are too long.
pub(crate) fn out_of_memory() -> Failure {
    let message = "The gateway is busy with other large requests. Try again in a moment.";
    let mut error = ApiError::new(ErrorKind::Overloaded, message);
    error.retry = Retry::After(1);
    Failure::with_status(503, error)
}

pub(super) fn too_slow() -> Failure {
    let message = "The request body arrived too slowly.";
    Failure::with_status(408, ApiError::new(ErrorKind::Timeout, message))
}

pub(super) fn incomplete() -> Failure {
    Failure::new(ApiError::new(
        ErrorKind::InvalidRequest,
        "The request body ended early, or its chunks are malformed.",
    ))
}

fn expands_too_much() -> Failure {
    let message = format!(
        "The request body expands to more than {MAX_RATIO} times its length. Send it uncompressed."
    );
    Failure::with_status(415, ApiError::new(ErrorKind::InvalidRequest, message))
}

fn undecodable() -> Failure {
    let message = "The request body does not match its content-encoding. Send it uncompressed.";
    Failure::with_status(415, ApiError::new(ErrorKind::InvalidRequest, message))
}

/// The slowest average rate at which a client may send a body.
pub(super) const MIN_BYTES_PER_SECOND: u64 = 1024;

/// How long a body is decompressed before others work.
const LONGEST_TURN: Duration = Duration::from_millis(2);

/// How many bytes are allocated because of a `content-length` alone.
const MAX_PREALLOCATION: usize = 1024 * 1024;
