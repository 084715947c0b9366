//! The losses of a translation: what the client wants done about them, and how
//! it is told of them.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue, TE, TRAILER};
use toolwire::ledger::loss_list;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::{Entry, LossPolicy};

use super::Failure;

/// The loss policy that the client asks for, if any.
pub(super) fn requested_policy(headers: &HeaderMap) -> Result<Option<LossPolicy>, Failure> {
    match headers.get(&POLICY_HEADER).map(HeaderValue::as_bytes) {
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

/// The losses of a streamed response, for a client that takes trailers.
pub(super) struct LossTrailers {
    losses: Vec<Entry>,
    limit: usize,
}

impl LossTrailers {
    /// `None` if the client does not say that it takes trailers.
    pub(super) fn new(headers: &HeaderMap, limit: usize) -> Option<Self> {
        Self::are_taken(headers).then(|| Self { losses: Vec::new(), limit })
    }

    /// Whether the client says that it takes trailers.
    pub(super) fn are_taken(headers: &HeaderMap) -> bool {
        let values = headers.get_all(TE).into_iter().filter_map(|value| value.to_str().ok());
        let mut names = values.flat_map(|list| list.split(',')).map(str::trim);
        names.any(|name| name.eq_ignore_ascii_case("trailers"))
    }

    /// Announces in the head of a response what may follow its body.
    pub(super) fn announce(headers: &mut HeaderMap) {
        headers.insert(TRAILER, HeaderValue::from_static(LOSS_HEADER));
    }

    pub(super) fn add(&mut self, losses: &[Entry]) {
        self.losses.extend_from_slice(losses);
    }

    /// The trailers, if anything was lost.
    pub(super) fn into_headers(self) -> Option<HeaderMap> {
        let mut trailers = HeaderMap::new();
        write_header(&[], &self.losses, self.limit, &mut trailers);
        (!trailers.is_empty()).then_some(trailers)
    }
}

static POLICY_HEADER: HeaderName = HeaderName::from_static("toolwire-on-loss");
const LOSS_HEADER: &str = "toolwire-loss";
