//! The answer of a stream is kept before its client takes it for complete.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::pipe::{HeldAnswer, HeldEvent};
use toolwire::stateful::WrittenAnswer;

use super::{ResponseStream, into_chunk};
use crate::stored::{AnswerRecorder, RunningCommit};

/// How far the answer is from being kept.
pub(super) enum Commit {
    /// Nobody keeps it.
    Off,
    /// It is not whole yet.
    Waiting(WaitingAnswer),
    /// It is being kept. If the stream's last event repeats it, that waits here.
    Running { commit: RunningCommit, tail: Vec<u8>, ending: Option<Bytes> },
    /// It is kept, and this is the stream's last event.
    Kept { ending: Bytes },
    /// It has failed, and is being kept all the same.
    Failing(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// It cannot be kept.
    Failed,
}

/// An answer that is to be kept.
pub(super) struct WaitingAnswer {
    recorder: Box<AnswerRecorder>,
    /// What comes after the model has stopped, for a client that may take the
    /// answer for complete when it has got that.
    tail: Vec<u8>,
}

impl Commit {
    /// Whether the stream ended because of the store, which says nothing about
    /// its upstream.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self, Self::Failed)
    }

    pub(super) fn new(recorder: Option<AnswerRecorder>) -> Self {
        recorder.map_or(Self::Off, |recorder| {
            Self::Waiting(WaitingAnswer { recorder: Box::new(recorder), tail: Vec::new() })
        })
    }
}

impl ResponseStream {
    /// Keeps back what a client would take for the end of an answer that is to
    /// be kept: some do not wait for the last event.
    pub(super) fn hold_stop(&mut self) {
        let summary = self.pipe.summary();
        if let Commit::Waiting(WaitingAnswer { recorder, tail }) = &mut self.commit
            && recorder.holds_stop()
            && summary.stop.is_some()
            && summary.error.is_none()
        {
            tail.append(&mut self.out);
        }
    }

    /// Whether the output is what comes right before an ending that waits for the store. They
    /// go to the client together, because a write costs about as much as storing the answer.
    pub(super) fn awaits_ending(&self) -> bool {
        let is_kept_soon = match &self.commit {
            Commit::Waiting(_) | Commit::Running { .. } => true,
            Commit::Off | Commit::Kept { .. } | Commit::Failing(_) | Commit::Failed => false,
        };
        is_kept_soon && self.pipe.holds_ending()
    }

    /// Keeps an answer that has failed before its client gets the end of it.
    pub(super) fn poll_failed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Commit::Waiting(_) = self.commit
            && self.pipe.is_done()
            && self.pipe.summary().error.is_some()
            && !self.cancellation.is_cancelled()
            && let Commit::Waiting(waiting) = std::mem::replace(&mut self.commit, Commit::Off)
            && let Some(commit) = waiting.recorder.record_failed(&self.out)
        {
            self.commit = Commit::Failing(Box::pin(commit));
        }
        if let Commit::Failing(commit) = &mut self.commit {
            std::task::ready!(commit.as_mut().poll(cx));
            self.commit = Commit::Off;
        }
        Poll::Ready(())
    }

    /// Keeps the answer whose ending is held, and lets the ending go: returns it, or appends it
    /// to the output. If the answer cannot be kept, the client gets an error instead.
    pub(super) fn poll_commit(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Commit::Waiting(_) = self.commit
            && let Commit::Waiting(waiting) = std::mem::replace(&mut self.commit, Commit::Off)
        {
            let WaitingAnswer { mut recorder, tail } = waiting;
            let Some((answer, written, ending)) = self.take_answer() else {
                self.fail(ApiError::new(ErrorKind::Server, "The answer cannot be stored."));
                return Poll::Ready(None);
            };
            recorder.set_usage(self.pipe.summary().usage.as_ref());
            let commit = recorder.record(answer, written);
            self.commit = Commit::Running { commit, tail, ending };
        }
        if let Commit::Running { commit, tail, ending } = &mut self.commit {
            let result = std::task::ready!(commit.as_mut().poll(cx));
            let (mut tail, ending) = (std::mem::take(tail), ending.take());
            match result {
                Ok(()) => {
                    self.commit = ending.map_or(Commit::Off, |ending| Commit::Kept { ending });
                    self.out.append(&mut tail);
                }
                Err(failure) => {
                    self.commit = Commit::Failed;
                    if let Some(log) = &mut self.log {
                        log.set_reason(failure.reason());
                    }
                    self.fail(failure.into_error());
                    return Poll::Ready(None);
                }
            }
        }
        // What comes before it is a chunk of its own, so that neither has to be copied.
        if !self.out.is_empty() {
            return Poll::Ready(None);
        }
        self.pipe.release_ending(&mut self.out);
        let Commit::Kept { ending } = &mut self.commit else { return Poll::Ready(None) };
        let ending = std::mem::take(ending);
        self.commit = Commit::Off;
        Poll::Ready(Some(ending))
    }

    /// The answer whose ending is held, what is known of it, and the ending if it repeats the
    /// answer. They share their memory then.
    fn take_answer(&mut self) -> Option<(Bytes, Option<WrittenAnswer>, Option<Bytes>)> {
        if let Some(HeldEvent { bytes, written, .. }) = self.pipe.take_held_event() {
            let ending = into_chunk(bytes);
            return Some((ending.slice(written.place), Some(written.answer), Some(ending)));
        }
        let HeldAnswer { text, written, .. } = self.pipe.held_answer()?;
        Some((Bytes::from(text), written, None))
    }
}
