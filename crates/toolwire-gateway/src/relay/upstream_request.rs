//! The client's request in the upstream's protocol, together with the
//! translator of the response. Building both at once means that the request is
//! decoded once and that nothing of it has to be kept.

use toolwire::codec;
use toolwire::facts::ModelFacts;
use toolwire::model::{ApiError, ErrorKind, Request};
use toolwire::pipe::Pipe;
use toolwire::tracker::Tracker;
use toolwire::translate::{KeptState, Options, PreparedRequest, ResponseTranslator};
use toolwire::{Entry, LossPolicy, Protocol};
use toolwire_tokens::{BudgetPolicy, quick_estimate};

use super::client_request::RequestDocument;
use super::{Failure, RequestContext, headers};
use crate::route::Route;
use crate::stored::time_of_day;
use crate::upstream::Upstream;

/// A request that is ready to be sent.
pub(super) struct UpstreamRequest {
    /// The body, unless it is the client's own.
    pub(super) body: Option<Vec<u8>>,
    /// What the translation lost.
    pub(super) losses: Vec<Entry>,
    /// Features that the upstream must switch on for it.
    pub(super) required_features: Vec<&'static str>,
    pub(super) translator: BodyTranslator,
    /// The calls of the whole conversation, if it is a session.
    pub(super) calls: Option<Tracker>,
}

/// Translates the response back.
pub(super) enum BodyTranslator {
    Whole(Box<ResponseTranslator>),
    Stream(Box<Pipe>),
}

impl UpstreamRequest {
    /// Translates a request for an upstream.
    pub(super) fn build(
        context: &RequestContext<'_>,
        upstream: &Upstream,
        route: &Route,
        document: &RequestDocument,
        kept: Option<KeptState>,
        loss_policy: Option<LossPolicy>,
    ) -> Result<Self, Failure> {
        let RequestDocument { head, body, session } = document;
        let refused = |error| Failure::from_translation(&error);
        let (client, to) = (context.client, upstream.config.protocol);
        let prepared = match session {
            Some(origins) => {
                PreparedRequest::with_session(client, to, &head.scanned, body, origins)
            }
            None => PreparedRequest::with_head(client, to, &head.scanned, body),
        };
        let mut prepared = prepared.map_err(refused)?;
        let calls = prepared.session_calls().cloned();
        if calls.is_some() {
            check_answers(&prepared)?;
        }
        let loss_policy =
            loss_policy.or(upstream.config.on_loss).unwrap_or(context.active.config.on_loss);
        let facts = upstream.facts_of(&route.model);
        // They are large, so the same ones serve both ways.
        let mut options = Options::new();
        options.profile = Some(upstream.config.profile_of(&route.model));
        options.kept_state = kept;
        options.created = Some(time_of_day::now());
        options.fallback_id = Some(context.log.id.clone());
        options.loss_policy = loss_policy;
        options.model = Some(route.model.clone());
        options.output_limit = upstream.config.output_budget.and_then(|policy| {
            output_limit(policy, context.client, &route.model, &facts, &prepared, body)
        });
        options.facts = Some(facts);
        let (body, mut losses, required_features) = if prepared.passes_whole(&options) {
            (None, Vec::new(), Vec::new())
        } else {
            let translated = prepared.translate(&options).map_err(refused)?;
            (Some(translated.body), translated.ledger, translated.required_features)
        };
        headers::check_losses(context, upstream, loss_policy, &mut losses)?;
        options.output_limit = None;
        options.loss_policy = response_policy(loss_policy);
        // The client gets back the name that it asked for. Claude Code keeps
        // signed thinking only under that name.
        options.model = (head.model != route.model).then(|| head.model.clone());
        let translator = if head.scanned.stream {
            options.input_estimate = estimate(context, &prepared);
            BodyTranslator::Stream(Box::new(prepared.pipe(&options)))
        } else {
            BodyTranslator::Whole(Box::new(prepared.response_translator(&options)))
        };
        Ok(Self { body, losses, required_features, translator, calls })
    }
}

/// A session goes on from one answer.
fn check_answers(prepared: &PreparedRequest<'_>) -> Result<(), Failure> {
    let wanted = prepared.request().and_then(|request| request.output.n.as_ref());
    if wanted.is_none_or(|wanted| wanted.value <= 1) {
        return Ok(());
    }
    let message = "A session goes on from one answer, so `n` must be 1.";
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some("n".to_owned());
    Err(Failure::new(error))
}

/// How long the answer may be by the operator's policy, if the client does not
/// say.
fn output_limit(
    policy: BudgetPolicy,
    client: Protocol,
    model: &str,
    facts: &ModelFacts,
    prepared: &PreparedRequest<'_>,
    body: &[u8],
) -> Option<u64> {
    let limit = |request: &Request<'_>| match request.output.max_tokens {
        Some(_) => None,
        None => policy.limit(request, model, facts),
    };
    match prepared.request() {
        Some(request) => limit(request),
        // Its bytes would pass unread.
        None => {
            let text = std::str::from_utf8(body).ok()?;
            limit(&codec(client).decode_request(text).ok()?)
        }
    }
}

/// The number of input tokens, for a protocol whose streams begin with it.
/// Other upstreams report it only at the end. Claude Code shows it.
fn estimate(context: &RequestContext<'_>, prepared: &PreparedRequest<'_>) -> Option<u64> {
    let wanted = context.client.describe().counts_input_first;
    prepared.request().filter(|_| wanted).map(quick_estimate)
}

/// The loss policy for the response. A response is always delivered, even if
/// the client refuses losses in its request: the tokens are paid for, and the
/// model may have called tools.
fn response_policy(policy: LossPolicy) -> LossPolicy {
    match policy {
        LossPolicy::Ignore => LossPolicy::Ignore,
        LossPolicy::Report | LossPolicy::Refuse => LossPolicy::Report,
    }
}
