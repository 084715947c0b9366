//! Where each request of an HTTP/1.1 connection ends.
//!
//! A request whose length two programs read differently lets a client hide a
//! second request in the first. hyper refuses most of them and repairs the rest,
//! for example a bare line feed, or `Content-Length` beside `Transfer-Encoding`.
//! Here they are refused before hyper sees them.
//!
//! Only the lines of a head and of the chunked framing are looked at. The bytes
//! of a body are counted.

use memchr::memchr2;

/// Reads the framing of one request after the other.
#[derive(Debug)]
pub(super) struct RequestFraming {
    state: State,
    line: Line,
    length: Option<Length>,
}

/// The framing of a request is wrong. The bytes before `offset` are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many bytes of HTTP/2's connection preface have arrived, and no others.
    Preface(usize),
    /// The connection speaks HTTP/2, which has its own framing.
    Http2,
    /// Before the request line.
    Start,
    Headers,
    /// So many bytes of the body are missing.
    Body(u64),
    ChunkSize,
    ChunkData(u64),
    ChunkEnd,
    Trailers,
    /// The request is complete.
    Complete,
}

/// What a head says about the length of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Known(u64),
    Chunked,
}

impl RequestFraming {
    pub(super) fn new() -> Self {
        Self { state: State::Preface(0), line: Line::default(), length: None }
    }

    pub(super) fn is_http2(&self) -> bool {
        self.state == State::Http2
    }

    /// Whether a request is complete. Nothing more is read until the next one
    /// begins.
    pub(super) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Whether a part of a body is missing.
    pub(super) fn is_in_body(&self) -> bool {
        match self.state {
            State::Body(_)
            | State::ChunkSize
            | State::ChunkData(_)
            | State::ChunkEnd
            | State::Trailers => true,
            State::Preface(_) | State::Http2 | State::Start | State::Headers | State::Complete => {
                false
            }
        }
    }

    /// Goes on to the next request.
    pub(super) fn next_request(&mut self) {
        self.state = State::Start;
        self.line.clear();
        self.length = None;
    }

    /// Reads bytes up to the end of the request. Returns how many belong to it.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut offset = 0;
        while let Some(rest) = bytes.get(offset..).filter(|rest| !rest.is_empty()) {
            match self.step(rest) {
                Ok(0) => break,
                Ok(count) => offset += count,
                Err(malformed) => return Err(Malformed { offset: offset + malformed.offset }),
            }
        }
        Ok(offset)
    }

    /// Reads some bytes. There is at least one.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        match self.state {
            State::Http2 => Ok(bytes.len()),
            State::Complete => Ok(0),
            State::Preface(matched) => self.read_preface(matched, bytes),
            State::Body(left) => Ok(self.skip(left, bytes, State::Body, State::Complete)),
            State::ChunkData(left) => Ok(self.skip(left, bytes, State::ChunkData, State::ChunkEnd)),
            State::Headers if self.line.length == 0 && !self.line.after_cr => {
                match other_header(bytes) {
                    Some(count) => Ok(count),
                    None => self.read_line(bytes, Self::head_line),
                }
            }
            State::Start | State::Headers => self.read_line(bytes, Self::head_line),
            State::ChunkSize => self.read_line(bytes, Self::chunk_size),
            State::ChunkEnd => self.read_line(bytes, Self::chunk_end),
            State::Trailers => self.read_line(bytes, Self::trailer),
        }
    }

    /// Reads a line, and interprets it if it is complete.
    fn read_line(
        &mut self,
        bytes: &[u8],
        interpret: fn(&mut Self) -> Option<State>,
    ) -> Result<usize, Malformed> {
        let count = self.line.read(bytes).map_err(|offset| Malformed { offset })?;
        let Some(count) = count else { return Ok(bytes.len()) };
        // Without its line feed, a malformed line does not end.
        self.state = interpret(self).ok_or(Malformed { offset: count - 1 })?;
        self.line.clear();
        Ok(count)
    }

    /// Tells HTTP/2 from HTTP/1.1.
    fn read_preface(&mut self, matched: usize, bytes: &[u8]) -> Result<usize, Malformed> {
        let expected = PREFACE.get(matched..).unwrap_or_default();
        let same = expected.iter().zip(bytes).take_while(|(one, other)| one == other).count();
        let (total, seen) = (matched + same, PREFACE.get(..matched + same).unwrap_or_default());
        if total == PREFACE.len() {
            self.state = State::Http2;
            return Ok(same);
        }
        if same == bytes.len() {
            self.state = State::Preface(total);
            return Ok(same);
        }
        // No request of HTTP/1.1 begins with the preface's first line.
        if total > MAX_SHARED_PREFACE {
            return Err(Malformed { offset: same });
        }
        self.state = State::Start;
        if !seen.is_empty() {
            self.step(seen)?;
        }
        if same == 0 { self.step(bytes) } else { Ok(same) }
    }

    fn skip(
        &mut self,
        left: u64,
        bytes: &[u8],
        unfinished: fn(u64) -> State,
        finished: State,
    ) -> usize {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - count as u64;
        self.state = if left == 0 { finished } else { unfinished(left) };
        count
    }

    /// What follows a line of the head, unless the line is malformed.
    fn head_line(&mut self) -> Option<State> {
        if self.line.length == 0 {
            return Some(match (self.state, self.length) {
                // Some clients end a body with an empty line, which is not part
                // of any request.
                (State::Start, _) => State::Start,
                (_, None | Some(Length::Known(0))) => State::Complete,
                (_, Some(Length::Known(length))) => State::Body(length),
                (_, Some(Length::Chunked)) => State::ChunkSize,
            });
        }
        if self.state == State::Headers
            && let Some(length) = self.line.body_length()?
        {
            // A second length is refused even if it is the same.
            if self.length.replace(length).is_some() {
                return None;
            }
        }
        Some(State::Headers)
    }

    fn chunk_size(&mut self) -> Option<State> {
        Some(match self.line.chunk_size()? {
            0 => State::Trailers,
            size => State::ChunkData(size),
        })
    }

    fn chunk_end(&mut self) -> Option<State> {
        (self.line.length == 0).then_some(State::ChunkSize)
    }

    fn trailer(&mut self) -> Option<State> {
        Some(if self.line.length == 0 { State::Complete } else { State::Trailers })
    }
}

/// The line that is being read. Only its beginning is kept.
#[derive(Debug)]
struct Line {
    start: [u8; LINE_START],
    length: usize,
    /// Whether the last byte was a carriage return, after which only a line feed
    /// may come.
    after_cr: bool,
}

impl Default for Line {
    fn default() -> Self {
        Self { start: [0; LINE_START], length: 0, after_cr: false }
    }
}

impl Line {
    fn clear(&mut self) {
        self.length = 0;
        self.after_cr = false;
    }

    /// Reads up to the end of the line. Returns how many bytes belong to it if it
    /// ends, or where it is malformed.
    fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, usize> {
        let (text, rest) = match memchr2(b'\r', b'\n', bytes) {
            _ if self.after_cr => (&[][..], bytes),
            Some(end) => bytes.split_at(end),
            None => (bytes, &[][..]),
        };
        if let Some(room) = self.start.get_mut(self.length..) {
            for (room, byte) in room.iter_mut().zip(text) {
                *room = *byte;
            }
        }
        self.length += text.len();
        let rest = match rest {
            [b'\r', rest @ ..] if !self.after_cr => {
                self.after_cr = true;
                rest
            }
            other => other,
        };
        let read = bytes.len() - rest.len();
        match rest {
            [] => Ok(None),
            [b'\n', ..] if self.after_cr => Ok(Some(read + 1)),
            [_, ..] => Err(read),
        }
    }

    /// The length of the body, if this line of a head says it. `None` if what it
    /// says is malformed.
    fn body_length(&self) -> Option<Option<Length>> {
        let start = self.start.get(..self.length.min(LINE_START)).unwrap_or_default();
        let Some(colon) = start.iter().position(|byte| *byte == b':') else { return Some(None) };
        let (name, value) = start.split_at(colon);
        let is_known = name.eq_ignore_ascii_case(b"content-length");
        if !is_known && !name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Some(None);
        }
        // The rest of a longer line is not here to be checked.
        if self.length > LINE_START {
            return None;
        }
        let value = value.get(1..)?.trim_ascii();
        if is_known {
            return number(value, 10, MAX_DIGITS).map(|length| Some(Length::Known(length)));
        }
        value.eq_ignore_ascii_case(b"chunked").then_some(Some(Length::Chunked))
    }

    /// The length of a chunk.
    fn chunk_size(&self) -> Option<u64> {
        let start = self.start.get(..self.length.min(LINE_START))?;
        let digits = start.split(|byte| *byte == b';').next()?;
        number(digits, 16, MAX_HEX_DIGITS)
    }
}

/// The length of a whole line of a head that begins like none that says a length.
/// Most lines are of this kind, and nothing of them has to be kept.
fn other_header(bytes: &[u8]) -> Option<usize> {
    if let Some(b'c' | b'C' | b't' | b'T' | b'\r' | b'\n') | None = bytes.first() {
        return None;
    }
    let end = memchr2(b'\r', b'\n', bytes)?;
    bytes.get(end..)?.starts_with(b"\r\n").then_some(end + 2)
}

/// A number of digits only. `str::parse` would accept a sign.
fn number(digits: &[u8], radix: u32, max_digits: usize) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    let is_digits = !text.is_empty() && text.chars().all(|char| char.is_digit(radix));
    (is_digits && text.len() <= max_digits).then(|| u64::from_str_radix(text, radix).ok())?
}

/// What an HTTP/2 client sends first.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How many bytes of the preface can begin a line of HTTP/1.1.
const MAX_SHARED_PREFACE: usize = 14;

/// How much of a line is kept: enough for the headers that say a length.
const LINE_START: usize = 64;

const MAX_DIGITS: usize = 18;
const MAX_HEX_DIGITS: usize = 15;

#[cfg(test)]
mod tests;
