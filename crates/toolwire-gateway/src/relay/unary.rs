//! A whole response, translated back.

use std::borrow::Cow;

use toolwire::model::{Item, Usage};
use toolwire::wire::Str;
use toolwire::{Protocol, codec, translate};

use super::{ClientResponse, Failure, RequestContext, SentRequest, failure, headers, loss};
use crate::upstream::UpstreamResponse;

/// Reads a response and translates it for the client.
pub(super) async fn finish(
    context: &mut RequestContext<'_>,
    request: SentRequest<'_>,
    translator: &translate::Back,
    mut response: UpstreamResponse,
) -> Result<ClientResponse, Failure> {
    let SentRequest { upstream, model_renamed, losses } = request;
    let (from, to) = (upstream.config.protocol, context.client);
    let body = context.read_body(upstream, &mut response).await?;
    let error =
        |body| Failure::from_error_response(upstream, to, response.status, &response.headers, body);
    if !response.status.is_success() {
        return Err(error(body));
    }
    let unreadable = |reason: &str| Failure::unreadable_response(upstream, reason);
    let text = std::str::from_utf8(&body).map_err(|_| unreadable("it is not UTF-8"))?;
    match failure::is_error(text) {
        Some(false) => {}
        Some(true) => return Err(error(body)),
        None => return Err(unreadable("it is not a JSON object")),
    }
    let summary = Summary::read(from, text);
    context.log.set_usage(summary.usage.as_ref(), summary.calls);
    let mut headers = headers::for_client(from, to, &response.headers);
    headers::set_request_id(to, &context.log.id, &mut headers);
    let limit = context.active.config.limits.loss_header;
    if model_renamed {
        headers::set_upstream_model(summary.model.as_deref(), &mut headers);
    } else if from == to {
        loss::write_header(&losses, &[], limit, &mut headers);
        upstream.succeeded();
        return Ok(ClientResponse::Whole { headers, body });
    }
    let translated = translator.translate(&body).map_err(|error| unreadable(&error.to_string()))?;
    context.log.add_losses(&translated.ledger);
    loss::write_header(&losses, &translated.ledger, limit, &mut headers);
    upstream.succeeded();
    Ok(ClientResponse::Whole { headers, body: translated.body.into() })
}

/// What the log and the headers say about a response.
#[derive(Default)]
struct Summary<'t> {
    model: Option<Cow<'t, str>>,
    usage: Option<Usage<'t>>,
    calls: usize,
}

impl<'t> Summary<'t> {
    fn read(protocol: Protocol, text: &'t str) -> Self {
        let Ok(response) = codec(protocol).decode_response(text) else { return Self::default() };
        let turns = response.candidates.iter().flat_map(|candidate| &candidate.turns);
        let items = turns.flat_map(|turn| &turn.items);
        let calls = items.filter(|item| matches!(item, Item::Call(_))).count();
        let model = response.model.map(Str::into_decoded);
        Self { model, usage: response.usage, calls }
    }
}
