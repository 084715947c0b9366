//! A whole response, translated back.

use std::borrow::Cow;

use toolwire::translate::{Error, ResponseTranslator};

use super::{ClientResponse, Failure, RequestContext, SentRequest, headers, loss};
use crate::heavy_work::in_place;
use crate::upstream::UpstreamResponse;

/// Reads a response and translates it for the client.
pub(super) async fn finish(
    context: &mut RequestContext<'_>,
    request: SentRequest<'_>,
    translator: &ResponseTranslator,
    mut response: UpstreamResponse,
) -> Result<ClientResponse, Failure> {
    let SentRequest { upstream, model_renamed, losses, recorder } = request;
    let (body, mut reservation) = context.read_body(upstream, &mut response).await?;
    let UpstreamResponse { status, headers, body: _ } = &response;
    let heavy_work = &context.state.heavy_work;
    let size = body.len();
    if !status.is_success() {
        let error = || Failure::from_error_response(context, upstream, *status, headers, body);
        return Err(heavy_work.run(size, error).await);
    }
    let translated = match heavy_work.run(size, || translator.translate(&body)).await {
        Ok(translated) => translated,
        Err(Error::NotAnAnswer) => {
            let error = || Failure::from_error_response(context, upstream, *status, headers, body);
            return Err(in_place(size, error));
        }
        // It says itself how it failed.
        Err(Error::Refused { entries: _ }) if translator.is_failure(&body) => {
            let error = || Failure::from_error_response(context, upstream, *status, headers, body);
            return Err(in_place(size, error));
        }
        Err(other) => return Err(Failure::unreadable_response(upstream, &other.to_string())),
    };
    let summary = &translated.summary;
    context.log.set_usage(summary.usage.as_ref(), summary.calls);
    context.log.add_losses(&translated.ledger);
    let mut headers = headers::for_client(context, upstream, headers);
    headers::set_request_id(context.client, &context.log.id, &mut headers);
    if model_renamed {
        headers::set_upstream_model(summary.model.as_deref(), &mut headers);
    }
    headers::set_recovered(summary.recovered, &mut headers);
    let limit = context.active.config.limits.loss_header;
    loss::write_header(&losses, &translated.ledger, limit, &mut headers);
    upstream.succeeded();
    // A response that says it failed has an error in it.
    let mask = summary.error.is_some().then(|| context.secret_mask());
    let masked = mask.and_then(|mask| mask.mask(&translated.body));
    let (body, written) = match (masked, translated.body) {
        // The bytes pass.
        (None, Cow::Borrowed(_)) => (body, None),
        (None, Cow::Owned(bytes)) => (bytes.into(), translated.written),
        (Some(bytes), _) => (bytes.into(), None),
    };
    reservation.set(body.len());
    if let Some(mut recorder) = recorder {
        recorder.set_usage(summary.usage.as_ref());
        Box::pin(recorder.record(body.clone(), written)).await?;
    }
    Ok(ClientResponse::Whole { headers, body: reservation.hold(body) })
}
