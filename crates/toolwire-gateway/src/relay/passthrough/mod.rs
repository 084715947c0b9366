//! Requests that pass as they are: embeddings, images, audio, files, batches.
//! Nothing is translated, and neither body is kept: what was received is sent.
//! Everything else is as for a request that is translated: the route, the
//! credential, the lists of headers, the limits, the log and the retries.

#[cfg(test)]
pub(crate) mod growth;
mod model_scan;
mod recall;
mod response;
mod route;
mod table;
mod upload;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{HeaderMap, Method, Response};

use self::recall::RecalledRequest;
pub(crate) use self::response::PassedBody;
use self::response::{PassedResponse, client_headers};
use self::route::PassedTo;
use self::table::Scope;
pub(crate) use self::table::{PassedRoute, ROUTES};
use self::upload::{Upload, UploadEnd, UploadSource};
use super::{
    ClientResponse, Failure, RequestContext, dry_run, headers, no_model, respond,
    respond_with_error,
};
use crate::health::Probe;
use crate::response_body::ResponseBody;
use crate::upstream::{PassedRequest, Upstream, UpstreamError};

/// Passes a request on and the response back.
pub(crate) async fn serve(
    mut context: RequestContext<'_>,
    route: &'static PassedRoute,
    body: Incoming,
) -> Response<ResponseBody> {
    let passed = pass(&mut context, route, body).await;
    let passed = passed.map_err(|failure| failure.without_secrets(&context.secret_mask()));
    let RequestContext { client, mut log, .. } = context;
    match passed {
        Ok(Passed::Planned(ClientResponse::Whole { headers, body, outcome })) => {
            log.set_status(200);
            log.add_sent(body.len());
            log.finish(outcome);
            respond(headers, ResponseBody::whole(body))
        }
        Ok(Passed::Planned(ClientResponse::Stream { headers, stream })) => {
            respond(headers, ResponseBody::Pulled(stream))
        }
        Ok(Passed::Planned(ClientResponse::Replay { headers, replay })) => {
            respond(headers, ResponseBody::Replayed(replay))
        }
        Ok(Passed::Sent(PassedResponse { status, headers, mut body })) => {
            log.set_status(status.as_u16());
            log.pause();
            body.attach_log(log);
            let mut response = Response::new(ResponseBody::Passed(body));
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            response
        }
        Err(failure) => respond_with_error(log, failure, client),
    }
}

/// Where a request goes that is about something which an upstream may have kept, if there is
/// one that this client may ask.
pub(crate) fn kept_route(context: &RequestContext<'_>) -> Option<&'static PassedRoute> {
    let route = PassedRoute::find_kept(context.parts.uri.path())?;
    route::has_target(context, route).then_some(route)
}

/// What became of a request.
enum Passed {
    Sent(PassedResponse),
    /// The client only wanted to know where it goes.
    Planned(ClientResponse),
}

async fn pass(
    context: &mut RequestContext<'_>,
    route: &PassedRoute,
    body: Incoming,
) -> Result<Passed, Failure> {
    let limits = &context.active.config.limits;
    let (mut upload, mut missing) = (None, None);
    if context.parts.method == Method::POST {
        context.log.pause();
        match route.scope {
            Scope::Thread => {
                let request = RecalledRequest::open(context, body).await?;
                (upload, missing) = (Some(request.upload), request.missing);
            }
            Scope::Request | Scope::Account | Scope::Memory => {
                let headers = &context.parts.headers;
                upload = Some(Upload::open(body, headers, limits, &context.state.bodies).await?);
            }
        }
        context.log.resume();
    }
    let model = upload.as_ref().and_then(|upload| upload.model.as_ref());
    let model = model.map(|model| model.name.clone());
    let received = upload.as_ref().map_or(0, Upload::received);
    context.log.set_request(model.as_deref().unwrap_or("-"), received);
    let mut target = route::find(context, route, model.as_deref())?;
    if let Some(missing) = missing
        && !target.keep_only_memory(context)
    {
        return Err(missing.failure());
    }
    let PassedTo { model, upstreams, mut probe } = target;
    if let (Some(upload), Some(model)) = (&mut upload, &model) {
        upload.rename_model(model);
    }
    if dry_run::is_wanted(&context.parts.headers)
        && let Some(upstream) = upstreams.first()
    {
        let headers = upstream_headers(context, upstream)?;
        let plan = dry_run::Plan { path: &path(context), headers: &headers, body: None };
        return Ok(Passed::Planned(plan.respond(context, upstream, &[])));
    }
    let may_retry = upload.as_ref().is_none_or(Upload::is_whole);
    let (mut source, end) = match upload {
        Some(upload) => upload.into_source(),
        None => (UploadSource::Whole(bytes::Bytes::new()), Arc::new(UploadEnd::default())),
    };
    let retry = &context.active.config.retry;
    context.state.retry_budget.earn(retry);
    let (mut last_failure, mut refusal) = (None, None);
    for upstream in &upstreams {
        if last_failure.is_some() && !(may_retry && context.state.retry_budget.spend(retry)) {
            break;
        }
        let probe = probe.take();
        context.log.set_upstream(upstream);
        let headers = match upstream_headers(context, upstream) {
            Ok(headers) => headers,
            // It is no mistake of the client's that a request goes to a probe, or to
            // whoever stands in for another.
            Err(failure) if probe.is_some() || last_failure.is_some() => {
                if last_failure.is_some() {
                    context.state.retry_budget.give_back(retry);
                }
                refusal = Some(failure);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        match attempt(context, upstream, headers, &mut source, &end, probe).await {
            Ok(response) => return Ok(Passed::Sent(response)),
            Err(failure) => {
                context.log.attempt_failed(failure.reason());
                if !failure.may_try_another() {
                    return Err(failure);
                }
                last_failure = Some((upstream, failure));
            }
        }
    }
    if let Some((upstream, failure)) = last_failure {
        context.log.set_upstream(upstream);
        return Err(failure);
    }
    Err(refusal.unwrap_or_else(|| no_model("-")))
}

/// Sends the request to one upstream. A probe whose end says nothing about it, such
/// as a client that leaves, is given back.
async fn attempt(
    context: &mut RequestContext<'_>,
    upstream: &Arc<Upstream>,
    headers: HeaderMap,
    source: &mut UploadSource,
    end: &Arc<UploadEnd>,
    _probe: Option<Probe>,
) -> Result<PassedResponse, Failure> {
    context.log.start_attempt(upstream);
    let method = context.parts.method.clone();
    let path = path(context);
    let request = match source {
        UploadSource::Whole(body) => PassedRequest::whole(method, path, headers, body.clone()),
        UploadSource::Once(body) => {
            let Some(body) = body.take() else {
                return Err(Failure::from_upstream_error(UpstreamError::NotSent, upstream));
            };
            let end = Arc::clone(end);
            let sent = async move { end.sent.notified().await };
            PassedRequest::streamed(method, path, headers, body, sent)
        }
    };
    context.log.pause();
    let sent = upstream.pass(request).await;
    context.log.resume();
    context.log.upstream_responded();
    let response = match sent {
        Ok(response) => response,
        Err(error) => {
            if let Some(fault) = end.fault.get() {
                return Err(fault.into_failure());
            }
            let failure = Failure::from_upstream_error(error, upstream);
            failure.update_health(upstream);
            context.make_room_after(&failure);
            return Err(failure);
        }
    };
    upstream.responded();
    if response.status.is_success() {
        return Ok(PassedResponse::new(context, upstream, response));
    }
    let mut response = response;
    let (body, _reservation) = context.read_body(upstream, &mut response).await?;
    let headers = client_headers(context, upstream, &response.headers);
    let failure = Failure::from_passed_error(upstream, response.status, headers, body);
    failure.update_health(upstream);
    Err(failure)
}

/// The path as the client wrote it, with its query.
fn path(context: &RequestContext<'_>) -> String {
    context.parts.uri.path_and_query().map_or("", |path| path.as_str()).to_owned()
}

/// The headers for an upstream, which say of the body what the client says.
fn upstream_headers(
    context: &RequestContext<'_>,
    upstream: &Upstream,
) -> Result<HeaderMap, Failure> {
    let mut headers = headers::for_upstream(context, upstream, false, &[])?;
    headers.remove(CONTENT_TYPE);
    for name in [ACCEPT, CONTENT_TYPE] {
        let is_wanted = name == ACCEPT || context.parts.method == Method::POST;
        if let Some(value) = context.parts.headers.get(&name).filter(|_| is_wanted) {
            headers.insert(name, value.clone());
        }
    }
    Ok(headers)
}
