//! The model that is built in: it needs no network and no key.

use toolwire::Protocol;

/// What the demo model sends back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body, in the pieces in which it is sent.
    pub chunks: Vec<Vec<u8>>,
}

/// Answers a request that is written in `protocol`.
pub fn answer(protocol: Protocol, body: &[u8]) -> Answer {
    let _ = (protocol, body);
    Answer {
        status: 501,
        content_type: "application/json",
        chunks: vec![
            br#"{"error":{"message":"The demo model is not built in.","type":"server_error"}}"#
                .to_vec(),
        ],
    }
}
