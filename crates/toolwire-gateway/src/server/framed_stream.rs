//! A client's connection, of which hyper gets one request at a time.
//!
//! hyper notices that a client has left only while it has no unread bytes. A
//! single byte behind a request would therefore keep the upstream at work for
//! nobody. What follows a request is kept here until the request is answered,
//! while the connection is still watched for its end. hyper is told not to watch,
//! which would cost it a read into a buffer for each event of a stream.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::exchange::Exchange;
use super::linger::Linger;
use super::request_framing::{Malformed, RequestFraming};
use super::timeout_stream::TimeoutStream;

/// A connection whose requests have an unambiguous end.
pub(super) struct FramedStream {
    io: TimeoutStream,
    framing: RequestFraming,
    exchange: Arc<Exchange>,
    /// How many requests have arrived completely.
    requests: u64,
    /// What arrived behind the request that is being answered.
    held: BytesMut,
    /// Whether more arrived than is kept. The connection ends after the response.
    overflowed: bool,
    /// If a request is malformed, how much of `REFUSED` hyper has got.
    refused: Option<usize>,
    /// Reads the rest of a request that was not read to its end, when the
    /// connection ends.
    linger: Option<Linger>,
}

impl FramedStream {
    pub(super) fn new(io: TimeoutStream, exchange: Arc<Exchange>) -> Self {
        Self {
            io,
            framing: RequestFraming::new(),
            exchange,
            requests: 0,
            held: BytesMut::new(),
            overflowed: false,
            refused: None,
            linger: None,
        }
    }

    /// Reads the framing of what is in `buf` from `before` on, and takes out what
    /// hyper must not see. Returns the number of bytes behind the request.
    fn check(&mut self, buf: &mut ReadBuf<'_>, before: usize) -> usize {
        let bytes = buf.filled().get(before..).unwrap_or_default();
        let length = bytes.len();
        let count = match self.framing.read(bytes) {
            Ok(count) => count,
            Err(Malformed { offset }) => {
                buf.set_filled(before + offset);
                self.refuse(buf);
                return 0;
            }
        };
        if self.framing.is_complete() {
            self.requests += 1;
        }
        if self.framing.is_http2() {
            self.exchange.set_http2();
        }
        buf.set_filled(before + count);
        length - count
    }

    /// Ends a malformed request in a way that hyper refuses.
    fn refuse(&mut self, buf: &mut ReadBuf<'_>) {
        let sent = self.refused.unwrap_or_default();
        let rest = REFUSED.get(sent..).unwrap_or_default();
        let count = rest.len().min(buf.remaining());
        buf.put_slice(rest.get(..count).unwrap_or_default());
        self.refused = Some(sent + count);
    }

    /// Fails if the client has left while its request is being answered.
    fn watch(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if !self.framing.is_complete() || self.exchange.is_answered(self.requests) {
            return Ok(());
        }
        match self.poll_end(cx)? {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }

    /// Waits for the end of the connection, or for the response. It is asked for
    /// with every event of a stream, nearly always in vain, so it begins with a
    /// buffer that costs nothing to clear.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(self.poll_behind::<16>(cx))? {
            0 => Poll::Ready(Ok(())),
            _more => loop {
                if ready!(self.poll_behind::<1024>(cx))? == 0 {
                    return Poll::Ready(Ok(()));
                }
            },
        }
    }

    /// Reads what is behind the request. Returns how much, or 0 at the end.
    fn poll_behind<const N: usize>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut bytes = [0; N];
        let mut buf = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut buf))?;
        let read = buf.filled();
        self.overflowed |= self.held.len() + read.len() > MAX_HELD;
        if !self.overflowed {
            self.held.extend_from_slice(read);
        }
        Poll::Ready(Ok(read.len()))
    }
}

impl FramedStream {
    /// Counts what is written. A response that cannot be written is cut.
    fn note(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(count)) => self.exchange.unsent.remove(*count),
            Poll::Ready(Err(_)) => self.exchange.cut(),
            // Nothing is flushed before it is written.
            Poll::Pending => self.watch(cx)?,
        }
        written
    }
}

impl AsyncRead for FramedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.framing.is_http2() {
            return Pin::new(&mut this.io).poll_read(cx, buf);
        }
        if this.framing.is_complete() {
            if !this.exchange.poll_answered(this.requests, cx) {
                return this.poll_end(cx);
            }
            if this.overflowed {
                return Poll::Ready(Ok(()));
            }
            this.framing.next_request();
        }
        if this.refused.is_some() {
            this.refuse(buf);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        if !this.held.is_empty() {
            let count = this.held.len().min(buf.remaining());
            buf.put_slice(this.held.get(..count).unwrap_or_default());
            let behind = this.check(buf, before);
            this.held.advance(count - behind);
            return Poll::Ready(Ok(()));
        }
        ready!(Pin::new(&mut this.io).poll_read(cx, buf))?;
        let length = buf.filled().len();
        let behind = this.check(buf, before);
        if behind > 0 {
            // The bytes stay in the buffer when its filled part is shortened.
            let end = buf.filled().len();
            buf.set_filled(length);
            this.held.extend_from_slice(buf.filled().get(end..).unwrap_or_default());
            buf.set_filled(end);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for FramedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.note(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.note(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    /// hyper flushes whenever it has nothing else to do, even if nothing was
    /// written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.watch(cx)?;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.exchange.is_cut() {
            return Poll::Ready(Ok(()));
        }
        let this = &mut *self;
        if this.linger.is_none() {
            ready!(Pin::new(&mut this.io).poll_shutdown(cx))?;
            if !this.framing.is_in_body() {
                return Poll::Ready(Ok(()));
            }
        }
        let linger = this.linger.get_or_insert_with(Linger::new);
        linger.poll(cx, &mut this.io).map(Ok)
    }
}

impl Drop for FramedStream {
    fn drop(&mut self) {
        // In HTTP/1.0 the end of the connection is the end of the body, so a
        // body that was cut would look complete. A reset does not.
        if self.exchange.is_cut() {
            let _ = SockRef::from(self.io.socket()).set_linger(Some(Duration::ZERO));
        }
    }
}

/// What is valid in no place of a head or of the chunked framing: a carriage
/// return without a line feed. hyper answers with 400 and closes the connection.
/// It looks at a head only when the head seems to be complete.
const REFUSED: &[u8] = b"\r\0\r\n\r\n";

/// How much of what follows a request is kept.
const MAX_HELD: usize = 64 * 1024;
