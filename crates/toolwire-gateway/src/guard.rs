//! Who may come in. One layer in front of every endpoint.
//!
//! A gateway on the loopback address can be reached by every web page that its
//! user opens. The checks of the host, the origin and the content type keep
//! pages out; they hold for every request, whatever else it shows.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Method, StatusCode};
use subtle::{Choice, ConstantTimeEq};
use toolwire::model::{ApiError, ErrorKind};

use crate::config::{Config, Secret};
use crate::relay::Failure;

/// What a client showed that was not for the gateway, and may be for an
/// upstream.
#[derive(Debug, Default)]
pub(crate) struct Badge {
    /// A bearer token.
    pub(crate) bearer: Option<Secret>,
    /// An `x-api-key`.
    pub(crate) key: Option<Secret>,
}

/// Lets a request in, or says why not.
pub(crate) fn admit(config: &Config, head: &Parts, open: bool) -> Result<Badge, Failure> {
    let host = host(head)?;
    if config.listen.ip().to_canonical().is_loopback() && !is_loopback(host.host()) {
        return Err(turned_away(
            StatusCode::MISDIRECTED_REQUEST,
            ErrorKind::Permission,
            "This gateway answers to localhost only; the request names another host.",
        ));
    }
    same_site(&head.headers, &host)?;
    if head.method == Method::POST {
        json(&head.headers)?;
    }
    let badge = credentials(&head.headers);
    if open || config.keys.is_empty() { Ok(badge) } else { known(config, badge) }
}

/// The host that the request is for.
fn host(head: &Parts) -> Result<Authority, Failure> {
    let malformed = || {
        turned_away(
            StatusCode::BAD_REQUEST,
            ErrorKind::InvalidRequest,
            "The request must name one host.",
        )
    };
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next(), head.uri.authority()) {
        (_, Some(_), _) => return Err(malformed()),
        (Some(host), None, None) => Authority::try_from(host.as_bytes()).ok(),
        (Some(host), None, Some(named)) => {
            (host.as_bytes() == named.as_str().as_bytes()).then(|| named.clone())
        }
        (None, None, named) => named.cloned(),
    };
    host.ok_or_else(malformed)
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Refuses what a page of another site sends.
fn same_site(headers: &HeaderMap, host: &Authority) -> Result<(), Failure> {
    let foreign = || {
        turned_away(
            StatusCode::FORBIDDEN,
            ErrorKind::Permission,
            "Requests from web pages of other origins are refused.",
        )
    };
    let own = |origin: &HeaderValue| {
        let origin = origin.to_str().ok()?;
        let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
        Some(site.eq_ignore_ascii_case(host.as_str()))
    };
    if headers.get_all(ORIGIN).iter().any(|origin| own(origin) != Some(true)) {
        return Err(foreign());
    }
    let fetched = headers.get_all("sec-fetch-site").iter();
    let mut sites = fetched.map(HeaderValue::as_bytes);
    if sites.any(|site| site != b"same-origin" && site != b"none") {
        return Err(foreign());
    }
    Ok(())
}

/// A page can send forms and plain text to other sites without asking first,
/// but not JSON.
fn json(headers: &HeaderMap) -> Result<(), Failure> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let value = match (types.next(), types.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        (_, _) => "",
    };
    let media = value.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(turned_away(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorKind::InvalidRequest,
        "The content-type must be application/json.",
    ))
}

fn credentials(headers: &HeaderMap) -> Badge {
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let bearer = headers.get(AUTHORIZATION).and_then(text).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
            .then(|| Secret::new(token.to_owned()))
    });
    let key = headers.get("x-api-key").and_then(text).filter(|key| !key.is_empty());
    Badge { bearer, key: key.map(Secret::new) }
}

/// Takes the gateway's own key off the badge. Without one, nobody gets in, and
/// the refusal is the same for every wrong key.
fn known(config: &Config, badge: Badge) -> Result<Badge, Failure> {
    let Badge { bearer, key } = badge;
    let fits = |shown: &Option<Secret>| shown.as_ref().is_some_and(|shown| fits(config, shown));
    let (by_bearer, by_key) = (fits(&bearer), fits(&key));
    if !by_bearer && !by_key {
        return Err(turned_away(
            StatusCode::UNAUTHORIZED,
            ErrorKind::Auth,
            "This gateway needs a key: send it as `Authorization: Bearer` or as `x-api-key`.",
        ));
    }
    Ok(Badge { bearer: bearer.filter(|_| !by_bearer), key: key.filter(|_| !by_key) })
}

/// Compares with every key, in a time that tells nothing about any of them but
/// its length.
fn fits(config: &Config, shown: &Secret) -> bool {
    let shown = shown.reveal().as_bytes();
    let mut found = Choice::from(0);
    for key in &config.keys {
        found |= key.reveal().as_bytes().ct_eq(shown);
    }
    found.into()
}

fn turned_away(status: StatusCode, kind: ErrorKind, message: &str) -> Failure {
    Failure::with_status(status.as_u16(), ApiError::new(kind, message))
}
