//! Headers in both directions. Those for an upstream are built, never copied
//! wholesale; those for a client are picked from a list.

mod limits;
mod vendor;

use std::time::Duration;

use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, USER_AGENT,
};
use toolwire::model::{ApiError, ErrorKind};
use toolwire::{Entry, Policy, Protocol, translate};

use super::{Failure, RequestContext};
use crate::config::{self, Credential, Secret};
use crate::guard::Credentials;
use crate::upstream::Upstream;

/// The headers of a request to an upstream. `body` is the translated body.
pub(super) fn for_upstream(
    context: &RequestContext<'_>,
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
    headers.insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    if let Ok(id) = HeaderValue::from_str(&context.log.id) {
        headers.insert("x-request-id", id.clone());
        if to != Protocol::Messages {
            headers.insert("x-client-request-id", id);
        }
    }
    let client_headers = &context.parts.headers;
    for name in REQUEST_HEADERS {
        copy(client_headers, name, &mut headers);
    }
    if same_family(context.client, to) {
        for name in FAMILY_REQUEST_HEADERS {
            copy(client_headers, name, &mut headers);
        }
        for (name, value) in client_headers {
            if name.as_str().starts_with("x-codex-") {
                headers.append(name, value.clone());
            }
        }
    }
    if to == Protocol::Messages {
        if context.client == Protocol::Messages {
            copy(client_headers, "anthropic-version", &mut headers);
        }
        headers.entry("anthropic-version").or_insert(HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    vendor::copy_supported(client_headers, to, &upstream.config.credential, &mut headers);
    vendor::add_required_betas(context.client, &upstream.config.profile, body, &mut headers);
    add_credential(context, upstream, &mut headers)?;
    for (name, value) in &upstream.config.headers {
        if vendor::append_to_list(name, value.reveal(), &mut headers).is_some() {
            continue;
        }
        let name = HeaderName::try_from(name.as_str());
        let (Ok(name), Ok(value)) = (name, secret_value(value)) else {
            return Err(misconfigured(upstream, "one of its configured headers is malformed"));
        };
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Adds the headers that the upstream does not get to the losses, or refuses the
/// request because of them.
pub(super) fn check_losses(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    policy: Policy,
    losses: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let config::Upstream { protocol, credential, .. } = &upstream.config;
    let lost = vendor::lost(&context.parts.headers, *protocol, credential);
    match policy {
        Policy::Ignore => {}
        Policy::Refuse if lost.iter().any(Entry::is_loss) => {
            let entries = lost.into_iter().filter(Entry::is_loss).collect();
            return Err(Failure::from_translation(&translate::Error::Refused { entries }));
        }
        Policy::Report | Policy::Refuse => losses.extend(lost),
    }
    Ok(())
}

/// Adds the credential that is configured for the upstream.
fn add_credential(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    headers: &mut HeaderMap,
) -> Result<(), Failure> {
    let to = upstream.config.protocol;
    let invalid = |_| misconfigured(upstream, "its credential cannot be sent in a header");
    match &upstream.config.credential {
        Credential::None => Ok(()),
        Credential::Key(key) if to == Protocol::Messages && !is_oauth(key) => {
            headers.insert("x-api-key", secret_value(key).map_err(invalid)?);
            Ok(())
        }
        Credential::Key(key) => {
            headers.insert(AUTHORIZATION, bearer_value(key).map_err(invalid)?);
            Ok(())
        }
        Credential::Client => {
            let Credentials { bearer: token, api_key } = context.credentials;
            let header = match (to, api_key, token) {
                (Protocol::Messages, Some(key), _) => Some(("x-api-key", secret_value(key))),
                (Protocol::Messages, None, Some(token)) if is_api_key(token) => {
                    Some(("x-api-key", secret_value(token)))
                }
                (Protocol::Chat | Protocol::Responses, Some(key), None) => {
                    Some(("authorization", bearer_value(key)))
                }
                (_, _, Some(token)) => Some(("authorization", bearer_value(token))),
                (_, None, None) => None,
            };
            let Some((name, Ok(value))) = header else { return Err(no_credential(upstream)) };
            headers.insert(name, value);
            Ok(())
        }
    }
}

/// The headers of an upstream's response that are for the client.
pub(super) fn for_client(from: Protocol, to: Protocol, upstream_headers: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    for name in RESPONSE_HEADERS {
        copy(upstream_headers, name, &mut headers);
    }
    for name in ["x-request-id", "request-id"] {
        if let Some(id) = upstream_headers.get(name) {
            headers.insert("toolwire-upstream-request-id", id.clone());
        }
    }
    if same_family(from, to) {
        for (name, value) in upstream_headers {
            if FAMILY_RESPONSE_PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix)) {
                headers.append(name, value.clone());
            }
        }
    } else {
        limits::convert(from, upstream_headers, &mut headers);
    }
    headers
}

/// Puts the request's id into the header that the client's SDK reads.
pub(super) fn set_request_id(client: Protocol, id: &str, headers: &mut HeaderMap) {
    let name = match client {
        Protocol::Chat | Protocol::Responses => "x-request-id",
        Protocol::Messages => "request-id",
    };
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(name, id);
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
    let mut bytes = [0; 12];
    // Without a source of randomness ids repeat. That is better than not to serve.
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

fn secret_value(secret: &Secret) -> Result<HeaderValue, hyper::header::InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(secret.reveal())?;
    value.set_sensitive(true);
    Ok(value)
}

fn bearer_value(token: &Secret) -> Result<HeaderValue, hyper::header::InvalidHeaderValue> {
    secret_value(&Secret::new(format!("Bearer {}", token.reveal())))
}

/// Anthropic's OAuth tokens are sent as bearer tokens. Its API keys are not.
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
    Failure::new(ApiError::new(ErrorKind::Auth, message))
}

const USER_AGENT_VALUE: &str = concat!("toolwire/", env!("CARGO_PKG_VERSION"));

/// The version for Messages upstreams if the client sends none. Every model and
/// every cloud accepts it.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Client headers that every upstream gets.
const REQUEST_HEADERS: &[&str] = &["traceparent", "tracestate"];

/// Client headers for upstreams of the same vendor family.
const FAMILY_REQUEST_HEADERS: &[&str] = &["idempotency-key"];

/// Upstream headers that every client gets.
const RESPONSE_HEADERS: &[&str] = &["retry-after", "retry-after-ms", "x-should-retry"];

/// Prefixes of upstream headers for clients of the same vendor family.
const FAMILY_RESPONSE_PREFIXES: &[&str] = &[
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
