//! Which call a fragment belongs to.
//!
//! Neither `index` nor `id` is reliable: vendors leave out one or both, send the
//! id late, repeat it, or give every call the same index. So a fragment finds its
//! call by whatever it has.

use super::call_directory::CallDirectory;
use super::call_identity::CallIdentity;
use super::fragment::CallFragment;

/// Finds the calls of fragments.
#[derive(Debug, Default)]
pub(super) struct CallFinder {
    /// In the order in which they began.
    calls: Vec<CallIdentity>,
    /// Where each call is found.
    directory: CallDirectory,
    /// The number of the call that the last fragment belonged to.
    last: usize,
}

impl CallFinder {
    /// The number of the call that a fragment belongs to. It is the next number
    /// if the fragment begins a call.
    pub(super) fn find_or_begin(&mut self, fragment: &CallFragment<'_>) -> usize {
        let found = self.find(fragment).or_else(|| self.find_misnumbered(fragment));
        self.last = found.unwrap_or_else(|| {
            self.calls.push(CallIdentity::new(fragment));
            self.calls.len() - 1
        });
        if found.is_none()
            && let Some(call) = self.calls.get(self.last)
        {
            self.directory.add(self.last, call);
        }
        self.last
    }

    /// Notes what a fragment says of its call.
    pub(super) fn take(&mut self, number: usize, fragment: &CallFragment<'_>) {
        let Some(call) = self.calls.get_mut(number) else { return };
        let known = (call.index, call.id.is_some());
        call.take(fragment);
        if known != (call.index, call.id.is_some()) {
            self.directory.add(number, call);
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<&CallIdentity> {
        self.calls.get(number)
    }

    /// The call that the last fragment belonged to.
    pub(super) fn last(&self) -> Option<&CallIdentity> {
        self.calls.get(self.last)
    }

    /// The calls, in the order in which they began.
    pub(super) fn iter(&self) -> impl Iterator<Item = &CallIdentity> {
        self.calls.iter()
    }

    /// Forgets positions in the last chunk, of one call.
    pub(super) fn forget_positions(&mut self, number: usize) {
        if let Some(call) = self.calls.get_mut(number) {
            call.forget_positions();
        }
    }

    /// The call that a fragment belongs to, or `None` if it begins another.
    fn find(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        if fragment.legacy {
            let found = self.directory.legacy?;
            return (!self.begins_another(found, fragment)).then_some(found);
        }
        if let Some(index) = fragment.index {
            return self.find_by_index(index, fragment);
        }
        if let Some(id) = &fragment.id {
            return self.directory.with_id(id).or_else(|| {
                // The id came late, or the vendor makes up an id for every
                // fragment. A new call would have a name.
                let last = self.last()?;
                let goes_on = fragment.name.is_none() && (last.id.is_none() || !last.is_whole());
                goes_on.then_some(self.last)
            });
        }
        let found = match fragment.place {
            Some(place) => self.directory.by_place.get(&place).copied()?,
            None => self.last().map(|_| self.last)?,
        };
        (!self.begins_another(found, fragment)).then_some(found)
    }

    fn find_by_index(&self, index: u64, fragment: &CallFragment<'_>) -> Option<usize> {
        // Almost every fragment belongs to the same call as the last one.
        let last = self.last().filter(|call| call.index == Some(index));
        let found = match (last, &fragment.id) {
            (Some(_), None) => self.last,
            (_, Some(id)) => {
                if last.is_some_and(|call| call.has_id(id)) {
                    return Some(self.last);
                }
                if let Some(known) = self.directory.with_id_at(id, index) {
                    return Some(known);
                }
                self.directory.by_index.get(&index).copied()?
            }
            (None, None) => self.directory.by_index.get(&index).copied()?,
        };
        (!self.begins_another(found, fragment)).then_some(found)
    }

    /// The call of a fragment whose index no call has. Some vendors number the fragments of
    /// a call otherwise than its beginning, but only a beginning has a name.
    /// vectors/streams/chat-index-ahead-of-its-call,
    /// vectors/streams/chat-index-behind-its-call
    fn find_misnumbered(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        let is_unknown = |index: &u64| !self.directory.by_index.contains_key(index);
        if fragment.name.is_some() || !fragment.index.as_ref().is_some_and(is_unknown) {
            return None;
        }
        let with_id = fragment.id.as_ref().and_then(|id| self.directory.with_id(id));
        with_id.or_else(|| {
            // An id alone may be that of a call whose name is yet to come.
            let last = self.last()?;
            let goes_on = fragment.id.is_none() || fragment.text.is_some();
            (goes_on && !last.name.is_empty() && !last.is_whole()).then_some(self.last)
        })
    }

    /// Whether a fragment that points to a call begins another.
    fn begins_another(&self, found: usize, fragment: &CallFragment<'_>) -> bool {
        let Some(call) = self.calls.get(found) else { return true };
        let whole = call.is_whole();
        if let Some(id) = &fragment.id {
            // Some vendors make up an id for every fragment, but only the first
            // fragment of a call has a name.
            return call.id.is_some() && !call.has_id(id) && (whole || fragment.name.is_some());
        }
        match &fragment.name {
            // Arguments after a whole object are those of the next call, even
            // of the same tool; a name alone is only repeated.
            Some(name) if whole => {
                call.name.text() != *name || fragment.text.as_ref().is_some_and(|t| !t.is_blank())
            }
            Some(_) | None => false,
        }
    }
}
