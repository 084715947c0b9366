//! The opening of a stream, up to the first words of the model.

use std::time::Duration;

use hyper::header::HeaderMap;
use tokio::time::{Instant, timeout_at};
use toolwire::Entry;
use toolwire::model::ApiError;
use toolwire::pipe::Pipe;

use super::{ResponseStream, from_whole, set_headers};
use crate::relay::loss::{self, LossTrailers};
use crate::relay::{ClientResponse, Failure, RequestContext, SentRequest, headers};
use crate::upstream::{TimeoutPhase, UpstreamError, UpstreamResponse};

/// Waits for the first event of a stream.
pub(in crate::relay) async fn begin(
    context: &mut RequestContext<'_>,
    mut request: SentRequest<'_>,
    pipe: Box<Pipe>,
    response: UpstreamResponse,
) -> Result<ClientResponse, Failure> {
    let is_json = response.media_type().eq_ignore_ascii_case("application/json");
    if !response.status.is_success() || is_json {
        return Box::pin(from_whole::begin(context, request, pipe, response)).await;
    }
    let upstream = request.upstream;
    let recorder = request.recorder.take();
    let mut stream =
        Box::new(ResponseStream::new(context, upstream, *pipe, response.body, recorder));
    let headers = headers::for_client(context, upstream, &response.headers);
    context.log.pause();
    let first = stream.read_first(upstream.config.timeouts.first_event).await;
    context.log.resume();
    context.log.upstream_responded();
    if let Err(error) = first {
        return Err(Failure::from_upstream_error(error, upstream).with_headers(headers));
    }
    if let Some(error) = stream.error_for_client() {
        let failure = if stream.kept.is_exhausted() {
            // That is about all streams together, and not about this upstream.
            Failure::new(error.clone())
        } else {
            Failure::from_stream_error(error.clone(), upstream)
        };
        if !stream.has_begun_answer() {
            return Err(failure.with_headers(headers));
        }
        // The upstream has run the request, so no other may get it. The client gets what
        // there is of the answer, and the error behind it.
        context.log.set_reason(failure.reason());
    }
    Ok(client_response(context, &request, stream, headers, &[]))
}

/// The head of a stream, with the stream itself.
pub(super) fn client_response(
    context: &RequestContext<'_>,
    request: &SentRequest<'_>,
    stream: Box<ResponseStream>,
    mut headers: HeaderMap,
    losses: &[Entry],
) -> ClientResponse {
    if request.model_renamed {
        headers::set_upstream_model(stream.pipe.summary().model.as_deref(), &mut headers);
    }
    // The head goes out before the model has written its calls.
    headers::set_recovered(stream.pipe.expected_dialect(), &mut headers);
    headers::set_request_id(context.client, &context.log.id, &mut headers);
    set_headers(&mut headers);
    let limit = context.active.config.limits.loss_header;
    loss::write_header(&request.losses, losses, limit, &mut headers);
    if stream.trailers.is_some() {
        LossTrailers::announce(&mut headers);
    }
    ClientResponse::Stream { headers, stream }
}

impl ResponseStream {
    /// Reads until there is content for the client.
    async fn read_first(&mut self, limit: Duration) -> Result<(), UpstreamError> {
        let mut hold_until = (Instant::now() + limit).min(self.deadline);
        loop {
            let Some(source) = &mut self.source else { return Ok(()) };
            let chunk = std::future::poll_fn(|cx| source.poll_chunk(cx));
            let Ok(chunk) = timeout_at(hold_until, chunk).await else {
                if !self.out.is_empty() {
                    return Ok(());
                }
                return Err(UpstreamError::Timeout(TimeoutPhase::FirstEvent));
            };
            self.received_at = Instant::now();
            match chunk {
                Some(Ok(bytes)) => {
                    self.unread = bytes;
                    self.step(self.received_at);
                    // What the pipe has not read is lost if it is given the next bytes.
                    while self.pipe_has_more && !self.has_opening() {
                        if self.ends_turn() {
                            tokio::task::yield_now().await;
                        }
                        self.step(Instant::now());
                    }
                }
                Some(Err(error)) if !self.has_begun_answer() => return Err(error),
                Some(Err(error)) => self.fail_upstream(error),
                None => {
                    self.source = None;
                    self.pipe.finish(&mut self.out);
                    self.mask_error();
                    self.hold_stop();
                }
            }
            if self.has_ended() || self.error_for_client().is_some() {
                return Ok(());
            }
            if !self.out.is_empty() {
                if self.has_opening() {
                    return Ok(());
                }
                hold_until = hold_until.min(self.received_at + MAX_OPENING_DELAY);
            }
        }
    }

    /// The error that the client is to get, if there is one.
    pub(super) fn error_for_client(&self) -> Option<&ApiError> {
        let summary = self.pipe.summary();
        summary.error.as_ref().filter(|_| !summary.passes_failure)
    }

    /// Whether the upstream has sent a part of an answer.
    pub(super) fn has_begun_answer(&self) -> bool {
        self.pipe.summary().has_content
    }

    /// Whether there is something for the client, and the answer has begun.
    fn has_opening(&self) -> bool {
        !self.out.is_empty() && self.has_begun_answer()
    }
}

/// How long the opening of a stream is held back, because the next event may be
/// an error.
const MAX_OPENING_DELAY: Duration = Duration::from_millis(500);
