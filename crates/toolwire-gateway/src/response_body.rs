//! The body of an answer to a client.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::relay::Stream;

/// The body of an answer.
pub(crate) enum Body {
    /// All of it.
    Whole(Option<Bytes>),
    /// A stream that the connection pulls. What the client does not take stays
    /// with the upstream.
    Pulled(Box<Stream>),
    /// A stream that is pushed by a task of its own.
    Paced(mpsc::Receiver<Result<Bytes, Broken>>),
}

/// The stream cannot go on, and the client must not take it for complete.
#[derive(Debug, thiserror::Error)]
#[error("the stream broke off")]
pub(crate) struct Broken;

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }

    /// A stream for a client whose connection carries others besides. Such a
    /// client can stop taking one stream and go on with the rest, which the
    /// connection does not see; a task of its own does.
    pub(crate) fn paced(mut stream: Box<Stream>, stall: Duration) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let piece = std::future::poll_fn(|cx| stream.poll_piece(cx));
                let piece = tokio::select! {
                    piece = piece => piece,
                    () = sender.closed() => return,
                };
                let Some(piece) = piece else { return };
                let room = tokio::time::timeout(stall, sender.send(piece)).await;
                if !matches!(room, Ok(Ok(()))) {
                    return;
                }
            }
        });
        Self::Paced(receiver)
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let piece = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(Ok)),
            Self::Pulled(stream) => stream.poll_piece(cx),
            Self::Paced(receiver) => receiver.poll_recv(cx),
        };
        piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Self::Pulled(_) | Self::Paced(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Pulled(_) | Self::Paced(_) => SizeHint::default(),
        }
    }
}
