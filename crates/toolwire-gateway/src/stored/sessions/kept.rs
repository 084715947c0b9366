//! A session as it is kept, and what a request adds to it.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use toolwire::model::Role;
use toolwire::session::{SessionMessage, SessionRequest};
use toolwire::wire::Reader;
use toolwire::{Protocol, codec};
use toolwire_store::{Cap, Item, Limits, NewThread, Store, StoreError, Tenant, Thread, Write};

use super::KIND;
use super::failure::{from_store, session_would_be_too_long, unknown_protocol};
use super::meaning::meaning;
use super::stats::SessionStats;
use crate::relay::Failure;
use crate::stored::recall::new_id;

/// A session with its messages.
#[derive(Default)]
pub(super) struct KeptSession {
    /// Its version, or `None` if there is no such session yet.
    pub(super) version: Option<u64>,
    pub(super) stats: SessionStats,
    /// How the model is to behave. There is one set of instructions at a time.
    instructions: Vec<KeptMessage>,
    messages: Vec<KeptMessage>,
}

/// A message of a session.
struct KeptMessage {
    id: String,
    protocol: Protocol,
    body: Bytes,
}

impl KeptMessage {
    /// Whether the model has said it.
    fn is_answer(&self) -> bool {
        let text = std::str::from_utf8(&self.body).unwrap_or_default();
        let session = codec(self.protocol).session;
        let turn = session.map(|session| (session.read_message)(&mut Reader::new(text)));
        matches!(turn, Some(Ok(turn)) if turn.role == Role::Assistant)
    }
}

/// What a request changes in a session.
#[derive(Clone, Default)]
pub(super) struct SessionChange {
    /// The messages that it adds.
    pub(super) added: Vec<Item>,
    /// The ids of instructions that others have taken the place of.
    replaced: Vec<String>,
}

impl KeptSession {
    /// Reads a session. One that does not exist is empty.
    pub(super) async fn read(store: &Store, tenant: &Tenant, id: &str) -> Result<Self, Failure> {
        let found = store.thread_with_items(tenant, KIND, id).await;
        match found.map_err(|error| from_store(&error))? {
            Some((thread, items)) => Self::of(&thread, items),
            None => Ok(Self::default()),
        }
    }

    /// How many bytes the store has of a session.
    pub(super) async fn size_of(
        store: &Store,
        tenant: &Tenant,
        id: &str,
    ) -> Result<usize, Failure> {
        let found = store.thread(tenant, KIND, id).await;
        let found = found.map_err(|error| from_store(&error))?;
        let bytes = found.map_or(0, |thread| thread.bytes.min(store.limits().read));
        Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    fn of(thread: &Thread, items: Vec<Item>) -> Result<Self, Failure> {
        let mut session = Self {
            version: Some(thread.version),
            stats: SessionStats::read(&thread.metadata),
            ..Self::default()
        };
        for Item { id, tag, body } in items {
            let (protocol, is_instruction) = read_tag(&tag).ok_or_else(unknown_protocol)?;
            let list =
                if is_instruction { &mut session.instructions } else { &mut session.messages };
            list.push(KeptMessage { id, protocol, body });
        }
        Ok(session)
    }

    /// Whether a request has the conversation or the newest part of it, as
    /// clients send it that know nothing of sessions: it begins with the session's
    /// first message and has an answer behind it, or it has one of the session's
    /// messages with the answer that follows it.
    ///
    /// An answer at the very end is the beginning of the next one, which a client
    /// may send with the same prompt again and again.
    pub(super) fn is_repeated_by(&self, request: &SessionRequest<'_>) -> bool {
        let own = own_messages(request);
        let Some((_, history)) = own.split_last() else { return false };
        // Whoever sends only what is new has no answers in it, and costs nothing here.
        if !history.iter().skip(1).any(|message| message.is_answer) {
            return false;
        }
        let sent: Vec<_> =
            history.iter().map(|message| meaning(message.text.text().as_bytes())).collect();
        let mut kept = self.messages.iter().map(|message| meaning(&message.body));
        let Some(mut before) = kept.next() else { return false };
        if sent.first() == Some(&before) {
            return true;
        }
        let mut answers = HashSet::with_capacity(self.messages.len());
        for message in kept {
            answers.insert((before, message));
            before = message;
        }
        let behind = sent.iter().zip(history).skip(1);
        let mut pairs = sent.iter().zip(behind);
        pairs.any(|(before, (message, read))| {
            read.is_answer && answers.contains(&(*before, *message))
        })
    }

    /// The id of the newest turn's answer, if the turn has the same messages as a request,
    /// byte for byte. A request without messages has those of any turn, because its answer is
    /// all that there is of its own.
    pub(super) fn answer_to(&self, request: &SessionRequest<'_>) -> Option<&str> {
        let own = own_messages(request);
        let (answer, earlier) = self.messages.split_last()?;
        let asked = earlier.get(earlier.len().checked_sub(own.len())?..)?;
        let mut both = asked.iter().zip(&own);
        let is_same = both.all(|(kept, own)| kept.body == own.text.text().as_bytes());
        (is_same && answer.is_answer()).then_some(&*answer.id)
    }

    /// How many bytes its messages have.
    pub(super) fn size(&self) -> usize {
        self.instructions.iter().chain(&self.messages).map(|message| message.body.len()).sum()
    }

    /// How many bytes they will have after a change.
    fn size_after(&self, change: &SessionChange) -> usize {
        let replaced: usize = match change.replaced.is_empty() {
            true => 0,
            false => self.instructions.iter().map(|message| message.body.len()).sum(),
        };
        let added: usize = change.added.iter().map(|item| item.body.len()).sum();
        self.size() - replaced + added
    }

    /// A request with the session in front of it, and the protocols of the
    /// session's messages.
    pub(super) fn in_front_of(&self, request: &SessionRequest<'_>) -> (Bytes, Arc<[Protocol]>) {
        let instructions: &[_] = if request.has_instructions { &[] } else { &self.instructions };
        let earlier = || instructions.iter().chain(&self.messages);
        let size = |text: usize| text + 1;
        let own = request.messages.iter().map(|message| size(message.text.text().len()));
        let kept = earlier().map(|message| size(message.body.len()));
        let mut whole = Vec::with_capacity(kept.chain(own).sum::<usize>() + 4096);
        request.write_whole(earlier().map(|message| message.body.as_ref()), &mut whole);
        (whole.into(), earlier().map(|message| message.protocol).collect())
    }

    /// What a request of a protocol adds. Instructions that are those of the
    /// session are not added again.
    pub(super) fn change(
        &self,
        protocol: Protocol,
        request: &SessionRequest<'_>,
    ) -> Result<SessionChange, Failure> {
        let instructions = || request.messages.iter().filter(|message| message.is_instruction);
        let is_known = instructions().count() == self.instructions.len()
            && instructions().zip(&self.instructions).all(|(new, kept)| {
                kept.protocol == protocol && kept.body == new.text.text().as_bytes()
            });
        let mut change = SessionChange::default();
        for message in &request.messages {
            if message.is_instruction && is_known {
                continue;
            }
            let tag = tag(protocol, message.is_instruction);
            // What is kept must not keep the client's whole request in memory.
            let body = Bytes::copy_from_slice(message.text.text().as_bytes());
            change.added.push(Item { id: new_id("msg_")?, tag, body });
        }
        if !is_known && instructions().next().is_some() {
            change.replaced = self.instructions.iter().map(|kept| kept.id.clone()).collect();
        }
        Ok(change)
    }
}

impl SessionChange {
    /// Checks what it adds against the limits of the store, before a model is
    /// asked for an answer that could not be kept with it.
    pub(super) fn check(&self, kept: &KeptSession, limits: &Limits) -> Result<(), Failure> {
        let length = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        if self.added.iter().any(|item| length(item.body.len()) > limits.value) {
            let error = StoreError::TooLarge { cap: Cap::Value, limit: limits.value };
            return Err(from_store(&error));
        }
        if length(kept.size_after(self)) > limits.read {
            return Err(session_would_be_too_long(limits.read));
        }
        Ok(())
    }

    /// Makes the session, or changes the version that was read.
    pub(super) fn writes(self, id: &str, version: Option<u64>, stats: &SessionStats) -> Vec<Write> {
        let Self { added, replaced } = self;
        let metadata = Bytes::from(stats.to_json());
        let id = id.to_owned();
        if version.is_none() {
            return vec![Write::Thread(NewThread { kind: KIND, id, metadata, items: added })];
        }
        let mut writes = Vec::with_capacity(2 + replaced.len());
        writes.push(Write::Append { kind: KIND, id: id.clone(), expected: version, items: added });
        for item in replaced {
            writes.push(Write::RemoveItem { kind: KIND, id: id.clone(), item });
        }
        writes.push(Write::Metadata { kind: KIND, id, metadata });
        writes
    }
}

/// What a request says beside the instructions in front of it.
fn own_messages<'r, 'a>(request: &'r SessionRequest<'a>) -> Vec<&'r SessionMessage<'a>> {
    request.messages.iter().filter(|message| !message.is_instruction).collect()
}

/// What the store notes about a message.
pub(super) fn tag(protocol: Protocol, is_instruction: bool) -> String {
    let name = protocol.as_str();
    if is_instruction { format!("{name}{INSTRUCTIONS}") } else { name.to_owned() }
}

/// The protocol of a message, and whether it is an instruction.
pub(super) fn read_tag(tag: &str) -> Option<(Protocol, bool)> {
    let (name, is_instruction) = match tag.strip_suffix(INSTRUCTIONS) {
        Some(name) => (name, true),
        None => (tag, false),
    };
    Some((Protocol::parse(name)?, is_instruction))
}

const INSTRUCTIONS: &str = " instructions";
