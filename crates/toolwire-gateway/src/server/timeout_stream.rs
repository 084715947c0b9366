//! A client's connection with timeouts.
//!
//! Two things that a client can do are noticed nowhere else: it can connect and
//! send nothing, and it can stop reading.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A connection that fails if its peer makes no progress.
pub(super) struct TimeoutStream {
    stream: TcpStream,
    /// Runs until the peer has sent its first bytes. hyper's own timer starts
    /// only when it knows which version of HTTP the peer speaks.
    preface_timer: Option<Pin<Box<Sleep>>>,
    received: usize,
    write_timeout: Duration,
    /// Runs while a write makes no progress.
    write_timer: Option<Pin<Box<Sleep>>>,
}

impl TimeoutStream {
    pub(super) fn new(
        stream: TcpStream,
        preface_timeout: Duration,
        write_timeout: Duration,
    ) -> Self {
        let preface_timer = Some(Box::pin(sleep_until(Instant::now() + preface_timeout)));
        Self { stream, preface_timer, received: 0, write_timeout, write_timer: None }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.stream
    }

    /// Applies the write timeout. The timer runs while the write is pending and
    /// starts again with every byte that is written.
    fn check_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let timeout = self.write_timeout;
        let timer =
            self.write_timer.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + timeout)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for TimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let Some(timer) = &mut self.preface_timer else { return read };
        match read {
            Poll::Ready(result) => {
                self.received += buf.filled().len() - before;
                if self.received >= PREFACE {
                    self.preface_timer = None;
                }
                Poll::Ready(result)
            }
            Poll::Pending => match timer.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl AsyncWrite for TimeoutStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.check_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.check_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The length of HTTP/2's connection preface, which tells HTTP/2 from HTTP/1.1.
const PREFACE: usize = 24;
