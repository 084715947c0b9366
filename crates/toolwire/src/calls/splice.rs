//! Changing the conversation of a request without touching the rest of it.

use super::{Continuation, Error};
use crate::translate::{invalid, utf8};
use crate::wire::{Kind, Pos, Raw, ReadError, Reader, What};

impl Continuation {
    /// The body of the next request: `request` with this behind its
    /// conversation and every other byte as it was.
    ///
    /// Responses' `input` becomes a list if it was a text. A request that
    /// belongs to a `conversation` gets the results alone, because the server
    /// has kept the rest.
    ///
    /// # Errors
    ///
    /// [`Error::Document`] if the request cannot be read.
    pub fn append_to(&self, request: &[u8]) -> Result<Vec<u8>, Error> {
        let source = utf8(request)?;
        let appended = (self.protocol().codec().append_items)(source, self);
        Ok(appended.map_err(|error| invalid(source, error))?)
    }
}

/// The member of a request that holds the conversation.
#[doc(hidden)]
#[derive(Debug)]
pub struct Conversation<'a> {
    request: &'a str,
    name: &'static str,
    /// The member's value, `null` included.
    member: Option<Raw<'a>>,
    /// Where the request starts.
    start: Pos,
}

impl<'a> Conversation<'a> {
    /// Finds the member with this name.
    pub fn find(request: &'a str, name: &'static str) -> Result<Self, ReadError> {
        let mut reader = Reader::new(request);
        let mut members = reader.object()?;
        let mut found = Self { request, name, member: None, start: members.at() };
        while let Some(key) = members.next(&mut reader)? {
            if key != name {
                reader.skip()?;
            } else if found.member.is_some() {
                return Err(reader.error(What::Duplicate(name.to_owned())));
            } else {
                found.member = Some(reader.raw()?);
            }
        }
        reader.finish()?;
        Ok(found)
    }

    /// The conversation, if the request has one.
    pub fn value(&self) -> Option<&Raw<'a>> {
        self.member.as_ref().filter(|value| value.kind() != Kind::Null)
    }

    /// The request with more items at the end of the list that the member must
    /// hold.
    pub fn append<'i>(&self, items: impl Iterator<Item = &'i str>) -> Result<Vec<u8>, ReadError> {
        let list = self.value().ok_or_else(|| ReadError::missing(self.start, self.name))?;
        if list.kind() != Kind::Array {
            let what = What::Expected { wanted: Kind::Array, found: list.kind() };
            return Err(ReadError::new(list.pos(), what));
        }
        let elements = list.text().strip_suffix(']').unwrap_or_default().trim_end();
        let end = list.pos().offset().unwrap_or_default() + elements.len();
        let (before, behind) = self.request.split_at_checked(end).unwrap_or_default();
        let mut out = before.as_bytes().to_vec();
        let mut is_empty = elements == "[";
        for item in items {
            if !std::mem::replace(&mut is_empty, false) {
                out.push(b',');
            }
            out.extend_from_slice(item.as_bytes());
        }
        out.extend_from_slice(behind.as_bytes());
        Ok(out)
    }

    /// The request with another value for the member.
    pub fn replace(&self, value: &[u8]) -> Vec<u8> {
        let member = self.member.as_ref();
        let (before, name, behind) = match member.and_then(|raw| Some((raw, raw.pos().offset()?))) {
            Some((raw, start)) => {
                let (before, rest) = self.request.split_at_checked(start).unwrap_or_default();
                (before, String::new(), rest.get(raw.text().len()..).unwrap_or_default())
            }
            None => {
                let members = self.request.trim_end().strip_suffix('}').unwrap_or_default();
                let members = members.trim_end();
                let comma = if members.ends_with('{') { "" } else { "," };
                (members, format!("{comma}\"{}\":", self.name), "}")
            }
        };
        [before.as_bytes(), name.as_bytes(), value, behind.as_bytes()].concat()
    }
}
