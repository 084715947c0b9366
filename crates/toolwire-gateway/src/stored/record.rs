//! Keeps an answer.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use toolwire::stateful::{StatefulAnswer, StatefulItem, WrittenAnswer};
use toolwire::{Protocol, codec, stateful};
use toolwire_store::{
    Item, NewResponse, Status, Store, StoreError, Tenant, Write, is_possible_id, random_id,
};

use super::answer_write::write_answer;
use super::conversation_lock::ConversationLock;
use super::failure::{from_store, from_store_in_conversation};
use super::health::StoreHealth;
use super::joined_conversation::JoinedConversation;
use crate::relay::Failure;

/// Keeps the answer to one request, with what the client had sent.
pub(crate) struct Recorder {
    pub(super) store: Store,
    pub(super) health: Arc<StoreHealth>,
    pub(super) tenant: Tenant,
    pub(super) client: Protocol,
    /// Whether the response itself is kept, and not only the conversation.
    pub(super) stores: bool,
    pub(super) previous: Option<String>,
    pub(super) conversation: Option<JoinedConversation>,
    /// Of the conversation, until the answer is in it.
    pub(super) lock: Option<Arc<ConversationLock>>,
    pub(super) model: String,
    pub(super) input: Vec<Item>,
}

impl Recorder {
    /// Keeps the answer, of which this may be known. When this returns, it can be read.
    pub(crate) async fn record(
        self,
        answer: Bytes,
        written: Option<WrittenAnswer>,
    ) -> Result<(), Failure> {
        let explain = match &self.conversation {
            Some(_) => from_store_in_conversation,
            None => from_store,
        };
        self.commit(answer, written).await.map_err(|error| explain(&error))
    }

    /// Keeps an answer that has failed and ends with these events, so that its client finds
    /// it under the id that it knows. `None` if there is nothing to keep.
    pub(crate) fn record_failed(self, ending: &[u8]) -> Option<impl Future<Output = ()> + use<>> {
        let ending = str::from_utf8(ending).ok().filter(|_| self.stores)?;
        let (_, data) = ending.trim_end().rsplit_once("\ndata: ")?;
        let answer = (codec(self.client).answer_in_event)(data)?;
        // The client gets an error in any case.
        Some(async { drop(self.commit(answer.into(), None).await) })
    }

    async fn commit(self, answer: Bytes, written: Option<WrittenAnswer>) -> Result<(), StoreError> {
        let Self {
            store,
            health,
            tenant,
            client,
            stores,
            previous,
            conversation,
            lock: _lock,
            model,
            input,
        } = self;
        let read = match written {
            Some(written) => stateful::read_written_answer(client, &answer, written),
            None => stateful::read_answer(client, &answer),
        };
        let Ok(Some(read)) = read else {
            return Err(StoreError::Invalid("the answer"));
        };
        let output = output_items(&read, &answer, &input)?;
        let mut writes = Vec::with_capacity(2);
        let status = status(&read.status);
        // A failed turn is not part of the conversation.
        if let Some(joined) = conversation.as_ref().filter(|_| status != Status::Failed) {
            writes.push(joined.append(&input, &output)?);
        }
        if stores {
            writes.push(Write::Response(NewResponse {
                id: read.id,
                previous,
                conversation: conversation.as_ref().map(|joined| joined.id.clone()),
                status,
                model,
                body: answer.clone(),
                repeats: read.repeats,
                internal: Bytes::new(),
                input,
                output,
                lease: None,
            }));
        }
        let result = write_answer(&store, &tenant, writes).await;
        health.note(&result);
        result
    }
}

/// The items of an answer, each with an id that is not among the input's.
pub(super) fn output_items(
    read: &StatefulAnswer<'_>,
    answer: &Bytes,
    input: &[Item],
) -> Result<Vec<Item>, StoreError> {
    let mut known = KnownIds::with_room_for(input.len() + read.output.len());
    for Item { id, .. } in input {
        known.insert(id);
    }
    read.output.iter().map(|item| output_item(item, answer, &mut known)).collect()
}

fn output_item<'a>(
    item: &'a StatefulItem<'_>,
    answer: &Bytes,
    known: &mut KnownIds<'a>,
) -> Result<Item, StoreError> {
    let id = item.id.as_deref().filter(|id| is_possible_id(id) && known.insert(id));
    let id = id.map_or_else(|| random_id("item_"), |id| Ok(id.to_owned()))?;
    let body = match &item.text {
        std::borrow::Cow::Borrowed(text) => answer.slice_ref(text.as_bytes()),
        std::borrow::Cow::Owned(text) => Bytes::from(text.clone()),
    };
    Ok(Item::new(id, body))
}

/// Ids that are taken. A few are compared one by one, which is cheaper than a table.
enum KnownIds<'a> {
    Few(Vec<&'a str>),
    Many(HashSet<&'a str>),
}

impl<'a> KnownIds<'a> {
    fn with_room_for(count: usize) -> Self {
        if count <= FEW_IDS {
            Self::Few(Vec::with_capacity(count))
        } else {
            Self::Many(HashSet::with_capacity(count))
        }
    }

    /// Adds an id. Returns whether it is new.
    fn insert(&mut self, id: &'a str) -> bool {
        match self {
            Self::Few(ids) if ids.contains(&id) => false,
            Self::Few(ids) => {
                ids.push(id);
                true
            }
            Self::Many(ids) => ids.insert(id),
        }
    }
}

/// How many ids are compared one by one.
const FEW_IDS: usize = 16;

/// How the answer ended. Only one that has ended is kept here.
pub(super) fn status(word: &str) -> Status {
    match word {
        "incomplete" => Status::Incomplete,
        "failed" => Status::Failed,
        "cancelled" => Status::Cancelled,
        _completed => Status::Completed,
    }
}
