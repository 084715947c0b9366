//! An answer that comes as a stream.

use std::fmt;
use std::ops::ControlFlow;

use super::{CallCollector, Error, ToolCall};
use crate::codec::{EventSink, StreamAccumulator, StreamReader};
use crate::ledger::Ledger;
use crate::model::{ApiError, Event, Piece, Protocol};
use crate::pipe::errors::{truncated, unframed, unreadable};
use crate::wire::sse::{EVENT_LIMIT, Frame, Frames};

/// An answer that comes as a stream: its calls, each as soon as it is whole, and
/// at the end the answer itself, which [`next_request`](super::next_request)
/// takes.
///
/// ```
/// use toolwire::Protocol::*;
/// use toolwire::calls::{self, StreamedAnswer, ToolOutput};
///
/// # let chunks = [
/// #     "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\":\"}}]}}]}\n\n",
/// #     "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"Paris\\\"}\"}}]}}]}\n\n",
/// #     "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
/// # ];
/// let mut answer = StreamedAnswer::new(Chat);
/// let mut outputs = Vec::new();
/// for chunk in chunks {
///     for call in answer.push(chunk.as_bytes())?.calls {
///         assert_eq!(call.arguments(), Some(r#"{"city":"Paris"}"#));
///         outputs.push(ToolOutput::text(call.id, "sunny"));
///     }
/// }
/// let (_, response) = answer.finish()?;
/// let request = br#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Weather?"}]}"#;
/// let next = calls::next_request(Chat, request, &response, &outputs)?;
/// assert!(std::str::from_utf8(&next).unwrap().contains(r#""tool_call_id":"call_1""#));
/// # Ok::<(), calls::Error>(())
/// ```
pub struct StreamedAnswer {
    frames: Frames,
    reader: Box<dyn StreamReader>,
    accumulator: Box<dyn StreamAccumulator>,
    seen: Seen,
    events: usize,
}

/// What has come since the last time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrived {
    /// More of the model's text.
    pub text: String,
    /// Calls that are whole now.
    pub calls: Vec<ToolCall>,
}

/// What the events have said.
#[derive(Default)]
struct Seen {
    calls: CallCollector,
    text: String,
    ended: bool,
    failure: Option<ApiError>,
    /// What the reader reports; nobody reads it, because nothing is translated.
    ledger: Ledger,
}

impl StreamedAnswer {
    /// An answer in a protocol.
    pub fn new(protocol: Protocol) -> Self {
        let codec = protocol.codec();
        Self {
            frames: Frames::new(EVENT_LIMIT),
            reader: (codec.stream_reader)(),
            accumulator: (codec.stream_accumulator)(),
            seen: Seen::default(),
            events: 0,
        }
    }

    /// Takes bytes of the stream, in pieces of any size.
    ///
    /// # Errors
    ///
    /// [`Error::Answer`] if the model's API reports an error, or if the stream
    /// cannot be read. The answer is worthless then, and so are its calls.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Arrived, Error> {
        let Self { frames, reader, accumulator, seen, events } = self;
        let mut wrong = None;
        let pushed = frames.push(bytes, |frame| {
            wrong = take(&frame, reader.as_mut(), accumulator.as_mut(), seen, events).err();
            if wrong.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let wrong = pushed.err().map(unframed).or(wrong.map(|error| *error));
        self.arrived(wrong)
    }

    /// The stream has ended. What was still to come of it, and the whole answer.
    ///
    /// # Errors
    ///
    /// As [`StreamedAnswer::push`], also if the stream was cut off.
    pub fn finish(mut self) -> Result<(Arrived, Vec<u8>), Error> {
        let Self { frames, reader, accumulator, seen, events } = &mut self;
        let mut wrong = None;
        let finished = frames.finish(|frame| {
            wrong = take(&frame, reader.as_mut(), accumulator.as_mut(), seen, events).err();
            ControlFlow::Continue(())
        });
        let mut wrong = finished.err().map(unframed).or(wrong.map(|error| *error));
        if wrong.is_none() && !seen.ended {
            reader.finish(seen);
            wrong = (!seen.ended).then(truncated);
        }
        let arrived = self.arrived(wrong)?;
        Ok((arrived, self.accumulator.response()))
    }

    /// Whether the answer has its end.
    pub fn is_complete(&self) -> bool {
        self.seen.ended
    }

    fn arrived(&mut self, wrong: Option<ApiError>) -> Result<Arrived, Error> {
        // An upstream that has named its error is believed first.
        if let Some(error) = self.seen.failure.clone().or(wrong) {
            return Err(Error::Answer(Box::new(error)));
        }
        Ok(Arrived { text: std::mem::take(&mut self.seen.text), calls: self.seen.calls.take() })
    }
}

impl fmt::Debug for StreamedAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedAnswer").field("ended", &self.seen.ended).finish_non_exhaustive()
    }
}

impl EventSink for Seen {
    fn event(&mut self, event: Event<'_>) {
        if self.ended || self.failure.is_some() {
            return;
        }
        self.calls.event(&event);
        if let Event::Delta { block: _, piece: Piece::Text { text, logprobs: _ } } = &event {
            self.text.push_str(&text.decode());
        } else if let Event::Error(error) = event {
            self.failure = Some(error);
        } else if let Event::End = event {
            self.ended = true;
        }
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// Takes one event. What comes behind the end is not part of the answer.
fn take(
    frame: &Frame<'_>,
    reader: &mut dyn StreamReader,
    accumulator: &mut dyn StreamAccumulator,
    seen: &mut Seen,
    events: &mut usize,
) -> Result<(), Box<ApiError>> {
    if frame.data.is_empty() || seen.ended || seen.failure.is_some() {
        return Ok(());
    }
    let number = *events;
    *events += 1;
    let fault = |error| Box::new(unreadable(&error, number));
    accumulator.frame(frame).map_err(fault)?;
    reader.read(frame, seen).map_err(fault)?;
    seen.ledger = Ledger::default();
    Ok(())
}
