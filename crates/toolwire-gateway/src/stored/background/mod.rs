//! Answers that nobody waits for.
//!
//! The client gets an answer of which nothing is there yet, and asks for it
//! again. A job makes it: it belongs to this gateway, which says every few
//! seconds that it still works on it. If the gateway dies, another one notices
//! and says that the answer has failed.

mod begin;
mod job;
mod leases;
mod replay;
mod running;

use bytes::Bytes;
use toolwire::model::ApiError;
use toolwire::{Protocol, stateful};
use toolwire_store::Response;

pub(crate) use self::job::{Job, JobEnd};
pub(crate) use self::leases::keep_leases;
pub(crate) use self::replay::{EventReplay, is_asked_for};
pub(crate) use self::running::RunningJobs;

/// What the gateway notes about a response that was made in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stored) enum JobKind {
    /// Its client asks for it again.
    Polled,
    /// Its client can also read its events.
    Streamed,
}

impl JobKind {
    fn new(stream: bool) -> Self {
        if stream { Self::Streamed } else { Self::Polled }
    }

    fn note(self) -> Bytes {
        Bytes::from_static(match self {
            Self::Polled => POLLED,
            Self::Streamed => STREAMED,
        })
    }

    /// The last events of an answer that is not made any further, from this number on.
    fn last_events(
        self,
        client: Protocol,
        answer: &[u8],
        failure: Option<&ApiError>,
        number: u64,
    ) -> Vec<Bytes> {
        let events = match self {
            Self::Polled => None,
            Self::Streamed => {
                stateful::ending_events(client, answer, failure, number).ok().flatten()
            }
        };
        events.unwrap_or_default().into_iter().map(Bytes::from).collect()
    }

    /// How a response was made. `None` if its client waited for it.
    pub(in crate::stored) fn of(response: &Response) -> Option<Self> {
        match response.internal.as_ref() {
            POLLED => Some(Self::Polled),
            STREAMED => Some(Self::Streamed),
            _other => None,
        }
    }
}

const POLLED: &[u8] = b"background";

const STREAMED: &[u8] = b"background stream";
