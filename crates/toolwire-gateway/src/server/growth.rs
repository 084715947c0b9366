//! What the framing of a request costs.

use toolwire_laws::growth::Growth;

use super::request_framing::RequestFraming;
use crate::growth::Row;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: NAMES,
        shape: "many headers",
        measure: || framing(|size| format!("POST / HTTP/1.1\r\n{}", "a: b\r\n".repeat(size))),
    },
    Row {
        names: NAMES,
        shape: "long cookie",
        measure: || framing(|size| format!("GET / HTTP/1.1\r\ncookie: {}", "a=b; ".repeat(size))),
    },
    Row {
        names: NAMES,
        shape: "many small chunks",
        measure: || framing(|size| format!("{CHUNKED}{}", "1\r\na\r\n".repeat(size))),
    },
    Row {
        names: NAMES,
        shape: "many extensions and trailers",
        measure: || {
            framing(|size| {
                let extensions = "1;a=b;c=d\r\na\r\n".repeat(size);
                format!("{CHUNKED}{extensions}0\r\n{}\r\n", "a: b\r\n".repeat(size))
            })
        },
    },
    Row {
        names: NAMES,
        shape: "long extension",
        measure: || framing(|size| format!("{CHUNKED}1;{}\r\na\r\n", "a=b;".repeat(size))),
    },
    Row { names: NAMES, shape: "empty lines", measure: || framing(|size| "\r\n".repeat(size)) },
    Row {
        names: NAMES,
        shape: "many requests",
        measure: || framing(|size| "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(size)),
    },
];

/// Reads requests, at once and byte for byte.
fn framing(make: fn(usize) -> String) -> Growth {
    Growth::of(500, make, |text: &String| {
        for piece in [usize::MAX, 1] {
            let mut framing = RequestFraming::new();
            for chunk in text.as_bytes().chunks(piece) {
                let mut rest = chunk;
                while !rest.is_empty() {
                    if framing.is_complete() {
                        framing.next_request();
                    }
                    let Ok(count) = framing.read(rest) else { return };
                    rest = &rest[count..];
                }
            }
        }
    })
}

const NAMES: &[&str] = &["server/request_framing.rs::read"];
const CHUNKED: &str = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
