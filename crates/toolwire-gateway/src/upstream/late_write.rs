//! Connections on which a late write does not fail.
//!
//! A server that wants no more requests on a connection says which of them it
//! has processed, and closes. A client that is writing at that moment gets a
//! write error before it has read what the server said. On these connections a
//! write after the peer has closed counts as written, so what the peer has sent
//! is read first.
//!
//! These connections also signal when they are closed.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::http::Extensions;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{CaptureConnection, Connected, Connection};
use tokio::sync::watch;
use tower_service::Service;

/// Makes connections on which a late write does not fail.
#[derive(Clone)]
pub(super) struct LateWriteConnector<C>(pub(super) C);

impl<C: Service<Uri>> Service<Uri> for LateWriteConnector<C>
where
    C::Future: Send + 'static,
{
    type Response = LateWriteStream<C::Response>;
    type Error = C::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, C::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async { connecting.await.map(LateWriteStream::new) })
    }
}

/// Signals when a connection is closed.
#[derive(Clone)]
pub(super) struct CloseSignal(watch::Receiver<()>);

impl CloseSignal {
    /// The signal of the connection that a request was given to, once it has
    /// one.
    pub(super) async fn of(captured: &mut CaptureConnection) -> Option<Self> {
        let mut extra = Extensions::new();
        captured.wait_for_connection_metadata().await.as_ref()?.get_extras(&mut extra);
        extra.remove()
    }

    /// Waits until the connection is closed.
    pub(super) async fn closed(&mut self) {
        // Nothing is ever sent; the channel closes with the connection.
        while self.0.changed().await.is_ok() {}
    }

    pub(super) fn is_same_connection(&self, other: &Self) -> bool {
        self.0.same_channel(&other.0)
    }
}

/// A connection on which a late write does not fail.
pub(super) struct LateWriteStream<T> {
    pub(super) io: T,
    /// Whether the peer has closed the connection.
    closed: bool,
    alive: watch::Sender<()>,
}

impl<T> LateWriteStream<T> {
    pub(super) fn new(io: T) -> Self {
        Self { io, closed: false, alive: watch::Sender::new(()) }
    }
}

impl<T: Write + Unpin> LateWriteStream<T> {
    /// Writes `length` bytes, or pretends to if the peer has closed.
    fn write_or_ignore(
        &mut self,
        length: usize,
        write: impl FnOnce(Pin<&mut T>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.closed {
            return Poll::Ready(Ok(length));
        }
        match write(Pin::new(&mut self.io)) {
            Poll::Ready(Err(error)) if is_closed_by_peer(&error) => {
                self.closed = true;
                Poll::Ready(Ok(length))
            }
            written @ (Poll::Ready(_) | Poll::Pending) => written,
        }
    }
}

/// Whether the peer has closed the connection, so that reading will end too.
fn is_closed_by_peer(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

impl<T: Write + Unpin> Write for LateWriteStream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write_or_ignore(bytes.len(), |io| io.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = slices.iter().map(|slice| slice.len()).sum();
        self.write_or_ignore(length, |io| io.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write_or_ignore(0, |io| io.poll_flush(cx).map_ok(|()| 0)).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

impl<T: Read + Unpin> Read for LateWriteStream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: Connection> Connection for LateWriteStream<T> {
    fn connected(&self) -> Connected {
        self.io.connected().extra(CloseSignal(self.alive.subscribe()))
    }
}

#[cfg(test)]
mod tests;
