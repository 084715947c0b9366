//! A JSON value that arrives in pieces, as the vendors' SDKs put it together.

use std::collections::HashMap;

use super::{Array, Kind, Object, Raw, ReadError, Reader, Str, TextBuffer, Write, read_fields};

/// A value that grows. Its texts keep their spelling, and what is neither a text
/// nor an object nor a list is kept as it came last.
#[derive(Debug)]
pub(crate) enum Growing {
    Text(TextBuffer),
    Object(GrowingObject),
    List(Vec<String>),
    Other(String),
}

/// The members of an object, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct GrowingObject {
    /// Each with how many had come before it.
    members: HashMap<String, (usize, Growing)>,
    came: usize,
}

impl Growing {
    /// A value that has only begun.
    pub(crate) fn new(raw: &Raw<'_>) -> Result<Self, ReadError> {
        Ok(match raw.kind() {
            Kind::String => {
                let mut text = TextBuffer::default();
                text.push(&raw.reader().string()?);
                Self::Text(text)
            }
            Kind::Object => {
                let mut object = GrowingObject::default();
                object.merge(&mut raw.reader())?;
                Self::Object(object)
            }
            Kind::Array => Self::List(texts(raw)?),
            Kind::Null | Kind::Bool | Kind::Number | Kind::End | Kind::Invalid => {
                Self::Other(raw.text().to_owned())
            }
        })
    }

    /// Adds a piece: texts and lists get longer, objects grow member by member,
    /// and anything else is replaced.
    pub(crate) fn add(&mut self, raw: &Raw<'_>) -> Result<(), ReadError> {
        match (&mut *self, raw.kind()) {
            (Self::Text(text), Kind::String) => text.push(&raw.reader().string()?),
            (Self::Object(object), Kind::Object) => object.merge(&mut raw.reader())?,
            (Self::List(list), Kind::Array) => list.extend(texts(raw)?),
            (Self::Text(_) | Self::Object(_) | Self::List(_), Kind::Null) => {}
            (_, _) => *self = Self::new(raw)?,
        }
        Ok(())
    }

    fn says_nothing(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Object(object) => object.members.is_empty(),
            Self::List(list) => list.is_empty(),
            Self::Other(raw) => raw == "null",
        }
    }
}

impl GrowingObject {
    /// Whether no member says anything.
    pub(crate) fn says_nothing(&self) -> bool {
        self.members.values().all(|(_, value)| value.says_nothing())
    }

    /// Whether there is a member that says anything.
    pub(crate) fn says(&self, key: &str) -> bool {
        self.members.get(key).is_some_and(|(_, value)| !value.says_nothing())
    }

    /// Adds the members of the object that comes next.
    pub(crate) fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        for field in read_fields(reader)? {
            self.add(&field.key.decode(), &field.value)?;
        }
        Ok(())
    }

    /// Adds to a member.
    pub(crate) fn add(&mut self, key: &str, value: &Raw<'_>) -> Result<(), ReadError> {
        match self.members.get_mut(key) {
            Some((_, known)) => known.add(value),
            None => {
                self.members.insert(key.to_owned(), (self.came, Growing::new(value)?));
                self.came += 1;
                Ok(())
            }
        }
    }

    /// Adds an element to a member that is a list.
    pub(crate) fn push(&mut self, key: &str, element: &Raw<'_>) {
        let list = (self.came, Growing::List(Vec::new()));
        let (_, list) = self.members.entry(key.to_owned()).or_insert(list);
        self.came += 1;
        match list {
            Growing::List(list) => list.push(element.text().to_owned()),
            Growing::Text(_) | Growing::Object(_) | Growing::Other(_) => {
                *list = Growing::List(vec![element.text().to_owned()]);
            }
        }
    }

    /// Gives a member another value.
    pub(crate) fn set(&mut self, key: &str, value: &Raw<'_>) -> Result<(), ReadError> {
        let order = self.members.get(key).map_or(self.came, |(order, _)| *order);
        self.members.insert(key.to_owned(), (order, Growing::new(value)?));
        self.came += 1;
        Ok(())
    }

    /// Takes a member out.
    pub(crate) fn remove(&mut self, key: &str) {
        self.members.remove(key);
    }

    /// The text of a member, if it is one.
    pub(crate) fn text(&self, key: &str) -> Option<Str<'_>> {
        match self.members.get(key) {
            Some((_, Growing::Text(text))) => Some(text.text()),
            Some((_, Growing::Object(_) | Growing::List(_) | Growing::Other(_))) | None => None,
        }
    }

    /// A member that is an object.
    pub(crate) fn object(&self, key: &str) -> Option<&GrowingObject> {
        match self.members.get(key) {
            Some((_, Growing::Object(object))) => Some(object),
            Some((_, Growing::Text(_) | Growing::List(_) | Growing::Other(_))) | None => None,
        }
    }

    /// Writes the members into an object that has none of them yet.
    pub(crate) fn write_members(&self, object: &mut Object<'_>) {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_unstable_by_key(|(_, (order, _))| *order);
        for (key, (_, value)) in members {
            value.write(object.foreign_key(&Str::plain(key)));
        }
    }
}

impl Write for GrowingObject {
    fn write(&self, out: &mut Vec<u8>) {
        self.write_members(&mut Object::new(out));
    }
}

impl Write for Growing {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => text.text().write(out),
            Self::Object(object) => object.write(out),
            Self::List(list) => {
                let mut array = Array::new(out);
                for element in list {
                    array.item().extend_from_slice(element.as_bytes());
                }
            }
            Self::Other(raw) => out.extend_from_slice(raw.as_bytes()),
        }
    }
}

fn texts(list: &Raw<'_>) -> Result<Vec<String>, ReadError> {
    Ok(list.elements()?.iter().map(|element| element.text().to_owned()).collect())
}
