//! Keeps an answer.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use toolwire::stateful::{StatefulItem, WrittenAnswer};
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
    pub(super) _lock: Option<Arc<ConversationLock>>,
    pub(super) model: String,
    pub(super) input: Vec<Item>,
}

impl Recorder {
    /// Keeps the answer, of which this may be known. When this returns, it can be read.
    pub(crate) async fn record(
        self: Box<Self>,
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
    pub(crate) fn record_failed(
        self: Box<Self>,
        ending: &[u8],
    ) -> Option<impl Future<Output = ()> + use<>> {
        let ending = str::from_utf8(ending).ok().filter(|_| self.stores)?;
        let (_, data) = ending.trim_end().rsplit_once("\ndata: ")?;
        let answer = (codec(self.client).answer_in_event)(data)?;
        // The client gets an error in any case.
        Some(async { drop(self.commit(answer.into(), None).await) })
    }

    async fn commit(
        mut self: Box<Self>,
        answer: Bytes,
        written: Option<WrittenAnswer>,
    ) -> Result<(), StoreError> {
        let writes = self.writes(answer, written)?;
        let result = write_answer(&self.store, &self.tenant, writes).await;
        self.health.note(&result);
        result
    }

    /// What is written of an answer.
    fn writes(
        &mut self,
        answer: Bytes,
        written: Option<WrittenAnswer>,
    ) -> Result<Vec<Write>, StoreError> {
        let Self {
            store: _,
            health: _,
            tenant: _,
            client,
            stores,
            previous,
            conversation,
            _lock: _,
            model,
            input,
        } = self;
        let (client, input) = (*client, std::mem::take(input));
        let read = match written {
            Some(written) => stateful::read_written_answer(client, &answer, written),
            None => stateful::read_answer(client, &answer),
        };
        let Ok(Some(read)) = read else {
            return Err(StoreError::Invalid("the answer"));
        };
        let output = output_items(read.output, &answer, &input)?;
        let mut writes = Vec::with_capacity(2);
        let status = status(&read.status);
        // A failed turn is not part of the conversation.
        if let Some(joined) = conversation.as_ref().filter(|_| status != Status::Failed) {
            writes.push(joined.append(&input, &output)?);
        }
        if *stores {
            writes.push(Write::Response(NewResponse {
                id: read.id,
                previous: previous.take(),
                conversation: conversation.as_ref().map(|joined| joined.id.clone()),
                status,
                model: std::mem::take(model),
                body: answer.clone(),
                repeats: read.repeats,
                internal: Bytes::new(),
                input,
                output,
                lease: None,
            }));
        }
        Ok(writes)
    }
}

/// The items of an answer, each with an id that is not among the input's.
pub(super) fn output_items(
    read: Vec<StatefulItem<'_>>,
    answer: &Bytes,
    input: &[Item],
) -> Result<Vec<Item>, StoreError> {
    let mut known = KnownIds::with_room_for(input.len() + read.len());
    for Item { id, .. } in input {
        known.insert(id);
    }
    let mut with_own = Vec::with_capacity(read.len());
    for item in &read {
        let own = item.id.as_deref().filter(|id| is_possible_id(id));
        with_own.push(own.is_some_and(|id| known.insert(id)));
    }
    let mut output = Vec::with_capacity(read.len());
    for (StatefulItem { id, text, .. }, is_own) in read.into_iter().zip(with_own) {
        let id = id.filter(|_| is_own).map_or_else(|| random_id("item_"), Ok)?;
        let body = match text {
            std::borrow::Cow::Borrowed(text) => answer.slice_ref(text.as_bytes()),
            std::borrow::Cow::Owned(text) => Bytes::from(text),
        };
        output.push(Item::new(id, body));
    }
    Ok(output)
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
