//! The answer of a stream is kept before its client takes it for complete.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use toolwire::model::{ApiError, ErrorKind};

use super::ResponseStream;
use crate::stored::Recorder;

/// How far the answer is from being kept.
pub(super) enum Commit {
    /// Nobody keeps it.
    Off,
    /// It is not whole yet.
    Waiting(Box<Recorder>),
    /// It is being kept.
    Running(Pin<Box<dyn Future<Output = Result<(), ApiError>> + Send>>),
    /// It cannot be kept.
    Failed,
}

impl Commit {
    /// Whether the stream ended because of the store, which says nothing about
    /// its upstream.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self, Self::Failed)
    }

    pub(super) fn new(recorder: Option<Recorder>) -> Self {
        recorder.map_or(Self::Off, |recorder| Self::Waiting(Box::new(recorder)))
    }
}

impl ResponseStream {
    /// Keeps the answer whose ending is held, and lets the ending go. If the
    /// answer cannot be kept, the client gets an error instead.
    pub(super) fn poll_commit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Commit::Waiting(_) = self.commit
            && let Commit::Waiting(recorder) = std::mem::replace(&mut self.commit, Commit::Off)
        {
            let Some(answer) = self.pipe.held_answer() else {
                self.fail(ApiError::new(ErrorKind::Server, "The answer cannot be stored."));
                return Poll::Ready(());
            };
            self.commit = Commit::Running(Box::pin(recorder.record_stream(Bytes::from(answer))));
        }
        if let Commit::Running(commit) = &mut self.commit {
            let result = std::task::ready!(commit.as_mut().poll(cx));
            self.commit = Commit::Off;
            if let Err(error) = result {
                self.commit = Commit::Failed;
                self.fail(error);
                return Poll::Ready(());
            }
        }
        self.pipe.release_ending(&mut self.out);
        Poll::Ready(())
    }
}
