//! Headers in both directions. Those for an upstream are built, never copied
//! wholesale; those for a client are picked from a list.

mod limits;
mod response_values;
mod vendor;
mod vendor_names;

use std::sync::OnceLock;
use std::time::Duration;

use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    InvalidHeaderValue, RETRY_AFTER, USER_AGENT,
};
use toolwire::model::{ApiError, ErrorKind};
use toolwire::protocol::Auth;
use toolwire::{Entry, LossPolicy, Protocol, translate};

use self::vendor_names::VendorNames;
use super::{Failure, RequestContext};
use crate::config::{self, Credential, Secret};
use crate::guard::Credentials;
use crate::random;
use crate::upstream::Upstream;

/// The headers of a request to an upstream, which must switch on the features
/// that the translated body needs.
pub(super) fn for_upstream(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    stream: bool,
    required_features: &[&str],
) -> Result<HeaderMap, Failure> {
    let to = upstream.config.protocol;
    let vendor = to.describe().vendor;
    let names = VendorNames::of(vendor);
    let same_vendor = context.client.same_vendor(to);
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accept = if stream { "text/event-stream" } else { "application/json" };
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    if let Ok(id) = HeaderValue::from_str(&context.log.id) {
        headers.insert(X_REQUEST_ID.clone(), id.clone());
        if let Some(name) = names.client_request_id.clone() {
            headers.insert(name, id);
        }
    }
    let is_copied = |name: &HeaderName| {
        let is_version = || names.version.as_ref().is_some_and(|(version, _)| version == name);
        REQUEST_HEADERS.contains(name)
            || vendor::is_supported(name, &names, &upstream.config.credential)
            || (same_vendor && (is_version() || is_listed(name, vendor.request_headers)))
    };
    copy(&context.parts.headers, is_copied, &mut headers);
    if let Some((name, default)) = &names.version {
        headers.entry(name).or_insert_with(|| default.clone());
    }
    for feature in required_features {
        vendor::append_to_list(vendor.feature_header, feature, &mut headers);
    }
    add_credential(context, upstream, &mut headers)?;
    for (name, value) in &upstream.config.headers {
        if vendor::append_to_list(name, value.reveal(), &mut headers).is_some() {
            continue;
        }
        let name = HeaderName::try_from(name.as_str());
        let (Ok(name), Ok(value)) = (name, secret_value(value)) else {
            return Err(misconfigured(upstream, "one of its `headers` is not a valid HTTP header"));
        };
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The headers of a request that the gateway makes for itself. `None` if the
/// configured ones cannot be sent.
pub(crate) fn own(upstream: &Upstream) -> Option<HeaderMap> {
    let vendor = upstream.config.protocol.describe().vendor;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    if let Some((name, default)) = vendor.version {
        headers.insert(name, HeaderValue::from_static(default));
    }
    if let Credential::Key(key) = &upstream.config.credential {
        let (name, value) = key_header(upstream, key);
        headers.insert(name, value.ok()?);
    }
    for (name, value) in &upstream.config.headers {
        let name = HeaderName::try_from(name.as_str()).ok()?;
        headers.insert(name, secret_value(value).ok()?);
    }
    Some(headers)
}

/// Adds the headers that the upstream does not get to the losses, or refuses the
/// request because of them.
pub(super) fn check_losses(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    policy: LossPolicy,
    losses: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let config::UpstreamConfig { protocol, credential, .. } = &upstream.config;
    let lost = vendor::lost(&context.parts.headers, protocol.describe().vendor, credential);
    match policy {
        LossPolicy::Ignore => {}
        LossPolicy::Refuse if lost.iter().any(Entry::is_loss) => {
            let entries = lost.into_iter().filter(Entry::is_loss).collect();
            return Err(Failure::from_translation(&translate::Error::Refused { entries }));
        }
        LossPolicy::Report | LossPolicy::Refuse => losses.extend(lost),
    }
    Ok(())
}

/// Adds the credential that is configured for the upstream.
fn add_credential(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    headers: &mut HeaderMap,
) -> Result<(), Failure> {
    let auth = &upstream.config.protocol.describe().vendor.auth;
    let invalid = || misconfigured(upstream, "its credential cannot be sent in a header");
    match &upstream.config.credential {
        Credential::None => Ok(()),
        Credential::Key(key) => {
            let made = upstream.key_header.get_or_init(|| {
                let (name, value) = key_header(upstream, key);
                value.ok().map(|value| (name, value))
            });
            let (name, value) = made.as_ref().ok_or_else(invalid)?;
            headers.insert(name, value.clone());
            Ok(())
        }
        Credential::Client => {
            let Credentials { bearer: token, api_key, key: _ } = context.credentials;
            let header = match (auth, api_key, token) {
                (Auth::KeyHeader { header, .. }, Some(key), _) => {
                    Some((*header, secret_value(key)))
                }
                (Auth::KeyHeader { header, key_prefix, token_prefix }, None, Some(token))
                    if starts(token, key_prefix) && !starts(token, token_prefix) =>
                {
                    Some((*header, secret_value(token)))
                }
                (Auth::Bearer, Some(key), None) => Some((BEARER, bearer_value(key))),
                (_, _, Some(token)) => Some((BEARER, bearer_value(token))),
                (_, None, None) => None,
            };
            let Some((name, Ok(value))) = header else { return Err(no_credential(upstream)) };
            headers.insert(name, value);
            Ok(())
        }
    }
}

/// The header that shows an upstream's key, if it can be sent in one. To make it
/// takes as long as all other headers together, so it is made once.
pub(crate) type KeyHeader = OnceLock<Option<(HeaderName, HeaderValue)>>;

/// The header that shows the operator's key.
fn key_header(
    upstream: &Upstream,
    key: &Secret,
) -> (HeaderName, Result<HeaderValue, InvalidHeaderValue>) {
    let own = upstream.config.key_header.as_deref().and_then(|name| name.parse().ok());
    match (own, &upstream.config.protocol.describe().vendor.auth) {
        (Some(name), _) => (name, secret_value(key)),
        (None, Auth::KeyHeader { header, token_prefix, .. }) if !starts(key, token_prefix) => {
            (HeaderName::from_static(header), secret_value(key))
        }
        (None, Auth::KeyHeader { .. } | Auth::Bearer) => (AUTHORIZATION, bearer_value(key)),
    }
}

/// The headers of an upstream's response that are for the client: those of a
/// list, with values as they should be, and none that holds a secret.
pub(super) fn for_client(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    upstream_headers: &HeaderMap,
) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    let [from, to] =
        [upstream.config.protocol, context.client].map(|protocol| protocol.describe().vendor);
    let is_copied = |name: &HeaderName| {
        RESPONSE_HEADERS.contains(name) || (from == to && is_listed(name, to.response_headers))
    };
    copy(upstream_headers, is_copied, &mut headers);
    for name in [&X_REQUEST_ID, &REQUEST_ID] {
        if let Some(id) = upstream_headers.get(name) {
            headers.insert(UPSTREAM_REQUEST_ID.clone(), id.clone());
        }
    }
    if from != to {
        limits::convert(&from.rate_limits, &to.rate_limits, upstream_headers, &mut headers);
    }
    response_values::remove_invalid(&mut headers);
    context.remove_secrets(&mut headers);
    headers
}

/// Puts the request's id into the header that the client's SDK reads.
pub(crate) fn set_request_id(client: Protocol, id: &str, headers: &mut HeaderMap) {
    let names = VendorNames::of(client.describe().vendor);
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(names.request_id.clone(), id);
    }
}

/// Adds the upstream's name of the model, for a response that uses the client's
/// name. A name that no header can hold is left out.
pub(super) fn set_upstream_model(model: Option<&str>, headers: &mut HeaderMap) {
    let model = model.filter(|model| !model.is_empty());
    if let Some(Ok(model)) = model.map(|model| HeaderValue::from_bytes(model.as_bytes())) {
        headers.insert("toolwire-model", model);
    }
}

/// Says that calls were read from the model's text, and in which dialect.
pub(super) fn set_recovered(dialect: Option<&'static str>, headers: &mut HeaderMap) {
    if let Some(dialect) = dialect {
        headers.insert("toolwire-recovered", HeaderValue::from_static(dialect));
    }
}

/// How long the upstream asks to wait.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| {
        let value: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        (value.is_finite() && (0.0..1e9).contains(&value)).then_some(value)
    };
    let explicit = number("retry-after-ms")
        .map(|millis| Duration::from_secs_f64(millis / 1000.0))
        .or_else(|| number(RETRY_AFTER.as_str()).map(Duration::from_secs_f64));
    explicit.or_else(|| limits::reset(headers))
}

/// A new request id.
pub(crate) fn request_id() -> String {
    let bytes = random::bytes::<12>();
    let digit = |value: u8| value + if value < 10 { b'0' } else { b'a' - 10 };
    let mut digits = [0; 24];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    let mut id = String::with_capacity(28);
    id.push_str("req_");
    id.push_str(std::str::from_utf8(&digits).unwrap_or_default());
    id
}

/// Copies headers. To go through all of them once takes less than to look up each
/// that may be there.
fn copy(from: &HeaderMap, is_copied: impl Fn(&HeaderName) -> bool, to: &mut HeaderMap) {
    for (name, value) in from.iter().filter(|(name, _)| is_copied(name)) {
        to.append(name, value.clone());
    }
}

/// Whether a list has a header. A name that ends in `-` is a prefix.
fn is_listed(name: &HeaderName, list: &[&str]) -> bool {
    // Both are in lower case.
    let text = name.as_str();
    list.iter().any(|entry| match entry.ends_with('-') {
        true => text.starts_with(entry),
        false => text == *entry,
    })
}

fn secret_value(secret: &Secret) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(secret.reveal())?;
    value.set_sensitive(true);
    Ok(value)
}

fn bearer_value(token: &Secret) -> Result<HeaderValue, InvalidHeaderValue> {
    secret_value(&Secret::new(format!("Bearer {}", token.reveal())))
}

fn starts(secret: &Secret, prefix: &str) -> bool {
    secret.reveal().starts_with(prefix)
}

fn misconfigured(upstream: &Upstream, why: &str) -> Failure {
    let message = format!("The upstream {} is misconfigured: {why}.", upstream.config.name);
    Failure::with_status(500, ApiError::new(ErrorKind::Server, message))
}

fn no_credential(upstream: &Upstream) -> Failure {
    let message = format!(
        "The upstream {} uses the client's own credential, but the request has none.",
        upstream.config.name
    );
    Failure::new(ApiError::new(ErrorKind::Auth, message))
}

/// Whether the client is Codex, which understands some errors only at the end of a stream.
/// SDKs have an exception for each HTTP status, and none for the end of a stream.
pub(super) fn is_codex(headers: &HeaderMap) -> bool {
    let named = [headers.get(ORIGINATOR), headers.get(USER_AGENT.as_str())];
    let mut beginnings = named.into_iter().flatten().filter_map(|name| name.as_bytes().get(..5));
    beginnings.any(|beginning| beginning.eq_ignore_ascii_case(b"codex"))
}

/// The header in which Codex names itself.
const ORIGINATOR: &str = "originator";

const USER_AGENT_VALUE: &str = concat!("toolwire/", env!("CARGO_PKG_VERSION"));

/// Client headers that every upstream gets.
static REQUEST_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("traceparent"), HeaderName::from_static("tracestate")];

/// Upstream headers that every client gets.
static RESPONSE_HEADERS: [HeaderName; 3] = [
    RETRY_AFTER,
    HeaderName::from_static("retry-after-ms"),
    HeaderName::from_static("x-should-retry"),
];

/// The upstream's own id of the request, beside the gateway's.
static UPSTREAM_REQUEST_ID: HeaderName = HeaderName::from_static("toolwire-upstream-request-id");

static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
static REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

const BEARER: &str = "authorization";

#[cfg(test)]
mod tests;
