//! Writes an answer, and with it the conversation that it belongs to.

use std::collections::HashSet;

use toolwire_store::{Item, Store, StoreError, Tenant, Write, random_id};

/// Writes an answer and what it adds to its conversation, at once.
///
/// The answer is paid for and its client may have all of it, so nothing that happens to the
/// conversation meanwhile makes it fail. Only another gateway on the same store can do
/// anything to it: on this one it is locked.
///
/// - If the conversation has grown or shrunk, the turn goes behind what is there now. It is
///   a whole turn, with the question and the answer, and the response says that it belongs
///   to the conversation. To keep only the response would make that untrue, and the next
///   turn would not know of it.
/// - If the conversation was deleted, the response is kept alone, like those before it in
///   the same conversation. It is as if the answer had been a moment earlier.
pub(super) async fn write_answer(
    store: &Store,
    tenant: &Tenant,
    mut writes: Vec<Write>,
) -> Result<(), StoreError> {
    loop {
        let appended = writes.iter().position(|write| matches!(write, Write::Append { .. }));
        let Some(appended) = appended else { return store.write(tenant, writes).await };
        match store.write(tenant, writes.clone()).await {
            Err(StoreError::Conflict) => {
                let Some(append) = writes.get_mut(appended) else { return Ok(()) };
                match behind_the_last(store, tenant, append).await? {
                    Place::Behind => {}
                    // It was the response that has changed.
                    Place::Same => return Err(StoreError::Conflict),
                    Place::Nowhere => drop(writes.remove(appended)),
                }
            }
            // If it is the response that is gone, the next attempt says so.
            Err(StoreError::NotFound) => drop(writes.remove(appended)),
            result => return result,
        }
    }
}

/// Where items can be appended to a conversation that may have changed.
enum Place {
    /// It has changed. They go behind what is there now.
    Behind,
    /// It has not changed.
    Same,
    /// It is not there any more.
    Nowhere,
}

/// Makes an append one to the conversation as it is now, in which each item has an id that
/// no other has.
async fn behind_the_last(
    store: &Store,
    tenant: &Tenant,
    append: &mut Write,
) -> Result<Place, StoreError> {
    let Write::Append { kind, id, expected, items } = append else { return Ok(Place::Same) };
    let Some((thread, earlier)) = store.thread_with_items(tenant, *kind, id).await? else {
        return Ok(Place::Nowhere);
    };
    if expected.replace(thread.version) == Some(thread.version) {
        return Ok(Place::Same);
    }
    let known: HashSet<&str> = earlier.iter().map(|Item { id, .. }| id.as_str()).collect();
    for item in items.iter_mut().filter(|item| known.contains(item.id.as_str())) {
        item.id = random_id("item_")?;
    }
    Ok(Place::Behind)
}
