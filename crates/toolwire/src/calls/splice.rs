//! Appending to the conversation of a request without touching the rest of it.

use super::{Continuation, Error};
use crate::model::Protocol;
use crate::translate::{invalid, utf8};
use crate::wire::{Array, Kind, Pos, Raw, ReadError, Reader, What};

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
        Ok(self.append(source).map_err(|error| invalid(source, error))?)
    }

    fn append(&self, source: &str) -> Result<Vec<u8>, ReadError> {
        let field = match self.protocol() {
            Protocol::Chat | Protocol::Messages | Protocol::Custom(_) => "messages",
            Protocol::Responses => "input",
        };
        let place = Place::find(source, field)?;
        let mut out = Vec::with_capacity(source.len() + self.size() + 64);
        match (&place.value, self.protocol()) {
            (_, Protocol::Responses) if place.stored => {
                place.replace(source, field, &list(None, self.results()), &mut out);
            }
            (Some(list), _) if list.kind() == Kind::Array => {
                self.insert(source, list, &mut out);
            }
            (Some(value), Protocol::Responses) if value.kind() == Kind::String => {
                let list = list(Some(value), self.items());
                place.replace(source, field, &list, &mut out);
            }
            (None, Protocol::Responses) => {
                place.replace(source, field, &list(None, self.items()), &mut out);
            }
            (Some(value), _) => {
                let what = What::Expected { wanted: Kind::Array, found: value.kind() };
                return Err(ReadError::new(value.pos(), what));
            }
            (None, Protocol::Chat | Protocol::Messages | Protocol::Custom(_)) => {
                return Err(ReadError::missing(place.at, field));
            }
        }
        Ok(out)
    }

    /// Puts the items behind the last element of a list.
    fn insert(&self, source: &str, list: &Raw<'_>, out: &mut Vec<u8>) {
        let start = list.pos().offset().unwrap_or_default();
        let elements = list.text().strip_suffix(']').unwrap_or_default().trim_end();
        let (before, behind) = source.split_at_checked(start + elements.len()).unwrap_or_default();
        out.extend_from_slice(before.as_bytes());
        let mut first = elements == "[";
        for item in self.items() {
            if !std::mem::replace(&mut first, false) {
                out.push(b',');
            }
            out.extend_from_slice(item.as_bytes());
        }
        out.extend_from_slice(behind.as_bytes());
    }
}

/// Where a request keeps its conversation.
struct Place<'a> {
    /// The conversation, if the request has one. `null` is none.
    value: Option<Raw<'a>>,
    /// The member's value, `null` included.
    span: Option<Raw<'a>>,
    /// Whether the server keeps the conversation.
    stored: bool,
    /// Where the request starts.
    at: Pos,
    /// Whether the request has any member at all.
    empty: bool,
}

impl<'a> Place<'a> {
    fn find(source: &'a str, field: &'static str) -> Result<Self, ReadError> {
        let mut reader = Reader::new(source);
        let mut members = reader.object()?;
        let mut place =
            Self { value: None, span: None, stored: false, at: members.at(), empty: true };
        while let Some(key) = members.next(&mut reader)? {
            place.empty = false;
            if key == field {
                if place.span.is_some() {
                    return Err(reader.error(What::Duplicate(field.to_owned())));
                }
                let value = reader.raw()?;
                place.value = (value.kind() != Kind::Null).then(|| value.clone());
                place.span = Some(value);
            } else if key == "conversation" {
                place.stored = reader.raw()?.kind() != Kind::Null;
            } else {
                reader.skip()?;
            }
        }
        reader.finish()?;
        Ok(place)
    }

    /// Writes the request with another value for the member.
    fn replace(&self, source: &str, field: &str, value: &[u8], out: &mut Vec<u8>) {
        match &self.span {
            Some(span) => {
                let start = span.pos().offset().unwrap_or_default();
                let end = start + span.text().len();
                out.extend_from_slice(source.get(..start).unwrap_or_default().as_bytes());
                out.extend_from_slice(value);
                out.extend_from_slice(source.get(end..).unwrap_or_default().as_bytes());
            }
            None => {
                let members = source.trim_end().strip_suffix('}').unwrap_or_default().trim_end();
                out.extend_from_slice(members.as_bytes());
                if !self.empty {
                    out.push(b',');
                }
                out.extend_from_slice(format!("\"{field}\":").as_bytes());
                out.extend_from_slice(value);
                out.push(b'}');
            }
        }
    }
}

/// A list of items, behind what the user said if that was a bare text.
fn list<'i>(said: Option<&Raw<'_>>, items: impl Iterator<Item = &'i str>) -> Vec<u8> {
    let mut out = Vec::new();
    {
        let mut array = Array::new(&mut out);
        if let Some(text) = said {
            let mut message = array.object();
            message.put("role", "user");
            message.put("content", text);
        }
        for item in items {
            array.item().extend_from_slice(item.as_bytes());
        }
    }
    out
}
