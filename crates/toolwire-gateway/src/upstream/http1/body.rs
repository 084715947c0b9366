//! The body of a response.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;

use super::connection::Connection;
use super::framing::{Decoded, Framing};
use super::head::Head;
use super::pool::{Pool, Transport};

/// A body that is read from its connection when it is asked for. Dropped before
/// its end, it closes the connection.
pub(in crate::upstream) struct Http1Body<T: Transport> {
    state: State<T>,
    framing: Framing,
    /// For how long the connection may wait for another request, if it may.
    keep_alive: Option<Duration>,
    pool: Arc<Pool<T>>,
}

enum State<T> {
    Reading(Connection<T>),
    Complete,
    Broken(BodyError),
}

/// Why a body is not complete, and never will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::upstream) enum BodyError {
    /// The connection ended before.
    Cut,
    /// What came is no body.
    Malformed,
}

impl<T: Transport> Http1Body<T> {
    pub(super) fn new(connection: Connection<T>, head: &mut Head, pool: Arc<Pool<T>>) -> Self {
        let framing = std::mem::replace(&mut head.framing, Framing::Length(0));
        let state = State::Reading(connection);
        let mut body = Self { state, framing, keep_alive: head.keep_alive, pool };
        body.finish_if_complete();
        body
    }

    /// Whether nothing is left to be read.
    pub(in crate::upstream) fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// The next piece. A chunk that arrived whole is one piece.
    pub(in crate::upstream) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            let connection = match &mut self.state {
                State::Reading(connection) => connection,
                State::Complete => return Poll::Ready(None),
                State::Broken(error) => return Poll::Ready(Some(Err(*error))),
            };
            let framing = &mut self.framing;
            let arrived = if connection.received.is_empty() {
                let read = connection.poll_read(cx, |received| match received {
                    [] => None,
                    received => {
                        // What waits for the next event keeps no room that the last
                        // one did not need.
                        Some(Arrived::of(&framing.decode(received), Bytes::copy_from_slice))
                    }
                });
                match ready!(read) {
                    Ok(Some(arrived)) => arrived,
                    Ok(None) if !framing.has_end() => {
                        self.state = State::Complete;
                        continue;
                    }
                    Ok(None) | Err(_) => {
                        self.state = State::Broken(BodyError::Cut);
                        continue;
                    }
                }
            } else {
                let received = std::mem::take(&mut connection.received);
                Arrived::of(&framing.decode(&received), |part| received.slice_ref(part))
            };
            connection.received = arrived.rest;
            if arrived.is_malformed {
                self.state = State::Broken(BodyError::Malformed);
            }
            self.finish_if_complete();
            if !arrived.piece.is_empty() {
                return Poll::Ready(Some(Ok(arrived.piece)));
            }
        }
    }

    /// Gives the connection back as soon as the body is complete.
    fn finish_if_complete(&mut self) {
        if !self.framing.is_complete() || !matches!(self.state, State::Reading(_)) {
            return;
        }
        let state = std::mem::replace(&mut self.state, State::Complete);
        if let State::Reading(connection) = state
            && let Some(keep_alive) = self.keep_alive
            && let Some(io) = connection.into_idle()
        {
            self.pool.put(io, keep_alive);
        }
    }
}

/// What was found in some bytes that arrived, kept.
struct Arrived {
    piece: Bytes,
    rest: Bytes,
    is_malformed: bool,
}

impl Arrived {
    fn of(decoded: &Decoded<'_>, keep: impl Fn(&[u8]) -> Bytes) -> Self {
        let Decoded { piece, rest, is_malformed } = *decoded;
        Self { piece: keep(piece), rest: keep(rest), is_malformed }
    }
}
