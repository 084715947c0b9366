//! The end of a connection whose client is still sending.
//!
//! A request that is refused is not read to its end. If the connection closed at
//! once, what else arrives would make the system reset it, and the client might
//! lose the response that says why.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::timeout_stream::TimeoutStream;

/// Reads and drops what a client still sends, for a limited time.
pub(super) struct Linger {
    end: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Linger {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { end: now + LONGEST, timer: Box::pin(sleep_until(now + LONGEST_PAUSE)) }
    }

    /// Waits until the client has nothing more to send, or takes too long.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, io: &mut TimeoutStream) -> Poll<()> {
        let mut bytes = [0; 4096];
        loop {
            let mut buf = ReadBuf::new(&mut bytes);
            match Pin::new(&mut *io).poll_read(cx, &mut buf) {
                Poll::Pending => return self.timer.as_mut().poll(cx),
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(())) if buf.filled().is_empty() => return Poll::Ready(()),
                Poll::Ready(Ok(())) => {
                    let now = Instant::now();
                    if now >= self.end {
                        return Poll::Ready(());
                    }
                    self.timer.as_mut().reset(self.end.min(now + LONGEST_PAUSE));
                }
            }
        }
    }
}

/// How long the rest of a request is read.
const LONGEST: Duration = Duration::from_secs(10);

/// How long the next part of it may take.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
