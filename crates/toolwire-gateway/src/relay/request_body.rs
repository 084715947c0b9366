//! The body of a request, read within its limits.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use tokio::time::{Instant, timeout_at};
use toolwire::model::{ApiError, ErrorKind};

use super::Failure;
use crate::config::Limits;
use crate::upstream::Decoder;

/// Reads a body.
pub(super) async fn read(
    mut body: Incoming,
    headers: &HeaderMap,
    limits: &Limits,
) -> Result<Vec<u8>, Failure> {
    let told = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if told.is_some_and(|told: usize| told > limits.body) {
        discard(body).await;
        return Err(too_large(limits));
    }
    let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::to_str);
    let encoding = encoding.transpose().map_err(|_| unreadable())?.unwrap_or_default();
    let mut decoder = Decoder::of(encoding).map_err(|_unknown| unreadable())?;
    let started = Instant::now();
    let mut received = 0;
    let mut all = Vec::with_capacity(told.unwrap_or_default().min(EAGER));
    loop {
        // A client that sends at a crawl holds a connection for nothing.
        let earned = Duration::from_millis(received as u64 * 1000 / SLOWEST);
        let by = started + limits.head_time + earned;
        let frame = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
        let Ok(frame) = timeout_at(by, frame).await else { return Err(too_slow()) };
        let piece = match frame {
            None => return Ok(all),
            Some(Ok(frame)) => frame.into_data().unwrap_or_else(|_trailers| Bytes::new()),
            Some(Err(_broken)) => return Err(broken_off()),
        };
        received += piece.len();
        let piece = match &mut decoder {
            Some(decoder) => decoder.push(&piece).map_err(|_undecodable| unreadable())?,
            None => piece,
        };
        if all.len() + piece.len() > limits.body {
            discard(body).await;
            return Err(too_large(limits));
        }
        all.extend_from_slice(&piece);
    }
}

/// Reads on for a while. A client that is still sending when the connection
/// closes gets a broken connection instead of the error.
async fn discard(mut body: Incoming) {
    let rest =
        async { while let Some(Ok(_)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {} };
    let _ = tokio::time::timeout(PATIENCE, rest).await;
}

fn too_large(limits: &Limits) -> Failure {
    let message = format!("The request is longer than {} bytes, the limit here.", limits.body);
    Failure::of(ApiError::new(ErrorKind::TooLarge, message))
}

fn too_slow() -> Failure {
    let message = "The request's body came too slowly.";
    Failure::with_status(408, ApiError::new(ErrorKind::Timeout, message))
}

fn broken_off() -> Failure {
    Failure::of(ApiError::new(ErrorKind::InvalidRequest, "The request's body broke off."))
}

fn unreadable() -> Failure {
    let message = "The request's content-encoding cannot be decoded; send it plain.";
    Failure::with_status(415, ApiError::new(ErrorKind::InvalidRequest, message))
}

/// Bytes per second that a body must come at, on average.
const SLOWEST: u64 = 1024;

/// How long the rest of a body is read that is too long.
const PATIENCE: Duration = Duration::from_secs(2);

/// Space taken on a client's word alone.
const EAGER: usize = 1024 * 1024;
