use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::*;

/// A peer that has sent something and closed.
struct ClosedPeer {
    sent: &'static [u8],
    error: ErrorKind,
}

impl AsyncWrite for ClosedPeer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(self.error.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(self.error.into()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ClosedPeer {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buf.put_slice(std::mem::take(&mut self.sent));
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn data_from_the_peer_is_read_after_a_late_write() {
    for error in [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset] {
        let io = TokioIo::new(ClosedPeer { sent: b"goodbye", error });
        let mut connection = TokioIo::new(LateWriteStream::new(io));
        for _ in 0..2 {
            connection.write_all(b"hello").await.unwrap();
            connection.flush().await.unwrap();
        }
        let mut sent = String::new();
        connection.read_to_string(&mut sent).await.unwrap();
        assert_eq!(sent, "goodbye");
    }
}

#[tokio::test]
async fn any_other_error_is_reported_at_once() {
    let io = TokioIo::new(ClosedPeer { sent: b"", error: ErrorKind::TimedOut });
    let mut connection = TokioIo::new(LateWriteStream::new(io));
    assert_eq!(connection.write_all(b"x").await.unwrap_err().kind(), ErrorKind::TimedOut);
}
