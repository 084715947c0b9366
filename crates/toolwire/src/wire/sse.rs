//! Server-sent events: framing, byte by byte, wherever the chunks are cut.
//!
//! The whole grammar of the WHATWG: lines end in CR, LF or CRLF and in nothing
//! else, a byte order mark may come first, `data` may be spread over lines, the
//! space behind the colon is optional, comments and unknown fields are passed
//! over. Every byte is looked at once, and an event that lies whole in one
//! chunk is not copied.

use std::ops::{ControlFlow, Range};

/// One event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'f> {
    /// The event's name, if it has one.
    pub name: Option<&'f str>,
    /// Its data. Several lines are joined by LF. If there is none, as with
    /// comments that keep a connection open, there is no event to read.
    pub data: &'f str,
    /// Its bytes as they came, with comments before it and the empty line that
    /// ends it. The LF of a CRLF that ends the event belongs to what follows,
    /// since it may come late.
    pub raw: &'f [u8],
    /// Whether the empty line that ends it has come.
    pub ended: bool,
}

impl Frame<'_> {
    /// Where a piece of the data is in the event's bytes as they came. Only
    /// a piece that lies on one line stands anywhere.
    pub(crate) fn place(&self, piece: Range<usize>) -> Option<Range<usize>> {
        let mut line = if self.raw.starts_with(BOM) { BOM.len() } else { 0 };
        // How far the piece is from the data that the line begins with.
        let mut before = piece.start;
        loop {
            let rest = self.raw.get(line..)?;
            let length = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
            let Some(Field::Data(value)) = Field::of(rest.get(..length)?) else {
                line += length + 1;
                continue;
            };
            if before < value.len() {
                let start = line + length - value.len() + before;
                let place = start..start + piece.len();
                let same = self.raw.get(place.clone())? == self.data.as_bytes().get(piece)?;
                return same.then_some(place);
            }
            // Lines of data are joined by one LF.
            before = before.checked_sub(value.len() + 1)?;
            line += length + 1;
        }
    }

    /// Where a piece of the data is in the event's bytes as they came, which may be on
    /// several lines with what stands between them. An empty piece is right behind the
    /// byte before it.
    pub(crate) fn stretch(&self, piece: Range<usize>) -> Option<Range<usize>> {
        let byte_before = |end: usize| self.place(end.checked_sub(1)?..end);
        if piece.is_empty() {
            let end = byte_before(piece.end)?.end;
            return Some(end..end);
        }
        let first = self.place(piece.start..piece.start + 1)?;
        Some(first.start..byte_before(piece.end)?.end)
    }
}

/// Why a stream cannot be framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// An event is not UTF-8.
    #[error("an event is not valid UTF-8")]
    Utf8,
    /// An event is longer than the limit.
    #[error("an event is longer than {0} bytes")]
    TooLong(usize),
}

/// Cuts a stream of bytes into events.
#[derive(Clone, Debug)]
pub struct Frames {
    /// The beginning of an event whose end has not come.
    held: Vec<u8>,
    /// What is known of it.
    partial: Partial,
    limit: usize,
}

impl Default for Frames {
    fn default() -> Self {
        Self::new(EVENT_LIMIT)
    }
}

impl Frames {
    /// Frames a stream whose events may be `limit` bytes long.
    pub fn new(limit: usize) -> Self {
        Self { held: Vec::new(), partial: Partial::default(), limit }
    }

    /// Takes more bytes and hands over every event they complete, until `each`
    /// breaks off. How many of the bytes were taken: all, or those up to the
    /// event at which it broke off.
    pub fn push(
        &mut self,
        bytes: &[u8],
        each: impl FnMut(Frame<'_>) -> ControlFlow<()>,
    ) -> Result<usize, FrameError> {
        if self.held.is_empty() {
            let (used, flow) = self.events(bytes, each)?;
            if flow.is_break() {
                return Ok(used);
            }
            grow(&mut self.held, bytes.get(used..).unwrap_or_default());
        } else {
            let mut held = std::mem::take(&mut self.held);
            let before = held.len();
            grow(&mut held, bytes);
            let (used, flow) = self.events(&held, each)?;
            if flow.is_break() {
                held.clear();
                self.held = held;
                return Ok(used.saturating_sub(before));
            }
            held.drain(..used);
            self.held = held;
        }
        if self.held.len() > self.limit {
            return Err(FrameError::TooLong(self.limit));
        }
        Ok(bytes.len())
    }

    /// The bytes have ended. An event that lacks only its empty line counts.
    pub fn finish(
        &mut self,
        mut each: impl FnMut(Frame<'_>) -> ControlFlow<()>,
    ) -> Result<(), FrameError> {
        let held = std::mem::take(&mut self.held);
        self.partial.last_line(&held);
        if !held.is_empty() {
            let _ = each(Frame { ended: false, ..self.partial.frame(&held)? });
        }
        self.partial = Partial::default();
        Ok(())
    }

    /// How many bytes are held that are no whole event yet.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Whether bytes are held that are no whole event yet.
    pub fn is_between_events(&self) -> bool {
        self.held.is_empty()
    }

    fn events(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(Frame<'_>) -> ControlFlow<()>,
    ) -> Result<(usize, ControlFlow<()>), FrameError> {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            let Some(end) = self.partial.advance(rest) else {
                return Ok((used, ControlFlow::Continue(())));
            };
            if end > self.limit {
                return Err(FrameError::TooLong(self.limit));
            }
            let event = rest.get(..end).unwrap_or_default();
            let flow = each(self.partial.frame(event)?);
            used += end;
            self.partial.learn(event);
            self.partial.next_event();
            if flow.is_break() {
                return Ok((used, flow));
            }
        }
    }
}

/// An event up to where it has been looked at. Offsets count from its start.
#[derive(Clone, Debug, Default)]
struct Partial {
    /// How far it has been looked at.
    seen: usize,
    /// Where the current line starts.
    line: usize,
    /// Whether a LF at `seen` belongs to the CR before it.
    after_cr: bool,
    /// Whether the byte order mark may no longer come.
    begun: bool,
    name: Option<Range<usize>>,
    data: Data,
    /// Lines of data, joined, if there are several. Kept for its space.
    joined: Vec<u8>,
    /// How the last event began, if that was with the line of its name. Most
    /// events of a stream begin like the one before.
    usual: Vec<u8>,
    /// Where the name is in it.
    usual_name: Range<usize>,
    /// Whether this event begins so too.
    is_usual: bool,
}

#[derive(Clone, Debug, Default)]
enum Data {
    #[default]
    None,
    One(Range<usize>),
    Several,
}

impl Partial {
    /// Looks at what is new in `event`. The end of the event, if it is there.
    fn advance(&mut self, event: &[u8]) -> Option<usize> {
        if !self.begun {
            if event.len() < BOM.len() && BOM.starts_with(event) {
                return None;
            }
            self.begun = true;
            if event.starts_with(BOM) {
                self.seen = BOM.len();
                self.line = BOM.len();
            }
        }
        if self.seen == 0 && !self.after_cr && self.begins_as_usual(event) {
            // The line of the name is known, and need not be looked at.
            self.seen = self.usual.len();
            self.line = self.seen;
            self.name = Some(self.usual_name.clone());
            self.is_usual = true;
        }
        loop {
            if self.after_cr {
                match event.get(self.seen) {
                    Some(b'\n') => {
                        self.seen += 1;
                        self.line = self.seen;
                    }
                    Some(_) => {}
                    None => return None,
                }
                self.after_cr = false;
            }
            let rest = event.get(self.seen..)?;
            // The line that ends an event is empty, and need not be searched.
            let end = match rest.first() {
                Some(b'\r' | b'\n') => Some(0),
                Some(_) => memchr::memchr2(b'\r', b'\n', rest),
                None => None,
            };
            let Some(end) = end else {
                self.seen = event.len();
                return None;
            };
            let end = self.seen + end;
            self.after_cr = event.get(end) == Some(&b'\r');
            self.seen = end + 1;
            let line = self.line..end;
            self.line = self.seen;
            if line.is_empty() {
                return Some(self.seen);
            }
            self.take_line(event, line);
        }
    }

    /// Whether an event begins like the last one that had a name.
    fn begins_as_usual(&self, event: &[u8]) -> bool {
        // There is often no such event. An empty `Vec` has no memory, and on processors with
        // AVX-512 the C library's comparison is slow with an address that does not exist.
        !self.usual.is_empty() && event.starts_with(&self.usual)
    }

    /// Remembers how an event began.
    fn learn(&mut self, event: &[u8]) {
        if self.is_usual || self.name.is_none() {
            return;
        }
        self.usual.clear();
        let Some(end) = memchr::memchr(b'\n', event) else { return };
        let line = event.get(..end).unwrap_or_default();
        if let Some(Field::Name(value)) = Field::of(line)
            && !line.contains(&b'\r')
        {
            self.usual_name = end - value.len()..end;
            self.usual.extend_from_slice(event.get(..=end).unwrap_or_default());
        }
    }

    /// The last line of a stream may lack its end.
    fn last_line(&mut self, event: &[u8]) {
        if self.line < event.len() {
            self.take_line(event, self.line..event.len());
        }
    }

    fn take_line(&mut self, event: &[u8], line: Range<usize>) {
        let text = event.get(line.clone()).unwrap_or_default();
        match Field::of(text) {
            Some(Field::Data(value)) => self.take_data(event, line.end - value.len()..line.end),
            Some(Field::Name(value)) => self.name = Some(line.end - value.len()..line.end),
            None => {}
        }
    }

    fn take_data(&mut self, event: &[u8], value: Range<usize>) {
        match &self.data {
            Data::None => {
                self.data = Data::One(value);
                return;
            }
            Data::One(first) => {
                self.joined.clear();
                self.joined.extend_from_slice(event.get(first.clone()).unwrap_or_default());
            }
            Data::Several => {}
        }
        self.joined.push(b'\n');
        self.joined.extend_from_slice(event.get(value).unwrap_or_default());
        self.data = Data::Several;
    }

    fn frame<'f>(&'f self, event: &'f [u8]) -> Result<Frame<'f>, FrameError> {
        // A line whose field cannot be read is not passed over: it may be the
        // data of an event that would then be missing.
        let all = text(event)?;
        let data = match &self.data {
            Data::None => "",
            Data::One(range) => all.get(range.clone()).unwrap_or_default(),
            Data::Several => text(&self.joined)?,
        };
        let name = self.name.clone().and_then(|range| all.get(range));
        Ok(Frame { name, data, raw: event, ended: true })
    }

    fn next_event(&mut self) {
        self.seen = 0;
        self.line = 0;
        self.name = None;
        self.data = Data::None;
        self.is_usual = false;
    }
}

/// Appends to the beginning of an event. A long one gets half as much room
/// again and not as much again, since there may be nothing behind it.
fn grow(held: &mut Vec<u8>, bytes: &[u8]) {
    if held.len() >= LONG && held.capacity() - held.len() < bytes.len() {
        held.reserve_exact(bytes.len().max(held.len() / 2));
    }
    held.extend_from_slice(bytes);
}

/// What a line says, if it says anything that matters.
enum Field<'l> {
    Data(&'l [u8]),
    Name(&'l [u8]),
}

impl<'l> Field<'l> {
    #[inline]
    fn of(line: &'l [u8]) -> Option<Self> {
        let value = |value: &'l [u8]| value.strip_prefix(b" ").unwrap_or(value);
        // A field without a colon is there and empty.
        if let Some(found) = line.strip_prefix(b"data:") {
            Some(Self::Data(value(found)))
        } else if let Some(found) = line.strip_prefix(b"event:") {
            Some(Self::Name(value(found)))
        } else if line == b"data" {
            Some(Self::Data(b""))
        } else if line == b"event" {
            Some(Self::Name(b""))
        } else {
            None
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, FrameError> {
    simdutf8::basic::from_utf8(bytes).map_err(|_invalid| FrameError::Utf8)
}

/// Writes an event. `data` writes one line: JSON as toolwire writes it has no
/// line ends.
pub fn write_event(name: Option<&str>, out: &mut Vec<u8>, data: impl FnOnce(&mut Vec<u8>)) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    data(out);
    out.extend_from_slice(b"\n\n");
}

/// How long an event may be unless said otherwise.
pub const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// How much of an event is long.
const LONG: usize = 64 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";
