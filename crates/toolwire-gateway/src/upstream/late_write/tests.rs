use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::*;

/// A peer that has said something and takes nothing any more.
struct Gone {
    said: &'static [u8],
    error: ErrorKind,
}

impl AsyncWrite for Gone {
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

impl AsyncRead for Gone {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        into.put_slice(std::mem::take(&mut self.said));
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn what_the_peer_said_last_is_read_after_a_write_that_came_too_late() {
    for error in [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset] {
        let io = TokioIo::new(Gone { said: b"goodbye", error });
        let mut connection = TokioIo::new(HeardOut::new(io));
        for _ in 0..2 {
            connection.write_all(b"hello").await.unwrap();
            connection.flush().await.unwrap();
        }
        let mut said = String::new();
        connection.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "goodbye");
    }
}

#[tokio::test]
async fn any_other_error_is_told_at_once() {
    let io = TokioIo::new(Gone { said: b"", error: ErrorKind::TimedOut });
    let mut connection = TokioIo::new(HeardOut::new(io));
    assert_eq!(connection.write_all(b"x").await.unwrap_err().kind(), ErrorKind::TimedOut);
}
