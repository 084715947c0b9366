//! A whole answer where a stream was asked for: an error, or an answer of an
//! upstream that cannot stream. The client gets the stream that it asked for.

use toolwire::codec;
use toolwire::pipe::Pipe;

use super::super::{Back, Failure, Reply, Visit, failure, headers};
use super::{Stream, reply};
use crate::upstream::Answer;

/// Reads what came and makes a stream of it.
pub(super) async fn unroll(
    visit: &mut Visit<'_>,
    back: Back<'_>,
    pipe: Pipe,
    mut answer: Answer,
) -> Result<Reply, Failure> {
    let upstream = back.upstream;
    let (from, to) = (upstream.config.protocol, visit.client);
    let body = visit.hear_out(upstream, &mut answer).await?;
    let text = std::str::from_utf8(&body).unwrap_or_default();
    if !answer.status.is_success() || failure::is_error(text) == Some(true) {
        return Err(Failure::of_error(upstream, to, answer.status, &answer.headers, body));
    }
    if let Err(error) = codec(from).decode_response(text) {
        return Err(Failure::of_answer(upstream, &error.to_string()));
    }
    let headers = headers::inbound(from, to, &answer.headers);
    let mut stream = Box::new(Stream::new(visit, upstream, pipe, answer.body));
    stream.source = None;
    stream.pipe.whole(&body, &mut stream.out);
    if let Some(error) = &stream.pipe.seen().error {
        return Err(Failure::of_event(error.clone()).came_with(headers));
    }
    // All of it has crossed before the head goes out, so its losses go there.
    let losses = stream.pipe.take_ledger();
    visit.access.lost(&losses);
    Ok(reply(visit, &back, stream, headers, &losses))
}
