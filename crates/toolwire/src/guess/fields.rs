//! The members of a JSON object, looked up by name.

use std::borrow::Cow;

use crate::wire::{Extra, Kind, Raw, ReadError, Reader, Str, read_fields};

/// The members of a JSON object.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<Extra<'a>>);

impl<'a> Fields<'a> {
    /// Reads the object that comes next.
    ///
    /// # Errors
    ///
    /// If it is no object, or names a member twice.
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        read_fields(reader).map(Self)
    }

    /// The members of a value, unless [`Fields::read`] refuses it.
    pub fn of(value: &Raw<'a>) -> Option<Self> {
        value.source_reader().and_then(|mut reader| Self::read(&mut reader).ok())
    }

    /// Whether there is such a member, even if it is `null`.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|field| field.key == *name)
    }

    /// The value of a member, unless it is `null`.
    pub fn get(&self, name: &str) -> Option<&Raw<'a>> {
        let field = self.0.iter().find(|field| field.key == *name)?;
        (field.value.kind() != Kind::Null).then_some(&field.value)
    }

    /// Whether a member is there and of this kind.
    pub fn is(&self, name: &str, kind: Kind) -> bool {
        self.get(name).is_some_and(|value| value.kind() == kind)
    }

    /// The text of a member that is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let value = self.get(name).filter(|value| value.kind() == Kind::String)?;
        value.source_reader()?.string().ok().map(Str::into_decoded)
    }

    /// The elements of a member that is a list. One that is no object has no
    /// members.
    pub fn list(&self, name: &str) -> Vec<Self> {
        let list = self.get(name).and_then(Raw::source_reader).and_then(|mut reader| {
            let mut members = reader.array().ok()?;
            let mut list = Vec::new();
            while members.more(&mut reader).ok()? {
                list.push(Self::of(&reader.raw().ok()?).unwrap_or_default());
            }
            Some(list)
        });
        list.unwrap_or_default()
    }

    /// How many of these names are there.
    pub fn count(&self, names: &[&str]) -> usize {
        names.iter().filter(|name| self.has(name)).count()
    }

    /// Every member.
    pub fn iter(&self) -> impl Iterator<Item = &Extra<'a>> {
        self.0.iter()
    }
}
