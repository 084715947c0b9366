//! A whole response to a request for a stream: an error, or the response of an
//! upstream that cannot stream. The client gets the stream that it asked for.

use toolwire::pipe::Pipe;
use toolwire::translate::Error;

use super::super::{ClientResponse, Failure, RequestContext, SentRequest, headers};
use super::ResponseStream;
use super::opening::client_response;
use crate::heavy_work::in_place;
use crate::upstream::UpstreamResponse;

/// Reads the response and makes a stream of it.
pub(super) async fn begin(
    context: &mut RequestContext<'_>,
    mut request: SentRequest<'_>,
    pipe: Box<Pipe>,
    mut response: UpstreamResponse,
) -> Result<ClientResponse, Failure> {
    let upstream = request.upstream;
    let (body, _reservation) = context.read_body(upstream, &mut response).await?;
    let UpstreamResponse { status, headers, body: source } = response;
    let heavy_work = &context.state.heavy_work;
    let size = body.len();
    if !status.is_success() {
        let error = || Failure::from_error_response(context, upstream, status, &headers, body);
        return Err(heavy_work.run(size, error).await);
    }
    let recorder = request.recorder.take();
    let mut stream = Box::new(ResponseStream::new(context, upstream, *pipe, source, recorder));
    stream.source = None;
    let ResponseStream { pipe, out, .. } = stream.as_mut();
    match heavy_work.run(size, || pipe.try_whole(&body, out)).await {
        Ok(()) => {}
        Err(Error::NotAnAnswer) => {
            let error = || Failure::from_error_response(context, upstream, status, &headers, body);
            return Err(in_place(size, error));
        }
        Err(other) => return Err(Failure::unreadable_response(upstream, &other.to_string())),
    }
    stream.kept.set(stream.out.len());
    stream.hold_stop();
    let headers = headers::for_client(context, upstream, &headers);
    if let Some(error) = stream.error_for_client() {
        let failure = Failure::from_stream_error(error.clone(), upstream).with_headers(headers);
        return Err(if stream.has_begun_answer() { failure.after_answer() } else { failure });
    }
    // The whole response is translated before its head is sent, so its losses
    // can go into the header, besides the stream's comment.
    let losses = stream.take_losses();
    context.log.add_losses(&losses);
    Ok(client_response(context, &request, stream, headers, &losses))
}
