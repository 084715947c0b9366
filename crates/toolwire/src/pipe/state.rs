//! What a pipe knows besides the bytes it holds.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::call_recovery::CallRecovery;
use super::call_restorer::CallRestorer;
use super::errors::{truncated, unreadable};
use super::forward::Forward;
use super::grammar::EventGrammar;
use super::sinks::{FrameMeasure, RestoringSink, StreamEnding, WritingSink};
use super::stream_ledger::StreamLedger;
use crate::codec::{EventOutcome, EventSink, StreamReader, StreamWriter, codec};
use crate::ledger::LossPolicy;
use crate::model::{ApiError, Event, Protocol, Request, ResponseContext, ResponseSummary};
use crate::restore::Restore;
use crate::stateful::WrittenEnding;
use crate::text_tools::Recovery;
use crate::translate::{Error, Options, invalid, is_not_an_answer};
use crate::unfold::unfold;
use crate::wire::sse::Frame;

/// The state of one stream.
pub(super) struct PipeState {
    /// What the upstream speaks.
    pub(super) from: Protocol,
    /// What the client speaks.
    pub(super) to: Protocol,
    pub(super) mode: PipeMode,
    pub(super) ledger: StreamLedger,
    pub(super) summary: ResponseSummary,
    /// An upper bound of what the reader, the restorer and the writer keep.
    pub(super) kept_bytes: usize,
    measure: FrameMeasure,
    /// How many events the upstream has sent.
    events: usize,
    pub(super) done: bool,
    /// How the client's stream ends, from when that is known until it is written.
    ending: Option<StreamEnding>,
    /// The event with which the stream ends well, if the caller decides when it
    /// is sent.
    pub(super) held: HeldEnding,
}

/// What becomes of the event with which a stream ends well.
pub(super) enum HeldEnding {
    /// It is written like any other.
    Off,
    /// It will be held, and has not come.
    Expected,
    /// It is held.
    Held(Ending),
}

/// The event with which a stream ends well.
pub(super) struct Ending {
    pub(super) event: Vec<u8>,
    /// What is known of it, if it was written here.
    pub(super) written: Option<WrittenEnding>,
}

/// What happens to the events of a stream.
pub(super) enum PipeMode {
    /// They are read, restored and written.
    Translate(Box<EventTranslator>),
    /// They pass, observed.
    Forward(Box<Forward>),
}

/// The parts that an event goes through.
pub(super) struct EventTranslator {
    reader: Box<dyn StreamReader>,
    /// Finds calls in text, if the upstream takes no tools.
    recovery: Option<CallRecovery>,
    restorer: CallRestorer,
    writer: Box<dyn StreamWriter>,
    /// The model's name toward the client, if it is not the upstream's.
    model: Option<String>,
    /// The id of an answer whose upstream gives it none.
    fallback_id: Option<String>,
    read: EventGrammar,
    written: EventGrammar,
}

impl PipeState {
    pub(super) fn new(
        from: Protocol,
        to: Protocol,
        request: Option<&Request<'_>>,
        restore: Option<Restore>,
        recovery: Option<Recovery>,
        options: &Options<'_>,
    ) -> Self {
        let mut context = request
            .map_or_else(ResponseContext::default, |request| (codec(to).response_context)(request));
        if options.model.is_some() {
            context.model.clone_from(&options.model);
        }
        context.input_estimate = options.input_estimate;
        context.keep(options.kept_state.as_ref());
        context.created = context.created.or(options.created);
        let mode = if from == to && recovery.is_none() {
            let (model, kept) = (options.model.as_deref(), options.kept_state.as_ref());
            PipeMode::Forward(Box::new(Forward::new(to, context, model, kept)))
        } else {
            let restore = request.map(|request| {
                restore.unwrap_or_else(|| Restore::new(request, &options.profile_of(from)))
            });
            PipeMode::Translate(Box::new(EventTranslator {
                reader: (codec(from).stream_reader)(),
                recovery: recovery
                    .map(|recovery| CallRecovery::new(recovery, options.fallback_id.as_deref())),
                restorer: CallRestorer::new(restore.unwrap_or_default()),
                writer: (codec(to).stream_writer)(context),
                model: options.model.clone(),
                fallback_id: options.fallback_id.clone(),
                read: EventGrammar::default(),
                written: EventGrammar::default(),
            }))
        };
        Self {
            from,
            to,
            mode,
            ledger: StreamLedger::new(codec(from), options.loss_policy != LossPolicy::Ignore),
            summary: ResponseSummary::default(),
            kept_bytes: 0,
            measure: FrameMeasure::default(),
            events: 0,
            done: false,
            ending: None,
            held: HeldEnding::Off,
        }
    }

    pub(super) fn frame(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> ControlFlow<()> {
        if frame.data.is_empty() {
            // A comment without its line end would swallow what follows.
            if let PipeMode::Forward(_) = self.mode
                && frame.ended
            {
                out.extend_from_slice(frame.raw);
            }
            return ControlFlow::Continue(());
        }
        let number = self.events;
        self.events += 1;
        let before = out.len();
        match &mut self.mode {
            PipeMode::Forward(forward) => match forward.frame(frame, &mut self.summary, out) {
                Ok(EventOutcome::GoesOn) => {}
                Ok(EventOutcome::End) => {
                    self.done = true;
                    // What was broken off has no good end to be held.
                    if let HeldEnding::Expected = self.held
                        && self.summary.complete
                    {
                        let event = out.split_off(before);
                        self.held = HeldEnding::Held(Ending { event, written: None });
                    }
                }
                Ok(EventOutcome::Failed) => self.done = true,
                Ok(EventOutcome::Cut) => self.fail(truncated(), out),
                Err(error) => self.fail(unreadable(&error, number), out),
            },
            PipeMode::Translate(_) => {
                // Data that came on several lines has line ends where JSON has
                // spaces. The client's event must stay on one line.
                let lines = memchr::memchr(b'\n', frame.data.as_bytes());
                let data = match lines {
                    Some(_) => Cow::Owned(frame.data.replace('\n', " ")),
                    None => Cow::Borrowed(frame.data),
                };
                let frame = Frame { data: &data, ..*frame };
                let read = self.play(out, |reader, sink| reader.read(&frame, sink));
                self.kept_bytes += self.measure.take(data.len());
                self.ledger.settle(&data, number);
                match read {
                    // What is kept until it is whole, and what the client's protocol has
                    // no place for, is a part of the answer as well.
                    Some(Ok(())) => self.summary.note_frame(&frame, codec(self.from).opens_stream),
                    Some(Err(error)) => self.fail(unreadable(&error, number), out),
                    None => {}
                }
                if self.writer_has_pending() {
                    return ControlFlow::Break(());
                }
                self.write_ending(out);
            }
        }
        if self.done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Translates a whole answer as if it had come as a stream.
    pub(super) fn whole(&mut self, answer: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        // The client's event must stay on one line.
        let data = answer.replace(['\n', '\r'], " ");
        let decoded = (codec(self.from).decode_response)(&data);
        if is_not_an_answer(self.from, &data, decoded.as_ref().ok()) {
            return Err(Error::NotAnAnswer);
        }
        let response = decoded.map_err(|error| invalid(&data, error))?;
        self.play(out, |_reader, sink| unfold(&response, sink));
        self.ledger.settle(&data, 0);
        if !self.done {
            self.fail(truncated(), out);
        }
        Ok(())
    }

    /// Lets `read` hand events to the client. Returns nothing where the bytes
    /// pass.
    fn play<T>(
        &mut self,
        out: &mut Vec<u8>,
        read: impl FnOnce(&mut dyn StreamReader, &mut dyn EventSink) -> T,
    ) -> Option<T> {
        let PipeMode::Translate(translator) = &mut self.mode else { return None };
        let EventTranslator {
            reader,
            recovery,
            restorer,
            writer,
            model,
            fallback_id,
            read: grammar,
            written,
        } = translator.as_mut();
        let mut sink = RestoringSink {
            measure: &mut self.measure,
            grammar,
            recovery: recovery.as_mut(),
            restorer,
            next: WritingSink {
                written,
                writer: writer.as_mut(),
                model: model.as_deref(),
                fallback_id: fallback_id.as_deref(),
                summary: &mut self.summary,
                ledger: self.ledger.ledger(),
                done: &mut self.done,
                ending: &mut self.ending,
                out,
            },
        };
        let result = read(reader.as_mut(), &mut sink);
        if let Some(recovery) = recovery {
            self.summary.recovered = recovery.dialect();
        }
        Some(result)
    }

    /// The dialect in which calls are read from text, if they are.
    pub(super) fn expected_dialect(&self) -> Option<&'static str> {
        let PipeMode::Translate(translator) = &self.mode else { return None };
        translator.recovery.as_ref().map(CallRecovery::expected_dialect)
    }

    /// Whether there is nothing to read and nothing to write any more.
    pub(super) fn is_over(&self) -> bool {
        self.done && !self.has_pending() && self.held_ending().is_none()
    }

    /// Whether something is to be written before the next event is read.
    pub(super) fn has_pending(&self) -> bool {
        self.ending.is_some() || self.writer_has_pending()
    }

    /// The last event, if it is held.
    pub(super) fn held_ending(&self) -> Option<&Ending> {
        match &self.held {
            HeldEnding::Held(ending) => Some(ending),
            HeldEnding::Off | HeldEnding::Expected => None,
        }
    }

    fn writer_has_pending(&self) -> bool {
        match &self.mode {
            PipeMode::Translate(translator) => translator.writer.has_pending(),
            PipeMode::Forward(_) => false,
        }
    }

    /// Writes the first thing that is pending, and says whether there was
    /// anything.
    pub(super) fn flush_pending(&mut self, out: &mut Vec<u8>) -> bool {
        let has_pending = self.has_pending();
        match &mut self.mode {
            PipeMode::Translate(translator) if translator.writer.has_pending() => {
                translator.writer.flush_pending(out);
            }
            PipeMode::Translate(_) | PipeMode::Forward(_) => self.write_ending(out),
        }
        has_pending
    }

    /// Writes how the client's stream ends, if that is known, and before it
    /// what was lost.
    fn write_ending(&mut self, out: &mut Vec<u8>) {
        let PipeMode::Translate(translator) = &mut self.mode else { return };
        match self.ending.take() {
            None => {}
            Some(StreamEnding::Complete) => {
                self.ledger.write_comment(out.len(), out);
                if let HeldEnding::Expected = self.held {
                    let mut event = Vec::new();
                    let written = translator.writer.write_end(&mut event);
                    self.held = HeldEnding::Held(Ending { event, written });
                } else {
                    translator.writer.write_end(out);
                }
            }
            Some(StreamEnding::Failed(error)) => {
                while translator.writer.has_pending() {
                    translator.writer.flush_pending(out);
                }
                let start = out.len();
                translator.writer.write(&Event::Error(error), out, self.ledger.ledger());
                self.ledger.settle("", self.events);
                self.ledger.write_comment(start, out);
            }
        }
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        match &mut self.mode {
            PipeMode::Forward(forward) => {
                self.done = forward.finish(&mut self.summary);
                // What was broken off has no good end to be held.
                if let HeldEnding::Expected = self.held
                    && self.summary.complete
                {
                    let ending = Ending { event: Vec::new(), written: None };
                    self.held = HeldEnding::Held(ending);
                }
            }
            PipeMode::Translate(_) => {
                self.play(out, |reader, sink| reader.finish(sink));
                self.ledger.settle("", self.events);
            }
        }
        if !self.done {
            // An upstream that has named its error needs no end marker.
            let error = self.summary.error.take().unwrap_or_else(truncated);
            self.fail(error, out);
        }
    }

    pub(super) fn fail(&mut self, error: ApiError, out: &mut Vec<u8>) {
        if let HeldEnding::Held(_) = self.held {
            // The client never saw the ending, so it may be another one.
            self.held = HeldEnding::Off;
            self.done = false;
            self.summary.complete = false;
            match &mut self.mode {
                PipeMode::Forward(forward) => forward.retract_end(),
                PipeMode::Translate(translator) => translator.writer.retract_end(),
            }
        }
        if self.done {
            return;
        }
        self.done = true;
        self.summary.error = Some(error.clone());
        self.summary.passes_failure = false;
        match &mut self.mode {
            PipeMode::Forward(forward) => forward.fail(&Event::Error(error), out),
            PipeMode::Translate(_) => {
                self.ending = Some(StreamEnding::Failed(error));
                self.write_ending(out);
            }
        }
    }
}
