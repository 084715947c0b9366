//! The paths where clients look at sessions, make them and delete them.

use toolwire::Protocol;
use toolwire::translate::{PreparedRequest, RequestHead};
use toolwire_store::{StoreError, Thread};

use super::KIND;
use super::failure::{from_store, session_exists, session_is_busy};
use super::kept::KeptSession;
use super::object;
use super::recall::{is_usable_id, unusable};
use super::sent::SentMessages;
use crate::heavy_work::in_place;
use crate::relay::Failure;
use crate::stored::conversation_lock::ConversationLocks;
use crate::stored::endpoints::Access;
use crate::stored::failure::{invalid, not_found};
use crate::stored::list::read_page;
use crate::stored::recall::new_id;

/// The client's sessions.
pub(in super::super) async fn list(access: &Access<'_>) -> Result<Vec<u8>, Failure> {
    let page = read_page(access.query)?;
    let found = access.store.threads(&access.tenant, KIND, &page).await;
    Ok(object::sessions(&found.map_err(|error| from_store(&error))?))
}

/// Makes a session, which may have messages.
pub(in super::super) async fn create(
    access: &Access<'_>,
    client: Protocol,
    body: &[u8],
) -> Result<Vec<u8>, Failure> {
    let body = if body.is_empty() { b"{}" } else { body };
    let sent = SentMessages::read(client, body)?;
    let id = match &sent.id {
        Some(id) if is_usable_id(id) => id.clone(),
        Some(_) => return Err(unusable()),
        None => new_id("sess_")?,
    };
    add(access, &id, KeptSession::default(), &sent, session_exists).await
}

/// A session without its messages.
pub(in super::super) async fn retrieve(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    Ok(object::session(&find(access, id).await?))
}

/// Forgets a session, unless an answer is being made in it: that is paid for, and a request
/// to delete can be sent again.
pub(in super::super) async fn delete(
    access: &Access<'_>,
    locks: &ConversationLocks,
    id: &str,
) -> Result<Vec<u8>, Failure> {
    find(access, id).await?;
    let _lock = locks.take(&access.tenant, id).ok_or_else(session_is_busy)?;
    let deleted = access.store.delete_thread(&access.tenant, KIND, id).await;
    if !deleted.map_err(|error| from_store(&error))? {
        return Err(not_found());
    }
    Ok(object::deleted(id))
}

/// The messages of a session.
pub(in super::super) async fn messages(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    find(access, id).await?;
    let page = read_page(access.query)?;
    let found = access.store.thread_items(&access.tenant, KIND, id, &page).await;
    let found = found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
    Ok(object::messages(&found))
}

/// Adds messages without asking a model.
pub(in super::super) async fn add_messages(
    access: &Access<'_>,
    locks: &ConversationLocks,
    client: Protocol,
    id: &str,
    body: &[u8],
) -> Result<Vec<u8>, Failure> {
    find(access, id).await?;
    let sent = SentMessages::read(client, body)?;
    if sent.request.messages.is_empty() {
        return Err(invalid("messages", "The request must have `messages`."));
    }
    let _lock = locks.take(&access.tenant, id).ok_or_else(session_is_busy)?;
    let kept = KeptSession::read(access.store, &access.tenant, id).await?;
    if kept.version.is_none() {
        return Err(not_found());
    }
    add(access, id, kept, &sent, session_is_busy).await
}

/// Adds messages to a session, or makes it. The answer is the session.
async fn add(
    access: &Access<'_>,
    id: &str,
    kept: KeptSession,
    sent: &SentMessages<'_>,
    conflict: fn() -> Failure,
) -> Result<Vec<u8>, Failure> {
    let SentMessages { id: _, protocol, request } = sent;
    let change = kept.change(*protocol, request)?;
    change.check(&kept, access.store.limits())?;
    let (whole, origins) = kept.in_front_of(request);
    let counted = in_place(whole.len(), || {
        let head = RequestHead::default();
        PreparedRequest::with_session(*protocol, *protocol, &head, &whole, &origins)
            .map(|prepared| prepared.session_calls().cloned().unwrap_or_default())
    });
    let calls = counted.map_err(|error| Failure::from_translation(&error))?;
    let KeptSession { version, mut stats, .. } = kept;
    stats.count_calls(&calls);
    match access.store.write(&access.tenant, change.writes(id, version, &stats)).await {
        Ok(()) => retrieve(access, id).await,
        Err(StoreError::Conflict) => Err(conflict()),
        Err(StoreError::NotFound) => Err(not_found()),
        Err(error) => Err(from_store(&error)),
    }
}

async fn find(access: &Access<'_>, id: &str) -> Result<Thread, Failure> {
    let found = access.store.thread(&access.tenant, KIND, id).await;
    found.map_err(|error| from_store(&error))?.ok_or_else(not_found)
}
