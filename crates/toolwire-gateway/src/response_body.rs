//! The body of a response to a client.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::{Body, Frame, SizeHint};

use crate::relay::passthrough::PassedBody;
use crate::relay::{EarlyStream, ResponseStream};
use crate::stored::EventReplay;

/// The body of a response.
pub(crate) enum ResponseBody {
    /// All of it, until it is taken.
    Whole(Option<Bytes>),
    /// A stream that the connection pulls. What the client does not read stays
    /// with the upstream.
    Pulled(Box<ResponseStream>),
    /// A stream whose head is sent before it begins.
    Early(Box<EarlyStream>),
    /// Events from the store.
    Replayed(Box<EventReplay>),
    /// What an upstream sends, as it comes.
    Passed(Box<PassedBody>),
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

    /// Whether it is known that only the end of it is left.
    pub(crate) fn is_at_end(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Pulled(stream) => stream.is_at_end(),
            Self::Early(stream) => stream.is_at_end(),
            Self::Replayed(_) | Self::Passed(_) => false,
        }
    }

    /// The connection ends, and it had sent everything that it got of the body.
    pub(crate) fn all_sent(&mut self) {
        match self {
            Self::Pulled(stream) => stream.all_sent(),
            Self::Early(stream) => stream.all_sent(),
            Self::Whole(_) | Self::Replayed(_) | Self::Passed(_) => {}
        }
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
            Self::Pulled(stream) => {
                let chunk = std::task::ready!(stream.poll_chunk(cx));
                Poll::Ready(chunk_or_trailers(chunk, || stream.take_trailers()))
            }
            Self::Early(stream) => {
                let chunk = std::task::ready!(stream.poll_chunk(cx));
                Poll::Ready(chunk_or_trailers(chunk, || stream.take_trailers()))
            }
            Self::Replayed(replay) => {
                replay.poll_chunk(cx).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
            }
            Self::Passed(body) => {
                let chunk = std::task::ready!(body.poll_chunk(cx));
                Poll::Ready(chunk.map(|chunk| chunk.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Self::Pulled(_) | Self::Early(_) | Self::Replayed(_) | Self::Passed(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Pulled(_) | Self::Early(_) | Self::Replayed(_) | Self::Passed(_) => {
                SizeHint::default()
            }
        }
    }
}

/// The next chunk of a stream, or its trailers after the last.
fn chunk_or_trailers(
    chunk: Option<Result<Bytes, StreamAborted>>,
    take_trailers: impl FnOnce() -> Option<HeaderMap>,
) -> Option<Result<Frame<Bytes>, StreamAborted>> {
    match chunk {
        Some(chunk) => Some(chunk.map(Frame::data)),
        None => take_trailers().map(|trailers| Ok(Frame::trailers(trailers))),
    }
}
