//! What a request refers to, and what is to be kept of it.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use toolwire::stateful::{StatefulCodec, StatefulItem, StatefulRequest};
use toolwire::translate::{KeptState, RequestHead};
use toolwire::{Protocol, codec, stateful};
use toolwire_store::{Item, Store, StoreError, Tenant, is_possible_id, item_id, random_id};

use super::conversation_lock::ConversationLock;
use super::earlier::Earlier;
use super::failure::{self, Missing};
use super::health::StoreHealth;
use super::joined_conversation::JoinedConversation;
use super::recall_memory::RecallMemory;
use super::record::Recorder;
use super::references::References;
use super::time_of_day::now;
use super::{ResponseStore, failure::from_store};
use crate::relay::Failure;
use crate::route::{SealedReasoning, UpstreamMemory};

/// One turn of a conversation that a server is expected to remember.
pub(crate) struct Turn {
    /// The id of its answer, if that is kept. Items without ids get theirs from it.
    pub(super) id: String,
    pub(super) client: Protocol,
    pub(super) store: Option<Store>,
    /// Why nothing can be stored at the moment.
    trouble: Option<StoreError>,
    pub(super) health: Arc<StoreHealth>,
    pub(super) tenant: Tenant,
    /// What the upstreams of the model remember.
    memory: UpstreamMemory,
    /// What the client says about storing.
    pub(super) wanted: Option<bool>,
    pub(super) background: bool,
    pub(super) recalled: Recalled,
    pub(super) previous: Option<String>,
    pub(super) conversation: Option<JoinedConversation>,
    /// Of the conversation. Whoever keeps the answer holds it too, or takes it over.
    pub(super) lock: Option<Arc<ConversationLock>>,
    input: TurnInput,
}

/// What the client has added to the conversation.
enum TurnInput {
    Read(Vec<Item>),
    /// It is in this request, which nobody has to read if its upstream remembers
    /// by itself.
    Unread(Bytes),
}

/// What is looked up for.
#[derive(Clone, Copy)]
enum Purpose {
    /// To answer, and to keep the answer. Nobody else goes on with the conversation meanwhile.
    Answer { upstreams: UpstreamMemory, sealed: SealedReasoning },
    /// To look at it.
    Look,
}

/// What is looked up, and where.
pub(crate) struct StateLookup<'l> {
    pub(crate) memory: &'l ResponseStore,
    /// The memory that what is found may take.
    pub(crate) room: RecallMemory<'l>,
    pub(crate) tenant: Tenant,
    pub(crate) client: Protocol,
    /// Of the request that refers to something.
    pub(crate) head: &'l RequestHead,
    pub(crate) body: &'l Bytes,
}

/// What was found for the ids in a request.
pub(crate) enum Recalled {
    /// It has none.
    Nothing,
    /// The gateway has kept everything. This is the request with all of it.
    Found(Bytes),
    /// Something is not there. A model's API that remembers may have it.
    Unknown(Missing),
}

/// What a turn means for a request to one upstream.
pub(crate) struct TurnPlan {
    /// Whether the request with everything that it refers to is sent, and not
    /// the client's own.
    pub(crate) is_expanded: bool,
    /// What the answer says about what is kept. `None` if the upstream keeps it.
    pub(crate) kept: Option<KeptState>,
    /// Keeps the answer.
    pub(crate) recorder: Option<Recorder>,
}

impl Turn {
    /// Looks up what a request refers to. `None` if nothing is kept for it and
    /// it refers to nothing.
    pub(crate) async fn recall(
        lookup: StateLookup<'_>,
        upstreams: UpstreamMemory,
        sealed: SealedReasoning,
    ) -> Result<Option<Self>, Failure> {
        let StateLookup { memory, room: _, ref tenant, client, head, body } = lookup;
        let Some(codec) = codec(client).stateful else { return Ok(None) };
        if !head.has_state && head.store == Some(false) {
            return Ok(None);
        }
        // An upstream that several clients share is told that it is to keep nothing.
        if !head.has_state && upstreams != UpstreamMemory::Shared {
            let (store, health) = (memory.store.clone(), Arc::clone(&memory.health));
            let trouble = trouble(&health, store.as_ref(), tenant).await;
            let turn = Self {
                id: new_id("resp_")?,
                client,
                store,
                trouble,
                health,
                tenant: tenant.clone(),
                memory: upstreams,
                wanted: head.store,
                background: false,
                recalled: Recalled::Nothing,
                previous: None,
                conversation: None,
                lock: None,
                input: TurnInput::Unread(body.clone()),
            };
            return Ok(Some(turn));
        }
        let purpose = Purpose::Answer { upstreams, sealed };
        Box::pin(Self::recall_state(lookup, codec, purpose)).await
    }

    /// Looks up what a request refers to that may refer to something.
    async fn recall_state(
        lookup: StateLookup<'_>,
        codec: &StatefulCodec,
        purpose: Purpose,
    ) -> Result<Option<Self>, Failure> {
        let StateLookup { memory, room, tenant, client, head, body } = lookup;
        let request = stateful::read_request(client, head, body);
        let request = request.map_err(|error| Failure::from_translation(&error))?;
        let Some(mut request) = request else { return Ok(None) };
        let (store, health) = (memory.store.clone(), Arc::clone(&memory.health));
        // A conversation grows with the answer, whether the response is stored or not.
        let is_written = request.store != Some(false) || request.conversation.is_some();
        let trouble = match purpose {
            Purpose::Answer { .. } if is_written => trouble(&health, store.as_ref(), &tenant).await,
            Purpose::Answer { .. } | Purpose::Look => None,
        };
        let (upstreams, sealed) = match purpose {
            Purpose::Answer { upstreams, sealed } => (upstreams, sealed),
            Purpose::Look => (UpstreamMemory::None, SealedReasoning::Possible),
        };
        let mut turn = Self {
            id: new_id("resp_")?,
            client,
            trouble,
            health,
            tenant,
            memory: upstreams,
            wanted: request.store,
            background: request.background,
            recalled: Recalled::Nothing,
            previous: request.previous.clone(),
            conversation: None,
            lock: None,
            input: TurnInput::Read(Vec::new()),
            store: None,
        };
        let refers = request.previous.is_some()
            || request.conversation.is_some()
            || request.input.iter().any(|item| item.is_reference);
        // An upstream that several clients share is to keep nothing for any of them.
        let is_moved = upstreams == UpstreamMemory::Shared && request.store != Some(false);
        request.wants_sealed =
            upstreams != UpstreamMemory::None && sealed == SealedReasoning::Possible;
        request.omits_store = matches!(purpose, Purpose::Look);
        let Some(store) = store else {
            if refers {
                turn.recalled = Recalled::Unknown(first_reference(&request));
            } else if is_moved {
                let mut known = HashSet::new();
                let own = |(index, item)| own_item(&turn.id, body, index, item, &mut known);
                let input: Vec<_> = request.input.iter().enumerate().map(own).collect();
                turn.recalled = Recalled::Found(expand(codec, &request, &[], &input, room)?);
                turn.input = TurnInput::Read(input);
            }
            return Ok(Some(turn));
        };
        turn.store = Some(store.clone());
        let locks = match purpose {
            Purpose::Answer { .. } => Some(&memory.conversations),
            Purpose::Look => None,
        };
        let found = Earlier::find(&store, locks, &turn.tenant, &request, room).await?;
        let Earlier { items: earlier, ids: mut known, conversation, lock, reserved } = match found {
            Ok(earlier) => earlier,
            Err(missing) => {
                turn.recalled = Recalled::Unknown(missing);
                return Ok(Some(turn));
            }
        };
        turn.conversation = conversation;
        turn.lock = lock.map(Arc::new);
        let mut input = Vec::with_capacity(request.input.len());
        let before = earlier.iter().map(|item| item.len() as u64).sum();
        let mut references = References::new(&store, &turn.tenant, room, before);
        for (index, item) in request.input.iter().enumerate() {
            if !item.is_reference {
                input.push(own_item(&turn.id, body, index, item, &mut known));
                continue;
            }
            let id = item.id.as_deref().unwrap_or_default();
            let Some(mut found) = references.find(id).await? else {
                turn.recalled = Recalled::Unknown(Missing::Item(index, id.to_owned()));
                return Ok(Some(turn));
            };
            if !known.insert(found.id.clone()) {
                found.id = item_id(&turn.id, index);
            }
            input.push(found);
        }
        if refers || is_moved {
            turn.recalled = Recalled::Found(expand(codec, &request, &earlier, &input, room)?);
        }
        drop((earlier, reserved));
        if let Some(joined) = &mut turn.conversation {
            joined.taken = Arc::new(known);
        }
        turn.input = TurnInput::Read(input);
        Ok(Some(turn))
    }

    /// The request with everything that it refers to, if the gateway has it.
    pub(crate) fn expanded(&self) -> Option<&Bytes> {
        match &self.recalled {
            Recalled::Found(body) => Some(body),
            Recalled::Nothing | Recalled::Unknown(_) => None,
        }
    }

    /// Whether only the upstream that remembers can answer: it may know what the gateway does
    /// not, and makes answers in the background by itself.
    pub(crate) fn is_for_its_upstream(&self) -> bool {
        self.memory == UpstreamMemory::Own
            && match self.recalled {
                Recalled::Unknown(_) => true,
                Recalled::Nothing => self.background,
                Recalled::Found(_) => false,
            }
    }

    /// Decides who keeps what, for an upstream that remembers by itself or does
    /// not.
    pub(crate) fn plan(
        &self,
        upstream_remembers: bool,
        model: &str,
        head: &RequestHead,
    ) -> Result<TurnPlan, Failure> {
        let passes = TurnPlan { is_expanded: false, kept: None, recorder: None };
        let keeps = upstream_remembers && self.memory == UpstreamMemory::Own;
        let is_expanded = match &self.recalled {
            Recalled::Nothing | Recalled::Unknown(_) if keeps => return Ok(passes),
            Recalled::Unknown(missing) => return Err(missing.failure()),
            Recalled::Nothing => false,
            Recalled::Found(_) => true,
        };
        if self.background {
            return Err(failure::no_background());
        }
        let stores = match (&self.store, self.wanted) {
            (None, Some(true)) => return Err(failure::store_is_off("store")),
            (None, None | Some(false)) | (Some(_), Some(false)) => false,
            (Some(_), None | Some(true)) => true,
        };
        let is_kept = stores || self.conversation.is_some();
        if is_kept {
            self.check_store()?;
        }
        let kept = KeptState {
            // The ids of its items come from it, and a conversation has each of
            // them once.
            id: is_kept.then(|| self.id.clone()),
            created: Some(now()),
            store: stores,
            previous: self.previous.clone(),
            conversation: self.conversation.as_ref().map(|joined| joined.id.clone()),
            background: false,
        };
        let recorder = self.store.as_ref().filter(|_| is_kept);
        let recorder = match recorder {
            None => None,
            Some(store) => Some(Recorder {
                store: store.clone(),
                health: Arc::clone(&self.health),
                tenant: self.tenant.clone(),
                client: self.client,
                stores,
                previous: self.previous.clone(),
                conversation: self.conversation.clone(),
                _lock: self.lock.clone(),
                model: model.to_owned(),
                input: self.read_input(head)?,
            }),
        };
        Ok(TurnPlan { is_expanded, kept: Some(kept), recorder })
    }

    /// Refuses the turn if nothing can be stored at the moment.
    pub(super) fn check_store(&self) -> Result<(), Failure> {
        match (&self.trouble, &self.conversation) {
            (None, _) => Ok(()),
            (Some(trouble), None) => Err(from_store(trouble)),
            (Some(trouble), Some(_)) => Err(failure::from_store_in_conversation(trouble)),
        }
    }

    pub(super) fn read_input(&self, head: &RequestHead) -> Result<Vec<Item>, Failure> {
        let body = match &self.input {
            TurnInput::Read(items) => return Ok(items.clone()),
            TurnInput::Unread(body) => body,
        };
        let input = stateful::read_input(self.client, head, body);
        let input = input.map_err(|error| Failure::from_translation(&error))?;
        let input = input.unwrap_or_default();
        let mut known = HashSet::new();
        let mut items = Vec::with_capacity(input.len());
        for (index, item) in input.iter().enumerate() {
            if item.is_reference {
                let id = item.id.clone().unwrap_or_default();
                return Err(Missing::Item(index, id).failure());
            }
            items.push(own_item(&self.id, body, index, item, &mut known));
        }
        Ok(items)
    }
}

/// What a request refers to, for somebody who only looks at it.
pub(crate) async fn look_up(lookup: StateLookup<'_>) -> Result<Recalled, Failure> {
    let codec = codec(lookup.client).stateful.filter(|_| lookup.head.has_state);
    let Some(codec) = codec else { return Ok(Recalled::Nothing) };
    let turn = Turn::recall_state(lookup, codec, Purpose::Look).await?;
    Ok(turn.map_or(Recalled::Nothing, |turn| turn.recalled))
}

/// Why nothing can be stored at the moment. The model is not asked for an answer
/// that would be lost, and a request that is not stored does not care.
async fn trouble(
    health: &StoreHealth,
    store: Option<&Store>,
    tenant: &Tenant,
) -> Option<StoreError> {
    let store = store?;
    if health.is_known_good(store, tenant) {
        return None;
    }
    Box::pin(health.check(store, tenant)).await.err()
}

/// An item that the client has sent, with an id that nothing else has.
fn own_item(
    turn: &str,
    body: &Bytes,
    index: usize,
    item: &StatefulItem<'_>,
    known: &mut HashSet<String>,
) -> Item {
    let bytes = match &item.text {
        std::borrow::Cow::Borrowed(text) => body.slice_ref(text.as_bytes()),
        std::borrow::Cow::Owned(text) => Bytes::from(text.clone()),
    };
    let own = item.id.clone().filter(|id| is_possible_id(id) && known.insert(id.clone()));
    Item::new(own.unwrap_or_else(|| item_id(turn, index)), bytes)
}

/// The items before this turn and those that the client has added, as one
/// request.
fn expand(
    codec: &StatefulCodec,
    request: &StatefulRequest<'_>,
    earlier: &[Bytes],
    input: &[Item],
    room: RecallMemory<'_>,
) -> Result<Bytes, Failure> {
    let items = || earlier.iter().chain(input.iter().map(|item| &item.body));
    let size: usize = items().map(|item| item.len() + 1).sum();
    let others: usize = request.others.iter().map(|field| field.value.text().len() + 32).sum();
    let size = size + others + 64;
    let reservation = room.reserve(size as u64)?;
    let mut out = Vec::with_capacity(size);
    (codec.write_request)(request, &mut items().map(|item| item.as_ref()), &mut out);
    Ok(reservation.hold(out))
}

/// What a gateway that keeps nothing cannot find.
fn first_reference(request: &StatefulRequest<'_>) -> Missing {
    if let Some(id) = &request.previous {
        return Missing::Previous(id.clone());
    }
    if let Some(id) = &request.conversation {
        return Missing::Conversation(id.clone());
    }
    let mut items = request.input.iter().enumerate();
    let found = items.find(|(_, item)| item.is_reference);
    let (index, id) = found.map_or((0, None), |(index, item)| (index, item.id.clone()));
    Missing::Item(index, id.unwrap_or_default())
}

pub(super) fn new_id(prefix: &str) -> Result<String, Failure> {
    random_id(prefix).map_err(|error: StoreError| from_store(&error))
}
