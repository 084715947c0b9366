//! One request from top to bottom: read, route, translate, send, translate the
//! response back, and log it.

mod attempt;
mod background;
mod client_request;
mod count;
pub(crate) mod dry_run;
mod early_stream;
mod failure;
#[cfg(test)]
pub(crate) mod growth;
mod headers;
mod loss;
pub(crate) mod passthrough;
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
use hyper::{Response, StatusCode};
use tokio::time::Instant;
use toolwire::protocol::PathMatch;
use toolwire::{LossPolicy, Protocol};

use self::attempt::{SentRequest, send};
use self::background::BackgroundRequest;
use self::client_request::ClientRequest;
pub(crate) use self::count::count_tokens;
pub(crate) use self::early_stream::EarlyStream;
use self::early_stream::{Forwarding, StreamRequested};
pub(crate) use self::failure::{Failure, no_model};
pub(crate) use self::headers::{KeyHeader, own as own_headers, request_id, set_request_id};
use self::loss::LossTrailers;
use self::request_body::RequestBody;
pub(crate) use self::request_body::out_of_memory;
pub(crate) use self::stream::{HEARTBEAT, ResponseStream, set_headers};
use crate::active_config::ActiveConfig;
use crate::config::Limits;
use crate::guard::Credentials;
use crate::memory::Reservation;
use crate::observe::{Outcome, Reason, RequestLog};
use crate::response_body::ResponseBody;
use crate::route::{self, Route};
use crate::secret_mask::{self, SecretMask};
use crate::state::GatewayState;
use crate::stored::{EventReplay, Job, ResponseStore};
use crate::upstream::{ResponseLimit, Upstream, UpstreamError, UpstreamResponse};

/// A request that the guard has let in.
pub(crate) struct RequestContext<'r> {
    pub(crate) state: &'r Arc<GatewayState>,
    pub(crate) active: &'r Arc<ActiveConfig>,
    pub(crate) parts: &'r Parts,
    pub(crate) credentials: &'r Credentials,
    /// The protocol that the client speaks.
    pub(crate) client: Protocol,
    /// What the path says of the request.
    pub(crate) path: PathMatch,
    pub(crate) log: RequestLog,
}

impl RequestContext<'_> {
    /// Reads the client's request to its end.
    pub(crate) async fn read_request(&self, body: Incoming) -> Result<RequestBody, Failure> {
        let limits = &self.active.config.limits;
        request_body::read(body, &self.parts.headers, limits, &self.state.bodies).await
    }

    /// Counts a translated request as memory in use until it is sent.
    fn hold_request(&self, body: Vec<u8>) -> Result<Bytes, Failure> {
        let mut reservation = self.state.bodies.reservation();
        let limit = self.active.config.limits.bodies_total;
        reservation.grow(body.len(), limit).map_err(|_| out_of_memory())?;
        Ok(reservation.hold(body))
    }

    /// Reads a response to its end. It counts as memory in use for as long as
    /// the reservation lives.
    async fn read_body(
        &mut self,
        upstream: &Upstream,
        response: &mut UpstreamResponse,
    ) -> Result<(Bytes, Reservation), Failure> {
        self.log.pause();
        let mut reservation = self.state.bodies.reservation();
        let (idle, limit) = (upstream.config.timeouts.idle, self.response_limit());
        let body = response.body.read_all(idle, limit, &mut reservation).await;
        self.log.resume();
        self.log.upstream_responded();
        match body {
            Ok(body) => Ok((body, reservation)),
            Err(error) => Err(Failure::from_upstream_error(error, upstream)),
        }
    }

    /// Closes the connections that no request uses if there was no socket for an
    /// attempt, so that the next one finds one.
    fn make_room_after(&self, failure: &Failure) {
        if failure.reason() == Reason::Upstream(UpstreamError::NoSockets) {
            self.active.upstreams.iter().for_each(|upstream| upstream.close_idle());
        }
    }

    fn response_limit(&self) -> ResponseLimit {
        let Limits { response, bodies_total, .. } = self.active.config.limits;
        ResponseLimit { response, total: bodies_total }
    }

    /// Removes headers that hold what the client must not get to see.
    fn remove_secrets(&self, headers: &mut HeaderMap) {
        secret_mask::remove_headers(&self.active.secrets, self.credentials, headers);
    }

    /// What the client must not get to see.
    fn secret_mask(&self) -> SecretMask {
        SecretMask::new(&self.active.secrets, self.credentials)
    }
}

/// What the client gets, unless it gets an error.
enum ClientResponse {
    Whole {
        headers: HeaderMap,
        body: Bytes,
        /// What the log says of it: a response that passes may say itself that it failed.
        outcome: Outcome,
    },
    Stream {
        headers: HeaderMap,
        stream: Box<ResponseStream>,
    },
    /// A stream of events that are stored as they are made.
    Replay {
        headers: HeaderMap,
        replay: Box<EventReplay>,
    },
}

impl ClientResponse {
    fn headers_mut(&mut self) -> &mut HeaderMap {
        match self {
            Self::Whole { headers, .. }
            | Self::Stream { headers, .. }
            | Self::Replay { headers, .. } => headers,
        }
    }
}

/// A request for an answer. Unlike its context, it owns everything, because the
/// work for a stream may go on after the head of the response is sent.
pub(crate) struct IncomingRequest {
    pub(crate) state: Arc<GatewayState>,
    pub(crate) active: Arc<ActiveConfig>,
    pub(crate) parts: Parts,
    pub(crate) credentials: Credentials,
    pub(crate) client: Protocol,
    pub(crate) path: PathMatch,
    pub(crate) log: RequestLog,
    pub(crate) body: Incoming,
}

impl IncomingRequest {
    async fn forward(
        self,
        requested: StreamRequested,
    ) -> (RequestLog, Result<ClientResponse, Failure>) {
        let Self { state, active, parts, credentials, client, path, log, body } = self;
        let mut context = RequestContext {
            state: &state,
            active: &active,
            parts: &parts,
            credentials: &credentials,
            client,
            path,
            log,
        };
        let result = match route_request(&mut context, body, &requested).await {
            Ok(routed) if routed.is_background() && !dry_run::is_wanted(&parts.headers) => {
                let RequestContext { path, log, .. } = context;
                let request =
                    BackgroundRequest { state, active, parts, credentials, client, path, routed };
                let result = Box::pin(request.begin(&log.id)).await;
                return (log, result);
            }
            Ok(mut routed) => {
                if routed.is_background() {
                    routed.request.plan_job();
                }
                send(&mut context, &mut routed).await
            }
            Err(failure) => Err(failure),
        };
        let result = result.map_err(|failure| failure.without_secrets(&context.secret_mask()));
        (context.log, result)
    }
}

/// A request that was read, and where it goes.
struct RoutedRequest {
    request: ClientRequest,
    route: Route,
    loss_policy: Option<LossPolicy>,
}

impl RoutedRequest {
    /// Whether the gateway makes the answer while its client does not wait. An
    /// upstream that remembers everything for its client does so by itself.
    fn is_background(&self) -> bool {
        self.request.is_background() && !self.request.is_for_its_upstream()
    }

    fn is_stream(&self) -> bool {
        self.request.document.head.scanned.stream
    }

    fn model(&self) -> &str {
        &self.request.document.head.model
    }

    fn size(&self) -> usize {
        self.request.size()
    }

    /// Stores that the answer is being made.
    async fn begin_job(&mut self, memory: &ResponseStore) -> Result<Job, Failure> {
        self.request.begin_job(memory).await
    }
}

/// Sends a request to a model and the response back to the client.
pub(crate) fn relay(
    request: IncomingRequest,
) -> impl Future<Output = Response<ResponseBody>> + Send + use<> {
    let (state, client, id) = (Arc::clone(&request.state), request.client, request.log.id.clone());
    let Limits { early_head, heartbeat, .. } = request.active.config.limits;
    let takes_trailers = LossTrailers::are_taken(&request.parts.headers);
    let expects_errors_in_streams = headers::is_codex(&request.parts.headers);
    let requested = StreamRequested::default();
    let mut forwarding: Forwarding = Box::pin(request.forward(Arc::clone(&requested)));
    // What came before is not part of the future.
    async move {
        let finished = early_stream::finish_or_begin(&mut forwarding, &requested, early_head).await;
        let Some((mut log, result)) = finished else {
            let stream = Box::new(EarlyStream::new(&state, client, id, heartbeat, forwarding));
            let mut headers = stream.headers();
            if takes_trailers {
                LossTrailers::announce(&mut headers);
            }
            return respond(headers, ResponseBody::Early(stream));
        };
        match result {
            Ok(ClientResponse::Whole { headers, body, outcome }) => {
                log.set_status(200);
                log.add_sent(body.len());
                log.finish(outcome);
                respond(headers, ResponseBody::whole(body))
            }
            Ok(ClientResponse::Stream { headers, mut stream }) => {
                log.set_status(200);
                log.pause();
                stream.attach_log(log);
                respond(headers, ResponseBody::Pulled(stream))
            }
            Ok(ClientResponse::Replay { headers, replay }) => {
                log.set_status(200);
                log.finish(Outcome::Answered);
                respond(headers, ResponseBody::Replayed(replay))
            }
            Err(failure)
                if expects_errors_in_streams
                    && requested.get().is_some()
                    && failure.belongs_in_stream(client) =>
            {
                log.finish(failure.outcome());
                log.set_reason(failure.reason());
                log.set_status(200);
                failure.into_stream(client, &log.id)
            }
            Err(failure) => respond_with_error(log, failure, client),
        }
    }
}

/// The headers of a request of nobody's to an upstream, or why there are none.
pub(crate) fn upstream_headers(
    context: &RequestContext<'_>,
    upstream: &Upstream,
) -> Result<HeaderMap, String> {
    let built = headers::for_upstream(context, upstream, false, &[]);
    built.map_err(|failure| failure.message().trim_end_matches('.').to_owned())
}

/// Answers with an error.
pub(crate) fn respond_with_error(
    mut log: RequestLog,
    failure: Failure,
    client: Protocol,
) -> Response<ResponseBody> {
    log.finish(failure.outcome());
    log.set_reason(failure.reason());
    let response = failure.into_response(client, &log.id);
    log.set_status(response.status().as_u16());
    response
}

/// What would be sent for a request, or the error that the client would get.
pub(crate) async fn plan(
    context: &mut RequestContext<'_>,
    body: Vec<u8>,
) -> Result<Vec<u8>, Vec<u8>> {
    let planned = match route_body(context, body.into(), &StreamRequested::default()).await {
        Ok(mut routed) => send(context, &mut routed).await,
        Err(failure) => Err(failure),
    };
    match planned {
        Ok(ClientResponse::Whole { body, .. }) => Ok(body.to_vec()),
        Ok(ClientResponse::Stream { .. } | ClientResponse::Replay { .. }) => Err(Vec::new()),
        Err(failure) => {
            let failure = failure.without_secrets(&context.secret_mask());
            Err(failure.into_body(context.client, &context.log.id))
        }
    }
}

/// Reads a request, and finds what it refers to and where it goes.
async fn route_request(
    context: &mut RequestContext<'_>,
    body: Incoming,
    requested: &StreamRequested,
) -> Result<RoutedRequest, Failure> {
    context.log.pause();
    let body = context.read_request(body).await?.into_bytes();
    context.log.resume();
    route_body(context, body, requested).await
}

async fn route_body(
    context: &mut RequestContext<'_>,
    body: Bytes,
    requested: &StreamRequested,
) -> Result<RoutedRequest, Failure> {
    let head = context.read_head(&body).await?;
    let (head, body) = context.without_null_session(head, body).await?;
    context.log.set_request(&head.model, body.len());
    if head.scanned.stream {
        let _ = requested.set(Instant::now());
    }
    let request = ClientRequest::recall(context, head, body).await?;
    let head = &request.document.head;
    let loss_policy = loss::requested_policy(&context.parts.headers)?;
    let mut route = route::find(context.active, &head.model, context.client)
        .ok_or_else(|| no_model(&head.model))?;
    if request.is_for_its_upstream() {
        // Others don't know what it refers to. If this one fails, the client is told so.
        route.retain(Upstream::remembers);
    }
    Ok(RoutedRequest { request, route, loss_policy })
}

fn respond(mut headers: HeaderMap, body: ResponseBody) -> Response<ResponseBody> {
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::OK;
    *response.headers_mut() = headers;
    response
}
