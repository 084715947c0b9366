//! Compressed bodies, decoded piece by piece.
//!
//! Upstreams are asked for plain bodies, and some compress all the same, even
//! event streams. Each piece is decoded as far as it goes, so that no event
//! waits for the next.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// A body that is being decoded.
pub(crate) enum Decoder {
    Gzip(Box<MultiGzDecoder<Decoded>>),
    /// What `deflate` means is open until the first byte is there.
    DeflateUnknown,
    Zlib(Box<ZlibDecoder<Decoded>>),
    Deflate(Box<DeflateDecoder<Decoded>>),
    Brotli(Box<DecompressorWriter<Decoded>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Decoded>>),
}

/// Why a body cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("its encoding {0:?} is unknown")]
    Unknown(String),
    #[error("it is not what its encoding says")]
    Malformed,
    #[error("it grows too much when it is decoded")]
    Bomb,
}

impl Decoder {
    /// The decoder of a `content-encoding`; none for a plain body.
    pub(crate) fn of(encoding: &str) -> Result<Option<Self>, DecodeError> {
        let to = Decoded::default;
        Ok(match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => None,
            "gzip" | "x-gzip" => Some(Self::Gzip(Box::new(MultiGzDecoder::new(to())))),
            "deflate" => Some(Self::DeflateUnknown),
            "br" => Some(Self::Brotli(Box::new(DecompressorWriter::new(to(), BUFFER)))),
            "zstd" => {
                let decoder = zstd::stream::write::Decoder::new(to());
                Some(Self::Zstd(Box::new(decoder.map_err(|_| DecodeError::Malformed)?)))
            }
            other => return Err(DecodeError::Unknown(other.chars().take(32).collect())),
        })
    }

    /// Decodes a piece as far as it goes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Bytes, DecodeError> {
        if let (Self::DeflateUnknown, Some(first)) = (&self, bytes.first()) {
            // RFC 9110 means zlib's format, and some servers send bare deflate.
            // zlib's first byte names the method, 8, in its lower half.
            let to = Decoded::default();
            *self = match first & 0x0f {
                8 => Self::Zlib(Box::new(ZlibDecoder::new(to))),
                _other => Self::Deflate(Box::new(DeflateDecoder::new(to))),
            };
        }
        match self {
            Self::Gzip(decoder) => run(decoder.as_mut(), bytes, MultiGzDecoder::get_mut),
            Self::DeflateUnknown => Ok(Bytes::new()),
            Self::Zlib(decoder) => run(decoder.as_mut(), bytes, ZlibDecoder::get_mut),
            Self::Deflate(decoder) => run(decoder.as_mut(), bytes, DeflateDecoder::get_mut),
            Self::Brotli(decoder) => run(decoder.as_mut(), bytes, DecompressorWriter::get_mut),
            Self::Zstd(decoder) => {
                run(decoder.as_mut(), bytes, zstd::stream::write::Decoder::get_mut)
            }
        }
    }
}

fn run<D: Write>(
    decoder: &mut D,
    bytes: &[u8],
    target: fn(&mut D) -> &mut Decoded,
) -> Result<Bytes, DecodeError> {
    target(decoder).received += bytes.len();
    let written = decoder.write_all(bytes).and_then(|()| decoder.flush());
    let decoded = target(decoder);
    match written {
        Ok(()) => {
            decoded.given += decoded.bytes.len();
            Ok(Bytes::from(std::mem::take(&mut decoded.bytes)))
        }
        Err(_) if decoded.burst => Err(DecodeError::Bomb),
        Err(_) => Err(DecodeError::Malformed),
    }
}

/// What came out and was not taken yet, with the measure of how much it may be.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    bytes: Vec<u8>,
    received: usize,
    given: usize,
    burst: bool,
}

impl Write for Decoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let total = self.given + self.bytes.len() + bytes.len();
        if total > FREE && total / RATIO > self.received {
            self.burst = true;
            return Err(io::Error::other("too much"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const BUFFER: usize = 4096;

/// What a body may grow to whatever its ratio.
const FREE: usize = 1024 * 1024;

/// How much more than what was received may come out. Text that means
/// something stays far below.
const RATIO: usize = 100;

#[cfg(test)]
mod tests;
