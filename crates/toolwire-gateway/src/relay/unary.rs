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
    let SentRequest { upstream, model_renamed, losses } = request;
    let (from, to) = (upstream.config.protocol, context.client);
    let body = context.read_body(upstream, &mut response).await?;
    let error =
        |body| Failure::from_error_response(upstream, to, response.status, &response.headers, body);
    let heavy_work = &context.state.heavy_work;
    let size = body.len();
    if !response.status.is_success() {
        return Err(heavy_work.run(size, || error(body)).await);
    }
    let translated = match heavy_work.run(size, || translator.translate(&body)).await {
        Ok(translated) => translated,
        Err(Error::NotAnAnswer) => return Err(in_place(size, || error(body))),
        Err(other) => return Err(Failure::unreadable_response(upstream, &other.to_string())),
    };
    let summary = &translated.summary;
    context.log.set_usage(summary.usage.as_ref(), summary.calls);
    context.log.add_losses(&translated.ledger);
    let mut headers = headers::for_client(from, to, &response.headers);
    headers::set_request_id(to, &context.log.id, &mut headers);
    if model_renamed {
        headers::set_upstream_model(summary.model.as_deref(), &mut headers);
    }
    let limit = context.active.config.limits.loss_header;
    loss::write_header(&losses, &translated.ledger, limit, &mut headers);
    upstream.succeeded();
    let body = match translated.body {
        // The bytes pass.
        Cow::Borrowed(_) => body,
        Cow::Owned(translated) => translated.into(),
    };
    Ok(ClientResponse::Whole { headers, body })
}
