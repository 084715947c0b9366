//! What comes out of the store.

use bytes::Bytes;

/// One item of a conversation: its id and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The id, unique at least within its response or thread.
    pub id: String,
    /// What the caller wants to know about the item without reading its bytes,
    /// for example its protocol. May be empty.
    pub tag: String,
    /// The item.
    pub body: Bytes,
}

impl Item {
    /// An item without a tag.
    pub fn new(id: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { id: id.into(), tag: String::new(), body: body.into() }
    }
}

/// A stored response, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its id.
    pub id: String,
    /// The response that it continues.
    pub previous: Option<String>,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// How far it is.
    pub status: Status,
    /// The model that the client asked for.
    pub model: String,
    /// The response object.
    pub body: Bytes,
    /// What the gateway keeps for itself.
    pub internal: Bytes,
    /// When it was stored.
    pub created: Timestamp,
    /// When it ends to exist.
    pub expires: Timestamp,
    /// The gateway that is working on it.
    pub owner: Option<String>,
}

/// How far a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has not begun.
    Queued,
    /// It is being made.
    InProgress,
    /// It is complete.
    Completed,
    /// It ended before it was complete, for example at the limit of tokens.
    Incomplete,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// Whether it will not change any more.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Queued | Self::InProgress => false,
            Self::Completed | Self::Incomplete | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// One response of a chain, with what a model has to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLink {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub status: Status,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// The model that the client asked for.
    pub model: String,
    /// What the gateway keeps for itself.
    pub internal: Bytes,
    /// The items that the client sent.
    pub input: Vec<Item>,
    /// The items of the answer.
    pub output: Vec<Item>,
}

/// Which kind of thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadKind {
    /// A conversation of the Responses API.
    Conversation,
    /// A session of any other client.
    Session,
}

/// A list of items that grows, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// What the client or the gateway keeps about it.
    pub metadata: Bytes,
    /// Its version, which every change of its items makes larger.
    pub version: u64,
    /// How many items it has.
    pub items: u64,
    /// How many bytes it takes.
    pub bytes: u64,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last written to.
    pub updated: Timestamp,
    /// When it ends to exist, unless it is written to.
    pub expires: Timestamp,
}

/// Which part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The id of the last one that is already known.
    pub after: Option<String>,
    /// How many at most.
    pub limit: usize,
    /// Where to begin.
    pub order: Order,
}

/// Where a list begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// With the first that was written.
    OldestFirst,
    /// With the last that was written.
    NewestFirst,
}

/// A part of a list of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPage {
    /// The items, in the order that was asked for.
    pub items: Vec<Item>,
    /// Whether there are more after them.
    pub more: bool,
}

/// A part of a tenant's threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadPage {
    /// The threads, in the order that was asked for.
    pub threads: Vec<Thread>,
    /// Whether there are more after them.
    pub more: bool,
}

/// Events of a response that is or was made in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// How far the response is. If it is terminal and `more` is false, there
    /// will be no further events.
    pub status: Status,
    /// Events with their sequence numbers, in order.
    pub events: Vec<(u64, Bytes)>,
    /// Whether there are more already.
    pub more: bool,
}

/// A running response whose gateway has stopped renewing its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// Whose it is.
    pub tenant: crate::Tenant,
    /// The response as it was last written.
    pub response: Response,
    /// The sequence number of its next event.
    pub next_event: u64,
}

/// How much is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Responses and threads.
    pub records: u64,
    /// Bytes of content.
    pub bytes: u64,
}

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The engine's name.
    pub engine: &'static str,
    /// The version of its tables.
    pub version: i64,
    /// Stored responses.
    pub responses: u64,
    /// Conversations.
    pub conversations: u64,
    /// Sessions.
    pub sessions: u64,
    /// Responses that are being made.
    pub running: u64,
    /// Items of all of them.
    pub items: u64,
    /// Bytes of content.
    pub bytes: u64,
    /// Tenants that have stored something.
    pub tenants: u64,
    /// When the oldest was stored.
    pub oldest: Option<Timestamp>,
    /// How many have expired and wait to be pruned.
    pub expired: u64,
}

/// A time, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The time that never comes.
    pub const NEVER: Self = Self(i64::MAX);

    /// Whole seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }
}
