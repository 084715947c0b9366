//! Conversations, which grow with every answer.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;
use toolwire::stateful::{self, StatefulItem, StatefulItems};
use toolwire::translate::Error;
use toolwire::wire::{Object, Raw};
use toolwire_store::{
    Item, ItemPage, NewThread, StoreError, Thread, ThreadKind, Write, is_possible_id,
};

use super::conversation_lock::{ConversationLock, ConversationLocks};
use super::endpoints::Access;
use super::failure::{conversation_is_busy, from_store, invalid, not_found};
use super::labels;
use super::list::{item_protocol, read_page, write_item, write_page};
use super::recall::new_id;
use super::time_of_day::now;
use crate::relay::Failure;

/// Makes a conversation.
pub(super) async fn create(access: &Access<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let sent = read(body)?;
    let id = new_id("conv_")?;
    let metadata = sent.metadata.clone().unwrap_or(Cow::Borrowed("{}")).into_owned();
    let thread = NewThread {
        kind: KIND,
        id: id.clone(),
        metadata: Bytes::from(metadata.clone()),
        items: new_items(&sent, &mut HashSet::new())?,
    };
    write(access, vec![Write::Thread(thread)]).await?;
    let created = i64::try_from(now()).unwrap_or_default();
    Ok(conversation(&id, created, metadata.as_bytes()))
}

/// A conversation without its items.
pub(super) async fn retrieve(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    let thread = find(access, id).await?;
    Ok(conversation(id, thread.created.seconds(), &thread.metadata))
}

/// Replaces the labels.
pub(super) async fn update(
    access: &Access<'_>,
    locks: &ConversationLocks,
    id: &str,
    body: &[u8],
) -> Result<Vec<u8>, Failure> {
    let thread = find(access, id).await?;
    let sent = read(body)?;
    let _lock = lock(access, locks, id)?;
    let Some(metadata) = sent.metadata else {
        return Err(invalid("metadata", "The request must have `metadata`."));
    };
    let metadata = Bytes::from(metadata.into_owned());
    let change = Write::Metadata { kind: KIND, id: id.to_owned(), metadata: metadata.clone() };
    write(access, vec![change]).await?;
    Ok(conversation(id, thread.created.seconds(), &metadata))
}

/// Forgets a conversation.
pub(super) async fn delete(
    access: &Access<'_>,
    locks: &ConversationLocks,
    id: &str,
) -> Result<Vec<u8>, Failure> {
    find(access, id).await?;
    let _lock = lock(access, locks, id)?;
    let deleted = access.store.delete_thread(&access.tenant, KIND, id).await;
    if !deleted.map_err(|error| from_store(&error))? {
        return Err(not_found());
    }
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("id", id);
        object.put("object", "conversation.deleted");
        object.put("deleted", &true);
    }
    Ok(out)
}

/// The items of a conversation.
pub(super) async fn items(access: &Access<'_>, id: &str) -> Result<Vec<u8>, Failure> {
    find(access, id).await?;
    let page = read_page(access.query)?;
    let found = access.store.thread_items(&access.tenant, KIND, id, &page).await;
    let found = found.map_err(|error| from_store(&error))?.ok_or_else(not_found)?;
    Ok(write_page(&found))
}

/// Adds items.
pub(super) async fn add_items(
    access: &Access<'_>,
    locks: &ConversationLocks,
    id: &str,
    body: &[u8],
) -> Result<Vec<u8>, Failure> {
    find(access, id).await?;
    let sent = read(body)?;
    if sent.items.is_empty() {
        return Err(invalid("items", "The request must have `items`."));
    }
    let _lock = lock(access, locks, id)?;
    let (thread, items) = find_with_items(access, id).await?;
    let mut known = items.into_iter().map(|item| item.id).collect();
    let items = new_items(&sent, &mut known)?;
    let (id, expected) = (id.to_owned(), Some(thread.version));
    let change = Write::Append { kind: KIND, id, expected, items: items.clone() };
    write(access, vec![change]).await?;
    Ok(write_page(&ItemPage { items, more: false }))
}

/// One item.
pub(super) async fn item(access: &Access<'_>, id: &str, item: &str) -> Result<Vec<u8>, Failure> {
    let (_, items) = find_with_items(access, id).await?;
    let found = items.iter().find(|found| found.id == item);
    found.map(write_item).ok_or_else(not_found)
}

/// Forgets an item. The answer is the conversation.
pub(super) async fn delete_item(
    access: &Access<'_>,
    locks: &ConversationLocks,
    id: &str,
    item: &str,
) -> Result<Vec<u8>, Failure> {
    let thread = find(access, id).await?;
    let _lock = lock(access, locks, id)?;
    let change = Write::RemoveItem { kind: KIND, id: id.to_owned(), item: item.to_owned() };
    write(access, vec![change]).await?;
    Ok(conversation(id, thread.created.seconds(), &thread.metadata))
}

/// Takes a conversation that is there, for as long as it is changed. An answer that is
/// being made in it has it already: it is paid for, and a change can be sent again.
fn lock(
    access: &Access<'_>,
    locks: &ConversationLocks,
    id: &str,
) -> Result<ConversationLock, Failure> {
    locks.take(&access.tenant, id).ok_or_else(conversation_is_busy)
}

async fn find(access: &Access<'_>, id: &str) -> Result<Thread, Failure> {
    let found = access.store.thread(&access.tenant, KIND, id).await;
    found.map_err(|error| from_store(&error))?.ok_or_else(not_found)
}

async fn find_with_items(access: &Access<'_>, id: &str) -> Result<(Thread, Vec<Item>), Failure> {
    let found = access.store.thread_with_items(&access.tenant, KIND, id).await;
    found.map_err(|error| from_store(&error))?.ok_or_else(not_found)
}

async fn write(access: &Access<'_>, writes: Vec<Write>) -> Result<(), Failure> {
    match access.store.write(&access.tenant, writes).await {
        Ok(()) => Ok(()),
        Err(StoreError::NotFound) => Err(not_found()),
        Err(error) => Err(from_store(&error)),
    }
}

/// Reads a request. A body may be missing.
fn read(body: &[u8]) -> Result<StatefulItems<'_>, Failure> {
    if body.is_empty() {
        return Ok(StatefulItems::default());
    }
    let sent = stateful::read_items(item_protocol(), body);
    let mut sent = sent.map_err(|error| unreadable(&error))?.unwrap_or_default();
    if sent.items.len() > MOST_ITEMS {
        let message = format!("A conversation takes at most {MOST_ITEMS} items at a time.");
        return Err(invalid("items", message));
    }
    match sent.metadata.as_deref() {
        Some("null") => sent.metadata = Some(Cow::Borrowed("{}")),
        Some(metadata) => labels::check(metadata)?,
        None => {}
    }
    if sent.items.iter().any(|item| item.is_reference) {
        return Err(invalid("items", "A conversation cannot hold references to items."));
    }
    Ok(sent)
}

/// Says which item it is that cannot be read, in the way OpenAI names such places.
fn unreadable(error: &Error) -> Failure {
    let Error::Invalid { pointer, message, .. } = error else {
        return Failure::from_translation(error);
    };
    let mut place = String::new();
    for name in pointer.split('/').filter(|name| !name.is_empty()) {
        match name.parse::<usize>() {
            Ok(index) => place.push_str(&format!("[{index}]")),
            Err(_) if place.is_empty() => place.push_str(name),
            Err(_) => place.extend([".", name]),
        }
    }
    if place.is_empty() {
        return Failure::from_translation(error);
    }
    invalid(&place, format!("`{place}` cannot be read: {message}."))
}

/// Items with ids that nothing in the conversation has.
fn new_items(sent: &StatefulItems<'_>, known: &mut HashSet<String>) -> Result<Vec<Item>, Failure> {
    let keep = |item: &StatefulItem<'_>| {
        let own = item.id.clone().filter(|id| is_possible_id(id) && known.insert(id.clone()));
        let id = own.map_or_else(|| new_id("item_"), Ok)?;
        Ok(Item::new(id, Bytes::copy_from_slice(item.text.as_bytes())))
    };
    sent.items.iter().map(keep).collect()
}

fn conversation(id: &str, created: i64, metadata: &[u8]) -> Vec<u8> {
    let metadata = std::str::from_utf8(metadata).unwrap_or("{}");
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("id", id);
        object.put("object", "conversation");
        object.put("created_at", &u64::try_from(created).unwrap_or_default());
        object.put("metadata", &Raw::made(metadata));
    }
    out
}

const KIND: ThreadKind = ThreadKind::Conversation;

/// How many items OpenAI takes at a time.
const MOST_ITEMS: usize = 20;
