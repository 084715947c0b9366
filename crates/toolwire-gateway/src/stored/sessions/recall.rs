//! The session that a request continues.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName};
use toolwire::session::SessionRequest;
use toolwire::translate::{Options, PreparedRequest, RequestHead};
use toolwire::{Protocol, codec, session};
use toolwire_store::{Store, Tenant};

use super::failure::{
    from_store, session_is_busy, session_is_repeated, store_is_off, turn_is_stored,
};
use super::kept::{KeptSession, SessionChange};
use super::record::SessionRecorder;
use super::stats::SessionStats;
use crate::heavy_work::{HeavyWork, in_place};
use crate::memory::{MemoryBudget, Reservation};
use crate::relay::{Failure, out_of_memory};
use crate::stored::ResponseStore;
use crate::stored::conversation_lock::ConversationLock;
use crate::stored::failure::invalid;
use crate::stored::health::StoreHealth;

/// What a session is looked up with.
pub(crate) struct SessionLookup<'l> {
    pub(crate) memory: &'l ResponseStore,
    pub(crate) heavy_work: &'l HeavyWork,
    /// The memory for bodies, and the most that all of them may take.
    pub(crate) bodies: &'l Arc<MemoryBudget>,
    pub(crate) bodies_total: usize,
    pub(crate) tenant: Tenant,
    pub(crate) client: Protocol,
    /// Whether the client only wants to know what would be sent.
    pub(crate) is_dry_run: bool,
    /// Whether its SDK sends the request again by itself.
    pub(crate) is_retry: bool,
}

/// One turn of a session.
pub(crate) struct SessionTurn {
    client: Protocol,
    store: Store,
    health: Arc<StoreHealth>,
    tenant: Tenant,
    id: String,
    version: Option<u64>,
    stats: SessionStats,
    change: SessionChange,
    /// `None` if no answer is made.
    lock: Option<Arc<ConversationLock>>,
    /// The request with the session in front of it.
    pub(crate) whole: Bytes,
    /// The protocols of the session's messages.
    pub(crate) origins: Arc<[Protocol]>,
}

impl SessionTurn {
    /// Looks up the session that a request continues.
    pub(crate) async fn recall(
        lookup: SessionLookup<'_>,
        id: String,
        body: &Bytes,
    ) -> Result<Self, Failure> {
        let SessionLookup { memory, heavy_work, tenant, client, is_dry_run, is_retry, .. } = lookup;
        let (bodies, bodies_total) = (lookup.bodies, lookup.bodies_total);
        let store = memory.store().ok_or_else(store_is_off)?.clone();
        let health = Arc::clone(&memory.health);
        // The turn before this one may end while this one waits, so the session
        // is read after it is locked.
        let lock = match is_dry_run {
            true => None,
            false => {
                check(&health, &store, &tenant).await?;
                let lock = memory.sessions.take(&tenant, &id).ok_or_else(session_is_busy)?;
                Some(Arc::new(lock))
            }
        };
        // What is read counts as memory until it is copied into the request.
        let mut kept_bytes = bodies.reservation();
        let reserve = |reservation: &mut Reservation, bytes: usize| {
            reservation.grow_to(bytes, bodies_total).map_err(|_| out_of_memory())
        };
        let size = KeptSession::size_of(&store, &tenant, &id).await?;
        reserve(&mut kept_bytes, size)?;
        let kept = KeptSession::read(&store, &tenant, &id).await?;
        reserve(&mut kept_bytes, kept.size())?;
        let size = kept.size() + body.len();
        let mut whole_bytes = bodies.reservation();
        reserve(&mut whole_bytes, size)?;
        let join = || {
            let request = read(client, body)?;
            match kept.answer_to(&request) {
                Some(answer) if is_retry && !memory.said_again.is_behind(answer) => {
                    return Err(turn_is_stored());
                }
                Some(answer) if !is_retry && !is_dry_run => memory.said_again.note(answer),
                Some(_) | None => {}
            }
            if kept.is_repeated_by(&request) {
                return Err(session_is_repeated());
            }
            let change = kept.change(client, &request)?;
            change.check(&kept, store.limits())?;
            let (whole, origins) = kept.in_front_of(&request);
            Ok((whole, origins, change))
        };
        let (whole, origins, change) = heavy_work.run(size, join).await?;
        let whole = whole_bytes.hold(whole);
        let KeptSession { version, stats, .. } = kept;
        Ok(Self { client, store, health, tenant, id, version, stats, change, lock, whole, origins })
    }

    /// Keeps the answer of one upstream.
    pub(crate) fn recorder(&self) -> SessionRecorder {
        SessionRecorder {
            client: self.client,
            store: self.store.clone(),
            health: Arc::clone(&self.health),
            tenant: self.tenant.clone(),
            id: self.id.clone(),
            version: self.version,
            stats: self.stats.clone(),
            change: self.change.clone(),
            calls: None,
            _lock: self.lock.clone(),
        }
    }
}

/// Whether there is any use in asking a model for an answer that has to be kept.
async fn check(health: &StoreHealth, store: &Store, tenant: &Tenant) -> Result<(), Failure> {
    if health.is_known_good(store, tenant) {
        return Ok(());
    }
    let checked = Box::pin(health.check(store, tenant)).await;
    checked.map_err(|error| from_store(&error))
}

/// A request with the session that it names in front of it, for somebody who
/// only looks at it. `None` if it names none.
pub(crate) async fn with_session(
    memory: &ResponseStore,
    tenant: &Tenant,
    client: Protocol,
    headers: &HeaderMap,
    head: &RequestHead,
    body: &[u8],
) -> Result<Option<Vec<u8>>, Failure> {
    let Some(id) = requested_session(client, headers, head)? else { return Ok(None) };
    let store = memory.store().ok_or_else(store_is_off)?;
    let kept = KeptSession::read(store, tenant, &id).await?;
    let request = read(client, body)?;
    if in_place(kept.size() + body.len(), || kept.is_repeated_by(&request)) {
        return Err(session_is_repeated());
    }
    let (whole, origins) = kept.in_front_of(&request);
    let plain = in_place(whole.len(), || {
        let head = RequestHead::default();
        PreparedRequest::with_session(client, client, &head, &whole, &origins)?
            .translate(&Options::new())
    });
    let plain = plain.map_err(|error| Failure::from_translation(&error))?;
    Ok(Some(plain.body))
}

fn read(client: Protocol, body: &[u8]) -> Result<SessionRequest<'_>, Failure> {
    let request = session::read_request(client, body);
    let request = request.map_err(|error| Failure::from_translation(&error))?;
    request.ok_or_else(needs_none)
}

/// The session that a request names, in its head or in its body.
pub(crate) fn requested_session(
    client: Protocol,
    headers: &HeaderMap,
    head: &RequestHead,
) -> Result<Option<String>, Failure> {
    let in_head = match headers.get(&HEADER).map(|value| value.to_str()) {
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return Err(unusable()),
        None => None,
    };
    let id = match (in_head, head.session.as_deref()) {
        (None, None) => return Ok(None),
        (Some(one), Some(another)) if one != another => {
            let message = "The header toolwire-session and `session_id` name different sessions.";
            return Err(invalid("session_id", message));
        }
        (Some(id), _) | (None, Some(id)) => id,
    };
    if codec(client).session.is_none() {
        return Err(needs_none());
    }
    if !is_usable_id(id) {
        return Err(unusable());
    }
    Ok(Some(id.to_owned()))
}

/// Servers of the client's protocol remember by themselves.
fn needs_none() -> Failure {
    let message = "Clients of this protocol have no sessions. Use `previous_response_id` or \
                   `conversation`.";
    invalid("session_id", message)
}

pub(super) fn unusable() -> Failure {
    let message = "The id of a session is 1 to 128 letters, digits, dots, colons, hyphens and \
                   underscores.";
    invalid("session_id", message)
}

/// Whether a session may have this id, which clients write in paths and headers.
pub(super) fn is_usable_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain)
}

/// The longest id of a session, as `unusable` says it.
const MAX_ID: usize = 128;

/// The header that names a session.
pub(crate) static HEADER: HeaderName = HeaderName::from_static("toolwire-session");
