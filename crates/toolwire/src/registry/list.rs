//! Where a document keeps its definitions.

use crate::wire::{Kind, Pos, Raw, Read, ReadError, Reader, Str, What};

/// The definitions of a document.
#[derive(Default)]
pub(super) struct List<'a> {
    /// The definitions.
    pub(super) definitions: Option<Vec<Raw<'a>>>,
    /// Where an MCP server has more of them.
    pub(super) cursor: Option<Str<'a>>,
}

impl<'a> List<'a> {
    /// The definitions of a list, of an object's `tools`, or of the `tools` in
    /// the `result` of a JSON-RPC answer.
    pub(super) fn read(source: &'a str) -> Result<Self, ReadError> {
        let mut reader = Reader::new(source);
        let mut list = Self::default();
        if reader.peek() == Kind::Object {
            list.object(&mut reader)?;
        } else {
            list.definitions = Some(Vec::read(&mut reader)?);
        }
        reader.finish()?;
        if list.definitions.is_none() {
            return Err(ReadError::missing(Pos::START, "tools"));
        }
        Ok(list)
    }

    fn object(&mut self, reader: &mut Reader<'a>) -> Result<(), ReadError> {
        let mut members = reader.object()?;
        while let Some(key) = members.next(reader)? {
            match key.decode().as_ref() {
                "tools" if self.definitions.is_some() => {
                    return Err(reader.error(What::Duplicate("tools".to_owned())));
                }
                "tools" => self.definitions = Some(Vec::read(reader)?),
                "nextCursor" => self.cursor = reader.nullable()?,
                "result" if reader.peek() == Kind::Object => self.object(reader)?,
                _other => reader.skip()?,
            }
        }
        Ok(())
    }
}
