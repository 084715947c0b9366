//! What goes into the store.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;

use crate::id::is_possible_id;
use crate::model::{Item, Status, ThreadKind};

/// One change. Those that are written together happen all or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Stores a response. It conflicts if the id is taken.
    Response(NewResponse),
    /// Changes a response that has not ended. It conflicts if it has.
    Update(Update),
    /// Appends events to a response that has not ended. It conflicts if it has,
    /// if another gateway owns it, or if `first` is not the next number.
    Events {
        /// The id of the response.
        id: String,
        /// The gateway that owns it.
        owner: String,
        /// The sequence number of the first event.
        first: u64,
        /// The events.
        events: Vec<Bytes>,
    },
    /// Makes a thread. It conflicts if the id is taken.
    Thread(NewThread),
    /// Appends items to a thread. It conflicts if the thread has another
    /// version than the one expected.
    Append {
        /// Which kind of thread.
        kind: ThreadKind,
        /// The id of the thread.
        id: String,
        /// The version that the caller has seen.
        expected: Option<u64>,
        /// The items.
        items: Vec<Item>,
    },
    /// Replaces what is kept about a thread.
    Metadata {
        /// Which kind of thread.
        kind: ThreadKind,
        /// The id of the thread.
        id: String,
        /// The new metadata.
        metadata: Bytes,
    },
    /// Removes an item from a thread. It fails if there is no such item.
    RemoveItem {
        /// Which kind of thread.
        kind: ThreadKind,
        /// The id of the thread.
        id: String,
        /// The id of the item.
        item: String,
    },
}

impl Write {
    /// Whether what it changes may exist at all.
    pub(crate) fn changes_possible_ids(&self) -> bool {
        match self {
            Self::Response(_) | Self::Thread(_) => true,
            Self::Update(update) => is_possible_id(&update.id),
            Self::Events { id, .. } | Self::Append { id, .. } | Self::Metadata { id, .. } => {
                is_possible_id(id)
            }
            Self::RemoveItem { id, item, .. } => is_possible_id(id) && is_possible_id(item),
        }
    }

    /// Whether it only says that a response has ended and that there is nothing
    /// of it.
    pub(crate) fn ends_without_output(&self) -> bool {
        match self {
            Self::Update(Update { status, output, .. }) => {
                status.is_terminal() && output.is_empty()
            }
            Self::Response(_)
            | Self::Events { .. }
            | Self::Thread(_)
            | Self::Append { .. }
            | Self::Metadata { .. }
            | Self::RemoveItem { .. } => false,
        }
    }
}

/// A response to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewResponse {
    /// Its id, from [`random_id`](crate::random_id).
    pub id: String,
    /// The response that it continues.
    pub previous: Option<String>,
    /// The conversation that it belongs to. Its items are appended to it by a
    /// [`Write::Append`] in the same write.
    pub conversation: Option<String>,
    /// How far it is.
    pub status: Status,
    /// The model that the client asked for.
    pub model: String,
    /// The response object.
    pub body: Bytes,
    /// Which part of the body other responses probably have too. It may be kept once
    /// for all of them.
    pub repeats: Option<Range<usize>>,
    /// What the gateway keeps for itself.
    pub internal: Bytes,
    /// The items that the client sent with this request, without the chain.
    pub input: Vec<Item>,
    /// The items of the answer.
    pub output: Vec<Item>,
    /// The gateway that is working on it, unless it has ended.
    pub lease: Option<Lease>,
}

impl NewResponse {
    /// A response without anything that is optional.
    pub fn new(id: impl Into<String>, status: Status, body: impl Into<Bytes>) -> Self {
        Self {
            id: id.into(),
            previous: None,
            conversation: None,
            status,
            model: String::new(),
            body: body.into(),
            repeats: None,
            internal: Bytes::new(),
            input: Vec::new(),
            output: Vec::new(),
            lease: None,
        }
    }
}

/// A gateway's promise to work on a response, or to say again that it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The name of the gateway's process, different in each.
    pub owner: String,
    /// After how long without news the response counts as abandoned. Clocks of
    /// gateways that share a store may differ by less than this.
    pub duration: Duration,
}

/// A change of a response that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The id of the response.
    pub id: String,
    /// The gateway that must own it. Without one, anybody's is changed.
    pub owner: Option<String>,
    /// How far it is now. If it has ended, its lease has too.
    pub status: Status,
    /// The response object.
    pub body: Bytes,
    /// The items of the answer.
    pub output: Vec<Item>,
    /// The last events, with the sequence number of the first. They conflict if
    /// that is not the next one.
    pub events: Option<(u64, Vec<Bytes>)>,
}

/// A thread to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewThread {
    /// Which kind of thread.
    pub kind: ThreadKind,
    /// Its id: from [`random_id`](crate::random_id), or chosen by the client.
    pub id: String,
    /// What the client or the gateway keeps about it.
    pub metadata: Bytes,
    /// Its first items.
    pub items: Vec<Item>,
}
