//! One request and its response on a connection.

use std::io::{self, ErrorKind, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::ReadBuf;

use super::head::{Head, may_be_whole};
use super::pool::Transport;
use crate::upstream::{READ_BUFFER, UpstreamError};

/// A connection that has a request.
pub(super) struct Connection<T> {
    io: T,
    /// What is left to write of the request. An upstream may answer before it has
    /// read all of it, so the rest is written while the response is read.
    head: Vec<u8>,
    head_written: usize,
    body: Bytes,
    /// Whether the system may have taken any of it.
    began: bool,
    /// Whether the system has taken all of it.
    is_sent: bool,
    /// Whether the upstream takes nothing more.
    refused: bool,
    /// What was received and is not read yet.
    pub(super) received: Bytes,
}

impl<T: Transport> Connection<T> {
    /// Takes a connection for a request.
    pub(super) fn new(io: T, head: Vec<u8>, body: &Bytes) -> Self {
        let (body, received) = (body.clone(), Bytes::new());
        let (head_written, began, is_sent, refused) = (0, false, false, false);
        Self { io, head, head_written, body, began, is_sent, refused, received }
    }

    /// Writes the request and reads the head of the response.
    pub(super) async fn read_head(&mut self) -> Result<Head, UpstreamError> {
        let mut partial = Vec::new();
        let failed = match std::future::poll_fn(|cx| self.poll_head(cx, &mut partial)).await {
            Ok(head) => return Ok(head),
            Err(failed) => failed,
        };
        Err(match failed {
            // Nothing of the request has left this machine.
            HeadError::Closed if !self.began => UpstreamError::NotSent,
            HeadError::Closed => UpstreamError::Disconnected,
            HeadError::Malformed => UpstreamError::NotHttp,
        })
    }

    /// `partial` is what was received of a head that is not whole.
    fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        partial: &mut Vec<u8>,
    ) -> Poll<Result<Head, HeadError>> {
        loop {
            self.poll_write(cx).map_err(|_| HeadError::Closed)?;
            let known = partial.len();
            let mut space = [MaybeUninit::uninit(); READ_BUFFER];
            let mut buffer = ReadBuf::uninit(&mut space);
            let mut room = buffer.take(READ_BUFFER - known);
            if ready!(Pin::new(&mut self.io).poll_read(cx, &mut room)).is_err() {
                return Poll::Ready(Err(HeadError::Closed));
            }
            let read = room.filled();
            if read.is_empty() {
                return Poll::Ready(Err(HeadError::Closed));
            }
            let mut received = if known == 0 {
                Bytes::copy_from_slice(read)
            } else {
                partial.extend_from_slice(read);
                if !may_be_whole(partial, known) {
                    if partial.len() == READ_BUFFER {
                        return Poll::Ready(Err(HeadError::Malformed));
                    }
                    continue;
                }
                Bytes::from(std::mem::take(partial))
            };
            match Head::parse(&mut received) {
                Ok(Some(head)) => {
                    self.received = received;
                    return Poll::Ready(Ok(head));
                }
                Ok(None) if received.len() < READ_BUFFER => *partial = received.into(),
                Ok(None) | Err(_) => return Poll::Ready(Err(HeadError::Malformed)),
            }
        }
    }

    /// Reads more of the body. `read` gets what has arrived, which is nothing if
    /// the upstream has closed the connection.
    pub(super) fn poll_read<R>(
        &mut self,
        cx: &mut Context<'_>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Poll<io::Result<R>> {
        self.poll_write(cx)?;
        let mut space = [MaybeUninit::uninit(); READ_BUFFER];
        let mut buffer = ReadBuf::uninit(&mut space);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(read(buffer.filled())))
    }

    /// Writes as much of the request as the system takes. If the upstream has
    /// closed the connection, that is no error: what it has said before is read
    /// first.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while !self.is_sent && !self.refused {
            match self.poll_write_some(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => {
                    self.began |= self.io.may_send_and_fail();
                    if !is_closed_by_peer(&error) {
                        return Err(error);
                    }
                    self.refused = true;
                }
                Poll::Pending => return Ok(()),
            }
        }
        Ok(())
    }

    fn poll_write_some(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let head = self.head.get(self.head_written..).unwrap_or_default();
        if head.is_empty() && self.body.is_empty() {
            // TLS may still have a part of what it has taken.
            ready!(Pin::new(&mut self.io).poll_flush(cx))?;
            self.is_sent = true;
            return Poll::Ready(Ok(()));
        }
        let slices = [IoSlice::new(head), IoSlice::new(&self.body)];
        let written = ready!(Pin::new(&mut self.io).poll_write_vectored(cx, &slices))?;
        if written == 0 {
            return Poll::Ready(Err(ErrorKind::WriteZero.into()));
        }
        let of_head = written.min(head.len());
        self.began = true;
        self.head_written += of_head;
        self.body.advance(written - of_head);
        if self.head_written == self.head.len() && self.body.is_empty() {
            // A response may take long, and even the end of a body keeps all of it.
            (self.head, self.head_written, self.body) = (Vec::new(), 0, Bytes::new());
        }
        Poll::Ready(Ok(()))
    }

    /// The connection for another request, if all of this one was sent and all of
    /// the response was read.
    pub(super) fn into_idle(self) -> Option<T> {
        (self.is_sent && self.received.is_empty()).then_some(self.io)
    }
}

/// Why there is no head.
enum HeadError {
    /// The connection ended before.
    Closed,
    Malformed,
}

/// Whether the peer has closed the connection, so that reading will end too.
fn is_closed_by_peer(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}
