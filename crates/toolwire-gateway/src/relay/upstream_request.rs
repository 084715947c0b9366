//! The client's request in the upstream's protocol, together with the
//! translator of the response. Building both at once means that the request is
//! decoded once and that nothing of it has to be kept.

use toolwire::pipe::Pipe;
use toolwire::translate::{self, Options, Prepared, Translated};
use toolwire::{Entry, Policy, Protocol};

use super::request_head::RequestHead;
use super::{Failure, RequestContext, headers};
use crate::count;
use crate::route::Route;
use crate::upstream::Upstream;

/// A request that is ready to be sent.
pub(super) struct UpstreamRequest {
    pub(super) body: Vec<u8>,
    /// What the translation lost.
    pub(super) losses: Vec<Entry>,
    pub(super) translator: Translator,
}

/// Translates the response back.
pub(super) enum Translator {
    Whole(translate::Back),
    Stream(Box<Pipe>),
}

impl UpstreamRequest {
    /// Translates a request for an upstream.
    pub(super) fn build(
        context: &RequestContext<'_>,
        upstream: &Upstream,
        route: &Route,
        head: &RequestHead,
        body: &[u8],
        loss_policy: Option<Policy>,
    ) -> Result<Self, Failure> {
        let refused = |error| Failure::from_translation(&error);
        let mut prepared = Prepared::new(context.client, upstream.config.protocol, body)
            .map_err(refused)?
            .with_model_at(head.model_at.clone());
        let request_options = Options {
            policy: loss_policy
                .or(upstream.config.on_loss)
                .unwrap_or(context.active.config.on_loss),
            profile: Some(upstream.config.profile.clone()),
            model: Some(route.model.clone()),
            input_estimate: None,
        };
        let Translated { body, ledger: mut losses } =
            prepared.write(&request_options).map_err(refused)?;
        headers::check_losses(context, upstream, request_options.policy, &mut losses)?;
        let response_options = Options {
            policy: response_policy(request_options.policy),
            // The client gets back the name that it asked for. Claude Code keeps
            // signed thinking only under that name.
            model: (head.model != route.model).then(|| head.model.clone()),
            input_estimate: estimate(context.client, head, &prepared),
            ..request_options
        };
        let translator = match head.stream {
            true => Translator::Stream(Box::new(prepared.pipe(&response_options))),
            false => Translator::Whole(prepared.back(&response_options)),
        };
        Ok(Self { body, losses, translator })
    }
}

/// The first event of a Messages stream holds the number of input tokens, which
/// other upstreams report only at the end. Claude Code shows it.
fn estimate(client: Protocol, head: &RequestHead, prepared: &Prepared<'_>) -> Option<u64> {
    let wanted = client == Protocol::Messages && head.stream;
    prepared.request().filter(|_| wanted).map(count::guess)
}

/// The loss policy for the response. A response is always delivered, even if
/// the client refuses losses in its request: the tokens are paid for, and the
/// model may have called tools.
fn response_policy(policy: Policy) -> Policy {
    match policy {
        Policy::Ignore => Policy::Ignore,
        Policy::Report | Policy::Refuse => Policy::Report,
    }
}
