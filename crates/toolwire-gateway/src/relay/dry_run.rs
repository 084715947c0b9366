//! What would be sent, told to the client instead of sent.

use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use toolwire::Entry;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::wire::{Object, Raw, Write as _};

use super::{ClientResponse, Failure, RequestContext, headers};
use crate::observe::Outcome;
use crate::upstream::Upstream;

/// Whether a client asks for what would be sent.
pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    let value = headers.get(&HEADER).map(HeaderValue::as_bytes);
    value.is_some_and(|value| !matches!(value, b"" | b"0" | b"?0" | b"false"))
}

/// What a client is told that asks for it where nothing is sent to a model.
pub(crate) fn not_here() -> Failure {
    let message = "The header toolwire-dry-run is for requests that go to an upstream.";
    Failure::new(ApiError::new(ErrorKind::InvalidRequest, message))
}

/// A request that is ready to be sent.
pub(super) struct Plan<'p> {
    pub(super) path: &'p str,
    pub(super) headers: &'p HeaderMap,
    /// The body, unless it passes as it is.
    pub(super) body: Option<&'p [u8]>,
}

impl Plan<'_> {
    /// The plan as the answer to a request.
    pub(super) fn respond(
        &self,
        context: &RequestContext<'_>,
        upstream: &Upstream,
        ledger: &[Entry],
    ) -> ClientResponse {
        let mut response_headers = HeaderMap::new();
        headers::set_request_id(context.client, &context.log.id, &mut response_headers);
        response_headers.insert(HEADER.clone(), HeaderValue::from_static("?1"));
        let body = self.write(&context.parts.method, upstream, ledger).into();
        ClientResponse::Whole { headers: response_headers, body, outcome: Outcome::Answered }
    }

    /// The plan as JSON. Whatever is a secret is masked.
    pub(super) fn write(&self, method: &Method, upstream: &Upstream, ledger: &[Entry]) -> Vec<u8> {
        let Self { path, headers, body } = self;
        let mut out = Vec::with_capacity(body.map_or(0, <[u8]>::len) + 1024);
        let mut object = Object::new(&mut out);
        object.put("object", "toolwire.dry_run");
        object.put("upstream", &upstream.config.name);
        object.put("protocol", upstream.config.protocol.as_str());
        object.put("method", method.as_str());
        object.put("url", &upstream.url(path));
        {
            let mut list = object.object("headers");
            for name in headers.keys() {
                let values = headers.get_all(name).iter().map(|value| match value.to_str() {
                    Ok(text) if !value.is_sensitive() => text,
                    Ok(_) | Err(_) => "[secret]",
                });
                list.put(name.as_str(), &values.collect::<Vec<_>>().join(", "));
            }
        }
        let body = body.and_then(|body| std::str::from_utf8(body).ok());
        object.put("body", &body.map(Raw::made));
        {
            let mut list = object.array("ledger");
            for entry in ledger {
                entry.write(list.item());
            }
        }
        drop(object);
        out
    }
}

/// The header that asks for it, and that marks the answer.
static HEADER: HeaderName = HeaderName::from_static("toolwire-dry-run");
