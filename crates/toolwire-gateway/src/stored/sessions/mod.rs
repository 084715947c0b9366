//! Sessions: conversations that the gateway keeps for clients whose protocol
//! expects no server to remember, so that they send only what is new.
//!
//! A message is kept in the bytes and the protocol it came in, an answer in
//! those that the client got. So a session may go on in another protocol, and a
//! client's own bytes come back to an upstream of its protocol. `recall` puts a
//! session in front of a request, `record` keeps the answer.

mod endpoints;
mod failure;
#[cfg(test)]
pub(crate) mod growth;
mod kept;
mod meaning;
mod object;
mod recall;
mod record;
mod said_again;
mod sent;
mod stats;

use toolwire_store::ThreadKind;

pub(super) use self::endpoints::{add_messages, create, delete, list, messages, retrieve};
pub(super) use self::failure::store_is_off;
pub(crate) use self::recall::{
    HEADER, SessionLookup, SessionTurn, requested_session, with_session,
};
pub(crate) use self::record::SessionRecorder;
pub(super) use self::said_again::SaidAgain;

const KIND: ThreadKind = ThreadKind::Session;
