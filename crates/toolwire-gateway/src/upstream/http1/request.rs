//! A request as it is written.

use std::io::Write;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, TRANSFER_ENCODING};
use hyper::http::uri::PathAndQuery;

use super::head::lists_token;

/// A request whose body is all here.
pub(in crate::upstream) struct OutgoingRequest<'r> {
    pub(in crate::upstream) method: Method,
    pub(in crate::upstream) target: PathAndQuery,
    pub(in crate::upstream) headers: &'r HeaderMap,
    pub(in crate::upstream) body: &'r Bytes,
}

impl OutgoingRequest<'_> {
    /// The head. How long the body is follows from the body, whatever the
    /// headers say.
    pub(super) fn write_head(&self, host: &str) -> Vec<u8> {
        let Self { method, target, headers, body } = self;
        let length = target.as_str().len() + headers.len() * USUAL_HEADER + REST_OF_HEAD;
        let mut head = Vec::with_capacity(length);
        for part in [method.as_str(), " ", target.as_str(), " HTTP/1.1\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
        let mut has_host = false;
        for (name, value) in *headers {
            if name == CONTENT_LENGTH || name == TRANSFER_ENCODING {
                continue;
            }
            has_host |= name == HOST;
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        if !has_host {
            for part in ["host: ", host, "\r\n"] {
                head.extend_from_slice(part.as_bytes());
            }
        }
        if !body.is_empty() || *method == Method::POST {
            // Nothing that is written to a vector can fail.
            let _ = write!(head, "content-length: {}\r\n", body.len());
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// Whether the connection is not for another request.
    pub(super) fn asks_to_close(&self) -> bool {
        self.headers.get_all(CONNECTION).iter().any(|value| lists_token(value, "close"))
    }
}

/// About how long a line is.
const USUAL_HEADER: usize = 48;

/// About how long the method, the version, the host and the length are together.
const REST_OF_HEAD: usize = 96;
