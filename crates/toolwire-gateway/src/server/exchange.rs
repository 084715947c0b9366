//! What a connection's two ends have to know of each other: which requests are
//! answered, and whether the connection is in use.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use hyper::Version;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

use super::stream_task::ReadProgress;
use super::unsent::UnsentBytes;
use crate::response_body::{ResponseBody, StreamAborted};

/// The requests and responses of one connection.
#[derive(Default)]
pub(super) struct Exchange {
    /// How many responses hyper has written, in HTTP/1.1.
    answered: AtomicU64,
    /// The task that waits for the next response.
    waiting: Mutex<Option<Waker>>,
    /// Whether a body is under way that ends with the connection.
    close_delimited: AtomicBool,
    cut: AtomicBool,
    is_http2: AtomicBool,
    /// How many streams are open, in HTTP/2.
    streams: AtomicUsize,
    changed: Notify,
    /// What hyper has taken of the response, in HTTP/1.1.
    pub(super) unsent: UnsentBytes,
}

impl Exchange {
    /// Whether so many requests are answered. If not, the task is woken when the
    /// next one is.
    pub(super) fn poll_answered(&self, requests: u64, cx: &mut Context<'_>) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.answered.load(Ordering::Acquire) >= requests {
            return true;
        }
        if !waiting.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waiting = Some(cx.waker().clone());
        }
        false
    }

    /// Whether so many requests are answered.
    pub(super) fn is_answered(&self, requests: u64) -> bool {
        self.answered.load(Ordering::Acquire) >= requests
    }

    fn answered(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.answered.fetch_add(1, Ordering::Release);
        if let Some(waker) = waiting.take() {
            waker.wake();
        }
    }

    /// Notes that the connection ends before its response.
    pub(super) fn cut(&self) {
        if self.close_delimited.load(Ordering::Relaxed) {
            self.cut.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the end of the connection must not look like the end of a body.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// Notes that the connection speaks HTTP/2.
    pub(super) fn set_http2(&self) {
        self.is_http2.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Counts a stream until the guard is dropped.
    pub(super) fn open_stream(self: &Arc<Self>) -> OpenStream {
        if self.streams.fetch_add(1, Ordering::Relaxed) == 0 {
            self.changed.notify_one();
        }
        OpenStream(Arc::clone(self))
    }

    /// Waits until an HTTP/2 connection has had no stream for so long. hyper's
    /// timeout for the next head is for HTTP/1.1 only.
    pub(super) async fn unused_for(&self, time: Duration) {
        loop {
            let changed = self.changed.notified();
            let is_unused =
                self.is_http2.load(Ordering::Relaxed) && self.streams.load(Ordering::Relaxed) == 0;
            if !is_unused {
                changed.await;
            } else if tokio::time::timeout(time, changed).await.is_err() {
                return;
            }
        }
    }
}

/// An open stream of an HTTP/2 connection.
pub(super) struct OpenStream(Arc<Exchange>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        if self.0.streams.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.changed.notify_one();
        }
    }
}

/// The body of a response, as hyper gets it.
pub(super) struct ExchangeBody {
    body: ResponseBody,
    /// The rest of a chunk that is too long for one frame of HTTP/2.
    rest: Bytes,
    /// Whether the client reads, in HTTP/2.
    progress: Option<Arc<ReadProgress>>,
    exchange: Arc<Exchange>,
}

impl ExchangeBody {
    pub(super) fn new(exchange: &Arc<Exchange>, version: Version, body: ResponseBody) -> Self {
        let ends_with_connection = version < Version::HTTP_11 && body.size_hint().exact().is_none();
        exchange.close_delimited.store(ends_with_connection, Ordering::Relaxed);
        let progress = ReadProgress::current();
        Self { body, rest: Bytes::new(), progress, exchange: Arc::clone(exchange) }
    }
}

impl Body for ExchangeBody {
    type Data = Bytes;
    type Error = StreamAborted;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamAborted>>> {
        let this = self.get_mut();
        let Some(progress) = &this.progress else {
            // The end of a body needs no room. If it waited for some, it would be a write of
            // its own.
            if !this.body.is_at_end() && !this.exchange.unsent.poll_room(cx) {
                return Poll::Pending;
            }
            let frame = Pin::new(&mut this.body).poll_frame(cx);
            match &frame {
                Poll::Ready(Some(Ok(frame))) => {
                    this.exchange.unsent.add(frame.data_ref().map_or(0, Bytes::len));
                }
                Poll::Ready(Some(Err(StreamAborted))) => this.exchange.cut(),
                Poll::Ready(None) | Poll::Pending => {}
            }
            return frame;
        };
        progress.asked();
        if this.rest.is_empty() {
            let frame = std::task::ready!(Pin::new(&mut this.body).poll_frame(cx));
            let Some(Ok(frame)) = frame else { return Poll::Ready(frame) };
            match frame.into_data() {
                Ok(data) => this.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        progress.gave();
        let count = this.rest.len().min(MAX_PIECE);
        Poll::Ready(Some(Ok(Frame::data(this.rest.split_to(count)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // hyper asks before the first frame.
        self.body.size_hint()
    }
}

impl Drop for ExchangeBody {
    fn drop(&mut self) {
        if self.progress.is_none() {
            if self.exchange.unsent.is_empty() {
                self.body.all_sent();
            }
            self.exchange.answered();
        }
    }
}

/// What is given to HTTP/2 at a time. More would be kept there for a client that
/// does not read.
const MAX_PIECE: usize = 16 * 1024;

#[cfg(test)]
mod tests;
