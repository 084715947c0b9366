//! A stream from an upstream, on its way to a client: bytes in, bytes out.
//!
//! The walk: [`Frames`] cuts the bytes into events, the upstream's codec reads
//! each into steps of an answer, `live` gives the calls back the names and
//! shapes that the client declared, and the client's codec writes the steps.
//! Where both sides speak one protocol the bytes pass as they are, and
//! `forward` only watches them. [`Options::model`] is the name that the client
//! is told instead of the upstream's own; `rename` puts it into bytes that pass.
//!
//! Whatever happens, the client gets one ending: the upstream's own, or an
//! error. An upstream that stops without its protocol's end marker has failed.

mod account;
mod forward;
mod freeform;
mod grammar;
mod live;
mod rename;
mod trouble;

use std::borrow::Cow;
use std::ops::ControlFlow;

use self::account::Account;
use self::forward::Forward;
use self::grammar::Grammar;
use self::live::Live;
use self::trouble::{invalid, truncated, unframed, unreadable};
use crate::codec::{EventOutcome, EventSink, StreamReader, StreamWriter, codec};
use crate::ledger::{Entry, Ledger, LossPolicy};
pub use crate::model::ResponseSummary;
use crate::model::{ApiError, Event, Protocol, Request, ResponseContext};
use crate::replay::replay;
use crate::restore::Restore;
use crate::translate::{Error, Options};
use crate::wire::Str;
use crate::wire::sse::{EVENT_LIMIT, Frame, FrameError, Frames};

/// One stream on its way.
pub struct Pipe {
    frames: Frames,
    course: Course,
}

/// What a pipe knows besides the bytes it holds.
struct Course {
    /// What the upstream speaks.
    from: Protocol,
    way: Way,
    account: Account,
    seen: ResponseSummary,
    /// How many events the upstream has sent.
    events: usize,
    done: bool,
}

enum Way {
    Translate(Box<Translation>),
    Forward(Box<Forward>),
}

struct Translation {
    reader: Box<dyn StreamReader>,
    live: Live,
    writer: Box<dyn StreamWriter>,
    /// The model's name toward the client, if it is not the upstream's.
    model: Option<String>,
    read: Grammar,
    written: Grammar,
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
        let mut asked = request
            .map_or_else(ResponseContext::default, |request| codec(to).response_context(request));
        if options.model.is_some() {
            asked.model.clone_from(&options.model);
        }
        asked.input_estimate = options.input_estimate;
        let way = if from == to {
            Way::Forward(Box::new(Forward::new(to, asked, options.model.as_deref())))
        } else {
            let profile = options.profile_of(from);
            let restore = request.map(|request| Restore::new(request, &profile));
            Way::Translate(Box::new(Translation {
                reader: codec(from).stream_reader(),
                live: Live::new(restore.unwrap_or_default()),
                writer: codec(to).stream_writer(asked),
                model: options.model.clone(),
                read: Grammar::default(),
                written: Grammar::default(),
            }))
        };
        Self {
            frames: Frames::new(EVENT_LIMIT),
            course: Course {
                from,
                way,
                account: Account::new(options.loss_policy != LossPolicy::Ignore),
                seen: ResponseSummary::default(),
                events: 0,
                done: false,
            },
        }
    }

    /// The same with another limit on the length of an event.
    #[must_use]
    pub fn with_event_limit(mut self, limit: usize) -> Self {
        self.frames = Frames::new(limit);
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
    /// # use toolwire::{Protocol, pipe::Pipe, translate::Options};
    /// # let mut pipe = Pipe::new(Protocol::Chat, Protocol::Responses, &Options::new()).unwrap();
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
        let Self { frames, course } = self;
        if course.flush_pending(out) {
            return !course.is_over();
        }
        if course.done {
            return false;
        }
        let before = out.len();
        // What goes out is about as long as what comes in.
        out.reserve(bytes.len());
        let each = |frame: Frame<'_>| {
            let flow = course.frame(&frame, out);
            if out.len() - before > LONG { ControlFlow::Break(()) } else { flow }
        };
        match frames.push(bytes, each) {
            Ok(used) => *bytes = bytes.get(used..).unwrap_or_default(),
            Err(error) => course.fail(unframed(error), out),
        }
        course.has_pending() || !course.done && !bytes.is_empty()
    }

    /// Takes a whole answer, from an upstream that does not heed that a stream
    /// was asked for, and appends the stream that the client is to get instead
    /// of it. It is for a pipe that has taken nothing else.
    pub fn whole(&mut self, body: &[u8], out: &mut Vec<u8>) {
        if self.course.done {
            return;
        }
        let Ok(text) = simdutf8::basic::from_utf8(body) else {
            return self.fail(unframed(FrameError::Utf8), out);
        };
        match &self.course.way {
            Way::Translate(_) => {
                self.course.whole(text, out);
                while self.course.flush_pending(out) {}
            }
            // What passes keeps what no other protocol has.
            Way::Forward(_) => match codec(self.course.from).stream_from_response(text) {
                Ok(events) => {
                    self.push(&events, out);
                    self.finish(out);
                }
                Err(error) => self.fail(invalid(&error), out),
            },
        }
    }

    /// The upstream's bytes have ended. Without the protocol's own end marker
    /// the client gets an error.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let Self { frames, course } = self;
        while course.flush_pending(out) {}
        if course.done {
            return;
        }
        if let Err(error) = frames.finish(|frame| course.frame(&frame, out)) {
            course.fail(unframed(error), out);
        }
        course.finish(out);
        while course.flush_pending(out) {}
    }

    /// The upstream cannot go on: the connection broke, or it took too long.
    pub fn fail(&mut self, error: ApiError, out: &mut Vec<u8>) {
        while self.course.flush_pending(out) {}
        self.course.fail(error, out);
    }

    /// Whether the client has its last byte.
    pub fn is_done(&self) -> bool {
        self.course.is_over()
    }

    /// What went by so far.
    pub fn summary(&self) -> &ResponseSummary {
        &self.course.seen
    }

    /// What changed or could not be carried since the last call. A path begins
    /// with the number of the upstream's event, from 0; of lines that differ
    /// in such numbers only, the first stands for all.
    pub fn take_ledger(&mut self) -> Vec<Entry> {
        self.course.account.take()
    }
}

impl Course {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> ControlFlow<()> {
        if frame.data.is_empty() {
            // What lacks its end would swallow what is written behind it.
            if let Way::Forward(_) = self.way
                && frame.ended
            {
                out.extend_from_slice(frame.raw);
            }
            return ControlFlow::Continue(());
        }
        let number = self.events;
        self.events += 1;
        match &mut self.way {
            Way::Forward(forward) => match forward.frame(frame, &mut self.seen, out) {
                Ok(EventOutcome::GoesOn) => {}
                Ok(EventOutcome::End | EventOutcome::Failed) => self.done = true,
                Ok(EventOutcome::Cut) => self.fail(truncated(), out),
                Err(error) => self.fail(unreadable(&error, number), out),
            },
            Way::Translate(_) => {
                // Data over several lines holds line ends where JSON has
                // spaces; what is copied from it must stay on one line.
                let lines = memchr::memchr(b'\n', frame.data.as_bytes());
                let data = match lines {
                    Some(_) => Cow::Owned(frame.data.replace('\n', " ")),
                    None => Cow::Borrowed(frame.data),
                };
                let frame = Frame { data: &data, ..*frame };
                let read = self.play(out, |reader, sink| reader.read(&frame, sink));
                self.account.settle(&data, number);
                if let Some(Err(error)) = read {
                    self.fail(unreadable(&error, number), out);
                }
                if self.has_pending() {
                    return ControlFlow::Break(());
                }
            }
        }
        if self.done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Translates a whole answer as if it had come as a stream.
    fn whole(&mut self, answer: &str, out: &mut Vec<u8>) {
        // What is copied from it must stay on one line.
        let data = answer.replace(['\n', '\r'], " ");
        match codec(self.from).decode_response(&data) {
            Ok(response) => {
                self.play(out, |_reader, sink| replay(&response, sink));
                self.account.settle(&data, 0);
                if !self.done {
                    self.fail(truncated(), out);
                }
            }
            Err(error) => self.fail(invalid(&error), out),
        }
    }

    /// Lets the reader, or somebody in its place, hand steps on to the client.
    /// Gives nothing where the bytes pass.
    fn play<T>(
        &mut self,
        out: &mut Vec<u8>,
        read: impl FnOnce(&mut dyn StreamReader, &mut dyn EventSink) -> T,
    ) -> Option<T> {
        let Way::Translate(translation) = &mut self.way else { return None };
        let Translation { reader, live, writer, model, read: grammar, written } =
            translation.as_mut();
        let mut sink = Steps {
            grammar,
            live,
            last: Last {
                written,
                writer: writer.as_mut(),
                model: model.as_deref(),
                seen: &mut self.seen,
                ledger: self.account.ledger(),
                done: &mut self.done,
                out,
            },
        };
        Some(read(reader.as_mut(), &mut sink))
    }

    /// Whether there is nothing to read and nothing to write any more.
    fn is_over(&self) -> bool {
        self.done && !self.has_pending()
    }

    /// Whether something is to be written before the next event is read.
    fn has_pending(&self) -> bool {
        match &self.way {
            Way::Translate(translation) => translation.writer.has_pending(),
            Way::Forward(_) => false,
        }
    }

    /// Writes what is owed, and says whether there was anything.
    fn flush_pending(&mut self, out: &mut Vec<u8>) -> bool {
        let has_pending = self.has_pending();
        if let Way::Translate(translation) = &mut self.way
            && has_pending
        {
            translation.writer.flush_pending(out);
        }
        has_pending
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        match &mut self.way {
            Way::Forward(forward) => self.done = forward.finish(&mut self.seen),
            Way::Translate(_) => {
                self.play(out, |reader, sink| reader.finish(sink));
                self.account.settle("", self.events);
            }
        }
        if !self.done {
            // An upstream that has said what is wrong need not say goodbye.
            let error = self.seen.error.take().unwrap_or_else(truncated);
            self.fail(error, out);
        }
    }

    fn fail(&mut self, error: ApiError, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        self.done = true;
        let event = Event::Error(error.clone());
        match &mut self.way {
            Way::Forward(forward) => forward.fail(&event, out),
            Way::Translate(translation) => {
                translation.writer.write(&event, out, self.account.ledger());
                self.account.settle("", self.events);
            }
        }
        self.seen.error = Some(error);
    }
}

/// How much may be written before [`Pipe::step`] pauses.
const LONG: usize = 64 * 1024;

/// The steps of an answer, from the reader to the writer.
struct Steps<'s> {
    grammar: &'s mut Grammar,
    live: &'s mut Live,
    last: Last<'s>,
}

impl EventSink for Steps<'_> {
    fn event(&mut self, event: Event<'_>) {
        if *self.last.done {
            return;
        }
        self.grammar.check(&event);
        self.live.event(event, &mut self.last);
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.last.ledger
    }
}

/// The end of the walk: what the client gets.
struct Last<'s> {
    written: &'s mut Grammar,
    writer: &'s mut dyn StreamWriter,
    model: Option<&'s str>,
    seen: &'s mut ResponseSummary,
    ledger: &'s mut Ledger,
    done: &'s mut bool,
    out: &'s mut Vec<u8>,
}

impl EventSink for Last<'_> {
    fn event(&mut self, mut event: Event<'_>) {
        self.written.check(&event);
        self.seen.note(&event);
        if let (Event::Start(start), Some(model)) = (&mut event, self.model) {
            self.seen.called(start.model.as_ref());
            start.model = Some(Str::plain(model.to_owned()));
        }
        self.writer.write(&event, self.out, self.ledger);
        if let Event::End | Event::Error(_) = event {
            *self.done = true;
        }
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.ledger
    }
}

#[cfg(test)]
mod tests;
