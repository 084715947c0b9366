//! Keeps an answer, whatever it belongs to.

use std::pin::Pin;

use bytes::Bytes;
use toolwire::model::Usage;
use toolwire::stateful::WrittenAnswer;
use toolwire::tracker::Tracker;

use super::record::Recorder;
use super::sessions::SessionRecorder;
use crate::relay::Failure;

/// An answer on its way into the store.
pub(crate) type RunningCommit = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

/// Keeps the answer to one request.
pub(crate) enum AnswerRecorder {
    /// As a response, in a conversation, or both.
    Response(Box<Recorder>),
    /// As a turn of a session.
    Session(Box<SessionRecorder>),
}

impl AnswerRecorder {
    /// Keeps the answer, of which this may be known. When this is done, it can be read.
    pub(crate) fn record(self, answer: Bytes, written: Option<WrittenAnswer>) -> RunningCommit {
        // A future that is boxed here is not moved into the one of whoever waits for it.
        match self {
            Self::Response(recorder) => Box::pin(recorder.record(answer, written)),
            Self::Session(recorder) => Box::pin(recorder.record(answer)),
        }
    }

    /// Keeps an answer that has failed and ends with these events. `None` if there is
    /// nothing to keep.
    pub(crate) fn record_failed(self, ending: &[u8]) -> Option<impl Future<Output = ()> + use<>> {
        match self {
            Self::Response(recorder) => recorder.record_failed(ending),
            // A session goes on from its last good answer.
            Self::Session(_) => None,
        }
    }

    /// Whether an answer is kept that says that it has failed.
    pub(crate) fn keeps_failed(&self) -> bool {
        // A session goes on from its last good answer.
        self.session().is_none()
    }

    /// Whether a client may take the answer for complete before it has its last
    /// event.
    pub(crate) fn holds_stop(&self) -> bool {
        self.session().is_some()
    }

    /// The id of the session that the answer belongs to.
    pub(crate) fn session(&self) -> Option<&str> {
        match self {
            Self::Response(_) => None,
            Self::Session(recorder) => Some(recorder.id()),
        }
    }

    /// Says which calls the conversation has before the answer, for a session.
    pub(crate) fn set_calls(&mut self, calls: Option<Tracker>) {
        if let (Self::Session(recorder), Some(calls)) = (self, calls) {
            recorder.set_calls(calls);
        }
    }

    /// Says what the answer has cost.
    pub(crate) fn set_usage(&mut self, usage: Option<&Usage<'_>>) {
        if let (Self::Session(recorder), Some(usage)) = (self, usage) {
            recorder.set_usage(usage);
        }
    }
}
