//! One request at the upstreams of its route, one after the other, until one of
//! them answers.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderValue};
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
    let (mut last_failure, mut refusal) = (None, None);
    for upstream in &route.upstreams {
        if last_failure.is_some() && !context.state.retry_budget.spend(retry) {
            break;
        }
        let probe = probe.take();
        let attempt = match Attempt::prepare(context, upstream, route, request, *loss_policy).await
        {
            Ok(attempt) => attempt,
            // It is not the upstream that the request would go to if all of them worked,
            // so what it cannot take is not what the client has to mend.
            Err(failure) if probe.is_some() || last_failure.is_some() => {
                if last_failure.is_some() {
                    context.state.retry_budget.give_back(retry);
                }
                refusal = Some(failure);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        if dry_run::is_wanted(&context.parts.headers) {
            return Ok(attempt.plan(context));
        }
        match attempt.run(context, probe).await {
            Ok(response) => return Ok(response),
            Err(failure) if failure.may_try_another() => last_failure = Some((upstream, failure)),
            Err(failure) => return Err(failure),
        }
    }
    if let Some((upstream, failure)) = last_failure {
        context.log.set_upstream(upstream);
        return Err(failure);
    }
    Err(refusal.unwrap_or_else(|| no_model(&request.document.head.model)))
}

/// A request that is ready to be sent to an upstream.
struct Attempt<'a> {
    upstream: &'a Arc<Upstream>,
    path: String,
    headers: HeaderMap,
    /// The body, unless it is the client's own.
    body: Option<Vec<u8>>,
    own_body: &'a Bytes,
    translator: BodyTranslator,
    /// Whether the upstream knows the model by another name than the client.
    model_renamed: bool,
    /// What the translation lost.
    losses: Vec<Entry>,
    /// Keeps the response, if the gateway does.
    recorder: Option<AnswerRecorder>,
}

impl<'a> Attempt<'a> {
    /// Makes the request for an upstream, which may not be able to take it.
    async fn prepare(
        context: &mut RequestContext<'_>,
        upstream: &'a Arc<Upstream>,
        route: &Route,
        request: &'a ClientRequest,
        loss_policy: Option<LossPolicy>,
    ) -> Result<Self, Failure> {
        context.log.set_upstream(upstream);
        let (document, kept, mut recorder) = request.toward(upstream)?;
        let RequestDocument { head, body: own_body, .. } = document;
        let build =
            || UpstreamRequest::build(context, upstream, route, document, kept, loss_policy);
        let UpstreamRequest { body, losses, required_features, translator, calls } =
            context.state.heavy_work.run(own_body.len(), build).await?;
        if let Some(recorder) = &mut recorder {
            recorder.set_calls(calls);
        }
        let stream = head.scanned.stream;
        let headers = headers::for_upstream(context, upstream, stream, &required_features)?;
        context.log.add_losses(&losses);
        let path = upstream.config.protocol.describe().answers.fill(&route.model, stream);
        let model_renamed = head.model != route.model;
        Ok(Self {
            upstream,
            path,
            headers,
            body,
            own_body,
            translator,
            model_renamed,
            losses,
            recorder,
        })
    }

    /// What would be sent, for a client that only wants to know that.
    fn plan(&self, context: &RequestContext<'_>) -> ClientResponse {
        let body = Some(self.body.as_deref().unwrap_or(self.own_body));
        let planned = dry_run::Plan { path: &self.path, headers: &self.headers, body };
        planned.respond(context, self.upstream, &self.losses)
    }

    /// Sends the request, and gets the response.
    async fn run(
        self,
        context: &mut RequestContext<'_>,
        probe: Option<Probe>,
    ) -> Result<ClientResponse, Failure> {
        let Self {
            upstream,
            path,
            headers,
            body,
            own_body,
            translator,
            model_renamed,
            losses,
            recorder,
        } = self;
        let session = recorder.as_ref().and_then(AnswerRecorder::session).map(str::to_owned);
        context.log.start_attempt(upstream);
        context.log.pause();
        let body = match body {
            Some(translated) => context.hold_request(translated)?,
            None => own_body.clone(),
        };
        let timeouts = &upstream.config.timeouts;
        let patience = match &translator {
            BodyTranslator::Whole(_) => timeouts.whole,
            BodyTranslator::Stream(_) => timeouts.headers,
        };
        let sent = upstream.send(&path, headers, body, patience).await;
        context.log.resume();
        if let Some(probe) = probe
            && !matches!(sent, Err(UpstreamError::NoSockets))
        {
            probe.sent();
        }
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
