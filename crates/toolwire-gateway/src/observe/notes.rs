//! Who asked, and what went wrong on the way, for the log.

use std::fmt::Write as _;
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderName};
use toolwire::wire::Object;

use super::{Reason, line};
use crate::config::SecretSource;
use crate::upstream::Upstream;

/// What a line says besides the request itself.
#[derive(Default)]
pub(super) struct Notes {
    /// The gateway's key that the client has sent.
    pub(super) key: Option<Arc<SecretSource>>,
    /// The client's own id of the request.
    pub(super) client_request_id: Option<String>,
    /// The attempts that failed, and why.
    pub(super) failed: Vec<(Arc<Upstream>, Reason)>,
    /// Why the client got an error.
    pub(super) reason: Option<Reason>,
}

impl Notes {
    pub(super) fn write_text(&self, text: &mut String) {
        let Self { key, client_request_id, failed, reason } = self;
        if let Some(key) = key {
            text.push_str(" key=");
            line::write_escaped(&key.name, text);
        }
        if let Some(id) = client_request_id {
            text.push_str(" client_request_id=");
            line::write_escaped(id, text);
        }
        for (index, (upstream, reason)) in failed.iter().take(MOST).enumerate() {
            text.push_str(if index == 0 { " failed=" } else { "," });
            let _ = write!(text, "{}:{reason}", upstream.config.name);
        }
        if let Some(reason) = reason {
            let _ = write!(text, " reason={reason}");
        }
    }

    pub(super) fn write_json(&self, object: &mut Object<'_>) {
        let Self { key, client_request_id, failed, reason } = self;
        object.maybe("key", key.as_ref().map(|key| key.name.as_str()));
        object.maybe("client_request_id", client_request_id.as_ref());
        if !failed.is_empty() {
            let mut list = object.array("failed");
            for (upstream, reason) in failed.iter().take(MOST) {
                let mut attempt = list.object();
                attempt.put("upstream", &upstream.config.name);
                attempt.put("reason", &reason.to_string());
            }
        }
        object.maybe("reason", reason.map(|reason| reason.to_string()).as_ref());
    }
}

/// The client's own id of a request, if it is one.
pub(crate) fn client_request_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get(&X_REQUEST_ID)?.to_str().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
    (!id.is_empty() && id.len() <= MAX_ID && id.bytes().all(is_plain)).then_some(id)
}

/// The header that gives a client its own id back, beside the gateway's.
pub(crate) static CLIENT_REQUEST_ID: HeaderName =
    HeaderName::from_static("toolwire-client-request-id");

static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id, in bytes.
const MAX_ID: usize = 128;

/// How many failed attempts are listed.
const MOST: usize = 8;
