//! How many tokens a request would cost: by the upstream that counts in the
//! client's protocol, or by an estimate.

use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue};
use toolwire::Protocol;
use toolwire::codec;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::translate::{self, Options};
use toolwire::wire::Object;

use super::request_head::Ask;
use super::{Failure, Visit, headers, no_model, refuse, request_body, respond};
use crate::config::Origin;
use crate::count as estimates;
use crate::observe::Ending;
use crate::response_body::Body;
use crate::route::{self, Route};
use crate::upstream::{Endpoint, Upstream};

/// Answers how many tokens a request would cost.
pub(crate) async fn count(mut visit: Visit<'_>, body: Incoming) -> Response<Body> {
    let counted = walk(&mut visit, body).await;
    let Visit { client, mut access, .. } = visit;
    match counted {
        Ok((mut headers, body)) => {
            headers::identify(client, &access.id, &mut headers);
            access.status(200);
            access.sent(body.len());
            access.end(Ending::Answered);
            respond(headers, Body::whole(body))
        }
        Err(failure) => refuse(access, failure, client),
    }
}

async fn walk(visit: &mut Visit<'_>, body: Incoming) -> Result<(HeaderMap, Vec<u8>), Failure> {
    visit.access.pause();
    let limits = &visit.live.config.limits;
    let body = request_body::read(body, &visit.head.headers, limits).await?;
    visit.access.resume();
    let ask = Ask::read(&body, limits)?;
    visit.access.asked(&ask.model, body.len());
    let route =
        route::find(visit.live, &ask.model, visit.client).ok_or_else(|| no_model(&ask.model))?;
    if let Some(upstream) = route.upstreams.first()
        && upstream.config.protocol == visit.client
        && upstream.config.origin != Origin::Demo
        && let Some(counted) = ask_upstream(visit, upstream, &route, &body).await?
    {
        return Ok(counted);
    }
    estimate(visit.client, &body)
}

/// What the upstream says, unless it cannot count.
async fn ask_upstream(
    visit: &mut Visit<'_>,
    upstream: &std::sync::Arc<Upstream>,
    route: &Route,
    body: &[u8],
) -> Result<Option<(HeaderMap, Vec<u8>)>, Failure> {
    visit.access.tries(upstream);
    let options = Options { model: Some(route.model.clone()), ..Options::default() };
    let spliced = translate::request(visit.client, visit.client, body, &options)
        .map_err(|error| Failure::of_request(&error))?;
    let headers = headers::outbound(visit, upstream, false, &spliced.body)?;
    visit.access.pause();
    let answer = upstream.send(Endpoint::Counts, headers, spliced.body).await;
    let read = match answer {
        Ok(mut answer) => {
            let body = answer.body.all(upstream.config.timeouts.idle, LIMIT).await;
            body.map(|body| (answer.status, answer.headers, body))
        }
        Err(trouble) => Err(trouble),
    };
    visit.access.resume();
    visit.access.heard();
    let Ok((status, head, body)) = read else { return Ok(None) };
    match status.as_u16() {
        200 => {
            let headers = headers::inbound(visit.client, visit.client, &head);
            Ok(Some((headers, body.into())))
        }
        // What is wrong with the request is for the client to know. Anything
        // else means that this upstream cannot count.
        400 | 401 | 403 | 413 | 422 => {
            Err(Failure::of_error(upstream, visit.client, status, &head, body))
        }
        _cannot => Ok(None),
    }
}

fn estimate(client: Protocol, body: &[u8]) -> Result<(HeaderMap, Vec<u8>), Failure> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let request = codec(client).decode_request(text).map_err(|error| {
        let message = format!("The request cannot be read: {error}.");
        Failure::of(ApiError::new(ErrorKind::InvalidRequest, message))
    })?;
    let tokens = estimates::estimate(&request);
    let mut out = Vec::with_capacity(64);
    let mut object = Object::new(&mut out);
    match client {
        Protocol::Chat | Protocol::Messages => {}
        Protocol::Responses => object.put("object", "response.input_tokens"),
    }
    object.put("input_tokens", &tokens);
    drop(object);
    let mut headers = HeaderMap::new();
    headers.insert("toolwire-estimate", HeaderValue::from_static("?1"));
    Ok((headers, out))
}

/// The longest count that is taken.
const LIMIT: usize = 64 * 1024;
