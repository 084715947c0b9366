//! The losses of a translation: what the client wants done about them, and how
//! it is told of them.

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use toolwire::ledger::loss_list;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::{Entry, LossPolicy};

use super::Failure;

/// The loss policy that the client asks for, if any.
pub(super) fn requested_policy(headers: &HeaderMap) -> Result<Option<LossPolicy>, Failure> {
    match headers.get(POLICY_HEADER).map(HeaderValue::as_bytes) {
        None => Ok(None),
        Some(b"report") => Ok(Some(LossPolicy::Report)),
        Some(b"refuse") => Ok(Some(LossPolicy::Refuse)),
        Some(b"ignore") => Ok(Some(LossPolicy::Ignore)),
        Some(_) => {
            let message = "The header toolwire-on-loss must be report, refuse or ignore.";
            Err(Failure::new(ApiError::new(ErrorKind::InvalidRequest, message)))
        }
    }
}

/// Writes the losses of a request and its response into a header.
pub(super) fn write_header(
    request: &[Entry],
    response: &[Entry],
    limit: usize,
    headers: &mut HeaderMap,
) {
    let list = loss_list(request, response, limit);
    if let Some(Ok(value)) = list.map(HeaderValue::try_from) {
        headers.insert(LOSS_HEADER, value);
    }
}

const POLICY_HEADER: &str = "toolwire-on-loss";
const LOSS_HEADER: &str = "toolwire-loss";
