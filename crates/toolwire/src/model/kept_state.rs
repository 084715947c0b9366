//! What a caller of the library keeps between requests.

use super::ServerState;
use crate::wire::{At, Object, Raw, Str};

/// The state that Responses expects of a server, where the caller of the library
/// keeps it and has put the earlier turns into the request.
///
/// An upstream of another protocol then hears nothing of `store`,
/// `previous_response_id`, `conversation` and `background`, nothing of them is lost
/// or refused, and the answer has them as they are here. Within Responses the
/// request passes as the caller gives it, and the answer passes too, but for these
/// members and its id, which are written over the upstream's or added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptState {
    /// The answer's id toward the client. Without one it is derived from the
    /// upstream's, and within Responses it is the upstream's.
    pub id: Option<String>,
    /// When the answer was begun, in seconds since 1970, for an answer with an
    /// id of its own and for upstreams that do not say.
    pub created: Option<u64>,
    /// Whether the answer is kept.
    pub store: bool,
    /// The answer that it continues.
    pub previous: Option<String>,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// Whether the client fetches the answer later.
    pub background: bool,
}

impl KeptState {
    /// Takes out of a request what its upstream is not to hear of.
    pub(crate) fn remove_from(state: &mut ServerState<'_>) {
        state.store = None;
        state.previous = None;
        state.conversation = None;
        state.background = None;
    }

    /// Puts into a request what its answer says.
    pub(crate) fn put_into(&self, state: &mut ServerState<'_>) {
        let Self { id: _, created: _, store, previous, conversation, background } = self;
        state.store = Some(At::made(*store));
        state.previous = previous.clone().map(Str::plain);
        state.conversation = conversation.as_deref().map(|id| {
            let mut object = Vec::new();
            Object::new(&mut object).put("id", id);
            Raw::made(String::from_utf8(object).unwrap_or_default())
        });
        state.background = Some(At::made(*background));
    }
}
