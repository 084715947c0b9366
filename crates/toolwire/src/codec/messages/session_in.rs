//! What a server that keeps conversations reads.

use super::turns_in;
use super::wire::Message;
use crate::model::Turn;
use crate::session::SessionCodec;
use crate::wire::{Read, ReadError, Reader};

/// The messages of Messages.
pub(super) struct MessagesSession;

impl SessionCodec for MessagesSession {
    fn list_member(&self) -> &'static str {
        "messages"
    }

    fn groups_results(&self) -> bool {
        true
    }

    fn read_message<'a>(&self, reader: &mut Reader<'a>) -> Result<Turn<'a>, ReadError> {
        Message::read(reader).map(turns_in::message)
    }
}
