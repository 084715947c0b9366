//! The body of a client's request, passed on while it arrives.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use toolwire::model::{ApiError, ErrorKind};

use super::model_scan::{FoundModel, ModelScan, Scanned};
use crate::config::Limits;
use crate::memory::{MemoryBudget, Reservation};
use crate::relay::{Failure, request_body};

/// A body whose beginning was read.
pub(super) struct Upload {
    /// The beginning, or all of it.
    start: Vec<u8>,
    reservation: Reservation,
    /// The rest, unless the beginning is all.
    rest: Option<Incoming>,
    length: Option<u64>,
    scan: ModelScan,
    pub(super) model: Option<FoundModel>,
    pace: Pace,
    limit: usize,
}

impl Upload {
    /// Reads the beginning of a body: up to the model that it names, or all of
    /// it if it is short.
    pub(super) async fn open(
        mut body: Incoming,
        headers: &HeaderMap,
        limits: &Limits,
        budget: &Arc<MemoryBudget>,
    ) -> Result<Self, Failure> {
        let encoding = headers.get(CONTENT_ENCODING).map(|encoding| encoding.as_bytes());
        if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case(b"identity")) {
            return Err(compressed());
        }
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let length: Option<u64> = header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let mut scan = ModelScan::for_content_type(header(CONTENT_TYPE).unwrap_or_default());
        // A document is limited like any other. A form is never kept.
        let (limit, longest_start) = match scan {
            ModelScan::Json(_) => (limits.body, limits.body),
            ModelScan::Form(_) | ModelScan::None => (limits.upload, REPLAYABLE),
        };
        if length.is_some_and(|length| length > limit as u64) {
            return Err(too_long(limit).unread());
        }
        let keeps_all = length.is_some_and(|length| length <= REPLAYABLE as u64);
        let mut start = Vec::new();
        let mut reservation = budget.reservation();
        let mut pace = Pace::new(limits.head_time);
        let mut scanned = scan.read(&start);
        let rest = loop {
            if scanned != Scanned::More && !keeps_all || start.len() >= longest_start {
                break Some(body);
            }
            let frame = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            let waiting_since = Instant::now();
            let Ok(frame) = timeout_at(pace.deadline(waiting_since), frame).await else {
                return Err(request_body::too_slow());
            };
            let chunk = match frame {
                None => break None,
                Some(Ok(frame)) => frame.into_data().unwrap_or_else(|_trailers| Bytes::new()),
                Some(Err(_disconnected)) => return Err(request_body::incomplete()),
            };
            pace.received(chunk.len(), waiting_since.elapsed());
            if start.len() + chunk.len() > limit {
                return Err(too_long(limit).unread());
            }
            if reservation.grow(chunk.len(), limits.bodies_total).is_err() {
                return Err(request_body::out_of_memory().unread());
            }
            start.extend_from_slice(&chunk);
            if scanned == Scanned::More {
                scanned = scan.read(&start);
            }
        };
        let model = match scanned {
            Scanned::Found(place) => scan.name(&start, place),
            Scanned::More | Scanned::Absent => None,
        };
        Ok(Self { start, reservation, rest, length, scan, model, pace, limit })
    }

    /// A JSON document that was read already.
    pub(super) fn of_document(
        body: &[u8],
        limits: &Limits,
        budget: &Arc<MemoryBudget>,
    ) -> Result<Self, Failure> {
        let mut reservation = budget.reservation();
        let reserved = reservation.grow(body.len(), limits.bodies_total);
        reserved.map_err(|_| request_body::out_of_memory())?;
        let mut scan = ModelScan::for_content_type(super::table::JSON);
        let model = match scan.read(body) {
            Scanned::Found(place) => scan.name(body, place),
            Scanned::More | Scanned::Absent => None,
        };
        let (start, pace) = (body.to_vec(), Pace::new(limits.head_time));
        let (length, limit) = (Some(body.len() as u64), limits.body);
        Ok(Self { start, reservation, rest: None, length, scan, model, pace, limit })
    }

    /// Whether the body can be sent again.
    pub(super) fn is_whole(&self) -> bool {
        self.rest.is_none()
    }

    /// How many bytes were read.
    pub(super) fn received(&self) -> usize {
        self.start.len()
    }

    /// Replaces the name of the model.
    pub(super) fn rename_model(&mut self, name: &str) {
        let Some(FoundModel { name: found, place }) = &mut self.model else { return };
        if found == name || place.end > self.start.len() {
            return;
        }
        let written = self.scan.written(name);
        let (old, new) = (place.len() as u64, written.len() as u64);
        self.length = self.length.map(|length| (length + new).saturating_sub(old));
        let end = place.start + written.len();
        self.start.splice(place.clone(), written);
        (*found, place.end) = (name.to_owned(), end);
    }

    /// The body for each attempt to send it, and how sending it ends.
    pub(super) fn into_source(self) -> (UploadSource, Arc<UploadEnd>) {
        let Self { start, reservation, rest, length, pace, limit, .. } = self;
        let received = start.len();
        let start = reservation.hold(start);
        let end = Arc::new(UploadEnd::default());
        let source = match rest {
            None => UploadSource::Whole(start),
            Some(rest) => {
                let end = Arc::clone(&end);
                let timer = Box::pin(sleep_until(Instant::now()));
                let left = length;
                let pace = Pacer { pace, waiting_since: None, timer };
                let start = Some(start).filter(|start| !start.is_empty());
                UploadSource::Once(Some(UploadBody {
                    start,
                    rest,
                    left,
                    received,
                    limit,
                    pace,
                    end,
                }))
            }
        };
        (source, end)
    }
}

/// Where each attempt gets the body from.
pub(super) enum UploadSource {
    /// All of it is here.
    Whole(Bytes),
    /// It can be read once.
    Once(Option<UploadBody>),
}

/// How sending a body ended.
#[derive(Default)]
pub(super) struct UploadEnd {
    /// Why the client's part of it is not complete.
    pub(super) fault: OnceLock<UploadFault>,
    /// Told when there is nothing left to send.
    pub(super) sent: Notify,
}

/// What a client did wrong while its body was passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UploadFault {
    #[error("the body arrived too slowly")]
    TooSlow,
    #[error("the body ended early")]
    Incomplete,
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
}

impl UploadFault {
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::TooSlow => request_body::too_slow(),
            Self::Incomplete => request_body::incomplete(),
            Self::TooLong(limit) => too_long(limit),
        }
    }
}

/// A body that is read from the client while it is sent to the upstream.
pub(super) struct UploadBody {
    start: Option<Bytes>,
    rest: Incoming,
    /// How long all of what is left is, if that is known.
    left: Option<u64>,
    received: usize,
    limit: usize,
    pace: Pacer,
    end: Arc<UploadEnd>,
}

impl UploadBody {
    fn fail(&self, fault: UploadFault) -> Poll<Option<Result<Frame<Bytes>, UploadFault>>> {
        let _ = self.end.fault.set(fault);
        Poll::Ready(Some(Err(fault)))
    }

    fn pass(&mut self, data: Bytes) -> Poll<Option<Result<Frame<Bytes>, UploadFault>>> {
        self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

impl Body for UploadBody {
    type Data = Bytes;
    type Error = UploadFault;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UploadFault>>> {
        let this = self.get_mut();
        if let Some(start) = this.start.take() {
            return this.pass(start);
        }
        loop {
            match Pin::new(&mut this.rest).poll_frame(cx) {
                Poll::Pending if this.pace.poll_too_slow(cx).is_ready() => {
                    return this.fail(UploadFault::TooSlow);
                }
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => {
                    this.end.sent.notify_one();
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(_disconnected))) => return this.fail(UploadFault::Incomplete),
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    this.pace.received(data.len());
                    this.received += data.len();
                    if this.received > this.limit {
                        return this.fail(UploadFault::TooLong(this.limit));
                    }
                    return this.pass(data);
                }
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for UploadBody {
    fn drop(&mut self) {
        // An upstream that knows its response before the end reads no further.
        self.end.sent.notify_one();
    }
}

/// How long a client has let the gateway wait. An upstream that reads slowly is
/// not the client's fault.
struct Pace {
    patience: Duration,
    waited: Duration,
    received: u64,
}

impl Pace {
    fn new(patience: Duration) -> Self {
        Self { patience, waited: Duration::ZERO, received: 0 }
    }

    /// When the next part of the body must have come.
    fn deadline(&self, waiting_since: Instant) -> Instant {
        let earned =
            Duration::from_millis(self.received * 1000 / request_body::MIN_BYTES_PER_SECOND);
        waiting_since + (self.patience + earned).saturating_sub(self.waited)
    }

    fn received(&mut self, bytes: usize, waited: Duration) {
        self.received += bytes as u64;
        self.waited += waited;
    }
}

/// The same while the body is sent.
struct Pacer {
    pace: Pace,
    waiting_since: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl Pacer {
    fn received(&mut self, bytes: usize) {
        let waited = self.waiting_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.pace.received(bytes, waited);
    }

    fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let deadline = self.pace.deadline(since);
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        self.timer.as_mut().poll(cx)
    }
}

fn too_long(limit: usize) -> Failure {
    let message = format!("The request is longer than {limit} bytes, the limit of this gateway.");
    Failure::new(ApiError::new(ErrorKind::TooLarge, message))
}

fn compressed() -> Failure {
    let message = "This path takes no compressed bodies. Leave `content-encoding` out.";
    Failure::with_status(415, ApiError::new(ErrorKind::InvalidRequest, message))
}

/// The longest body that is kept so that it can be sent again, and the longest
/// beginning of a form in which the model is looked for, in bytes.
const REPLAYABLE: usize = 1024 * 1024;
