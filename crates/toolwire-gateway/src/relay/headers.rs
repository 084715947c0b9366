//! Headers, both ways. Those toward an upstream are built, never copied as they
//! came; those toward a client are picked from a list.

mod limits;
mod vendor;

use std::time::Duration;

use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, USER_AGENT,
};
use toolwire::model::{ApiError, ErrorKind};
use toolwire::{Entry, Policy, Protocol, translate};

use super::{Failure, Visit};
use crate::config::{self, Credential, Secret};
use crate::guard::Badge;
use crate::upstream::Upstream;

/// The headers of a request to an upstream. `body` is what it will get.
pub(super) fn outbound(
    visit: &Visit<'_>,
    upstream: &Upstream,
    stream: bool,
    body: &[u8],
) -> Result<HeaderMap, Failure> {
    let to = upstream.config.protocol;
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accept = if stream { "text/event-stream" } else { "application/json" };
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    if let Ok(id) = HeaderValue::from_str(&visit.access.id) {
        headers.insert("x-request-id", id.clone());
        if to != Protocol::Messages {
            headers.insert("x-client-request-id", id);
        }
    }
    let came = &visit.head.headers;
    for name in ALWAYS {
        copy(came, name, &mut headers);
    }
    if same_family(visit.client, to) {
        for name in FAMILY_UP {
            copy(came, name, &mut headers);
        }
        for (name, value) in came {
            if name.as_str().starts_with("x-codex-") {
                headers.append(name, value.clone());
            }
        }
    }
    if to == Protocol::Messages {
        if visit.client == Protocol::Messages {
            copy(came, "anthropic-version", &mut headers);
        }
        headers.entry("anthropic-version").or_insert(HeaderValue::from_static(VERSION));
    }
    vendor::carry(came, to, &upstream.config.credential, &mut headers);
    vendor::derive(visit.client, &upstream.config.profile, body, &mut headers);
    show(&upstream.config.credential, visit, upstream, &mut headers)?;
    for (name, value) in &upstream.config.headers {
        if vendor::merge(name, value.reveal(), &mut headers).is_some() {
            continue;
        }
        let name = HeaderName::try_from(name.as_str());
        let (Ok(name), Ok(value)) = (name, secret(value)) else {
            return Err(misconfigured(upstream, "one of its configured headers is malformed"));
        };
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Adds to the ledger of a request what its headers say that the upstream does
/// not get, or refuses the request for it.
pub(super) fn account(
    visit: &Visit<'_>,
    upstream: &Upstream,
    policy: Policy,
    ledger: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let config::Upstream { protocol, credential, .. } = &upstream.config;
    let lost = vendor::lost(&visit.head.headers, *protocol, credential);
    match policy {
        Policy::Ignore => {}
        Policy::Refuse if lost.iter().any(Entry::is_loss) => {
            let entries = lost.into_iter().filter(Entry::is_loss).collect();
            return Err(Failure::of_request(&translate::Error::Refused { entries }));
        }
        Policy::Report | Policy::Refuse => ledger.extend(lost),
    }
    Ok(())
}

/// Shows the upstream the credential that it knows us by.
fn show(
    credential: &Credential,
    visit: &Visit<'_>,
    upstream: &Upstream,
    headers: &mut HeaderMap,
) -> Result<(), Failure> {
    let to = upstream.config.protocol;
    let broken = |_| misconfigured(upstream, "its credential cannot be sent in a header");
    match credential {
        Credential::None => Ok(()),
        Credential::Key(key) if to == Protocol::Messages && !is_oauth(key) => {
            headers.insert("x-api-key", secret(key).map_err(broken)?);
            Ok(())
        }
        Credential::Key(key) => {
            headers.insert(AUTHORIZATION, bearer(key).map_err(broken)?);
            Ok(())
        }
        Credential::Client => {
            let Badge { bearer: token, key } = visit.badge;
            let shown = match (to, key, token) {
                (Protocol::Messages, Some(key), _) => Some(("x-api-key", secret(key))),
                (Protocol::Messages, None, Some(token)) if is_api_key(token) => {
                    Some(("x-api-key", secret(token)))
                }
                (Protocol::Chat | Protocol::Responses, Some(key), None) => {
                    Some(("authorization", bearer(key)))
                }
                (_, _, Some(token)) => Some(("authorization", bearer(token))),
                (_, None, None) => None,
            };
            let Some((name, Ok(value))) = shown else { return Err(no_credential(upstream)) };
            headers.insert(name, value);
            Ok(())
        }
    }
}

/// The headers of an upstream's answer that are for the client.
pub(super) fn inbound(from: Protocol, to: Protocol, came: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    for name in ALWAYS_DOWN {
        copy(came, name, &mut headers);
    }
    for name in ["x-request-id", "request-id"] {
        if let Some(id) = came.get(name) {
            headers.insert("toolwire-upstream-request-id", id.clone());
        }
    }
    if same_family(from, to) {
        for (name, value) in came {
            if FAMILY_DOWN.iter().any(|start| name.as_str().starts_with(start)) {
                headers.append(name, value.clone());
            }
        }
    } else {
        limits::convert(from, came, &mut headers);
    }
    headers
}

/// Puts the request's id where the client's SDK looks for it.
pub(super) fn identify(client: Protocol, id: &str, headers: &mut HeaderMap) {
    let name = match client {
        Protocol::Chat | Protocol::Responses => "x-request-id",
        Protocol::Messages => "request-id",
    };
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(name, id);
    }
}

/// Says what the upstream calls the model, where the answer calls it by the
/// client's name. What no header can hold is not said.
pub(super) fn renamed(model: Option<&str>, headers: &mut HeaderMap) {
    let model = model.filter(|model| !model.is_empty());
    if let Some(Ok(model)) = model.map(|model| HeaderValue::from_bytes(model.as_bytes())) {
        headers.insert("toolwire-model", model);
    }
}

/// How long the upstream asks to wait.
pub(super) fn pause(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| {
        let value: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        (value.is_finite() && (0.0..1e9).contains(&value)).then_some(value)
    };
    let told = number("retry-after-ms")
        .map(|millis| Duration::from_secs_f64(millis / 1000.0))
        .or_else(|| number(RETRY_AFTER.as_str()).map(Duration::from_secs_f64));
    told.or_else(|| limits::reset(headers))
}

/// An id of our own.
pub(crate) fn request_id() -> String {
    let mut bytes = [0; 12];
    // Without a source of randomness ids repeat, which is better than to serve
    // nobody.
    let _ = getrandom::fill(&mut bytes);
    let mut id = String::with_capacity(28);
    id.push_str("req_");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            id.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    id
}

fn copy(from: &HeaderMap, name: &'static str, to: &mut HeaderMap) {
    for value in from.get_all(name) {
        to.append(name, value.clone());
    }
}

fn same_family(one: Protocol, other: Protocol) -> bool {
    (one == Protocol::Messages) == (other == Protocol::Messages)
}

fn secret(secret: &Secret) -> Result<HeaderValue, hyper::header::InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(secret.reveal())?;
    value.set_sensitive(true);
    Ok(value)
}

fn bearer(token: &Secret) -> Result<HeaderValue, hyper::header::InvalidHeaderValue> {
    secret(&Secret::new(format!("Bearer {}", token.reveal())))
}

/// Anthropic's OAuth tokens go out as bearer tokens, its keys do not.
fn is_oauth(key: &Secret) -> bool {
    key.reveal().starts_with("sk-ant-oat")
}

fn is_api_key(token: &Secret) -> bool {
    token.reveal().starts_with("sk-ant-") && !is_oauth(token)
}

fn misconfigured(upstream: &Upstream, why: &str) -> Failure {
    let message = format!("The upstream {} is misconfigured: {why}.", upstream.config.name);
    Failure::with_status(500, ApiError::new(ErrorKind::Server, message))
}

fn no_credential(upstream: &Upstream) -> Failure {
    let message = format!(
        "The upstream {} takes the client's own credential, and the request shows none.",
        upstream.config.name
    );
    Failure::of(ApiError::new(ErrorKind::Auth, message))
}

const AGENT: &str = concat!("toolwire/", env!("CARGO_PKG_VERSION"));

/// What is sent to Messages where the client says nothing: the version that
/// every model and every cloud takes.
const VERSION: &str = "2023-06-01";

/// What goes up whoever is there.
const ALWAYS: &[&str] = &["traceparent", "tracestate"];

/// What goes up where the client speaks the upstream's vendor.
const FAMILY_UP: &[&str] = &["idempotency-key"];

/// What comes down whoever asked.
const ALWAYS_DOWN: &[&str] = &["retry-after", "retry-after-ms", "x-should-retry"];

/// What comes down where the client speaks the upstream's vendor.
const FAMILY_DOWN: &[&str] = &[
    "openai-",
    "x-reasoning-included",
    "x-codex-",
    "x-ratelimit-",
    "anthropic-ratelimit-",
    "anthropic-organization-id",
    "anthropic-workspace-id",
];

#[cfg(test)]
mod tests;
