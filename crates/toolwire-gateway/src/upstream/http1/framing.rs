//! Where a body ends.

use super::chunked::ChunkedDecoder;

/// How the end of a body is found.
#[derive(Debug)]
pub(super) enum Framing {
    /// After that many bytes.
    Length(u64),
    /// After the last chunk.
    Chunked(ChunkedDecoder),
    /// When the connection is closed.
    UntilClose,
}

/// What is found in some bytes that arrived.
pub(super) struct Decoded<'r> {
    /// A piece of the body. It is empty if there is none.
    pub(super) piece: &'r [u8],
    /// The data that follows, or what is behind a body that is complete.
    pub(super) rest: &'r [u8],
    /// Whether something follows the piece that does not keep to the framing.
    pub(super) is_malformed: bool,
}

/// The body does not keep to its framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedBody;

impl Framing {
    /// Finds the next piece of the body in what was received.
    pub(super) fn decode<'r>(&mut self, mut received: &'r [u8]) -> Decoded<'r> {
        let found = match self {
            Self::Length(remaining) => Ok(take(&mut received, remaining)),
            Self::Chunked(decoder) => decoder.next_piece(&mut received),
            Self::UntilClose => Ok(std::mem::take(&mut received)),
        };
        let (piece, mut is_malformed) = (found.unwrap_or_default(), found.is_err());
        // Whether the body is complete is known as early as possible.
        if let Self::Chunked(decoder) = self {
            is_malformed = is_malformed || decoder.skip_framing(&mut received).is_err();
        }
        Decoded { piece, rest: received, is_malformed }
    }

    /// Whether the whole body was read.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::Length(remaining) => *remaining == 0,
            Self::Chunked(decoder) => decoder.is_complete(),
            Self::UntilClose => false,
        }
    }

    /// Whether the body has an end before that of the connection.
    pub(super) fn has_end(&self) -> bool {
        match self {
            Self::Length(_) | Self::Chunked(_) => true,
            Self::UntilClose => false,
        }
    }
}

/// Takes at most `remaining` bytes.
pub(super) fn take<'r>(received: &mut &'r [u8], remaining: &mut u64) -> &'r [u8] {
    let length = usize::try_from(*remaining).unwrap_or(usize::MAX).min(received.len());
    let (piece, behind) = received.split_at(length);
    *received = behind;
    // A length in memory fits.
    *remaining -= u64::try_from(length).unwrap_or(*remaining);
    piece
}
