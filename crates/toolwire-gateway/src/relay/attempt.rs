//! One request at the upstreams of its route, one after the other, until one of
//! them answers.

use std::sync::Arc;

use hyper::header::HeaderValue;
use toolwire::{Entry, LossPolicy};

use super::client_request::{ClientRequest, RequestDocument};
use super::upstream_request::{BodyTranslator, UpstreamRequest};
use super::{
    ClientResponse, Failure, RequestContext, RoutedRequest, dry_run, headers, no_model, stream,
    unary,
};
use crate::health::Probe;
use crate::route::Route;
use crate::stored::{AnswerRecorder, SESSION_HEADER};
use crate::upstream::{Upstream, UpstreamError};

/// Sends a request to an upstream, or to others if it fails.
pub(super) async fn send(
    context: &mut RequestContext<'_>,
    routed: &mut RoutedRequest,
) -> Result<ClientResponse, Failure> {
    let mut probe = routed.route.probe.take();
    let RoutedRequest { request, route, loss_policy } = routed;
    let retry = &context.active.config.retry;
    context.state.retry_budget.earn(retry);
    let mut last_failure = None;
    for upstream in &route.upstreams {
        if last_failure.is_some() && !context.state.retry_budget.spend(retry) {
            break;
        }
        match attempt(context, upstream, route, request, *loss_policy, probe.take()).await {
            Ok(response) => return Ok(response),
            Err(failure) if failure.may_try_another() => last_failure = Some(failure),
            Err(failure) => return Err(failure),
        }
    }
    Err(last_failure.unwrap_or_else(|| no_model(&request.document.head.model)))
}

/// Sends the request to one upstream.
async fn attempt(
    context: &mut RequestContext<'_>,
    upstream: &Arc<Upstream>,
    route: &Route,
    request: &ClientRequest,
    loss_policy: Option<LossPolicy>,
    probe: Option<Probe>,
) -> Result<ClientResponse, Failure> {
    context.log.start_attempt(upstream);
    let (document, kept, mut recorder) = request.toward(upstream)?;
    let RequestDocument { head, body: own_body, .. } = document;
    let build = || UpstreamRequest::build(context, upstream, route, document, kept, loss_policy);
    let UpstreamRequest { body, losses, required_features, translator, calls } =
        context.state.heavy_work.run(own_body.len(), build).await?;
    if let Some(recorder) = &mut recorder {
        recorder.set_calls(calls);
    }
    let session = recorder.as_ref().and_then(AnswerRecorder::session).map(str::to_owned);
    context.log.add_losses(&losses);
    let stream = head.scanned.stream;
    let headers = headers::for_upstream(context, upstream, stream, &required_features)?;
    let path = upstream.config.protocol.describe().answers.fill(&route.model, stream);
    if dry_run::is_wanted(&context.parts.headers) {
        let body = Some(body.as_deref().unwrap_or(own_body));
        let planned = dry_run::Plan { path: &path, headers: &headers, body };
        return Ok(planned.respond(context, upstream, &losses));
    }
    context.log.pause();
    let body = match body {
        Some(translated) => context.hold_request(translated)?,
        None => own_body.clone(),
    };
    let sent = upstream.send(&path, headers, body).await;
    context.log.resume();
    if let Some(probe) = probe
        && !matches!(sent, Err(UpstreamError::NoSockets))
    {
        probe.sent();
    }
    let model_renamed = head.model != route.model;
    let request = SentRequest { upstream, model_renamed, losses, recorder };
    let mut result = match (sent, translator) {
        (Ok(response), BodyTranslator::Whole(translator)) => {
            unary::finish(context, request, &translator, response).await
        }
        (Ok(response), BodyTranslator::Stream(pipe)) => {
            stream::begin(context, request, pipe, response).await
        }
        (Err(error), _) => Err(Failure::from_upstream_error(error, upstream)),
    };
    if let (Ok(response), Some(Ok(id))) = (&mut result, session.map(HeaderValue::try_from)) {
        response.headers_mut().insert(SESSION_HEADER.clone(), id);
    }
    match &result {
        Ok(_) => upstream.responded(),
        Err(failure) => {
            failure.update_health(upstream);
            context.make_room_after(failure);
            if !failure.reason().is_about_store() {
                context.log.attempt_failed(failure.reason());
            }
        }
    }
    result
}

/// What the response needs to know about the request that was sent.
pub(super) struct SentRequest<'s> {
    pub(super) upstream: &'s Arc<Upstream>,
    /// Whether the upstream knows the model by another name than the client.
    pub(super) model_renamed: bool,
    /// What the translation of the request lost.
    pub(super) losses: Vec<Entry>,
    /// Keeps the response, if the gateway does.
    pub(super) recorder: Option<AnswerRecorder>,
}
