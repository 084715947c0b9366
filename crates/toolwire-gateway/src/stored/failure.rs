//! What a client is told if something cannot be found or kept.

use toolwire::model::{ApiError, ErrorKind, Retry};
use toolwire_store::{Cap, StoreError};

use crate::observe::Reason;
use crate::relay::Failure;

/// Something that a request's body names and that is not there, whatever the
/// reason: unknown, foreign, expired and deleted look the same.
#[derive(Clone, Debug)]
pub(crate) enum Missing {
    Previous(String),
    Conversation(String),
    Item(usize, String),
}

impl Missing {
    pub(crate) fn failure(&self) -> Failure {
        let (status, message, param, code) = match self {
            Self::Previous(id) => (
                400,
                format!("Previous response with id '{}' not found.", shown(id)),
                "previous_response_id".to_owned(),
                "previous_response_not_found",
            ),
            Self::Conversation(id) => (
                404,
                format!("Conversation with id '{}' not found.", shown(id)),
                "conversation".to_owned(),
                "conversation_not_found",
            ),
            Self::Item(index, id) => (
                404,
                format!("Item with id '{}' not found.", shown(id)),
                format!("input[{index}].id"),
                "item_not_found",
            ),
        };
        let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
        error.param = Some(param);
        error.code = Some(code.to_owned());
        Failure::with_status(status, error)
    }
}

/// There is nothing at this path. The answer never depends on why.
pub(super) fn not_found() -> Failure {
    let message = "There is nothing with this id.";
    Failure::with_status(404, ApiError::new(ErrorKind::NotFound, message))
}

/// A value that a client has sent is wrong.
pub(super) fn invalid(param: &str, message: impl Into<String>) -> Failure {
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some(param.to_owned());
    Failure::with_status(400, error)
}

/// A response goes on from a conversation, and what stood in front of it there is unknown.
pub(super) fn not_in_conversation(response: &str) -> Failure {
    let message = format!(
        "The response '{}' was made in a conversation that was deleted, or that it is not part \
         of. Name a conversation in `conversation`, or send the whole conversation.",
        shown(response)
    );
    invalid("previous_response_id", message)
}

/// What a request continues is too long to be put together.
pub(super) fn conversation_is_too_long(limit: u64) -> Failure {
    let message = format!(
        "The conversation is longer than {limit} bytes, the limit `max_read` of the gateway's \
         store."
    );
    Failure::new(ApiError::new(ErrorKind::TooLarge, message))
}

/// The gateway keeps nothing, and the client needs that it does.
pub(super) fn store_is_off(param: &str) -> Failure {
    let message = "This gateway stores nothing, and the model's own API does not either. Send \
                   `store: false`, or ask the operator to set `engine` of `[store]`.";
    let mut error = ApiError::new(ErrorKind::Unsupported, message);
    error.param = Some(param.to_owned());
    error.code = Some("store_disabled".to_owned());
    Failure::with_status(400, error)
}

/// The answer cannot be fetched later.
pub(crate) fn no_background() -> Failure {
    let message = "This gateway does not answer in the background toward this model. Send the \
                   request without `background`.";
    let mut error = ApiError::new(ErrorKind::Unsupported, message);
    error.param = Some("background".to_owned());
    error.code = Some("unsupported_parameter".to_owned());
    Failure::with_status(400, error)
}

/// Another request is working on the conversation.
pub(super) fn conversation_is_busy() -> Failure {
    Failure::with_status(409, busy())
}

/// A call of the store that failed, as the client sees it.
pub(super) fn from_store(error: &StoreError) -> Failure {
    let (status, api) = explained(error);
    Failure::with_status(status, api).because(reason(error))
}

/// The same for a turn that goes on from what is stored: it needs the store even if its own
/// response is not stored.
pub(super) fn from_store_in_conversation(error: &StoreError) -> Failure {
    if let StoreError::TooLarge { cap: Cap::Read, limit } = error {
        return conversation_is_too_long(*limit);
    }
    let (status, mut api) = explained(error);
    if let StoreError::Unavailable { .. } = error {
        api.message = DOWN_IN_CONVERSATION.to_owned();
    } else if status == 503 {
        api.message = FULL_IN_CONVERSATION.to_owned();
    }
    Failure::with_status(status, api).because(reason(error))
}

/// Why it failed, if the store is to blame.
pub(super) fn reason(error: &StoreError) -> Option<Reason> {
    match error {
        StoreError::Unavailable { .. } => Some(Reason::StoreUnavailable),
        StoreError::Full(_) | StoreError::TooLarge { cap: Cap::Tenant | Cap::Total, .. } => {
            Some(Reason::StoreFull)
        }
        StoreError::NotFound
        | StoreError::Conflict
        | StoreError::Cursor
        | StoreError::Invalid(_)
        | StoreError::TooLarge { cap: Cap::Value | Cap::Read, .. } => None,
    }
}

/// What the client is told, and with which status.
pub(crate) fn explained(error: &StoreError) -> (u16, ApiError) {
    match error {
        StoreError::NotFound => (404, ApiError::new(ErrorKind::NotFound, NOTHING)),
        StoreError::Conflict => (409, busy()),
        StoreError::Cursor => {
            let mut api = ApiError::new(ErrorKind::InvalidRequest, NO_CURSOR);
            api.param = Some("after".to_owned());
            (400, api)
        }
        StoreError::Invalid(what) => {
            let message = format!("It cannot be stored: {what} is too long or malformed.");
            (400, ApiError::new(ErrorKind::InvalidRequest, message))
        }
        StoreError::TooLarge { cap: Cap::Value | Cap::Read, limit } => {
            let message = format!(
                "It cannot be stored: it is longer than {limit} bytes, the limit of this gateway."
            );
            (413, ApiError::new(ErrorKind::TooLarge, message))
        }
        StoreError::TooLarge { cap: Cap::Tenant | Cap::Total, limit: _ } => {
            (503, unavailable(FULL, LONG_WAIT))
        }
        StoreError::Full(_) => (503, unavailable(FULL, LONG_WAIT)),
        StoreError::Unavailable { reason: _, retry: _ } => (503, unavailable(DOWN, SHORT_WAIT)),
    }
}

fn unavailable(message: &str, seconds: u64) -> ApiError {
    let mut error = ApiError::new(ErrorKind::Overloaded, message);
    error.retry = Retry::After(seconds);
    error
}

fn busy() -> ApiError {
    let message = "Another request is working on this conversation. Try again when it has ended.";
    let mut error = ApiError::new(ErrorKind::Conflict, message);
    error.code = Some("conversation_locked".to_owned());
    error
}

/// An id, short enough for an error.
fn shown(id: &str) -> String {
    let short: String = id.chars().take(100).collect();
    short.escape_debug().to_string()
}

/// How long to wait for a store that is down, in seconds.
const SHORT_WAIT: u64 = 2;

/// How long to wait for room in the store, in seconds.
const LONG_WAIT: u64 = 30;

const NOTHING: &str = "There is nothing with this id.";

const NO_CURSOR: &str = "The item that the page begins after is not in the list.";

const FULL: &str = "The gateway's store is full. Send `store: false`, or try again later.";

const DOWN: &str =
    "The gateway's store is not available. Send `store: false`, or try again in a moment.";

const FULL_IN_CONVERSATION: &str = "The gateway's store is full, so the conversation cannot go \
                                    on. Try again later, or send the whole conversation, without \
                                    an id and with `store: false`.";

const DOWN_IN_CONVERSATION: &str = "The gateway's store is not available, so the conversation \
                                    cannot go on. Try again in a moment, or send the whole \
                                    conversation, without an id and with `store: false`.";
