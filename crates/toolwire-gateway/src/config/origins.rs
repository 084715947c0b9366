//! The web pages that may use the gateway.

use super::fields::{Value, refuse, setting};
use super::problem::Problem;

/// Reads `origins`, in a file that sets `keys` or does not.
pub(super) fn read(
    value: Value<'_, '_>,
    has_keys: bool,
    problems: &mut Vec<Problem>,
) -> Vec<String> {
    let Some(list) = setting("origins", problems).list(value) else { return Vec::new() };
    let mut origins = Vec::new();
    for value in list {
        let Some(text) = setting("origins", problems).text(value) else { continue };
        if is_origin(text) {
            origins.push(text.to_ascii_lowercase());
            continue;
        }
        refuse::<()>(
            problems,
            value.span(),
            "invalid value for `origins`",
            "expected the origin of a web page",
            "write it as the browser does, without a path: \"https://app.example.com\"; there is no \"*\"",
        );
    }
    if !has_keys && !origins.is_empty() {
        refuse::<()>(
            problems,
            value.span(),
            "web pages could use the gateway without a key",
            "these pages need a key",
            "add keys = [{ env = \"TOOLWIRE_KEY\" }] for the pages to send",
        );
    }
    origins
}

fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    let is_host = host.parse::<http::uri::Authority>().is_ok_and(|host| !host.host().is_empty());
    is_web && is_host && !host.contains(['*', '@', '/'])
}
