//! A pipe as a stream of chunks gives what the pipe gives.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use toolwire::stream::PipeStream;
use toolwire::{ApiError, ErrorKind, Protocol};

use crate::streams::{pipe, recorded};

/// An upstream that is as awkward as a stream may be: it cannot be moved, it is
/// not ready every other time, and it must not be asked again after its end.
struct Upstream {
    chunks: VecDeque<io::Result<Vec<u8>>>,
    ready: bool,
    ended: bool,
    asked: Rc<Cell<usize>>,
    _pinned: PhantomPinned,
}

impl Upstream {
    fn new(chunks: impl IntoIterator<Item = io::Result<Vec<u8>>>) -> Self {
        let chunks = chunks.into_iter().collect();
        let asked = Rc::default();
        Self { chunks, ready: false, ended: false, asked, _pinned: PhantomPinned }
    }

    fn next(&mut self) -> Poll<Option<io::Result<Vec<u8>>>> {
        assert!(!self.ended, "asked again after the end");
        self.asked.set(self.asked.get() + 1);
        self.ready = !self.ready;
        if !self.ready {
            return Poll::Pending;
        }
        let chunk = self.chunks.pop_front();
        self.ended = !matches!(chunk, Some(Ok(_)));
        Poll::Ready(chunk)
    }
}

/// An upstream behind a cell, because nothing of a pinned value may be moved.
struct Pinned {
    upstream: RefCell<Upstream>,
}

impl Stream for Pinned {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.upstream.borrow_mut().next()
    }
}

impl Pinned {
    fn new(upstream: Upstream) -> Self {
        Self { upstream: upstream.into() }
    }
}

fn poll<S>(stream: &mut PipeStream<S>) -> Poll<Option<Vec<u8>>>
where
    S: Stream,
    PipeStream<S>: Stream<Item = Vec<u8>>,
{
    Pin::new(stream).poll_next(&mut Context::from_waker(Waker::noop()))
}

/// All chunks of a stream, which comes back as it is at its end.
fn collect(mut stream: PipeStream<Pinned>) -> (Vec<Vec<u8>>, PipeStream<Pinned>) {
    let mut chunks = Vec::new();
    loop {
        match poll(&mut stream) {
            Poll::Ready(Some(chunk)) => {
                assert!(!chunk.is_empty(), "a chunk says something");
                chunks.push(chunk);
            }
            Poll::Ready(None) => break,
            Poll::Pending => {}
        }
    }
    assert!(stream.pipe().is_done(), "an ended stream is done");
    assert_eq!(poll(&mut stream), Poll::Ready(None), "an ended stream stays ended");
    (chunks, stream)
}

#[test]
fn every_recorded_stream_in_chunks_of_any_size() {
    for recorded in recorded() {
        for to in Protocol::ALL {
            let request = recorded.request(to);
            let mut expected = Vec::new();
            let mut reference = pipe(recorded.from, to, request.as_deref());
            reference.push(&recorded.bytes, &mut expected);
            reference.finish(&mut expected);
            for size in [7, 1000, usize::MAX] {
                let pieces = recorded.bytes.chunks(size).map(|chunk| Ok(chunk.to_vec()));
                let upstream = Pinned::new(Upstream::new(pieces));
                let pipe = pipe(recorded.from, to, request.as_deref());
                let (chunks, mut stream) = collect(pipe.stream(upstream));
                let told = format!("{} to {to} by {size}", recorded.name());
                assert_eq!(chunks.concat(), expected, "{told}");
                let complete = reference.summary().complete;
                assert_eq!(stream.pipe().summary().complete, complete, "{told}");
                if size == usize::MAX {
                    assert_eq!(stream.pipe_mut().take_ledger(), reference.take_ledger(), "{told}");
                }
            }
        }
    }
}

const BEGUN: &[u8] =
    b"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";

#[test]
fn an_upstream_that_breaks() {
    for to in Protocol::ALL {
        let broken = io::Error::from(io::ErrorKind::ConnectionReset);
        let message = format!("The upstream's stream broke: {broken}");
        let upstream = Upstream::new([Ok(BEGUN.to_vec()), Err(broken)]);
        let (chunks, stream) =
            collect(pipe(Protocol::Chat, to, None).stream(Pinned::new(upstream)));

        let mut expected = Vec::new();
        let mut reference = pipe(Protocol::Chat, to, None);
        reference.push(BEGUN, &mut expected);
        reference.fail(ApiError::new(ErrorKind::Truncated, message), &mut expected);
        assert_eq!(chunks.concat(), expected, "{to}");
        assert_eq!(stream.pipe().summary().error, reference.summary().error, "{to}");
    }
}

#[test]
fn an_upstream_that_says_nothing() {
    let upstream = Pinned::new(Upstream::new([]));
    let (chunks, _) = collect(pipe(Protocol::Chat, Protocol::Messages, None).stream(upstream));
    assert!(String::from_utf8(chunks.concat()).unwrap().contains("event: error\n"));
}

#[test]
fn the_upstream_waits_for_the_client() {
    // Responses repeats a long text in its last events, each of which is a
    // chunk of its own.
    let text = "long ".repeat(40_000);
    let events = format!(
        "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n\
         data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n\
         data: [DONE]\n\ndata: never read"
    );
    let upstream = Upstream::new([Ok(events.into_bytes()), Ok(b"nor this".to_vec())]);
    let asked = Rc::clone(&upstream.asked);
    let mut stream = pipe(Protocol::Chat, Protocol::Responses, None).stream(Pinned::new(upstream));
    let mut chunks = 0;
    while let Poll::Ready(Some(_)) = poll(&mut stream) {
        chunks += 1;
        assert_eq!(asked.get(), 1, "the first chunk is still being taken");
    }
    assert!(chunks > 3, "{chunks} chunks");
    assert!(stream.pipe().summary().complete);
    assert_eq!(Rc::strong_count(&asked), 1, "the upstream is dropped at the end");
}
