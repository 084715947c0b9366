//! The body of a response to a client.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::relay::ResponseStream;

/// The body of a response.
pub(crate) enum ResponseBody {
    /// All of it, until it is taken.
    Whole(Option<Bytes>),
    /// A stream that the connection pulls. What the client does not read stays
    /// with the upstream.
    Pulled(Box<ResponseStream>),
    /// A stream that a task of its own pushes.
    Pushed(mpsc::Receiver<Result<Frame<Bytes>, StreamAborted>>),
}

/// The stream cannot continue. The connection is broken on purpose, so that the
/// client does not take the stream for complete.
#[derive(Debug, thiserror::Error)]
#[error("the stream was interrupted")]
pub(crate) struct StreamAborted;

impl ResponseBody {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }

    /// A stream on a connection that carries several. The client can stop
    /// reading one stream and go on with the others, which the connection's
    /// write timeout does not notice, so a task watches each stream.
    pub(crate) fn pushed(mut stream: Box<ResponseStream>, stall: Duration) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let frame = std::future::poll_fn(|cx| poll_stream(&mut stream, cx));
                let frame = tokio::select! {
                    frame = frame => frame,
                    () = sender.closed() => return,
                };
                let Some(frame) = frame else { return };
                let sent = tokio::time::timeout(stall, sender.send(frame)).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
        });
        Self::Pushed(receiver)
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = StreamAborted;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamAborted>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Pulled(stream) => poll_stream(stream, cx),
            Self::Pushed(receiver) => receiver.poll_recv(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Self::Pulled(_) | Self::Pushed(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Pulled(_) | Self::Pushed(_) => SizeHint::default(),
        }
    }
}

/// The next chunk of a stream, and its trailers after the last.
fn poll_stream(
    stream: &mut ResponseStream,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, StreamAborted>>> {
    stream.poll_chunk(cx).map(|chunk| match chunk {
        Some(chunk) => Some(chunk.map(Frame::data)),
        None => stream.take_trailers().map(|trailers| Ok(Frame::trailers(trailers))),
    })
}
