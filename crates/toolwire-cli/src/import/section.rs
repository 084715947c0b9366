//! One object of the imported configuration. What nobody takes from it is listed as
//! left out, so that nothing is lost without a word.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::draft::Draft;

/// An object, and which of its members have been taken.
pub(super) struct Section<'v> {
    members: &'v Map<String, Value>,
    /// Where it is: `router_settings`.
    place: String,
    /// Whose it is, if there are several alike: the name of a model.
    owner: String,
    taken: HashSet<&'v str>,
}

impl<'v> Section<'v> {
    pub(super) fn new(members: &'v Map<String, Value>, place: &str, owner: &str) -> Self {
        let (place, owner) = (place.to_owned(), owner.to_owned());
        Self { members, place, owner, taken: HashSet::new() }
    }

    /// A member that has a value.
    pub(super) fn take(&mut self, key: &str) -> Option<&'v Value> {
        let (key, value) = self.members.get_key_value(key)?;
        self.taken.insert(key);
        Some(value).filter(|value| !value.is_null())
    }

    /// A member that is an object.
    pub(super) fn take_section(&mut self, key: &str, draft: &mut Draft) -> Option<Section<'v>> {
        let value = self.take(key)?;
        let place = self.place_of(key);
        let Some(members) = value.as_object() else {
            draft.leave_out(&place, &self.owner, "it is not an object");
            return None;
        };
        Some(Section::new(members, &place, &self.owner))
    }

    /// A member that is a text.
    pub(super) fn take_text(&mut self, key: &str, draft: &mut Draft) -> Option<&'v str> {
        let value = self.take(key)?;
        if value.as_str().is_none() {
            draft.leave_out(&self.place_of(key), &self.owner, "it is not a text");
        }
        value.as_str()
    }

    /// Lists a member as left out.
    pub(super) fn leave_out(&mut self, key: &str, reason: &str, draft: &mut Draft) {
        if self.take(key).is_some() {
            draft.leave_out(&self.place_of(key), &self.owner, reason);
        }
    }

    /// Lists as left out what nobody has taken.
    pub(super) fn finish(self, reason: impl Fn(&str) -> &'static str, draft: &mut Draft) {
        for (key, value) in self.members {
            if !self.taken.contains(key.as_str()) && !value.is_null() {
                draft.leave_out(&self.place_of(key), &self.owner, reason(key));
            }
        }
    }

    /// The names of its members.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'v str> + use<'v> {
        let members: &'v Map<String, Value> = self.members;
        members.keys().map(String::as_str)
    }

    pub(super) fn place_of(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) }
    }
}
