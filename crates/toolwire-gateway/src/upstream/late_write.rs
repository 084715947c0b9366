//! A connection that is heard out.
//!
//! A server that wants no more requests on a connection says which of them it
//! has looked at, and closes. Who is writing at that moment learns that the
//! connection is broken before having read why. Here a write that comes too
//! late counts as written, and whatever the peer had said is read first.
//!
//! A connection also tells when it is gone.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::http::Extensions;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{CaptureConnection, Connected, Connection};
use tokio::sync::watch;
use tower_service::Service;

/// Makes connections that are heard out.
#[derive(Clone)]
pub(super) struct HearOut<C>(pub(super) C);

impl<C: Service<Uri>> Service<Uri> for HearOut<C>
where
    C::Future: Send + 'static,
{
    type Response = HeardOut<C::Response>;
    type Error = C::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, C::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async { connecting.await.map(HeardOut::new) })
    }
}

/// Tells when a connection is gone.
#[derive(Clone)]
pub(super) struct Life(watch::Receiver<()>);

impl Life {
    /// The connection that a request was given to, once it was.
    pub(super) async fn of(carrier: &mut CaptureConnection) -> Option<Self> {
        let mut extra = Extensions::new();
        carrier.wait_for_connection_metadata().await.as_ref()?.get_extras(&mut extra);
        extra.remove()
    }

    /// Waits until it is gone.
    pub(super) async fn over(&mut self) {
        // Nothing is ever sent; it ends with its sender.
        while self.0.changed().await.is_ok() {}
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.0.same_channel(&other.0)
    }
}

/// A connection that is heard out.
pub(super) struct HeardOut<T> {
    pub(super) io: T,
    /// Whether the peer takes nothing any more.
    closed: bool,
    life: watch::Sender<()>,
}

impl<T> HeardOut<T> {
    pub(super) fn new(io: T) -> Self {
        Self { io, closed: false, life: watch::Sender::new(()) }
    }
}

impl<T: Write + Unpin> HeardOut<T> {
    /// Writes `length` bytes, or as good as.
    fn late(
        &mut self,
        length: usize,
        write: impl FnOnce(Pin<&mut T>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.closed {
            return Poll::Ready(Ok(length));
        }
        match write(Pin::new(&mut self.io)) {
            Poll::Ready(Err(error)) if is_late(&error) => {
                self.closed = true;
                Poll::Ready(Ok(length))
            }
            written @ (Poll::Ready(_) | Poll::Pending) => written,
        }
    }
}

/// Whether the peer has closed the connection, so that reading will end too.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

impl<T: Write + Unpin> Write for HeardOut<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.late(bytes.len(), |io| io.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = pieces.iter().map(|piece| piece.len()).sum();
        self.late(length, |io| io.poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.late(0, |io| io.poll_flush(cx).map_ok(|()| 0)).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

impl<T: Read + Unpin> Read for HeardOut<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, into)
    }
}

impl<T: Connection> Connection for HeardOut<T> {
    fn connected(&self) -> Connected {
        self.io.connected().extra(Life(self.life.subscribe()))
    }
}

#[cfg(test)]
mod tests;
