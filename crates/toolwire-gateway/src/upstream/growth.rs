//! What compressed bodies cost.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use toolwire_laws::growth::Growth;

use super::{Decoder, UpstreamError};
use crate::growth::Row;

pub(crate) const ROWS: &[Row] = &[
    Row { names: NAMES, shape: "gzip, tiny chunks", measure: || decoding("gzip", 3) },
    Row { names: NAMES, shape: "gzip", measure: || decoding("gzip", 4096) },
    Row { names: NAMES, shape: "zlib", measure: || decoding("deflate", 100) },
    Row { names: NAMES, shape: "zstd, tiny chunks", measure: || decoding("zstd", 3) },
    Row { names: NAMES, shape: "zstd", measure: || decoding("zstd", 4096) },
    Row {
        names: NAMES,
        shape: "many gzip members",
        measure: || {
            let make = |size| compress("gzip", b"data: {}\n\n").repeat(size);
            Growth::of(200, make, |body: &Vec<u8>| decode("gzip", body, 4096))
        },
    },
    Row {
        names: NAMES,
        shape: "many zstd frames",
        measure: || {
            let make = |size| compress("zstd", b"data: {}\n\n").repeat(size);
            Growth::of(200, make, |body: &Vec<u8>| decode("zstd", body, 4096))
        },
    },
    Row {
        names: &["upstream/decode.rs::for_encoding", "upstream/error.rs::to_api_error"],
        shape: "long encoding, long name",
        measure: || {
            Growth::of(
                20_000,
                |size| "a, ".repeat(size),
                |text: &String| {
                    drop(Decoder::for_encoding(text));
                    drop(UpstreamError::Disconnected.to_api_error(text));
                },
            )
        },
    },
];

fn decoding(encoding: &'static str, chunk: usize) -> Growth {
    let make = |size: usize| {
        let text: String = (0..size).map(|n| format!("data: {{\"a\":{}}}\n\n", n * 7919)).collect();
        compress(encoding, text.as_bytes())
    };
    Growth::of(2000, make, |body: &Vec<u8>| decode(encoding, body, chunk))
}

fn decode(encoding: &str, body: &[u8], chunk: usize) {
    let mut decoder = Decoder::for_encoding(encoding).unwrap().unwrap();
    let mut length = 0;
    for piece in body.chunks(chunk) {
        length += decoder.push(piece).unwrap().len();
    }
    assert!(length > 0);
}

fn compress(encoding: &str, text: &[u8]) -> Vec<u8> {
    let level = Compression::fast();
    match encoding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        _zstd => zstd::encode_all(text, 1).unwrap(),
    }
}

const NAMES: &[&str] = &["upstream/decode.rs::push"];
