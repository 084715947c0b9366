//! A stream from an upstream to a client: bytes in, bytes out.
//!
//! [`Frames`] cuts the bytes into server-sent events, the upstream's codec reads
//! them, `call_restorer` gives the calls the names and shapes that the client
//! declared, and the client's codec writes them. Where both sides speak one
//! protocol the bytes pass, and `forward` only observes them.
//! [`Options::model`] is the model's name toward the client; `rewrite` puts it
//! into bytes that pass, with what [`Options::kept_state`] says.
//!
//! Whatever happens, the client gets one ending: the upstream's own, or an
//! error. An upstream that stops without its protocol's end marker has failed.

mod answer_collector;
mod call_recovery;
mod call_restorer;
pub(crate) mod errors;
mod forward;
mod freeform;
mod grammar;
mod rewrite;
mod sinks;
mod state;
mod stream_ledger;

use std::ops::ControlFlow;

use self::answer_collector::AnswerCollector;
use self::errors::{unframed, unusable};
use self::state::{Ending, HeldEnding, PipeMode, PipeState};
use crate::codec::codec;
use crate::ledger::Entry;
pub use crate::model::ResponseSummary;
use crate::model::{ApiError, Protocol, Request};
use crate::restore::Restore;
use crate::stateful::{WrittenAnswer, WrittenEnding};
use crate::text_tools::{Recovery, TextRequest};
use crate::translate::{Error, Options, invalid, is_not_an_answer, utf8};
use crate::wire::sse::{EVENT_LIMIT, Frame, Frames};

/// One stream.
pub struct Pipe {
    frames: Frames,
    state: PipeState,
    /// Puts the client's answer together, if the caller wants it.
    answer: Option<AnswerCollector>,
}

/// The whole answer of a stream whose ending is held.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldAnswer {
    /// The answer as JSON.
    pub text: String,
    /// What is known of it, if it was written here and the client's protocol has servers
    /// that remember.
    pub written: Option<WrittenAnswer>,
}

/// An ending that repeats the answer, for a caller that shares its bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldEvent {
    /// The ending.
    pub bytes: Vec<u8>,
    /// Where the answer is in it, and what is known of it.
    pub written: WrittenEnding,
}

impl Pipe {
    /// A stream of the upstream's protocol `from` for a client that speaks
    /// `to`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the request of the options cannot be read.
    pub fn new(from: Protocol, to: Protocol, options: &Options<'_>) -> Result<Self, Error> {
        let request = options.decode_request(to)?;
        Ok(Self::for_request(from, to, request.as_ref(), options))
    }

    /// The same for a request that was read.
    pub(crate) fn for_request(
        from: Protocol,
        to: Protocol,
        request: Option<&Request<'_>>,
        options: &Options<'_>,
    ) -> Self {
        let (restore, recovery) = TextRequest::way_back(request, &options.profile_of(from));
        Self::restoring(from, to, request, restore, recovery, options)
    }

    /// The same, where it may be known how the tools come back.
    pub(crate) fn restoring(
        from: Protocol,
        to: Protocol,
        request: Option<&Request<'_>>,
        restore: Option<Restore>,
        recovery: Option<Recovery>,
        options: &Options<'_>,
    ) -> Self {
        let state = PipeState::new(from, to, request, restore, recovery, options);
        Self { frames: Frames::new(EVENT_LIMIT), state, answer: None }
    }

    /// The same with another limit on the length of an event.
    #[must_use]
    pub fn with_event_limit(mut self, limit: usize) -> Self {
        self.frames = Frames::new(limit);
        self
    }

    /// The same, and the client is told what was lost in a comment of up to
    /// `limit` bytes, just before the last event or the error that ends the
    /// stream: `: toolwire-loss ` and the list that
    /// [`loss_list`](crate::ledger::loss_list) writes. Readers of server-sent
    /// events ignore comments. If nothing was lost, there is none.
    ///
    /// A stream is never refused for what it loses, because the client has its
    /// beginning by then: [`LossPolicy::Refuse`](crate::LossPolicy::Refuse)
    /// reports what is lost, as `Report` does. `Ignore` reports nothing.
    #[must_use]
    pub fn with_loss_comment(mut self, limit: usize) -> Self {
        self.state.ledger.set_comment_limit(limit);
        self
    }

    /// The same, but the event with which the stream ends well is held until
    /// [`Pipe::release_ending`], so that the caller can do something before the
    /// client takes the answer for complete. An ending that is an error is not
    /// held.
    #[must_use]
    pub fn with_held_ending(mut self) -> Self {
        self.state.held = HeldEnding::Expected;
        let client = self.state.to;
        // Where servers remember, the ending repeats the answer. But not every upstream
        // that says so does: the one behind ChatGPT ends with an empty list of items.
        let is_written_here = matches!(self.state.mode, PipeMode::Translate(_));
        let is_repeated = is_written_here && codec(client).stateful.is_some();
        self.answer = (!is_repeated).then(|| AnswerCollector::new(client));
        self
    }

    /// Takes bytes of the upstream and appends what they are to the client.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while self.step(&mut bytes, out) {}
    }

    /// Like [`Pipe::push`], but pauses behind an event that is long for the
    /// client, so that it can be sent before the next one is written: Responses
    /// says a long text three times over in its last events. Whether there is
    /// more to come out of the bytes that are left, even if none are.
    ///
    /// ```
    /// # use toolwire::Protocol::{Chat, Responses};
    /// # use toolwire::{pipe::Pipe, translate::Options};
    /// # let mut pipe = Pipe::new(Chat, Responses, &Options::new()).unwrap();
    /// # let mut send = |_: &[u8]| {};
    /// let mut bytes = b"data: [DONE]\n\n".as_slice();
    /// let mut out = Vec::new();
    /// let mut more = true;
    /// while more {
    ///     more = pipe.step(&mut bytes, &mut out);
    ///     send(&out);
    ///     out.clear();
    /// }
    /// ```
    pub fn step(&mut self, bytes: &mut &[u8], out: &mut Vec<u8>) -> bool {
        let before = out.len();
        let has_more = self.step_uncollected(bytes, out);
        self.collect(before, out);
        has_more
    }

    /// Notes what was written for the client.
    fn collect(&mut self, before: usize, out: &[u8]) {
        let Some(answer) = &mut self.answer else { return };
        answer.push(out.get(before..).unwrap_or_default());
        if let Some(ending) = self.state.held_ending() {
            answer.push_ending(&ending.event);
        }
    }

    fn step_uncollected(&mut self, bytes: &mut &[u8], out: &mut Vec<u8>) -> bool {
        let Self { frames, state, answer: _ } = self;
        if state.flush_pending(out) {
            return !state.is_over();
        }
        if state.done {
            return false;
        }
        let before = out.len();
        // What goes out is about as long as what comes in.
        out.reserve(bytes.len());
        let each = |frame: Frame<'_>| {
            let flow = state.frame(&frame, out);
            if out.len() - before > LONG { ControlFlow::Break(()) } else { flow }
        };
        match frames.push(bytes, each) {
            Ok(used) => *bytes = bytes.get(used..).unwrap_or_default(),
            Err(error) => state.fail(unframed(error), out),
        }
        state.has_pending() || !state.done && !bytes.is_empty()
    }

    /// Takes a whole answer, from an upstream that ignored that a stream was
    /// wanted, and appends the stream that the client gets instead. Only for a
    /// pipe that has taken nothing else. An answer that cannot be read is an
    /// error of the stream.
    pub fn whole(&mut self, body: &[u8], out: &mut Vec<u8>) {
        if let Err(error) = self.try_whole(body, out) {
            self.fail(unusable(&error), out);
        }
    }

    /// Like [`Pipe::whole`], but writes nothing if the answer cannot be read.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it cannot be read, [`Error::NotAnAnswer`] if it is
    /// an error.
    pub fn try_whole(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if self.state.done {
            return Ok(());
        }
        let source = utf8(body)?;
        match &self.state.mode {
            PipeMode::Translate(_) => {
                let before = out.len();
                self.state.whole(source, out)?;
                while self.state.flush_pending(out) {}
                self.collect(before, out);
            }
            // What passes keeps what no other protocol has.
            PipeMode::Forward(_) => {
                let codec = codec(self.state.from);
                let decoded = (codec.decode_response)(source);
                if is_not_an_answer(self.state.from, source, decoded.as_ref().ok()) {
                    return Err(Error::NotAnAnswer);
                }
                decoded.map_err(|error| invalid(source, error))?;
                let events =
                    (codec.stream_from_response)(source).map_err(|error| invalid(source, error))?;
                self.push(&events, out);
                self.finish(out);
            }
        }
        Ok(())
    }

    /// The upstream's bytes have ended. Without the protocol's own end marker
    /// the client gets an error.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        self.finish_uncollected(out);
        self.collect(before, out);
    }

    fn finish_uncollected(&mut self, out: &mut Vec<u8>) {
        let Self { frames, state, answer: _ } = self;
        while state.flush_pending(out) {}
        if state.done {
            return;
        }
        if let Err(error) = frames.finish(|frame| state.frame(&frame, out)) {
            state.fail(unframed(error), out);
        }
        state.finish(out);
        while state.flush_pending(out) {}
    }

    /// Whether the stream has come to a good end, which is held. It takes no more
    /// bytes, and nothing comes out of it until the ending is released.
    pub fn holds_ending(&self) -> bool {
        self.state.held_ending().is_some()
    }

    /// The whole answer whose ending is held: as the ending repeats it
    /// (Responses), or put together from what the client has got.
    pub fn held_answer(&self) -> Option<HeldAnswer> {
        let Ending { event, written } = self.state.held_ending()?;
        if let Some(WrittenEnding { place, answer }) = written {
            let text = str::from_utf8(event.get(place.clone())?).ok()?.to_owned();
            return Some(HeldAnswer { text, written: Some(answer.clone()) });
        }
        let text = match &self.answer {
            Some(answer) => answer.answer()?,
            None => self.answer_in_ending(event)?,
        };
        Some(HeldAnswer { text, written: None })
    }

    /// Takes the ending that is held, for a caller that sends it by itself, so that nobody copies
    /// the answer in it. It is still held as far as everything else is concerned:
    /// [`Pipe::release_ending`] then appends nothing, and [`Pipe::fail`] puts an error in its
    /// place. `None` if the ending does not repeat the answer or was not written here.
    pub fn take_held_event(&mut self) -> Option<HeldEvent> {
        let HeldEnding::Held(Ending { event, written }) = &mut self.state.held else { return None };
        let written = written.take_if(|written| event.get(written.place.clone()).is_some())?;
        Some(HeldEvent { bytes: std::mem::take(event), written })
    }

    /// The whole answer, as the ending repeats it.
    fn answer_in_ending(&self, ending: &[u8]) -> Option<String> {
        let codec = codec(self.state.to);
        let mut answer = None;
        let mut frames = Frames::new(ending.len().saturating_add(1));
        let mut find = |frame: Frame<'_>| {
            if answer.is_none() {
                answer = (codec.answer_in_event)(frame.data);
            }
            ControlFlow::Continue(())
        };
        frames.push(ending, &mut find).ok()?;
        frames.finish(&mut find).ok()?;
        answer
    }

    /// Appends the ending that is held.
    pub fn release_ending(&mut self, out: &mut Vec<u8>) {
        if let HeldEnding::Held(ending) = &mut self.state.held {
            if out.is_empty() {
                *out = std::mem::take(&mut ending.event);
            } else {
                out.append(&mut ending.event);
            }
            self.state.held = HeldEnding::Off;
        }
    }

    /// The upstream cannot go on: the connection broke, or it took too long. If
    /// the ending is held, the error takes its place.
    pub fn fail(&mut self, error: ApiError, out: &mut Vec<u8>) {
        while self.state.flush_pending(out) {}
        self.state.fail(error, out);
    }

    /// How many bytes of an event are held whose end has not come. Its end makes
    /// work of all of them.
    pub fn unfinished(&self) -> usize {
        self.frames.held()
    }

    /// Whether the client has its last byte.
    pub fn is_done(&self) -> bool {
        self.state.is_over()
    }

    /// What went by so far.
    pub fn summary(&self) -> &ResponseSummary {
        &self.state.summary
    }

    /// The dialect in which calls are read from the model's text, if the upstream
    /// takes no tools: that of the first call or, until there is one, the one that
    /// the model was asked to write. [`ResponseSummary::recovered`] has only the
    /// former.
    pub fn expected_dialect(&self) -> Option<&'static str> {
        self.state.expected_dialect()
    }

    /// How many bytes the stream may have kept: an upper bound of what the
    /// answer says so far. A pipe whose bytes pass keeps nothing, unless its
    /// ending is held.
    pub fn kept_bytes(&self) -> usize {
        self.state.kept_bytes + self.answer.as_ref().map_or(0, AnswerCollector::kept)
    }

    /// What changed or could not be carried since the last call. A path begins
    /// with the number of the upstream's event, from 0. What several events
    /// lose at the same place of the same item is reported with the first of
    /// them. A stream that loses something at very many places has a last line
    /// with [`Code::More`](crate::Code::More).
    pub fn take_ledger(&mut self) -> Vec<Entry> {
        self.state.ledger.take()
    }
}

/// How much may be written before [`Pipe::step`] pauses.
const LONG: usize = 64 * 1024;

#[cfg(test)]
mod tests;
