//! Conversations of which the client sends only the newest part, in a protocol
//! whose clients otherwise send all of it.
//!
//! A server that keeps such a conversation puts the earlier messages in front of
//! a request, in the bytes and the protocols they came in: [`SessionRequest`]
//! writes the two as one document, and
//! [`PreparedRequest::with_session`](crate::translate::PreparedRequest::with_session)
//! translates it. Nothing is kept here.

use crate::codec::codec;
use crate::model::{Item, Protocol, Role, Turn};
use crate::translate::{Error, invalid, utf8};
use crate::wire::{Extra, Kind, Object, Raw, ReadError, Reader};

/// What a codec knows of its protocol's messages.
pub struct SessionCodec {
    /// The member of a request that lists the messages.
    pub list_member: &'static str,

    /// Whether the results of an answer's calls must be in one message.
    pub groups_results: bool,

    /// Reads a message.
    pub read_message: for<'a> fn(&mut Reader<'a>) -> Result<Turn<'a>, ReadError>,
}

/// A request that continues a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionRequest<'a> {
    /// The messages that the client adds.
    pub messages: Vec<SessionMessage<'a>>,
    /// Whether it says how the model is to behave, in messages or elsewhere.
    pub has_instructions: bool,
    list_member: &'static str,
    others: Vec<Extra<'a>>,
}

/// A message that a client adds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionMessage<'a> {
    /// The message as JSON.
    pub text: Raw<'a>,
    /// Whether it is one of the instructions at the beginning, which take the
    /// place of earlier ones.
    pub is_instruction: bool,
    /// Whether it is the model's.
    pub is_answer: bool,
}

impl<'a> SessionRequest<'a> {
    /// Writes the request with the session's messages in front of its own, in a
    /// member that no protocol has.
    pub fn write_whole<'e>(&self, earlier: impl Iterator<Item = &'e [u8]>, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        object.extra(&self.others);
        {
            let mut list = object.array(EARLIER_MEMBER);
            for message in earlier {
                list.item().extend_from_slice(message);
            }
        }
        let mut list = object.array(self.list_member);
        for message in &self.messages {
            list.push(&message.text);
        }
    }

    fn read(protocol: Protocol, source: &'a str) -> Result<Option<Self>, ReadError> {
        let Some(session) = protocol.codec().session else { return Ok(None) };
        let elsewhere = protocol.describe().conversation_members;
        let list_member = session.list_member;
        let (messages, others) = (Vec::new(), Vec::new());
        let mut request = Self { messages, has_instructions: false, list_member, others };
        let mut reader = Reader::new(source);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            let name = key.decode();
            if name == list_member && reader.peek() == Kind::Array {
                request.messages = read_list(session, &mut reader)?;
                continue;
            }
            let value = reader.raw()?;
            if name == SESSION_MEMBER {
                continue;
            }
            request.has_instructions |=
                elsewhere.contains(&name.as_ref()) && value.kind() != Kind::Null;
            drop(name);
            request.others.push(Extra { key, value });
        }
        reader.finish()?;
        request.has_instructions |= request.messages.iter().any(|message| message.is_instruction);
        Ok(Some(request))
    }
}

/// Reads a request that continues a session. `None` if clients of the protocol
/// need no sessions.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_request(protocol: Protocol, body: &[u8]) -> Result<Option<SessionRequest<'_>>, Error> {
    let source = utf8(body)?;
    SessionRequest::read(protocol, source).map_err(|error| invalid(source, error))
}

/// The request without the member that names a session. Its other members stay
/// as they are written.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn without_session_member(body: &[u8]) -> Result<Vec<u8>, Error> {
    let source = utf8(body)?;
    let copy = || {
        let mut out = Vec::with_capacity(source.len());
        let mut object = Object::new(&mut out);
        let mut reader = Reader::new(source);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            let value = reader.raw()?;
            if key != SESSION_MEMBER {
                object.foreign_key(&key).extend_from_slice(value.text().as_bytes());
            }
        }
        reader.finish()?;
        drop(object);
        Ok(out)
    };
    copy().map_err(|error| invalid(source, error))
}

/// Whether an answer says or calls anything. A message without content is not
/// accepted back.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn says_anything(protocol: Protocol, answer: &[u8]) -> Result<bool, Error> {
    let source = utf8(answer)?;
    let response = (codec(protocol).decode_response)(source);
    let response = response.map_err(|error| invalid(source, error))?;
    let first = response.candidates.first();
    let mut items = first.into_iter().flat_map(|first| &first.turns).flat_map(|turn| &turn.items);
    Ok(items.any(|item| !matches!(item, Item::Text(text) if text.text.decode().trim().is_empty())))
}

/// Reads messages, and finds those at the beginning that are instructions.
fn read_list<'a>(
    session: &SessionCodec,
    reader: &mut Reader<'a>,
) -> Result<Vec<SessionMessage<'a>>, ReadError> {
    let mut messages = Vec::new();
    let mut at_beginning = true;
    let mut list = reader.array()?;
    while list.more(reader)? {
        let mut ahead = reader.clone();
        let text = reader.raw()?;
        let turn = (session.read_message)(&mut ahead)?;
        at_beginning = at_beginning && is_instruction(&turn);
        let is_answer = turn.role == Role::Assistant;
        messages.push(SessionMessage { text, is_instruction: at_beginning, is_answer });
    }
    Ok(messages)
}

/// Reads the messages of a session out of a document that
/// [`SessionRequest::write_whole`] has written. `origins` has the protocol of
/// each.
pub(crate) fn earlier_turns<'a>(
    source: &'a str,
    origins: &[Protocol],
) -> Result<Vec<Turn<'a>>, ReadError> {
    let mut turns = Vec::with_capacity(origins.len());
    let mut reader = Reader::new(source);
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if key != EARLIER_MEMBER {
            reader.skip()?;
            continue;
        }
        let mut origins = origins.iter();
        let mut list = reader.array()?;
        while list.more(&mut reader)? {
            match origins.next().and_then(|origin| origin.codec().session) {
                Some(session) => turns.push((session.read_message)(&mut reader)?),
                None => reader.skip()?,
            }
        }
    }
    Ok(turns)
}

/// Whether a turn tells the model how to behave.
pub(crate) fn is_instruction(turn: &Turn<'_>) -> bool {
    matches!(turn.role, Role::System | Role::Developer)
}

/// The member of a request that names the session it continues.
pub const SESSION_MEMBER: &str = "session_id";

/// Where a document has the messages of the session. The paths of a ledger
/// begin with it.
pub(crate) const EARLIER_MEMBER: &str = "session";
