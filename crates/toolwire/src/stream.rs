//! A [`Pipe`] as a [`Stream`], for programs that are built on futures.
//!
//! Needs the feature `futures`.

use std::fmt::{self, Display};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::model::{ApiError, ErrorKind};
use crate::pipe::Pipe;

impl Pipe {
    /// Translates a stream of the upstream's chunks into a stream of chunks for
    /// the client. See [`PipeStream`].
    pub fn stream<S>(self, upstream: S) -> PipeStream<S>
    where
        S: Stream,
    {
        PipeStream { pipe: self, upstream: Some(Box::pin(upstream)), chunk: None }
    }
}

/// The chunks for a client, made of an upstream's chunks as they are asked for.
///
/// The stream cannot fail: if the upstream does, or if it ends early, the client
/// gets an error event of its own protocol as the last one. Nothing is read from
/// the upstream until the client has taken what is there, and the upstream is
/// dropped as soon as the client has its last event.
///
/// ```
/// # use std::pin::{Pin, pin};
/// # use std::task::{Context, Poll, Waker};
/// # use futures_core::Stream;
/// # struct Chunks(std::vec::IntoIter<Result<&'static [u8], std::io::Error>>);
/// # impl Stream for Chunks {
/// #     type Item = Result<&'static [u8], std::io::Error>;
/// #     fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
/// #         Poll::Ready(self.0.next())
/// #     }
/// # }
/// # fn response_body() -> Chunks {
/// #     Chunks(vec![
/// #         Ok(&b"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n"[..]),
/// #         Err(std::io::ErrorKind::ConnectionReset.into()),
/// #     ].into_iter())
/// # }
/// use toolwire::Protocol::{Chat, Messages};
/// use toolwire::{Options, Pipe};
///
/// let pipe = Pipe::new(Chat, Messages, &Options::new())?;
/// let mut events = pipe.stream(response_body());
/// # let mut body = Vec::new();
/// # let mut context = Context::from_waker(Waker::noop());
/// # while let Poll::Ready(Some(chunk)) = pin!(&mut events).poll_next(&mut context) {
/// #     body.extend(chunk);
/// # }
/// # let text = std::str::from_utf8(&body)?;
/// # assert!(text.contains(r#"{"type":"text_delta","text":"Hi"}"#));
/// # assert!(text.contains("event: error\n"));
/// # assert!(!events.pipe().summary().complete);
/// // Send the chunks of `events` to the client.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PipeStream<S: Stream> {
    pipe: Pipe,
    /// Boxed, so that the stream of a client can be moved whatever the
    /// upstream's is. `None` after its last chunk.
    upstream: Option<Pin<Box<S>>>,
    chunk: Option<Chunk<S::Item>>,
}

/// A chunk of the upstream and how much of it the pipe has taken.
struct Chunk<C> {
    bytes: C,
    taken: usize,
}

impl<S: Stream> PipeStream<S> {
    /// The pipe, for what it can say about the answer so far.
    pub fn pipe(&self) -> &Pipe {
        &self.pipe
    }

    /// The pipe, to take its ledger.
    pub fn pipe_mut(&mut self) -> &mut Pipe {
        &mut self.pipe
    }
}

impl<S, B, E> Stream for PipeStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    E: Display,
{
    type Item = Vec<u8>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        let Self { pipe, upstream, chunk } = self.get_mut();
        let mut out = Vec::new();
        while out.is_empty() {
            // A chunk that is an error has no bytes to take.
            if let Some(Chunk { bytes: Ok(bytes), taken }) = chunk {
                let bytes = bytes.as_ref();
                let mut rest = bytes.get(*taken..).unwrap_or_default();
                let has_more = pipe.step(&mut rest, &mut out);
                *taken = bytes.len() - rest.len();
                if has_more {
                    continue;
                }
                *chunk = None;
                if pipe.is_done() {
                    *upstream = None;
                }
                continue;
            }
            let Some(source) = upstream else { return Poll::Ready(None) };
            match ready!(source.as_mut().poll_next(context)) {
                Some(Ok(bytes)) => *chunk = Some(Chunk { bytes: Ok(bytes), taken: 0 }),
                Some(Err(error)) => {
                    *upstream = None;
                    let message = format!("The upstream's stream broke: {error}");
                    pipe.fail(ApiError::new(ErrorKind::Truncated, message), &mut out);
                }
                None => {
                    *upstream = None;
                    pipe.finish(&mut out);
                }
            }
        }
        Poll::Ready(Some(out))
    }
}

/// The fields can be moved: the upstream is boxed, and a chunk is never pinned.
impl<S: Stream> Unpin for PipeStream<S> {}

impl<S: Stream> fmt::Debug for PipeStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipeStream").field("done", &self.pipe.is_done()).finish_non_exhaustive()
    }
}
