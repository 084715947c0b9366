//! Sessions and their messages as the API shows them.

use toolwire::wire::{Array, Object, Raw};
use toolwire_store::{Item, ItemPage, Thread, ThreadPage, Timestamp};

use super::kept::read_tag;

/// A session.
pub(super) fn session(thread: &Thread) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    write_session(thread, Object::new(&mut out));
    out
}

/// A page of sessions.
pub(super) fn sessions(page: &ThreadPage) -> Vec<u8> {
    let ThreadPage { threads, more } = page;
    let ends = (threads.first(), threads.last());
    let id = |thread: Option<&Thread>| thread.map(|thread| thread.id.clone());
    list(id(ends.0), id(ends.1), *more, |data| {
        for thread in threads {
            write_session(thread, data.object());
        }
    })
}

/// A page of messages.
pub(super) fn messages(page: &ItemPage) -> Vec<u8> {
    let ItemPage { items, more } = page;
    let id = |item: Option<&Item>| item.map(|item| item.id.clone());
    list(id(items.first()), id(items.last()), *more, |data| {
        for item in items {
            write_message(item, data.object());
        }
    })
}

/// The answer to a request that has deleted a session.
pub(super) fn deleted(id: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Object::new(&mut out);
    object.put("id", id);
    object.put("object", "session.deleted");
    object.put("deleted", &true);
    drop(object);
    out
}

fn write_session(thread: &Thread, mut object: Object<'_>) {
    let Thread { id, metadata, version: _, items, bytes, created, updated, expires } = thread;
    object.put("id", id.as_str());
    object.put("object", "session");
    object.put("created_at", &seconds(*created));
    object.put("last_used_at", &seconds(*updated));
    match *expires {
        Timestamp::NEVER => object.put("expires_at", &Raw::made("null")),
        other => object.put("expires_at", &seconds(other)),
    }
    object.put("messages", items);
    object.put("bytes", bytes);
    let stats = std::str::from_utf8(metadata).ok().filter(|text| !text.is_empty());
    object.put("stats", &Raw::made(stats.unwrap_or("null")));
}

fn write_message(item: &Item, mut object: Object<'_>) {
    let Item { id, tag, body } = item;
    object.put("id", id.as_str());
    object.put("object", "session.message");
    let protocol = read_tag(tag).map(|(protocol, _)| protocol.as_str());
    object.put("protocol", &protocol);
    let message = std::str::from_utf8(body).unwrap_or("null");
    object.put("message", &Raw::made(message));
}

fn list(
    first: Option<String>,
    last: Option<String>,
    more: bool,
    write: impl FnOnce(&mut Array<'_>),
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Object::new(&mut out);
    object.put("object", "list");
    write(&mut object.array("data"));
    object.put("first_id", &first.as_deref());
    object.put("last_id", &last.as_deref());
    object.put("has_more", &more);
    drop(object);
    out
}

fn seconds(time: Timestamp) -> u64 {
    u64::try_from(time.seconds()).unwrap_or_default()
}
