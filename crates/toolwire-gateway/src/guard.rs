//! Checks every request before it reaches an endpoint.
//!
//! Every web page that a user opens can send requests to a gateway on the
//! loopback address. The checks of the host, the origin and the content type keep
//! pages out. They apply to every request, with or without a key.

use std::net::IpAddr;

use hyper::StatusCode;
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use toolwire::model::{ApiError, ErrorKind};

use crate::config::{Config, Secret};
use crate::relay::Failure;

/// The client's credentials, without the gateway's own key. They may be for an
/// upstream.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    /// A bearer token.
    pub(crate) bearer: Option<Secret>,
    /// An `x-api-key`.
    pub(crate) api_key: Option<Secret>,
    /// Which of the gateway's keys the client has sent.
    pub(crate) key: Option<usize>,
}

/// Who may use a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everyone.
    Public,
    /// Clients with one of the keys, or everyone if there are none.
    Clients,
    /// The operator. The key of a client is not enough.
    Operator,
}

/// Checks a request for a path.
pub(crate) fn check(
    config: &Config,
    parts: &Parts,
    access: Access,
) -> Result<Credentials, Failure> {
    let host = request_host(parts)?;
    if config.listen.ip().to_canonical().is_loopback() && !is_loopback(host.host()) {
        return Err(rejected(
            StatusCode::MISDIRECTED_REQUEST,
            ErrorKind::Permission,
            "This gateway only answers requests for localhost. The request is for another host.",
        ));
    }
    // The origins of the list are those of clients. No page is the operator.
    if access == Access::Operator || allowed_origin(config, &parts.headers).is_none() {
        check_origin(&parts.headers, &host)?;
    }
    let credentials = read_credentials(&parts.headers);
    match access {
        Access::Public => Ok(credentials),
        Access::Clients if config.keys.is_empty() => Ok(credentials),
        Access::Clients => take_gateway_key(config, credentials),
        Access::Operator => check_operator(config, credentials),
    }
}

/// Checks that a request is the operator's. Without any key, the gateway serves
/// this machine only, and whoever uses it is the operator.
fn check_operator(config: &Config, credentials: Credentials) -> Result<Credentials, Failure> {
    let Some(admin_key) = &config.admin_key else {
        if config.keys.is_empty() {
            return Ok(credentials);
        }
        return Err(rejected(
            StatusCode::FORBIDDEN,
            ErrorKind::Permission,
            "This path needs the operator's key. Set `admin_key` in the configuration.",
        ));
    };
    let Credentials { bearer, api_key, key: _ } = &credentials;
    let is_admin_key = |secret: &Secret| {
        bool::from(admin_key.reveal().as_bytes().ct_eq(secret.reveal().as_bytes()))
    };
    if [bearer, api_key].into_iter().flatten().any(is_admin_key) {
        return Ok(Credentials::default());
    }
    Err(rejected(
        StatusCode::UNAUTHORIZED,
        ErrorKind::Auth,
        "This path requires the operator's key. Send it as `Authorization: Bearer` or as \
         `x-api-key`.",
    ))
}

/// The host that the request is for.
fn request_host(parts: &Parts) -> Result<Authority, Failure> {
    let malformed = || {
        rejected(
            StatusCode::BAD_REQUEST,
            ErrorKind::InvalidRequest,
            "The request must name exactly one host.",
        )
    };
    let mut hosts = parts.headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next(), parts.uri.authority()) {
        (_, Some(_), _) => return Err(malformed()),
        (Some(host), None, None) => Authority::try_from(host.as_bytes()).ok(),
        (Some(host), None, Some(authority)) => {
            (host.as_bytes() == authority.as_str().as_bytes()).then(|| authority.clone())
        }
        (None, None, authority) => authority.cloned(),
    };
    // What stands before an `@` is no part of a host.
    host.filter(|host| !host.as_str().contains('@')).ok_or_else(malformed)
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The origin of a web page that the operator allows.
pub(crate) fn allowed_origin<'h>(
    config: &Config,
    headers: &'h HeaderMap,
) -> Option<&'h HeaderValue> {
    if config.origins.is_empty() {
        return None;
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    let (origin, None) = (origins.next()?, origins.next()) else { return None };
    let is_allowed = |allowed: &String| origin.as_bytes().eq_ignore_ascii_case(allowed.as_bytes());
    config.origins.iter().any(is_allowed).then_some(origin)
}

/// Rejects requests from web pages of other origins.
fn check_origin(headers: &HeaderMap, host: &Authority) -> Result<(), Failure> {
    let foreign = || {
        rejected(
            StatusCode::FORBIDDEN,
            ErrorKind::Permission,
            "Requests from web pages of other origins are not allowed.",
        )
    };
    let is_own = |origin: &HeaderValue| {
        let origin = origin.to_str().ok()?;
        let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
        Some(site.eq_ignore_ascii_case(host.as_str()))
    };
    if headers.get_all(ORIGIN).iter().any(|origin| is_own(origin) != Some(true)) {
        return Err(foreign());
    }
    let mut sites = headers.get_all(&SEC_FETCH_SITE).iter().map(HeaderValue::as_bytes);
    if sites.any(|site| site != b"same-origin" && site != b"none") {
        return Err(foreign());
    }
    Ok(())
}

/// Rejects a body of another type than those that a path takes. A page can send
/// forms and plain text to other sites without a CORS preflight, but not JSON.
pub(crate) fn check_media_type(headers: &HeaderMap, allowed: &[&str]) -> Result<(), Failure> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let value = match (types.next(), types.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        (_, _) => "",
    };
    let is_allowed = |one: &str| allowed.iter().any(|allowed| one.eq_ignore_ascii_case(allowed));
    let media_type = || value.split(';').next().unwrap_or_default().trim();
    if is_allowed(value) || is_allowed(media_type()) {
        return Ok(());
    }
    Err(rejected(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorKind::InvalidRequest,
        &format!("The content-type must be {}.", allowed.join(" or ")),
    ))
}

fn read_credentials(headers: &HeaderMap) -> Credentials {
    let text = |value| HeaderValue::to_str(value).ok();
    let bearer = headers.get(AUTHORIZATION).and_then(text).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
            .then(|| Secret::new(token.to_owned()))
    });
    let api_key = headers.get(&X_API_KEY).and_then(text).filter(|key| !key.is_empty());
    let api_key = api_key.map(|key| Secret::new(key.to_owned()));
    Credentials { bearer, api_key, key: None }
}

/// Checks that the credentials hold a key of the gateway, and removes it. The
/// error is the same for every wrong key.
fn take_gateway_key(config: &Config, credentials: Credentials) -> Result<Credentials, Failure> {
    let Credentials { bearer, api_key, key: _ } = credentials;
    let matches =
        |secret: &Option<Secret>| secret.as_ref().and_then(|secret| find_key(config, secret));
    let (bearer_key, api_key_key) = (matches(&bearer), matches(&api_key));
    let Some(key) = bearer_key.or(api_key_key) else {
        return Err(rejected(
            StatusCode::UNAUTHORIZED,
            ErrorKind::Auth,
            "This gateway requires a key. Send it as `Authorization: Bearer` or as `x-api-key`.",
        ));
    };
    Ok(Credentials {
        bearer: bearer.filter(|_| bearer_key.is_none()),
        api_key: api_key.filter(|_| api_key_key.is_none()),
        key: Some(key),
    })
}

/// Compares with every key. The time this takes reveals nothing about a key but
/// its length.
fn find_key(config: &Config, secret: &Secret) -> Option<usize> {
    let secret = secret.reveal().as_bytes();
    let (mut found, mut place) = (Choice::from(0), 0u64);
    for (index, key) in (0u64..).zip(&config.keys) {
        let matches = key.reveal().as_bytes().ct_eq(secret);
        place.conditional_assign(&index, matches);
        found |= matches;
    }
    bool::from(found).then_some(usize::try_from(place).ok()).flatten()
}

fn rejected(status: StatusCode, kind: ErrorKind, message: &str) -> Failure {
    Failure::with_status(status.as_u16(), ApiError::new(kind, message))
}

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
