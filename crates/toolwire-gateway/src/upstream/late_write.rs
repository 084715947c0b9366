//! Connections on which a late write does not fail.
//!
//! A server that refuses a body may say so and close before it has read all of
//! it. A client that is writing at that moment gets a write error before it has
//! read what the server said. On these connections a write after the peer has
//! closed counts as written, so what the peer has sent is read first.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
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

/// A connection on which a late write does not fail.
pub(super) struct LateWriteStream<T> {
    pub(super) io: T,
    /// Whether the peer has closed the connection.
    closed: bool,
}

impl<T> LateWriteStream<T> {
    pub(super) fn new(io: T) -> Self {
        Self { io, closed: false }
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
        self.io.connected()
    }
}

#[cfg(test)]
mod tests;
