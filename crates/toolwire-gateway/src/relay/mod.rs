//! One request, from top to bottom: admit, decode, route, encode, send,
//! translate back, account.

mod count;
mod failure;
mod headers;
mod loss;
mod request_body;
mod request_head;
mod stream;
mod unary;
mod upstream_request;

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode, Version};
use toolwire::{Policy, Protocol};

pub(crate) use self::count::count;
pub(crate) use self::failure::{Failure, no_model};
pub(crate) use self::headers::request_id;
use self::request_head::Ask;
pub(crate) use self::stream::Stream;
use self::upstream_request::{Crossed, Way};
use crate::active_config::{Live, Shared};
use crate::guard::Badge;
use crate::observe::{Access, Ending};
use crate::response_body::Body;
use crate::route::{self, Route};
use crate::upstream::{Answer, Endpoint, Upstream};

/// A request that was let in.
pub(crate) struct Visit<'v> {
    pub(crate) shared: &'v Arc<Shared>,
    pub(crate) live: &'v Arc<Live>,
    pub(crate) head: &'v Parts,
    pub(crate) badge: &'v Badge,
    pub(crate) client: Protocol,
    pub(crate) access: Access,
}

impl Visit<'_> {
    /// Reads an answer to its end.
    async fn hear_out(
        &mut self,
        upstream: &Upstream,
        answer: &mut Answer,
    ) -> Result<Bytes, Failure> {
        self.access.pause();
        let body = answer.body.all(upstream.config.timeouts.idle, LIMIT).await;
        self.access.resume();
        self.access.heard();
        body.map_err(|trouble| Failure::of_trouble(trouble, upstream))
    }
}

/// What the client gets, unless it gets an error.
enum Reply {
    Whole { headers: HeaderMap, body: Bytes },
    Stream { headers: HeaderMap, stream: Box<Stream> },
}

/// Carries a request to a model and the answer back.
pub(crate) async fn relay(mut visit: Visit<'_>, body: Incoming) -> Response<Body> {
    let reply = walk(&mut visit, body).await;
    let Visit { live, head, client, mut access, .. } = visit;
    match reply {
        Ok(Reply::Whole { headers, body }) => {
            access.status(200);
            access.sent(body.len());
            access.end(Ending::Answered);
            respond(headers, Body::whole(body))
        }
        Ok(Reply::Stream { headers, mut stream }) => {
            access.status(200);
            access.pause();
            stream.observed_by(access);
            let body = match head.version {
                Version::HTTP_2 => Body::paced(stream, live.config.limits.stall),
                _one_at_a_time => Body::Pulled(stream),
            };
            respond(headers, body)
        }
        Err(failure) => refuse(access, failure, client),
    }
}

/// Answers with an error.
pub(crate) fn refuse(mut access: Access, failure: Failure, client: Protocol) -> Response<Body> {
    access.end(failure.ending());
    let response = failure.response(client, &access.id);
    access.status(response.status().as_u16());
    response
}

async fn walk(visit: &mut Visit<'_>, body: Incoming) -> Result<Reply, Failure> {
    let limits = &visit.live.config.limits;
    visit.access.pause();
    let body = request_body::read(body, &visit.head.headers, limits).await?;
    visit.access.resume();
    let ask = Ask::read(&body, limits)?;
    visit.access.asked(&ask.model, body.len());
    let wish = loss::wish(&visit.head.headers)?;
    let route =
        route::find(visit.live, &ask.model, visit.client).ok_or_else(|| no_model(&ask.model))?;
    visit.shared.budget.earn();
    let mut failed = None;
    for upstream in &route.upstreams {
        if failed.is_some() && !visit.shared.budget.spend() {
            break;
        }
        match attempt(visit, upstream, &route, &ask, &body, wish).await {
            Ok(reply) => return Ok(reply),
            Err(failure) if failure.is_worth_another() => failed = Some(failure),
            Err(failure) => return Err(failure),
        }
    }
    Err(failed.unwrap_or_else(|| no_model(&ask.model)))
}

/// Asks one upstream.
async fn attempt(
    visit: &mut Visit<'_>,
    upstream: &Arc<Upstream>,
    route: &Route,
    ask: &Ask,
    body: &[u8],
    wish: Option<Policy>,
) -> Result<Reply, Failure> {
    visit.access.tries(upstream);
    let Crossed { body, losses, way } =
        upstream_request::over(visit, upstream, route, ask, body, wish)?;
    visit.access.lost(&losses);
    let headers = headers::outbound(visit, upstream, ask.stream, &body)?;
    visit.access.pause();
    let sent = upstream.send(Endpoint::Answers, headers, body).await;
    visit.access.resume();
    let back = Back { upstream, renamed: ask.model != route.model, losses };
    let reply = match (sent, way) {
        (Ok(answer), Way::Whole(way)) => unary::finish(visit, back, &way, answer).await,
        (Ok(answer), Way::Stream(pipe)) => stream::begin(visit, back, *pipe, answer).await,
        (Err(trouble), _) => Err(Failure::of_trouble(trouble, upstream)),
    };
    if let Err(failure) = &reply {
        failure.judge(upstream);
    }
    reply
}

/// What is known of the way up on the way back.
struct Back<'b> {
    upstream: &'b Arc<Upstream>,
    /// Whether the upstream was asked for the model by another name than the
    /// client's.
    renamed: bool,
    /// What of the request was lost.
    losses: Vec<toolwire::Entry>,
}

fn respond(mut headers: HeaderMap, body: Body) -> Response<Body> {
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::OK;
    *response.headers_mut() = headers;
    response
}

/// The longest answer that is taken. It is far beyond what any model says.
const LIMIT: usize = 64 * 1024 * 1024;
