//! A stream from an upstream, translated for a client: bytes in, bytes out.

use crate::ledger::Entry;
use crate::model::{ApiError, Protocol, Request, Usage};
use crate::translate::Options;

/// One stream on its way.
pub struct Pipe {
    done: bool,
    seen: Seen,
}

/// What went by, for logs and accounts.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The last token counts.
    pub usage: Option<Usage<'static>>,
    /// How many calls were made.
    pub calls: usize,
    /// How it failed, if it did.
    pub error: Option<ApiError>,
    /// Whether the upstream's own end marker came.
    pub complete: bool,
}

impl Pipe {
    /// A stream of the upstream's protocol `from` for a client that speaks
    /// `to` and had sent `request`.
    pub fn new(
        from: Protocol,
        to: Protocol,
        request: Option<&Request<'_>>,
        options: &Options,
    ) -> Self {
        let _ = (from, to, request, options);
        Self { done: false, seen: Seen::default() }
    }

    /// Takes bytes of the upstream and appends what they are to the client.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
    }

    /// The upstream's bytes have ended. Without the protocol's own end marker
    /// the client gets an error.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let _ = out;
        self.done = true;
    }

    /// The upstream cannot go on: the connection broke, or it took too long.
    pub fn fail(&mut self, error: ApiError, out: &mut Vec<u8>) {
        let _ = out;
        self.seen.error = Some(error);
        self.done = true;
    }

    /// Whether the client has its last byte.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// What went by so far.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// What changed or could not be carried since the last call. A path begins
    /// with the number of the upstream's event, from 0.
    pub fn take_ledger(&mut self) -> Vec<Entry> {
        Vec::new()
    }
}
