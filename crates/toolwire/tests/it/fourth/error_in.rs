//! Errors: from the protocol into the model.

use toolwire::model::{ApiError, ErrorKind};
use toolwire::wire::{Read, ReadError, Reader, Str};

use super::wire::{ErrorBody, Fault};

/// Reads an error body.
pub(super) fn decode(status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
    let mut reader = Reader::new(body);
    let ErrorBody { at, fault, reference, extra: _ } = ErrorBody::read(&mut reader)?;
    reader.finish()?;
    let Fault { at: _, kind, words, code, field, extra: _ } =
        fault.ok_or_else(|| ReadError::missing(at, "fault"))?;
    let own = |text: Option<Str<'_>>| text.map(|text| text.into_decoded().into_owned());
    let kind = own(kind);
    let known = KINDS.iter().find(|(word, _, _)| Some(*word) == kind.as_deref());
    let by_status = || KINDS.iter().find(|(_, _, of)| Some(*of) == status);
    let meant = known.or_else(by_status).map_or(ErrorKind::Server, |(_, meant, _)| *meant);
    let mut error = ApiError::new(meant, own(words).unwrap_or_default());
    error.status = status;
    error.vendor_type = kind;
    error.code = own(code);
    error.param = own(field);
    error.request_id = own(reference);
    Ok(error)
}

/// The word for each kind of error, and the status that it comes with. Of kinds
/// that share a status, the first is what the status alone means.
pub(crate) const KINDS: [(&str, ErrorKind, u16); 16] = [
    ("malformed", ErrorKind::InvalidRequest, 400),
    ("unsupported", ErrorKind::Unsupported, 400),
    ("instrument", ErrorKind::InvalidToolSchema, 400),
    ("window", ErrorKind::ContextLength, 400),
    ("filtered", ErrorKind::ContentFilter, 400),
    ("stranger", ErrorKind::Auth, 401),
    ("broke", ErrorKind::Quota, 402),
    ("forbidden", ErrorKind::Permission, 403),
    ("nowhere", ErrorKind::NotFound, 404),
    ("changed", ErrorKind::Conflict, 409),
    ("heavy", ErrorKind::TooLarge, 413),
    ("hasty", ErrorKind::RateLimit, 429),
    ("broken", ErrorKind::Server, 500),
    ("cut", ErrorKind::Truncated, 502),
    ("busy", ErrorKind::Overloaded, 503),
    ("slow", ErrorKind::Timeout, 504),
];
