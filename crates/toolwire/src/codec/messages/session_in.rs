//! What a server that keeps conversations reads.

use super::turns_in;
use super::wire::Message;
use crate::model::Turn;
use crate::wire::{Read, ReadError, Reader};

/// Reads a message.
pub(super) fn message<'a>(reader: &mut Reader<'a>) -> Result<Turn<'a>, ReadError> {
    Message::read(reader).map(turns_in::message)
}
