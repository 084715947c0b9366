//! A connection that is heard out.
//!
//! A server that wants no more requests on a connection says which of them it
//! has looked at, and closes. Who is writing at that moment learns that the
//! connection is broken before having read why. Here a write that comes too
//! late counts as written, and whatever the peer had said is read first.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
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
        Box::pin(async { connecting.await.map(|io| HeardOut { io, closed: false }) })
    }
}

/// A connection that is heard out.
pub(super) struct HeardOut<T> {
    pub(super) io: T,
    /// Whether the peer takes nothing any more.
    closed: bool,
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
            written => written,
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
        self.io.connected()
    }
}

#[cfg(test)]
mod tests;
