//! What responses cost.

use bytes::Bytes;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderValue};
use toolwire_laws::growth::Growth;

use super::framing::Framing;
use super::head::{Head, may_be_whole};
use super::request::OutgoingRequest;
use crate::growth::Row;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: &["upstream/http1/head.rs::parse"],
        shape: "long header",
        measure: || {
            head(1000, |size| format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "a,".repeat(size)))
        },
    },
    Row {
        names: &["upstream/http1/head.rs::parse"],
        shape: "many headers",
        measure: || {
            head(9, |size| {
                let lines: String = (0..size).map(|n| format!("x-{n}: {n}\r\n")).collect();
                format!("HTTP/1.1 200 OK\r\n{lines}\r\n")
            })
        },
    },
    Row {
        names: &["upstream/http1/head.rs::parse"],
        shape: "many heads before the head",
        measure: || {
            head(60, |size| {
                format!("{}HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Wait\r\n\r\n".repeat(size))
            })
        },
    },
    Row {
        names: &["upstream/http1/head.rs::parse", "upstream/http1/head.rs::lists_token"],
        shape: "long lists",
        measure: || {
            head(500, |size| {
                let (connection, length) = ("a,".repeat(size), "0,".repeat(size));
                let lines = format!("connection: {connection}b\r\ncontent-length: {length}0");
                format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n")
            })
        },
    },
    Row {
        names: &["upstream/http1/head.rs::may_be_whole"],
        shape: "byte by byte",
        measure: || {
            let make = |size| "x: y\r\n".repeat(size);
            Growth::of(200, make, |text: &String| {
                let text = text.as_bytes();
                let whole = (1..text.len()).any(|end| may_be_whole(&text[..end], end - 1));
                assert!(!whole);
            })
        },
    },
    Row {
        names: &[
            "upstream/http1/chunked.rs::next_piece",
            "upstream/http1/chunked.rs::skip_framing",
            "upstream/http1/framing.rs::decode",
        ],
        shape: "tiny chunks",
        measure: || body(1000, |size| format!("{}0\r\n\r\n", "1\r\na\r\n".repeat(size))),
    },
    Row {
        names: &["upstream/http1/chunked.rs::next_piece"],
        shape: "long extension",
        measure: || body(1000, |size| format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(size))),
    },
    Row {
        names: &["upstream/http1/chunked.rs::next_piece"],
        shape: "many trailers",
        measure: || body(9, |size| format!("1\r\na\r\n0\r\n{}\r\n", "x: y\r\n".repeat(size))),
    },
    Row {
        names: &["upstream/http1/request.rs::write_head"],
        shape: "many headers",
        measure: || {
            let make = |size| {
                let mut headers = HeaderMap::new();
                for _ in 0..size {
                    headers.append("x", HeaderValue::from_static("y"));
                }
                headers
            };
            Growth::of(300, make, |headers: &HeaderMap| {
                let (method, target) = (Method::POST, "/".parse().unwrap());
                let request = OutgoingRequest { method, target, headers, body: &Bytes::new() };
                assert!(request.write_head("localhost").len() > headers.len());
            })
        },
    },
];

fn head(size: usize, make: fn(usize) -> String) -> Growth {
    Growth::of(
        size,
        |size| Bytes::from(make(size)),
        |received: &Bytes| assert!(Head::parse(&mut received.clone()).unwrap().is_some()),
    )
}

fn body(size: usize, make: fn(usize) -> String) -> Growth {
    Growth::of(size, make, |body: &String| {
        // One byte at a time, which is the most work.
        let mut framing = Framing::Chunked(super::chunked::ChunkedDecoder::default());
        let mut length = 0;
        for byte in body.as_bytes().chunks(1) {
            let decoded = framing.decode(byte);
            assert!(!decoded.is_malformed && decoded.rest.is_empty());
            length += decoded.piece.len();
        }
        assert!(framing.is_complete() && length > 0);
    })
}
