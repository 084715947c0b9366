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
    Pushed(mpsc::Receiver<Result<Bytes, StreamAborted>>),
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
                let chunk = std::future::poll_fn(|cx| stream.poll_chunk(cx));
                let chunk = tokio::select! {
                    chunk = chunk => chunk,
                    () = sender.closed() => return,
                };
                let Some(chunk) = chunk else { return };
                let sent = tokio::time::timeout(stall, sender.send(chunk)).await;
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
        let chunk = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(Ok)),
            Self::Pulled(stream) => stream.poll_chunk(cx),
            Self::Pushed(receiver) => receiver.poll_recv(cx),
        };
        chunk.map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
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
