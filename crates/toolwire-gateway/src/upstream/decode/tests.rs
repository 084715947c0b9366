use std::io::Write as _;

use super::*;

const TEXT: &str = "data: one\n\ndata: two\n\n";

/// Decodes chunks of a given size, one by one.
fn decode(encoding: &str, bytes: &[u8], size: usize) -> Result<String, DecodeError> {
    let mut decoder = Decoder::for_encoding(encoding).unwrap().unwrap();
    let mut all = Vec::new();
    for piece in bytes.chunks(size) {
        all.extend_from_slice(&decoder.push(piece)?);
    }
    Ok(String::from_utf8(all).unwrap())
}

fn encoded() -> Vec<(&'static str, Vec<u8>)> {
    let level = flate2::Compression::default();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), level);
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), level);
    gzip.write_all(TEXT.as_bytes()).unwrap();
    zlib.write_all(TEXT.as_bytes()).unwrap();
    deflate.write_all(TEXT.as_bytes()).unwrap();
    // Nothing in the tree writes brotli. This is a block that holds the text as
    // it is, and an empty last one.
    let head = (TEXT.len() as u32 - 1) << 4 | 1 << 20;
    let mut brotli = head.to_le_bytes().get(..3).unwrap().to_vec();
    brotli.extend_from_slice(TEXT.as_bytes());
    brotli.push(3);
    vec![
        ("gzip", gzip.finish().unwrap()),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", deflate.finish().unwrap()),
        ("br", brotli),
        ("zstd", zstd::encode_all(TEXT.as_bytes(), 3).unwrap()),
    ]
}

#[test]
fn any_chunks_give_the_same_text() {
    for (encoding, bytes) in encoded() {
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(decode(encoding, &bytes, size).unwrap(), TEXT, "{encoding} {size}");
        }
    }
}

#[test]
fn flushed_data_is_decoded_at_once() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut decoder = Decoder::for_encoding("gzip").unwrap().unwrap();
    for event in ["data: one\n\n", "data: two\n\n", "data: three\n\n"] {
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        let bytes = std::mem::take(encoder.get_mut());
        assert_eq!(decoder.push(&bytes).unwrap(), event);
    }
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 5_000_000];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&zeros).unwrap();
    for (encoding, bytes) in
        [("gzip", gzip.finish().unwrap()), ("zstd", zstd::encode_all(&zeros[..], 3).unwrap())]
    {
        let result = decode(encoding, &bytes, 16 * 1024);
        assert!(matches!(result, Err(DecodeError::Bomb)), "{encoding}");
    }
}

#[test]
fn garbage_is_refused() {
    for encoding in ["gzip", "deflate", "zstd", "br"] {
        let garbage = decode(encoding, b"\xff\xfe this is not compressed at all", 5);
        assert!(matches!(garbage, Err(DecodeError::Malformed)), "{encoding} {garbage:?}");
    }
    assert!(matches!(Decoder::for_encoding("rot13"), Err(DecodeError::Unknown(_))));
    assert!(Decoder::for_encoding("identity").unwrap().is_none());
}
