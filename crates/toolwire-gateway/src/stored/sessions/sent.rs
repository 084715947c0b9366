//! Messages that a client adds to a session without asking a model. Nobody has read
//! them, so they are checked here: what no API takes would make every later turn fail.

use toolwire::model::{Item, Role, Turn};
use toolwire::session::{self, SessionMessage, SessionRequest};
use toolwire::wire::{Extra, Kind, Raw, Reader, Str, read_fields};
use toolwire::{Protocol, codec};

use crate::relay::Failure;
use crate::stored::failure::invalid;

/// Messages that a client adds.
pub(super) struct SentMessages<'a> {
    pub(super) id: Option<String>,
    pub(super) protocol: Protocol,
    pub(super) request: SessionRequest<'a>,
}

impl<'a> SentMessages<'a> {
    pub(super) fn read(client: Protocol, body: &'a [u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(body).unwrap_or_default();
        let [id, named] = Reader::new(text).pick(["id", "protocol"]).unwrap_or_default();
        let string = |name, raw: Option<&Raw<'_>>| match raw {
            None => Ok(None),
            Some(raw) => match raw.reader().string().map(Str::into_decoded) {
                Ok(text) => Ok(Some(text.into_owned())),
                Err(_) => Err(invalid(name, format!("`{name}` must be a string."))),
            },
        };
        let id = string("id", id.as_ref())?;
        let has_sessions = |protocol: &Protocol| codec(*protocol).session.is_some();
        let protocol = match string("protocol", named.as_ref())? {
            Some(named) => Protocol::parse(&named).filter(has_sessions),
            None if has_sessions(&client) => Some(client),
            None => Protocol::ALL.into_iter().find(has_sessions),
        };
        let protocol = protocol.ok_or_else(|| invalid("protocol", NO_PROTOCOL))?;
        // It is read like a request, which also checks that it is JSON.
        let request = session::read_request(protocol, body);
        let request = request.map_err(|error| Failure::from_translation(&error))?;
        let request = request.ok_or_else(|| invalid("protocol", NO_PROTOCOL))?;
        let list = codec(protocol).session.map_or(MESSAGES, |session| session.list_member);
        check_members(text, list)?;
        for (index, message) in request.messages.iter().enumerate() {
            check_message(protocol, &format!("{list}[{index}]"), message)?;
        }
        Ok(Self { id, protocol, request })
    }
}

/// Refuses what would be ignored. The text was read before.
fn check_members(text: &str, list: &str) -> Result<(), Failure> {
    let members = read_fields(&mut Reader::new(text)).unwrap_or_default();
    for Extra { key, value } in members {
        let name = key.decode();
        if name == list {
            if value.kind() != Kind::Array {
                return Err(invalid(list, "`messages` must be a list."));
            }
        } else if name != "id" && name != "protocol" {
            let name: String = name.chars().take(100).collect();
            let message = "The request may have `id`, `protocol` and `messages`, and nothing else.";
            return Err(invalid(&name, message));
        }
    }
    Ok(())
}

/// Refuses a message that no API of its protocol takes. What toolwire does not
/// know may be a vendor's own, and is kept.
fn check_message(
    protocol: Protocol,
    place: &str,
    message: &SessionMessage<'_>,
) -> Result<(), Failure> {
    let read = |protocol: Protocol| {
        let session = codec(protocol).session?;
        (session.read_message)(&mut message.text.reader()).ok()
    };
    let Some(turn) = read(protocol) else { return Ok(()) };
    if let Role::Other(_) = turn.role {
        let message = format!("A message of the protocol {protocol} cannot have this role.");
        return Err(invalid(&format!("{place}.role"), message));
    }
    let mut others = Protocol::ALL.into_iter().filter(|other| *other != protocol);
    let foreign = others.find(|other| read(*other).is_some_and(|other| says_more(&other, &turn)));
    if let Some(other) = foreign {
        let message = format!(
            "This is a message of the protocol {other}, not of {protocol}. Name its protocol in \
             `protocol`."
        );
        return Err(invalid(place, message));
    }
    if turn.items.is_empty() {
        let message = "The message has no content, which no model's API takes.";
        return Err(invalid(&format!("{place}.content"), message));
    }
    Ok(())
}

/// Whether a message means more if it is read as one of another protocol.
fn says_more(turn: &Turn<'_>, than: &Turn<'_>) -> bool {
    let count = |turn: &Turn<'_>, is: fn(&Item<'_>) -> bool| {
        turn.items.iter().filter(|item| is(item)).count()
    };
    let is_call = |item: &Item<'_>| matches!(item, Item::Call(_) | Item::Result(_));
    let is_unknown = |item: &Item<'_>| matches!(item, Item::Opaque(_));
    count(turn, is_call) > count(than, is_call)
        || (count(turn, is_unknown) < count(than, is_unknown)
            && turn.items.len() >= than.items.len())
}

const MESSAGES: &str = "messages";

const NO_PROTOCOL: &str = "`protocol` must be that of the messages: chat or messages.";
