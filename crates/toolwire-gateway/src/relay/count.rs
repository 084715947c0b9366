//! The number of tokens in a request: counted by the upstream if it speaks the
//! client's protocol, otherwise estimated.

use std::sync::Arc;

use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue};
use toolwire::Protocol;
use toolwire::codec;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::protocol::Endpoint;
use toolwire::translate::{self, Options};
use toolwire::wire::Raw;
use toolwire_tokens::{Tokenizer, count_request};

use super::{Failure, RequestContext, headers, no_model, respond, respond_with_error};
use crate::config::Origin;
use crate::observe::Outcome;
use crate::response_body::ResponseBody;
use crate::route::{self, Route, UpstreamMemory};
use crate::stored::{self, Recalled};
use crate::upstream::{ResponseLimit, Upstream};

/// Answers a request for the number of its tokens.
pub(crate) async fn count_tokens(
    mut context: RequestContext<'_>,
    body: Incoming,
) -> Response<ResponseBody> {
    let counted = count(&mut context, body).await;
    let counted = counted.map_err(|failure| failure.without_secrets(&context.secret_mask()));
    let RequestContext { client, mut log, .. } = context;
    match counted {
        Ok((mut headers, body)) => {
            headers::set_request_id(client, &log.id, &mut headers);
            log.set_status(200);
            log.add_sent(body.len());
            log.finish(Outcome::Answered);
            respond(headers, ResponseBody::whole(body))
        }
        Err(failure) => respond_with_error(log, failure, client),
    }
}

async fn count(
    context: &mut RequestContext<'_>,
    body: Incoming,
) -> Result<(HeaderMap, Vec<u8>), Failure> {
    context.log.pause();
    let body = context.read_request(body).await?.into_bytes();
    context.log.resume();
    let head = context.read_head(&body).await?;
    let (head, body) = context.without_null_session(head, body).await?;
    context.log.set_request(&head.model, body.len());
    let tenant = stored::tenant(&context.active.config, context.credentials);
    let (memory, headers) = (&context.state.stored, &context.parts.headers);
    let whole =
        stored::with_session(memory, &tenant, context.client, headers, &head.scanned, &body);
    let body = whole.await?.map_or(body, Into::into);
    let recalled = Box::pin(stored::look_up(context.state_lookup(&head.scanned, &body))).await?;
    let route = route::look_up(context.active, &head.model, context.client)
        .ok_or_else(|| no_model(&head.model))?;
    // What is in an account that several clients share is nobody's to count.
    let may_ask = match &recalled {
        Recalled::Nothing => true,
        Recalled::Unknown(_) => {
            UpstreamMemory::find(context.active, &head.model) == UpstreamMemory::Own
        }
        Recalled::Found(_) => false,
    };
    if may_ask
        && let Some(upstream) = route.upstreams.first()
        && upstream.config.protocol == context.client
        && upstream.config.origin != Origin::Demo
        && let Some(endpoint) = &context.client.describe().token_count
        && let Some(counted) = ask_upstream(context, upstream, endpoint, &route, &body).await?
    {
        return Ok(counted);
    }
    let body = match recalled {
        Recalled::Nothing => body,
        Recalled::Found(whole) => whole,
        Recalled::Unknown(missing) => return Err(missing.failure()),
    };
    let (client, state) = (context.client, context.state);
    state.heavy_work.run(body.len(), || estimate(client, &route.model, &body)).await
}

/// The upstream's own count, or `None` if it cannot count.
async fn ask_upstream(
    context: &mut RequestContext<'_>,
    upstream: &Arc<Upstream>,
    endpoint: &Endpoint,
    route: &Route,
    body: &[u8],
) -> Result<Option<(HeaderMap, Vec<u8>)>, Failure> {
    context.log.start_attempt(upstream);
    let profile = upstream.config.profile_of(&route.model);
    let options = Options::new().model(&route.model).profile(profile);
    let translate = || translate::request(context.client, context.client, body, &options);
    let translated = context.state.heavy_work.run(body.len(), translate).await;
    let translated = translated.map_err(|error| Failure::from_translation(&error))?;
    let headers = headers::for_upstream(context, upstream, false, &translated.required_features)?;
    context.log.pause();
    let path = endpoint.fill(&route.model, false);
    let request = context.hold_request(translated.body)?;
    let response = upstream.send(&path, headers, request, upstream.config.timeouts.headers).await;
    let read = match response {
        Ok(mut response) => {
            let limit = ResponseLimit { response: MAX_COUNT, ..context.response_limit() };
            let mut reservation = context.state.bodies.reservation();
            let idle = upstream.config.timeouts.idle;
            let body = response.body.read_all(idle, limit, &mut reservation).await;
            body.map(|body| (response.status, response.headers, body))
        }
        Err(error) => Err(error),
    };
    context.log.resume();
    context.log.upstream_responded();
    let Ok((status, upstream_headers, body)) = read else { return Ok(None) };
    match status.as_u16() {
        200 if is_json(&body) => {
            let headers = headers::for_client(context, upstream, &upstream_headers);
            Ok(Some((headers, body.into())))
        }
        // The client must learn what is wrong with its request. Any other
        // status, or half a response, means that this upstream cannot count.
        400 | 401 | 403 | 413 | 422 => {
            Err(Failure::from_error_response(context, upstream, status, &upstream_headers, body))
        }
        _cannot_count => Ok(None),
    }
}

fn is_json(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|text| Raw::parse(text).is_ok())
}

fn estimate(client: Protocol, model: &str, body: &[u8]) -> Result<(HeaderMap, Vec<u8>), Failure> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let request = codec(client).decode_request(text).map_err(|error| {
        let message = format!("The request cannot be read: {error}.");
        Failure::new(ApiError::new(ErrorKind::InvalidRequest, message))
    })?;
    let tokens = count_request(&request, Tokenizer::for_model(model));
    let mut out = Vec::with_capacity(64);
    (codec(client).write_token_count)(tokens, &mut out);
    let mut headers = HeaderMap::new();
    headers.insert("toolwire-estimate", HeaderValue::from_static("?1"));
    Ok((headers, out))
}

/// The longest response to a count, in bytes.
const MAX_COUNT: usize = 64 * 1024;
