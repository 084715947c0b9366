//! Connections that wait for another request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep;

use super::moment::Moment;

/// The idle connections to one origin.
pub(super) struct Pool<T: Transport> {
    idle: Mutex<IdleConnections<T>>,
    idle_timeout: Duration,
}

/// What a connection is made of.
pub(in crate::upstream) trait Transport:
    AsyncRead + AsyncWrite + Unpin + Send + 'static
{
    /// Whether the peer has neither closed the connection nor sent anything.
    fn is_quiet(&mut self) -> bool;

    /// Whether a write that fails may have sent a part of what it was given.
    fn may_send_and_fail(&self) -> bool;
}

struct IdleConnections<T> {
    /// The one that was used last is at the back.
    queue: VecDeque<Idle<T>>,
    /// Whether a task looks for those that nobody will use.
    has_reaper: bool,
}

struct Idle<T> {
    io: T,
    /// When its last request ended.
    since: Moment,
    /// How long it may wait.
    lifetime: Duration,
}

impl<T: Transport> Idle<T> {
    /// Whether it can have another request. A server that has closed it is noticed,
    /// unless it did so while this machine slept.
    fn is_usable(&mut self, now: Moment) -> bool {
        now.is_within(self.lifetime, self.since) && self.io.is_quiet()
    }
}

impl<T: Transport> Pool<T> {
    /// A pool that keeps a connection for that long at most.
    pub(super) fn new(idle_timeout: Duration) -> Arc<Self> {
        let idle = IdleConnections { queue: VecDeque::new(), has_reaper: false };
        Arc::new(Self { idle: Mutex::new(idle), idle_timeout })
    }

    /// The connection that was used last, if it still is one.
    pub(super) fn take(&self) -> Option<T> {
        self.take_at(Moment::now())
    }

    /// The same at a time.
    pub(super) fn take_at(&self, now: Moment) -> Option<T> {
        loop {
            let mut idle = self.lock().queue.pop_back()?;
            if idle.is_usable(now) {
                return Some(idle.io);
            }
        }
    }

    /// Keeps a connection for another request, for as long as the pool keeps any but
    /// no longer than `keep_alive`.
    pub(super) fn put(self: &Arc<Self>, io: T, keep_alive: Duration) {
        let (since, lifetime) = (Moment::now(), self.idle_timeout.min(keep_alive));
        let mut idle = self.lock();
        if idle.queue.len() == MAX_IDLE {
            idle.queue.pop_front();
        }
        idle.queue.push_back(Idle { io, since, lifetime });
        if !std::mem::replace(&mut idle.has_reaper, true) {
            tokio::spawn(reap(Arc::downgrade(self), self.idle_timeout / REAPS_PER_TIMEOUT));
        }
    }

    /// Closes all connections that wait.
    pub(super) fn clear(&self) {
        // They are closed when nobody waits for the lock.
        let idle = std::mem::take(&mut self.lock().queue);
        drop(idle);
    }

    /// Closes connections that have waited too long or that the server has
    /// closed, and says whether any are left.
    fn drop_unusable(&self) -> bool {
        let now = Moment::now();
        let mut idle = self.lock();
        idle.queue.retain_mut(|connection| connection.is_usable(now));
        idle.has_reaper = !idle.queue.is_empty();
        idle.has_reaper
    }

    fn lock(&self) -> MutexGuard<'_, IdleConnections<T>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes connections that nobody will use, as long as there are any idle ones.
async fn reap<T: Transport>(pool: Weak<Pool<T>>, interval: Duration) {
    loop {
        sleep(interval).await;
        if !pool.upgrade().is_some_and(|pool| pool.drop_unusable()) {
            return;
        }
    }
}

/// How many connections wait. After a burst there are more than anybody needs.
const MAX_IDLE: usize = 512;

/// How often a connection is looked at while it is idle.
const REAPS_PER_TIMEOUT: u32 = 5;

#[cfg(test)]
mod tests;
