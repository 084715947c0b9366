//! An upstream's answer, as it comes.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::{Decoder, Phase, Trouble};
use crate::demo;

/// The head of an answer, and its body to come.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// The body of an answer, plain whatever its encoding was.
pub(crate) struct Body {
    bytes: Source,
    decoder: Option<Decoder>,
    /// When all of it must be there.
    pub(crate) deadline: Instant,
}

enum Source {
    Http(Incoming),
    Demo(VecDeque<Vec<u8>>),
}

impl Answer {
    pub(super) fn new(response: Response<Incoming>, deadline: Instant) -> Result<Self, Trouble> {
        let (head, body) = response.into_parts();
        let encoding = head.headers.get(CONTENT_ENCODING).map(HeaderValue::to_str);
        let encoding = encoding.transpose().map_err(|_| Trouble::Encoding)?;
        let decoder =
            Decoder::of(encoding.unwrap_or_default()).map_err(|_unknown| Trouble::Encoding)?;
        let body = Body { bytes: Source::Http(body), decoder, deadline };
        Ok(Self { status: head.status, headers: head.headers, body })
    }

    pub(super) fn of_demo(answer: demo::Answer, deadline: Instant) -> Self {
        let demo::Answer { status, content_type, chunks } = answer;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        let bytes = Source::Demo(chunks.into());
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers,
            body: Body { bytes, decoder: None, deadline },
        }
    }

    /// The media type, without its parameters.
    pub(crate) fn media_type(&self) -> &str {
        let value = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().split(';').next().unwrap_or_default().trim()
    }
}

impl Body {
    /// The next piece.
    pub(crate) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Trouble>>> {
        loop {
            let piece = match &mut self.bytes {
                Source::Demo(pieces) => {
                    return Poll::Ready(pieces.pop_front().map(|piece| Ok(Bytes::from(piece))));
                }
                Source::Http(incoming) => match ready!(Pin::new(incoming).poll_frame(cx)) {
                    Some(Ok(frame)) => frame.into_data().ok(),
                    Some(Err(_broken)) => return Poll::Ready(Some(Err(Trouble::Broken))),
                    None => return Poll::Ready(None),
                },
            };
            // Trailers say nothing that a client could use.
            let Some(piece) = piece else { continue };
            let piece = match &mut self.decoder {
                Some(decoder) => match decoder.push(&piece) {
                    Ok(piece) => piece,
                    Err(_undecodable) => return Poll::Ready(Some(Err(Trouble::Encoding))),
                },
                None => piece,
            };
            if !piece.is_empty() {
                return Poll::Ready(Some(Ok(piece)));
            }
        }
    }

    /// The next piece, if it comes in time.
    pub(crate) async fn piece(&mut self, idle: Duration) -> Result<Option<Bytes>, Trouble> {
        let by = (Instant::now() + idle).min(self.deadline);
        let piece = std::future::poll_fn(|cx| self.poll_piece(cx));
        match timeout_at(by, piece).await {
            Ok(piece) => piece.transpose(),
            Err(_elapsed) if by == self.deadline => Err(Trouble::Late(Phase::Whole)),
            Err(_elapsed) => Err(Trouble::Late(Phase::Next)),
        }
    }

    /// All of it, up to a limit.
    pub(crate) async fn all(&mut self, idle: Duration, limit: usize) -> Result<Bytes, Trouble> {
        let Some(first) = self.piece(idle).await? else { return Ok(Bytes::new()) };
        let Some(second) = self.piece(idle).await? else { return Ok(first) };
        let mut all = Vec::with_capacity(2 * (first.len() + second.len()));
        all.extend_from_slice(&first);
        let mut next = Some(second);
        while let Some(piece) = next {
            if all.len() + piece.len() > limit {
                return Err(Trouble::TooLong);
            }
            all.extend_from_slice(&piece);
            next = self.piece(idle).await?;
        }
        Ok(all.into())
    }
}
