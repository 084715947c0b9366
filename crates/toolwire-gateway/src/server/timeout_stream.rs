//! A client's connection, with an eye on the clock.
//!
//! Two things a peer can do are nobody else's to notice: to connect and say
//! nothing, and to take nothing of what is ready for it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A connection that ends itself when its peer stands still.
pub(super) struct Watched {
    stream: TcpStream,
    /// Ends a connection that has not begun to speak. HTTP's own timer starts
    /// only when it is known which HTTP it is.
    silent: Option<Pin<Box<Sleep>>>,
    heard: usize,
    stall: Duration,
    /// Set while the peer takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    pub(super) fn new(stream: TcpStream, silence: Duration, stall: Duration) -> Self {
        let silent = Some(Box::pin(sleep_until(Instant::now() + silence)));
        Self { stream, silent, heard: 0, stall, stalled: None }
    }

    /// Watches a write: time runs while it waits, and starts anew with every
    /// byte that is taken.
    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stall = self.stall;
        let timer =
            self.stalled.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + stall)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let Some(silent) = &mut self.silent else { return read };
        match read {
            Poll::Ready(result) => {
                self.heard += buf.filled().len() - before;
                if self.heard >= PREFACE {
                    self.silent = None;
                }
                Poll::Ready(result)
            }
            Poll::Pending => match silent.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch(cx, written)
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

/// As much as HTTP/2's greeting is long, from which it is known which HTTP a
/// peer speaks.
const PREFACE: usize = 24;
