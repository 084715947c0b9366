//! The chunked transfer coding, read as strictly as hyper does.

use super::framing::{MalformedBody, take};

/// Reads a chunked body, whose bytes may arrive in any pieces.
#[derive(Debug, Default)]
pub(super) struct ChunkedDecoder {
    state: State,
    /// What is left of the chunk, or how long it is as far as its size was read.
    remaining: u64,
    /// How many bytes the extensions of all chunks had so far.
    extensions: usize,
    /// The headers behind the last chunk. They are checked and not used.
    trailers: Option<Box<Trailers>>,
}

#[derive(Debug, Default)]
struct Trailers {
    lines: Vec<u8>,
    count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Start,
    Size,
    SpaceAfterSize,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// After the last chunk or a trailer: another trailer or the empty line.
    LineStart,
    Trailer,
    TrailerLf,
    EndLf,
    End,
}

impl ChunkedDecoder {
    /// The next piece of the body, which is empty if none has arrived.
    pub(super) fn next_piece<'r>(
        &mut self,
        received: &mut &'r [u8],
    ) -> Result<&'r [u8], MalformedBody> {
        self.skip_framing(received)?;
        if !matches!(self.state, State::Data) {
            return Ok(&[]);
        }
        let piece = take(received, &mut self.remaining);
        if self.remaining == 0 {
            self.state = State::DataCr;
        }
        Ok(piece)
    }

    /// Reads up to the data of a chunk, or to the end of the body.
    pub(super) fn skip_framing(&mut self, received: &mut &[u8]) -> Result<(), MalformedBody> {
        while !matches!(self.state, State::Data | State::End) {
            let Some((byte, behind)) = received.split_first() else { break };
            self.state = self.step(*byte)?;
            *received = behind;
        }
        Ok(())
    }

    /// Whether the empty line behind the last chunk was read.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.state, State::End)
    }

    fn step(&mut self, byte: u8) -> Result<State, MalformedBody> {
        Ok(match (self.state, byte) {
            (State::Start | State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).ok_or(MalformedBody)?;
                let size = self.remaining.checked_mul(16).ok_or(MalformedBody)?;
                self.remaining = size + u64::from(digit);
                State::Size
            }
            (State::Size | State::SpaceAfterSize, b'\t' | b' ') => State::SpaceAfterSize,
            (State::Size | State::SpaceAfterSize, b';') => State::Extension,
            (State::Size | State::SpaceAfterSize | State::Extension, b'\r') => State::SizeLf,
            (State::Extension, other) if other != b'\n' => {
                self.extensions += 1;
                if self.extensions >= MAX_EXTENSIONS {
                    return Err(MalformedBody);
                }
                State::Extension
            }
            (State::SizeLf, b'\n') if self.remaining == 0 => State::LineStart,
            (State::SizeLf, b'\n') => State::Data,
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Start,
            (State::LineStart, b'\r') => State::EndLf,
            // hyper lets some of these pass, depending on what follows.
            (State::LineStart | State::Trailer, b'\n') => return Err(MalformedBody),
            (State::LineStart | State::Trailer, _) => {
                self.trailers.get_or_insert_default().push(byte)?;
                if byte == b'\r' { State::TrailerLf } else { State::Trailer }
            }
            (State::TrailerLf, b'\n') => {
                self.trailers.get_or_insert_default().push(byte)?;
                State::LineStart
            }
            (State::EndLf, b'\n') => {
                if let Some(trailers) = self.trailers.take() {
                    trailers.check()?;
                }
                State::End
            }
            _unexpected => return Err(MalformedBody),
        })
    }
}

impl Trailers {
    fn push(&mut self, byte: u8) -> Result<(), MalformedBody> {
        self.lines.push(byte);
        self.count += usize::from(byte == b'\n');
        // The line end of the empty line counts, too.
        let is_short = self.lines.len() + 2 < MAX_TRAILER_BYTES && self.count <= MAX_TRAILERS;
        if is_short { Ok(()) } else { Err(MalformedBody) }
    }

    /// Whether they are headers.
    fn check(mut self) -> Result<(), MalformedBody> {
        self.lines.extend_from_slice(b"\r\n");
        let mut headers = [httparse::EMPTY_HEADER; MAX_TRAILERS];
        match httparse::parse_headers(&self.lines, &mut headers) {
            Ok(httparse::Status::Complete((length, _))) if length == self.lines.len() => Ok(()),
            Ok(_) | Err(_) => Err(MalformedBody),
        }
    }
}

const MAX_EXTENSIONS: usize = 16 * 1024;
const MAX_TRAILER_BYTES: usize = 16 * 1024;
const MAX_TRAILERS: usize = 100;
