//! Items that only name another one, as they are told while a request is passed over.

use crate::stateful::ReferenceMembers;
use crate::wire::{Kind, Str};

/// What is known of an item that is being passed over.
#[derive(Default)]
pub(super) struct ReferenceSigns {
    has_id: bool,
    has_role: bool,
    /// Whether its kind may be that of references, if it says its kind.
    may_be_named: Option<bool>,
}

impl ReferenceSigns {
    /// Notes a member. `rest` is what is left of the document from its value on.
    #[inline]
    pub(super) fn note(
        &mut self,
        members: &ReferenceMembers,
        key: &Str<'_>,
        kind: Kind,
        rest: &str,
    ) {
        if *key == *members.id {
            self.has_id = kind == Kind::String;
        } else if *key == *members.role {
            self.has_role = kind != Kind::Null;
        } else if *key == *members.kind && kind == Kind::String {
            self.may_be_named = Some(may_be(rest, members.word));
        }
    }

    /// Whether the item may only name another one.
    pub(super) fn may_be_reference(&self) -> bool {
        self.may_be_named.unwrap_or(self.has_id && !self.has_role)
    }
}

/// Whether the string that comes next may be this word. One with escapes may be any.
fn may_be(rest: &str, word: &str) -> bool {
    let inside = rest.get(1..).unwrap_or_default();
    let end = memchr::memchr2(b'"', b'\\', inside.as_bytes());
    let Some((text, behind)) = end.and_then(|end| inside.split_at_checked(end)) else {
        return false;
    };
    text == word || behind.starts_with('\\')
}
