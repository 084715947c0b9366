//! The head of a response.

use std::mem::MaybeUninit;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use hyper::StatusCode;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};

use super::chunked::ChunkedDecoder;
use super::framing::Framing;

/// What a response says before its body.
#[derive(Debug)]
pub(in crate::upstream) struct Head {
    pub(in crate::upstream) status: StatusCode,
    pub(in crate::upstream) headers: HeaderMap,
    /// Where the body ends.
    pub(super) framing: Framing,
    /// For how long after the body the connection may be used again, or `None` if
    /// it may not.
    pub(super) keep_alive: Option<Duration>,
}

/// The head is not HTTP/1, or it does not say for certain where its body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedHead;

impl Head {
    /// Reads a head from the beginning of `received`, and leaves what follows it
    /// there. Heads that only announce another are skipped. `None` means that
    /// there must be more of it.
    pub(super) fn parse(received: &mut Bytes) -> Result<Option<Self>, MalformedHead> {
        while !received.is_empty() {
            let Some((head, length)) = parse_one(received)? else { return Ok(None) };
            received.advance(length);
            if !head.status.is_informational() || head.status == StatusCode::SWITCHING_PROTOCOLS {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }
}

/// One head and its length.
fn parse_one(received: &Bytes) -> Result<Option<(Head, usize)>, MalformedHead> {
    let mut space = [MaybeUninit::uninit(); MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let length =
        match config.parse_response_with_uninit_headers(&mut response, received, &mut space) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_malformed) => return Err(MalformedHead),
        };
    let (Some(version), Some(code)) = (response.version, response.code) else {
        return Err(MalformedHead);
    };
    let status = StatusCode::from_u16(code).map_err(|_| MalformedHead)?;
    let mut headers = HeaderMap::with_capacity(response.headers.len());
    let mut connection = ConnectionOptions::default();
    let mut body_length = BodyLength::default();
    for header in response.headers.iter() {
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| MalformedHead)?;
        // The value is a part of what was received, not a copy.
        let value = HeaderValue::from_maybe_shared(received.slice_ref(header.value));
        let value = value.map_err(|_| MalformedHead)?;
        if name == CONNECTION {
            connection.read(&value);
        } else if name == KEEP_ALIVE {
            connection.read_timeout(&value);
        } else if name == CONTENT_LENGTH {
            body_length.read_content_length(&value);
        } else if name == TRANSFER_ENCODING {
            body_length.read_transfer_encoding(&value);
        }
        headers.append(name, value);
    }
    let framing = body_length.framing(version, status)?;
    let is_switch = status == StatusCode::SWITCHING_PROTOCOLS;
    let keep_alive = connection.keep_alive(version).filter(|_| !is_switch && framing.has_end());
    Ok(Some((Head { status, headers, framing, keep_alive }, length)))
}

/// What all headers together say about the length of the body.
#[derive(Default)]
struct BodyLength {
    /// Whether the last transfer coding is chunked, if there is one.
    is_chunked: Option<bool>,
    /// The number, or an error if there is something that is not one number.
    announced: Option<Result<u64, MalformedHead>>,
}

impl BodyLength {
    fn read_transfer_encoding(&mut self, value: &HeaderValue) {
        let last = value.to_str().unwrap_or_default().rsplit(',').next().unwrap_or_default();
        self.is_chunked = Some(last.trim().eq_ignore_ascii_case("chunked"));
    }

    fn read_content_length(&mut self, value: &HeaderValue) {
        // No number is in a value that is not text.
        for item in value.to_str().unwrap_or_default().split(',') {
            let number = decimal(item.trim()).ok_or(MalformedHead);
            let is_same = self.announced.is_none_or(|announced| announced == number);
            self.announced = Some(if is_same { number } else { Err(MalformedHead) });
        }
    }

    /// Where the body ends, by RFC 9112, section 6.3.
    fn framing(self, version: u8, status: StatusCode) -> Result<Framing, MalformedHead> {
        let has_no_body = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if has_no_body || status.is_informational() {
            return Ok(Framing::Length(0));
        }
        match (self.is_chunked, self.announced.transpose()) {
            // HTTP/1.0 has no transfer codings.
            (Some(_), _) if version == 0 => Err(MalformedHead),
            (Some(true), _) => Ok(Framing::Chunked(ChunkedDecoder::default())),
            (Some(false), _) => Ok(Framing::UntilClose),
            (None, Err(malformed)) => Err(malformed),
            // The greatest numbers are not lengths.
            (None, Ok(Some(length))) if length > MAX_LENGTH => Err(MalformedHead),
            (None, Ok(Some(length))) => Ok(Framing::Length(length)),
            (None, Ok(None)) => Ok(Framing::UntilClose),
        }
    }
}

/// A number without a sign.
fn decimal(digits: &str) -> Option<u64> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// What all `connection` and `keep-alive` headers say together.
#[derive(Default)]
struct ConnectionOptions {
    close: bool,
    keep_alive: bool,
    /// After how many seconds without a request the server closes the connection.
    timeout: Option<u64>,
}

impl ConnectionOptions {
    fn read(&mut self, value: &HeaderValue) {
        self.close |= lists_token(value, "close");
        self.keep_alive |= lists_token(value, "keep-alive");
    }

    fn read_timeout(&mut self, value: &HeaderValue) {
        for parameter in value.to_str().unwrap_or_default().split(',') {
            let (name, number) = parameter.split_once('=').unwrap_or_default();
            if name.trim().eq_ignore_ascii_case("timeout")
                && let Some(seconds) = decimal(number.trim())
            {
                self.timeout = Some(self.timeout.map_or(seconds, |least| least.min(seconds)));
            }
        }
    }

    fn keep_alive(&self, version: u8) -> Option<Duration> {
        if self.close || version != 1 && !self.keep_alive {
            return None;
        }
        let timeout = self.timeout.map_or(Duration::MAX, Duration::from_secs);
        Some(timeout.saturating_sub(CLOSES_EARLIER)).filter(|time| !time.is_zero())
    }
}

/// Whether a comma-separated list has an item.
pub(super) fn lists_token(list: &HeaderValue, token: &str) -> bool {
    let list = list.to_str().unwrap_or_default();
    list.split(',').any(|item| item.trim().eq_ignore_ascii_case(token))
}

/// Whether what was received so far may hold a whole head. Only the bytes from
/// `known` on were not looked at before.
pub(super) fn may_be_whole(received: &[u8], known: usize) -> bool {
    let new = received.get(known.saturating_sub(3)..).unwrap_or_default();
    memchr::memchr_iter(b'\n', new).any(|end| {
        let behind = new.get(end + 1..).unwrap_or_default();
        behind.starts_with(b"\n") || behind.starts_with(b"\r\n")
    })
}

/// In which a server says when it closes a connection that it has no request on,
/// as Node's and llama.cpp's do after five seconds.
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// How much earlier than the server a connection is given up here. A request that
/// crosses the server's goodbye on the way is lost, and may not be sent again.
const CLOSES_EARLIER: Duration = Duration::from_secs(1);

/// How many headers a response may have.
const MAX_HEADERS: usize = 100;

/// The longest body that may be announced.
const MAX_LENGTH: u64 = u64::MAX - 2;
