//! What is in front of a turn: the responses that it continues, or the conversation that it
//! is part of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use toolwire::stateful::StatefulRequest;
use toolwire_store::{Cap, ChainLink, Item, Store, StoreError, Tenant, Thread, ThreadKind};

use super::conversation_lock::{ConversationLock, ConversationLocks};
use super::failure::{self, Missing, from_store_in_conversation};
use super::joined_conversation::JoinedConversation;
use super::recall_memory::RecallMemory;
use crate::memory::Reservation;
use crate::relay::Failure;

/// What is in front of a turn.
#[derive(Default)]
pub(super) struct Earlier {
    /// The items that the model gets first.
    pub(super) items: Vec<Bytes>,
    /// The ids of those that are in the turn's conversation.
    pub(super) ids: HashSet<String>,
    /// The conversation, if the turn becomes a part of it.
    pub(super) conversation: Option<JoinedConversation>,
    /// Nobody else works on the conversation as long as this lives.
    pub(super) lock: Option<ConversationLock>,
    /// The memory of the items, which counts until they are copied into the request.
    pub(super) reserved: Vec<Reservation>,
}

impl Earlier {
    /// Finds it. Without locks, somebody only looks at it.
    pub(super) async fn find(
        store: &Store,
        locks: Option<&ConversationLocks>,
        tenant: &Tenant,
        request: &StatefulRequest<'_>,
        memory: RecallMemory<'_>,
    ) -> Result<Result<Self, Missing>, Failure> {
        match (&request.previous, &request.conversation) {
            (None, None) => Ok(Ok(Self::default())),
            (Some(previous), None) => Self::of_responses(store, tenant, previous, memory).await,
            (None, Some(id)) => Self::of_conversation(store, locks, tenant, id, memory).await,
            (Some(_), Some(_)) => {
                let message = "A request has either `previous_response_id` or `conversation`.";
                Err(failure::invalid("previous_response_id", message))
            }
        }
    }

    async fn of_responses(
        store: &Store,
        tenant: &Tenant,
        previous: &str,
        memory: RecallMemory<'_>,
    ) -> Result<Result<Self, Missing>, Failure> {
        let Some((chain, reservation)) = read_chain(store, tenant, previous, memory).await? else {
            return Ok(Err(Missing::Previous(previous.to_owned())));
        };
        let mut reserved = vec![reservation];
        if let Some(link) = chain.iter().find(|link| !link.status.is_terminal()) {
            let message = format!("The response {} has not ended yet.", link.id);
            return Err(failure::invalid("previous_response_id", message));
        }
        // A turn that continues a response names no conversation, so only the oldest can have
        // one.
        let mut items = match chain.first() {
            Some(oldest) => {
                before_in_conversation(store, tenant, oldest, memory, &mut reserved).await?
            }
            None => Vec::new(),
        };
        for ChainLink { input, output, .. } in chain {
            items.extend(input.into_iter().chain(output).map(|item| item.body));
        }
        // The store has limited each of the two parts alone.
        let (limit, length) = (store.limits().read, items.iter().map(|item| item.len() as u64));
        if length.sum::<u64>() > limit {
            return Err(failure::conversation_is_too_long(limit));
        }
        Ok(Ok(Self { items, reserved, ..Self::default() }))
    }

    async fn of_conversation(
        store: &Store,
        locks: Option<&ConversationLocks>,
        tenant: &Tenant,
        id: &str,
        memory: RecallMemory<'_>,
    ) -> Result<Result<Self, Missing>, Failure> {
        // The turn before this one may end while this one waits, so it is read after it is
        // locked.
        let taken = locks.map(|locks| locks.take(tenant, id));
        let mut reserved = Vec::new();
        let found = read_conversation(store, tenant, id, memory, &mut reserved).await?;
        let Some((thread, items)) = found else {
            return Ok(Err(Missing::Conversation(id.to_owned())));
        };
        let lock = taken.map(|lock| lock.ok_or_else(failure::conversation_is_busy)).transpose()?;
        let conversation = lock.as_ref().map(|_| JoinedConversation {
            id: id.to_owned(),
            version: thread.version,
            taken: Arc::default(),
        });
        let split = |Item { id, tag: _, body }: Item| (id, body);
        let (ids, items) = items.into_iter().map(split).unzip();
        Ok(Ok(Self { items, ids, conversation, lock, reserved }))
    }
}

/// Reads a chain. Nobody knows how long one is before all of it was looked at, so one that is
/// longer than most is read again, with more room.
async fn read_chain(
    store: &Store,
    tenant: &Tenant,
    id: &str,
    memory: RecallMemory<'_>,
) -> Result<Option<(Vec<ChainLink>, Reservation)>, Failure> {
    let longest = store.limits().read;
    let mut room = memory.likely_room().min(longest);
    let mut reservation = memory.reserve(room)?;
    loop {
        match store.chain_within(tenant, id, room).await {
            Err(StoreError::TooLarge { cap: Cap::Read, limit: _ }) if room < longest => {
                room = room.saturating_mul(4).min(longest);
                memory.grow_to(&mut reservation, room)?;
            }
            Err(error) => return Err(from_store_in_conversation(&error)),
            Ok(None) => return Ok(None),
            Ok(Some(chain)) => {
                let items = || chain.iter().flat_map(|link| link.input.iter().chain(&link.output));
                reservation.set(items().map(|item| item.body.len()).sum());
                return Ok(Some((chain, reservation)));
            }
        }
    }
}

/// Reads a conversation, which says how long it is.
async fn read_conversation(
    store: &Store,
    tenant: &Tenant,
    id: &str,
    memory: RecallMemory<'_>,
    reserved: &mut Vec<Reservation>,
) -> Result<Option<(Thread, Vec<Item>)>, Failure> {
    let found = store.thread(tenant, ThreadKind::Conversation, id).await;
    let found = found.map_err(|error| from_store_in_conversation(&error))?;
    let bytes = found.map_or(0, |thread| thread.bytes);
    let mut reservation = memory.reserve(bytes.min(store.limits().read))?;
    let found = store.thread_with_items(tenant, ThreadKind::Conversation, id).await;
    let found = found.map_err(|error| from_store_in_conversation(&error))?;
    // It may have grown in between.
    let items = found.iter().flat_map(|(_, items)| items);
    memory.grow_to(&mut reservation, items.map(|item| item.body.len() as u64).sum())?;
    reserved.push(reservation);
    Ok(found)
}

/// What stands in front of a response in the conversation that it was made in, if it was:
/// its model has seen that, and so must one that continues it.
async fn before_in_conversation(
    store: &Store,
    tenant: &Tenant,
    response: &ChainLink,
    memory: RecallMemory<'_>,
    reserved: &mut Vec<Reservation>,
) -> Result<Vec<Bytes>, Failure> {
    let Some(conversation) = &response.conversation else { return Ok(Vec::new()) };
    let found = read_conversation(store, tenant, conversation, memory, reserved).await?;
    let (_, mut items) = found.ok_or_else(|| failure::not_in_conversation(&response.id))?;
    let place = place_of(response, &items);
    items.truncate(place.ok_or_else(|| failure::not_in_conversation(&response.id))?);
    Ok(items.into_iter().map(|item| item.body).collect())
}

/// Where a response begins in its conversation. Clients can take items out, so that is where
/// the first is that is left.
fn place_of(response: &ChainLink, conversation: &[Item]) -> Option<usize> {
    let numbered = conversation.iter().enumerate();
    let places: HashMap<&str, (usize, &Bytes)> =
        numbered.map(|(place, Item { id, tag: _, body })| (id.as_str(), (place, body))).collect();
    let own: Vec<&Item> = response.input.iter().chain(&response.output).collect();
    let (index, place) = own.iter().enumerate().find_map(|(index, item)| {
        // If the conversation has changed while the response was made, an item of somebody
        // else's may have the id.
        let (place, body) = places.get(item.id.as_str())?;
        (**body == item.body).then_some((index, *place))
    })?;
    // Its own item then has another id there, and must not be in front of the response.
    let before = own.get(..index)?.iter().rev().zip(conversation.get(..place)?.iter().rev());
    let renamed = before.take_while(|(own, found)| own.body == found.body).count();
    place.checked_sub(renamed)
}
