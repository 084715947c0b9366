//! An upstream's `base_url`.

use std::net::IpAddr;

use super::Origin;

/// Why a URL is not accepted, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InvalidUrl {
    pub(super) label: String,
    pub(super) help: String,
}

/// Reads `base_url`. Plain `http` would send the key unencrypted, so it is only
/// allowed to this machine, unless `insecure` is set.
pub(super) fn origin(url: &str, insecure: bool) -> Result<Origin, InvalidUrl> {
    let invalid = |label: &str, help: String| InvalidUrl { label: label.to_owned(), help };
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(invalid(
            "no scheme",
            format!("write \"https://{}\"", url.trim_start_matches('/')),
        ));
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "https" && scheme != "http" {
        return Err(invalid("neither http nor https", "use an https URL".to_owned()));
    }
    if rest.contains(['?', '#']) {
        return Err(invalid(
            "contains a query or a fragment",
            "remove everything from `?` or `#` on; a version or the like belongs in `headers`"
                .to_owned(),
        ));
    }
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    if authority.contains('@') {
        return Err(invalid(
            "contains a user name or password",
            "set the key as `key = { env = \"…\" }`".to_owned(),
        ));
    }
    let authority = authority.to_ascii_lowercase();
    let Ok(parsed) = authority.parse::<http::uri::Authority>() else {
        return Err(invalid(
            "invalid host name",
            "for example \"https://api.example.com\"".to_owned(),
        ));
    };
    let host = parsed.host();
    if host.is_empty() || (authority.ends_with(':') || has_invalid_port(&parsed)) {
        return Err(invalid(
            "missing host or invalid port",
            "for example \"http://127.0.0.1:8000\"".to_owned(),
        ));
    }
    if scheme == "http" && !insecure && !is_loopback(host) {
        return Err(invalid(
            "the key would be sent unencrypted",
            format!(
                "write \"https://{authority}{path}\", or add `insecure = true` if the network is private"
            ),
        ));
    }
    let path = path.trim_end_matches('/');
    if let Some(end) = ENDPOINTS.iter().find(|end| path.ends_with(*end)) {
        let base = path.trim_end_matches(end);
        return Err(invalid(
            "an endpoint, not a base URL",
            format!("write \"{scheme}://{authority}{base}\""),
        ));
    }
    Ok(Origin::Http { base: format!("{scheme}://{authority}"), path: with_version(path) })
}

/// The path with its version. A path that contains a version (`/v1`,
/// `/v1beta/openai`, `/api/paas/v4`) is kept; any other gets `/v1`.
fn with_version(path: &str) -> String {
    let is_version = |step: &str| {
        step.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if path.split('/').any(is_version) { path.to_owned() } else { format!("{path}/v1") }
}

/// Whether a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost"
        || bare.ends_with(".localhost")
        || bare.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback())
}

fn has_invalid_port(authority: &http::uri::Authority) -> bool {
    let after_host = authority.as_str().len() > authority.host().len();
    after_host && authority.port_u16().is_none_or(|port| port == 0)
}

const ENDPOINTS: [&str; 3] = ["/chat/completions", "/responses", "/messages"];
