//! What the client of a session is told if it cannot go on.

use toolwire::model::{ApiError, ErrorKind};
use toolwire_store::{Cap, StoreError};

use super::super::failure;
use crate::relay::Failure;

/// The gateway keeps nothing, so it has no sessions.
pub(in super::super) fn store_is_off() -> Failure {
    let message = "This gateway stores nothing, so it has no sessions. Send the whole \
                   conversation, or ask the operator to set `engine` of `[store]`.";
    let mut error = ApiError::new(ErrorKind::Unsupported, message);
    error.param = Some("session_id".to_owned());
    error.code = Some("store_disabled".to_owned());
    Failure::with_status(400, error)
}

/// Another request is working on the session.
pub(super) fn session_is_busy() -> Failure {
    Failure::with_status(409, busy())
}

/// A session with this id cannot be made.
pub(super) fn session_exists() -> Failure {
    let message = "There is a session with this id already.";
    let mut error = ApiError::new(ErrorKind::Conflict, message);
    error.code = Some("session_exists".to_owned());
    Failure::with_status(409, error)
}

/// A client sends what the gateway would send once more.
pub(super) fn session_is_repeated() -> Failure {
    let message = "The request repeats the messages of its session. Send only what is new, or \
                   send it without a session.";
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some("messages".to_owned());
    error.code = Some("session_repeated".to_owned());
    Failure::with_status(400, error)
}

/// An SDK delivers a turn again whose answer is kept.
pub(super) fn turn_is_stored() -> Failure {
    let message = "The session's last turn has these messages, and its answer is stored: GET \
                   /v1/sessions/{id}/messages shows it. To send the same once more, send it as a \
                   request of its own.";
    let mut error = ApiError::new(ErrorKind::Conflict, message);
    error.code = Some("session_turn_stored".to_owned());
    let mut failure = Failure::with_status(409, error);
    // SDKs send a request again after this status unless they are told not to.
    failure.set_header("x-should-retry", "false");
    failure
}

/// What is added would make the session too long to be read again.
pub(super) fn session_would_be_too_long(limit: u64) -> Failure {
    let message = format!(
        "The session would be longer than {limit} bytes, the limit `max_read` of the gateway's \
         store, and could not go on. Nothing was added. Begin another session."
    );
    Failure::with_status(413, ApiError::new(ErrorKind::TooLarge, message))
}

/// A newer gateway has kept messages of a protocol that this one does not know.
pub(super) fn unknown_protocol() -> Failure {
    let message = "The session has messages of a protocol that this gateway does not know.";
    Failure::with_status(500, ApiError::new(ErrorKind::Server, message))
}

/// A call of the store that failed, as the client sees it.
pub(super) fn from_store(error: &StoreError) -> Failure {
    let (status, api) = explained(error);
    Failure::with_status(status, api).because(failure::reason(error))
}

fn explained(error: &StoreError) -> (u16, ApiError) {
    if let StoreError::Conflict = error {
        return (409, busy());
    }
    let (status, mut api) = failure::explained(error);
    if let StoreError::TooLarge { cap: Cap::Read, limit } = error {
        api.message = format!(
            "The session is longer than {limit} bytes, the limit `max_read` of the gateway's \
             store, so it cannot go on. Begin another session."
        );
        return (status, api);
    }
    if let StoreError::TooLarge { cap: Cap::Value, limit } = error {
        api.message = format!(
            "A message is longer than {limit} bytes, the limit `max_value` of the gateway's store."
        );
        return (status, api);
    }
    // What helps other requests that want to be stored does not help this one.
    if let StoreError::Unavailable { .. } = error {
        api.message = DOWN.to_owned();
    } else if status == 503 {
        api.message = FULL.to_owned();
    }
    (status, api)
}

fn busy() -> ApiError {
    let message = "Another request is working on this session. Try again when it has ended.";
    let mut error = ApiError::new(ErrorKind::Conflict, message);
    error.code = Some("session_locked".to_owned());
    error
}

const DOWN: &str = "The gateway's store is not available, so the session cannot go on. Try again \
                    in a moment, or send the whole conversation without a session.";

const FULL: &str = "The gateway's store is full, so the session cannot go on. Delete sessions, or \
                    send the whole conversation without a session.";
