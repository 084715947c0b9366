//! The arguments of a call, in both of OpenAI's protocols.

use crate::model::Arguments;
use crate::wire::{Kind, Read, ReadError, Reader};

/// JSON as text, or the JSON itself from some servers.
impl<'a> Read<'a> for Arguments<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() == Kind::String {
            Ok(Self::Text(reader.string()?))
        } else {
            Ok(Self::Json(reader.raw()?))
        }
    }
}
