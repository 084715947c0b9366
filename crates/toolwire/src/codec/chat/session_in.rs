//! What a server that keeps conversations reads.

use super::turns_in;
use super::wire::Message;
use crate::model::Turn;
use crate::session::SessionCodec;
use crate::wire::{Read, ReadError, Reader};

/// The messages of Chat.
pub(super) struct ChatSession;

impl SessionCodec for ChatSession {
    fn list_member(&self) -> &'static str {
        "messages"
    }

    fn groups_results(&self) -> bool {
        false
    }

    fn read_message<'a>(&self, reader: &mut Reader<'a>) -> Result<Turn<'a>, ReadError> {
        turns_in::turn(Message::read(reader)?)
    }
}
