//! Documents of a protocol whose servers remember: what a server that keeps
//! answers and conversations has to know about them.
//!
//! Nothing here keeps anything. Items are the bytes that they came in.

use std::borrow::Cow;

use crate::model::Protocol;
use crate::translate::{Error, invalid, utf8};
use crate::wire::{Extra, ReadError};

/// What a codec knows of its protocol's memory.
pub trait StatefulCodec: Sync {
    /// The member of a request that says whether to keep the answer.
    fn store_member(&self) -> &'static str;

    /// The members of a request that refer to something that was kept, or ask
    /// for an answer later.
    fn state_members(&self) -> &'static [&'static str];

    /// The word for an item that only names another one.
    fn reference_word(&self) -> &'static str;

    /// Reads a request.
    fn read_request<'a>(&self, body: &'a str) -> Result<StatefulRequest<'a>, ReadError>;

    /// Reads a whole answer.
    fn read_answer<'a>(&self, body: &'a str) -> Result<StatefulAnswer<'a>, ReadError>;

    /// Reads an object with a list of items in one member, and others.
    fn read_items<'a>(&self, body: &'a str) -> Result<StatefulItems<'a>, ReadError>;

    /// Writes a request with these items as its whole conversation and without
    /// anything that refers to what was kept. Its answer is not to be kept.
    fn write_request(
        &self,
        request: &StatefulRequest<'_>,
        items: &mut dyn Iterator<Item = &[u8]>,
        out: &mut Vec<u8>,
    );

    /// Writes an item as lists show it, complete and with its id.
    fn write_item(&self, id: &str, item: &str, out: &mut Vec<u8>);
}

/// A request of a client that expects the server to remember.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StatefulRequest<'a> {
    /// Whether to keep the answer, if the client says so.
    pub store: Option<bool>,
    /// The answer that it continues.
    pub previous: Option<String>,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// Whether the client fetches the answer later.
    pub background: bool,
    /// What the client adds to the conversation.
    pub input: Vec<StatefulItem<'a>>,
    /// Every other member, as it came.
    pub others: Vec<Extra<'a>>,
}

/// An item of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatefulItem<'a> {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Whether it only names another item by that id.
    pub is_reference: bool,
    /// The item as JSON.
    pub text: Cow<'a, str>,
}

impl<'a> StatefulItem<'a> {
    /// An item with this id.
    pub fn new(id: Option<String>, is_reference: bool, text: impl Into<Cow<'a, str>>) -> Self {
        Self { id, is_reference, text: text.into() }
    }
}

/// What a server keeps of an answer besides its bytes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StatefulAnswer<'a> {
    /// Its id.
    pub id: String,
    /// How it ended, in the protocol's word.
    pub status: String,
    /// What the model said.
    pub output: Vec<StatefulItem<'a>>,
}

/// Items to keep, and what belongs to them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StatefulItems<'a> {
    /// The items.
    pub items: Vec<StatefulItem<'a>>,
    /// The client's labels, as JSON.
    pub metadata: Option<Cow<'a, str>>,
}

/// Reads a request. `None` if servers of the protocol remember nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_request(protocol: Protocol, body: &[u8]) -> Result<Option<StatefulRequest<'_>>, Error> {
    let Some(codec) = protocol.codec().stateful() else { return Ok(None) };
    let source = utf8(body)?;
    codec.read_request(source).map(Some).map_err(|error| invalid(source, error))
}

/// Reads an answer. `None` if servers of the protocol remember nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_answer(protocol: Protocol, body: &[u8]) -> Result<Option<StatefulAnswer<'_>>, Error> {
    let Some(codec) = protocol.codec().stateful() else { return Ok(None) };
    let source = utf8(body)?;
    codec.read_answer(source).map(Some).map_err(|error| invalid(source, error))
}

/// Reads a list of items to keep. `None` if servers of the protocol remember
/// nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_items(protocol: Protocol, body: &[u8]) -> Result<Option<StatefulItems<'_>>, Error> {
    let Some(codec) = protocol.codec().stateful() else { return Ok(None) };
    let source = utf8(body)?;
    codec.read_items(source).map(Some).map_err(|error| invalid(source, error))
}
