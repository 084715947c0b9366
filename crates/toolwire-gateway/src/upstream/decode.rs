//! Compressed bodies, decoded chunk by chunk.
//!
//! The gateway asks upstreams for uncompressed bodies, but some compress anyway,
//! even event streams. Each chunk is decoded as far as possible, so that no event
//! waits for the next.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Decodes one body.
pub(crate) enum Decoder {
    Gzip(Box<MultiGzDecoder<DecodeBuffer>>),
    /// The first byte tells which format `deflate` stands for.
    DeflateUnknown,
    Zlib(Box<ZlibDecoder<DecodeBuffer>>),
    Deflate(Box<DeflateDecoder<DecodeBuffer>>),
    Brotli(Box<DecompressorWriter<DecodeBuffer>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, DecodeBuffer>>),
}

/// Why a body cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("the encoding {0:?} is unknown")]
    Unknown(String),
    #[error("the body does not match its encoding")]
    Malformed,
    #[error("the decoded body is too large")]
    Bomb,
}

impl Decoder {
    /// The decoder for a `content-encoding`, or `None` for an uncompressed body.
    pub(crate) fn for_encoding(encoding: &str) -> Result<Option<Self>, DecodeError> {
        let buffer = DecodeBuffer::default;
        Ok(match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => None,
            "gzip" | "x-gzip" => Some(Self::Gzip(Box::new(MultiGzDecoder::new(buffer())))),
            "deflate" => Some(Self::DeflateUnknown),
            "br" => Some(Self::Brotli(Box::new(DecompressorWriter::new(buffer(), BROTLI_BUFFER)))),
            "zstd" => {
                let decoder = zstd::stream::write::Decoder::new(buffer());
                Some(Self::Zstd(Box::new(decoder.map_err(|_| DecodeError::Malformed)?)))
            }
            other => return Err(DecodeError::Unknown(other.chars().take(32).collect())),
        })
    }

    /// Decodes a chunk as far as possible.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Bytes, DecodeError> {
        if let (Self::DeflateUnknown, Some(first)) = (&self, bytes.first()) {
            // RFC 9110 means the zlib format, but some servers send raw deflate.
            // The low half of zlib's first byte is the method, which is 8.
            let buffer = DecodeBuffer::default();
            *self = match first & 0x0f {
                8 => Self::Zlib(Box::new(ZlibDecoder::new(buffer))),
                _other => Self::Deflate(Box::new(DeflateDecoder::new(buffer))),
            };
        }
        match self {
            Self::Gzip(decoder) => decode(decoder.as_mut(), bytes, MultiGzDecoder::get_mut),
            Self::DeflateUnknown => Ok(Bytes::new()),
            Self::Zlib(decoder) => decode(decoder.as_mut(), bytes, ZlibDecoder::get_mut),
            Self::Deflate(decoder) => decode(decoder.as_mut(), bytes, DeflateDecoder::get_mut),
            Self::Brotli(decoder) => decode(decoder.as_mut(), bytes, DecompressorWriter::get_mut),
            Self::Zstd(decoder) => {
                decode(decoder.as_mut(), bytes, zstd::stream::write::Decoder::get_mut)
            }
        }
    }
}

fn decode<D: Write>(
    decoder: &mut D,
    bytes: &[u8],
    buffer: fn(&mut D) -> &mut DecodeBuffer,
) -> Result<Bytes, DecodeError> {
    buffer(decoder).received += bytes.len();
    let written = decoder.write_all(bytes).and_then(|()| decoder.flush());
    let decoded = buffer(decoder);
    match written {
        Ok(()) => {
            decoded.taken += decoded.bytes.len();
            Ok(Bytes::from(std::mem::take(&mut decoded.bytes)))
        }
        Err(_) if decoded.limit_exceeded => Err(DecodeError::Bomb),
        Err(_) => Err(DecodeError::Malformed),
    }
}

/// Decoded bytes that were not taken yet, and the limit on how many there may be.
#[derive(Debug, Default)]
pub(crate) struct DecodeBuffer {
    bytes: Vec<u8>,
    received: usize,
    taken: usize,
    limit_exceeded: bool,
}

impl Write for DecodeBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let total = self.taken + self.bytes.len() + bytes.len();
        if total > UNLIMITED_SIZE && total / MAX_RATIO > self.received {
            self.limit_exceeded = true;
            return Err(io::Error::other("too much"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const BROTLI_BUFFER: usize = 4096;

/// How many bytes are decoded at once. They may become a thousand times as many,
/// so whoever decodes more lets others work in between.
pub(crate) const MAX_PIECE: usize = 1024;

/// The size up to which any ratio is allowed.
const UNLIMITED_SIZE: usize = 1024 * 1024;

/// The highest ratio of decoded to received bytes. Real text stays far below.
pub(crate) const MAX_RATIO: usize = 100;

#[cfg(test)]
mod tests;
