//! A whole response, translated back.

use std::borrow::Cow;

use bytes::Bytes;
use toolwire::translate::{Error, ResponseTranslator};

use super::{ClientResponse, Failure, RequestContext, SentRequest, headers, loss};
use crate::heavy_work::in_place;
use crate::observe::Outcome;
use crate::upstream::{Upstream, UpstreamResponse};

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
        Err(error) => {
            let failure = || unusable(context, upstream, translator, &response, body, &error);
            return Err(in_place(size, failure));
        }
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
    let (mut masked, mut outcome) = (None, Outcome::Answered);
    match &summary.error {
        None => upstream.succeeded(),
        // The response says that it failed, and passes.
        Some(error) => {
            let failure = Failure::from_stream_error(error.clone(), upstream);
            failure.update_health(upstream);
            context.log.set_reason(failure.reason());
            masked = context.secret_mask().mask(&translated.body);
            outcome = Outcome::Broken;
        }
    }
    let (body, written) = match (masked, translated.body) {
        // The bytes pass.
        (None, Cow::Borrowed(_)) => (body, None),
        (None, Cow::Owned(bytes)) => (bytes.into(), translated.written),
        (Some(bytes), _) => (bytes.into(), None),
    };
    reservation.set(body.len());
    let recorder = recorder.filter(|recorder| summary.error.is_none() || recorder.keeps_failed());
    if let Some(mut recorder) = recorder {
        recorder.set_usage(summary.usage.as_ref());
        recorder.record(body.clone(), written).await?;
    }
    Ok(ClientResponse::Whole { headers, body: reservation.hold(body), outcome })
}

/// Why there is no response for the client. The upstream's may say itself how it failed.
fn unusable(
    context: &RequestContext<'_>,
    upstream: &Upstream,
    translator: &ResponseTranslator,
    response: &UpstreamResponse,
    body: Bytes,
    error: &Error,
) -> Failure {
    let UpstreamResponse { status, headers, body: _ } = response;
    let is_readable = matches!(error, Error::NotAnAnswer | Error::Refused { entries: _ });
    if is_readable && let Some(failed) = translator.failure(&body) {
        let failure = Failure::from_failed_response(context, upstream, headers, failed.error);
        return if failed.has_content { failure.after_answer() } else { failure };
    }
    if matches!(error, Error::NotAnAnswer) {
        return Failure::from_error_response(context, upstream, *status, headers, body);
    }
    Failure::unreadable_response(upstream, &error.to_string())
}
