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
    /// How many calls are unfinished.
    unfinished: usize,
}

impl CallFinder {
    /// The number of the call that a fragment belongs to. It is the next number
    /// if the fragment begins a call.
    pub(super) fn find_or_begin(&mut self, fragment: &CallFragment<'_>) -> usize {
        let found = self.find(fragment);
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

    /// Notes what a fragment says of its call, and gives that back.
    pub(super) fn take(
        &mut self,
        number: usize,
        fragment: &CallFragment<'_>,
    ) -> Option<&CallIdentity> {
        let call = self.calls.get_mut(number)?;
        let known = (call.index, call.id.is_some());
        let was_unfinished = call.is_unfinished();
        call.take(fragment);
        match (was_unfinished, call.is_unfinished()) {
            (false, true) => self.unfinished += 1,
            (true, false) => self.unfinished -= 1,
            (true, true) | (false, false) => {}
        }
        if known != (call.index, call.id.is_some()) {
            self.directory.add(number, call);
        }
        if let Some(index) = fragment.index
            && call.index != Some(index)
        {
            self.directory.add_stray(index, number);
        }
        Some(call)
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
            return self.find_numbered(index, fragment);
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

    /// The call of a fragment that has an index. Some vendors number the fragments of a call
    /// otherwise than its beginning, but only a beginning has a name.
    fn find_numbered(&self, index: u64, fragment: &CallFragment<'_>) -> Option<usize> {
        if fragment.is_bare()
            && let Some(stray) = self.directory.with_stray(index)
            && self.calls.get(stray).is_some_and(|call| !call.is_whole() || fragment.is_blank())
        {
            return Some(stray);
        }
        if let Some(found) = self.find_by_index(index, fragment) {
            if self.is_of_later_call(found, fragment) {
                return self.only_unfinished(self.calls.len() - 1);
            }
            return Some(found);
        }
        if fragment.name.is_some() || self.directory.by_index.contains_key(&index) {
            return None;
        }
        self.find_misnumbered(fragment)
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
                let with_id = self.directory.with_id_at(id, index);
                // Without a name an id that is known says more than the index.
                let by_id_alone = || self.directory.with_id(id).filter(|_| fragment.name.is_none());
                if let Some(known) = with_id.or_else(by_id_alone) {
                    return Some(known);
                }
                self.directory.by_index.get(&index).copied()?
            }
            (None, None) => self.directory.by_index.get(&index).copied()?,
        };
        (!self.begins_another(found, fragment)).then_some(found)
    }

    /// The call of a fragment whose index no call has.
    /// vectors/streams/chat-index-ahead-of-its-call,
    /// vectors/streams/chat-index-behind-its-call
    fn find_misnumbered(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        let last = self.last()?;
        // An id alone may be that of a call whose name is yet to come.
        let goes_on = fragment.id.is_none() || fragment.text.is_some();
        if goes_on && last.is_unfinished() { self.only_unfinished(self.last) } else { None }
    }

    /// Whether a fragment with the index of a call belongs to one that began later: the
    /// arguments of the call are whole, or pieces are known to be misnumbered, while those of the
    /// later call have not come with its own index.
    /// vectors/streams/chat-index-one-behind-two-calls
    fn is_of_later_call(&self, found: usize, fragment: &CallFragment<'_>) -> bool {
        let Some(text) = fragment.text.as_ref().filter(|_| fragment.is_bare()) else {
            return false;
        };
        let is_newest = found + 1 == self.calls.len();
        !is_newest
            && (self.directory.has_strays
                || self.calls.get(found).is_some_and(CallIdentity::is_whole))
            && !text.is_blank()
            && self.calls.last().is_some_and(|newest| newest.takes_misnumbered(text))
    }

    /// A call, if it is the only one that may get more arguments. Arguments that may be those of
    /// several calls belong to none that is known, and the stream fails.
    /// vectors/streams/chat-index-of-either-call
    fn only_unfinished(&self, number: usize) -> Option<usize> {
        (self.unfinished == 1).then_some(number)
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
