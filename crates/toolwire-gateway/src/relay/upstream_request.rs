//! A request into the protocol of an upstream, and at once the way back of its
//! answer: the request is read once, and nothing of it is kept.

use toolwire::pipe::Pipe;
use toolwire::translate::{self, Options, Prepared, Translated};
use toolwire::{Entry, Policy, Protocol};

use super::request_head::Ask;
use super::{Failure, Visit, headers};
use crate::count;
use crate::route::Route;
use crate::upstream::Upstream;

/// A request, ready for its upstream.
pub(super) struct Crossed {
    pub(super) body: Vec<u8>,
    /// What could not cross.
    pub(super) losses: Vec<Entry>,
    pub(super) way: Way,
}

/// The way back.
pub(super) enum Way {
    Whole(translate::Back),
    Stream(Box<Pipe>),
}

/// Translates a request for an upstream.
pub(super) fn over(
    visit: &Visit<'_>,
    upstream: &Upstream,
    route: &Route,
    ask: &Ask,
    body: &[u8],
    wish: Option<Policy>,
) -> Result<Crossed, Failure> {
    let refused = |error| Failure::of_request(&error);
    let mut prepared = Prepared::new(visit.client, upstream.config.protocol, body)
        .map_err(refused)?
        .with_model_at(ask.model_at.clone());
    let up = Options {
        policy: wish.or(upstream.config.on_loss).unwrap_or(visit.live.config.on_loss),
        profile: Some(upstream.config.profile.clone()),
        model: Some(route.model.clone()),
        input_estimate: None,
    };
    let Translated { body, ledger: mut losses } = prepared.write(&up).map_err(refused)?;
    headers::account(visit, upstream, up.policy, &mut losses)?;
    let down = Options {
        policy: delivered(up.policy),
        // A model that was asked for by another name gets it back: Claude Code
        // keeps signed thinking only under the name it asked for.
        model: (ask.model != route.model).then(|| ask.model.clone()),
        input_estimate: estimate(visit.client, ask, &prepared),
        ..up
    };
    let way = match ask.stream {
        true => Way::Stream(Box::new(prepared.pipe(&down))),
        false => Way::Whole(prepared.back(&down)),
    };
    Ok(Crossed { body, losses, way })
}

/// Messages tells the count of the request's tokens in the first event of a
/// stream, when other upstreams have not counted yet. Claude Code shows it.
fn estimate(client: Protocol, ask: &Ask, prepared: &Prepared<'_>) -> Option<u64> {
    let wanted = client == Protocol::Messages && ask.stream;
    prepared.request().filter(|_| wanted).map(count::guess)
}

/// What to do about losses on the way back. What the model has said is
/// delivered whatever the client wanted of its request: it has been paid for,
/// and it may have called tools.
fn delivered(policy: Policy) -> Policy {
    match policy {
        Policy::Ignore => Policy::Ignore,
        Policy::Report | Policy::Refuse => Policy::Report,
    }
}
