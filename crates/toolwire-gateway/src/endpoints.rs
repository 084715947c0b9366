//! Every path that the gateway answers.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Body as _, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::protocol::{Description, Endpoint, PathMatch};

use crate::active_config::ActiveConfig;
use crate::guard::Access;
use crate::observe::RequestLog;
use crate::relay::dry_run;
use crate::relay::passthrough::{self, PassedRoute};
use crate::relay::{self, Failure, IncomingRequest, RequestContext};
use crate::response_body::ResponseBody;
use crate::state::GatewayState;
use crate::stored::StoredEndpoint;
use crate::{cors, guard, identity, models, observe, stored};

/// A response that is being made.
pub(crate) struct PendingResponse {
    answer: Answer,
    /// The origin of a web page that may read it.
    origin: Option<HeaderValue>,
    /// The client's own id of the request.
    own_id: Option<HeaderValue>,
    is_head: bool,
}

/// What the response is made of. What is known at once needs no future, and what
/// takes time is in one that holds nothing of what came before.
enum Answer {
    Now(Option<Response<ResponseBody>>),
    Later(Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>),
}

/// Handles one request.
pub(crate) fn handle(
    state: &Arc<GatewayState>,
    active: Arc<ActiveConfig>,
    client: Protocol,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> PendingResponse {
    let origin = guard::allowed_origin(&active.config, request.headers()).cloned();
    let is_head = request.method() == Method::HEAD;
    let own_id = observe::client_request_id(request.headers()).map(HeaderValue::from_str);
    let own_id = own_id.and_then(Result::ok);
    let answer = answer(state, active, client, peer, request);
    PendingResponse { answer, origin, own_id, is_head }
}

impl PendingResponse {
    /// The response. It is taken once.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response<ResponseBody>> {
        let mut response = match &mut self.answer {
            Answer::Now(response) => ready!(response.take().map_or(Poll::Pending, Poll::Ready)),
            Answer::Later(response) => ready!(response.as_mut().poll(cx)),
        };
        if let Some(origin) = self.origin.take() {
            cors::allow(origin, response.headers_mut());
        }
        if let Some(id) = self.own_id.take() {
            response.headers_mut().insert(observe::CLIENT_REQUEST_ID.clone(), id);
        }
        Poll::Ready(if self.is_head { without_body(response) } else { response })
    }
}

impl From<Response<ResponseBody>> for Answer {
    fn from(response: Response<ResponseBody>) -> Self {
        Self::Now(Some(response))
    }
}

fn answer(
    state: &Arc<GatewayState>,
    active: Arc<ActiveConfig>,
    client: Protocol,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Answer {
    let (mut parts, body) = request.into_parts();
    if cors::is_preflight(&parts) && guard::allowed_origin(&active.config, &parts.headers).is_some()
    {
        return cors::preflight(&parts).into();
    }
    let protocols = active.config.protocols.as_slice();
    let endpoint = ServedEndpoint::find(protocols, parts.uri.path());
    let log_path = endpoint.as_ref().map_or("elsewhere", ServedEndpoint::log_path);
    let log = || RequestLog::start(state, active.config.log, relay::request_id(), client, log_path);
    let access = endpoint.as_ref().map_or(Access::Clients, ServedEndpoint::access);
    let credentials = match guard::check(&active.config, &parts, access) {
        Ok(credentials) => credentials,
        Err(failure) => {
            state.metrics.request_rejected();
            return relay::respond_with_error(log(), failure, client).into();
        }
    };
    let key = credentials.key.and_then(|index| active.config.keys.get(index)?.source());
    let log = || {
        let mut log = log();
        log.set_client(key, &parts.headers);
        log
    };
    let limit = active.config.limits.head;
    if head_size(&parts) > limit {
        return relay::respond_with_error(log(), head_too_long(limit), client).into();
    }
    let Some(endpoint) = endpoint else {
        return relay::respond_with_error(log(), not_found(protocols, parts.uri.path()), client)
            .into();
    };
    let allowed = endpoint.methods();
    if parts.method == Method::OPTIONS {
        return options(allowed, endpoint.answers_head()).into();
    }
    if parts.method == Method::HEAD && endpoint.answers_head() {
        parts.method = Method::GET;
    }
    if !allowed.contains(&parts.method) {
        return relay::respond_with_error(log(), wrong_method(allowed), client).into();
    }
    let needs_type = parts.headers.contains_key(CONTENT_TYPE)
        || !endpoint.takes_no_body()
        || !body.is_end_stream();
    if parts.method == Method::POST
        && needs_type
        && let Err(failure) = guard::check_media_type(&parts.headers, endpoint.media_types())
    {
        state.metrics.request_rejected();
        return relay::respond_with_error(log(), failure, client).into();
    }
    if dry_run::is_wanted(&parts.headers) && !endpoint.is_sent_to_upstreams() {
        return relay::respond_with_error(log(), dry_run::not_here(), client).into();
    }
    let state = Arc::clone(state);
    match endpoint {
        ServedEndpoint::Answers { path, .. } => {
            let log = log();
            let request =
                IncomingRequest { state, active, parts, credentials, client, path, log, body };
            Answer::Later(Box::pin(relay::relay(request)))
        }
        ServedEndpoint::TokenCount { path, .. } => {
            let log = log();
            Answer::Later(Box::pin(async move {
                let (state, active, parts, credentials) = (&state, &active, &parts, &credentials);
                let context =
                    RequestContext { state, active, parts, credentials, client, path, log };
                relay::count_tokens(context, body).await
            }))
        }
        ServedEndpoint::Passed(route) => {
            let (log, path) = (log(), PathMatch::default());
            Answer::Later(Box::pin(async move {
                let (state, active, parts, credentials) = (&state, &active, &parts, &credentials);
                let context =
                    RequestContext { state, active, parts, credentials, client, path, log };
                passthrough::serve(context, route, body).await
            }))
        }
        ServedEndpoint::Stored(endpoint) => {
            let (log, path) = (log(), PathMatch::default());
            Answer::Later(Box::pin(async move {
                let (state, active, parts, credentials) = (&state, &active, &parts, &credentials);
                let context =
                    RequestContext { state, active, parts, credentials, client, path, log };
                stored::serve(context, endpoint, body).await
            }))
        }
        ServedEndpoint::Models => {
            Answer::Later(Box::pin(async move { model_list(&active, client, &parts).await }))
        }
        ServedEndpoint::Model { name } => {
            Answer::Later(Box::pin(async move { model(&state, &active, client, &name).await }))
        }
        ServedEndpoint::Live => text(StatusCode::OK, "ok\n".to_owned()).into(),
        ServedEndpoint::Ready => ready_or_not(&state, &parts.headers).into(),
        ServedEndpoint::Metrics => {
            let GatewayState { metrics, log, bodies, streams, stored, .. } = state.as_ref();
            let page = metrics.render(log.lost_lines(), bodies, streams, stored.is_available());
            text(StatusCode::OK, page).into()
        }
        ServedEndpoint::Reload => reload(&state, peer, client).into(),
    }
}

/// What the gateway serves.
enum ServedEndpoint {
    Answers { template: &'static str, path: PathMatch },
    TokenCount { template: &'static str, path: PathMatch },
    Passed(&'static PassedRoute),
    Stored(StoredEndpoint),
    Models,
    Model { name: String },
    Live,
    Ready,
    Metrics,
    Reload,
}

impl ServedEndpoint {
    /// What is served at a path. Every protocol brings its own paths.
    fn find(protocols: &[Protocol], path: &str) -> Option<Self> {
        match path {
            "/v1/models" => return Some(Self::Models),
            "/livez" | "/health" | "/healthz" => return Some(Self::Live),
            "/readyz" => return Some(Self::Ready),
            "/metrics" => return Some(Self::Metrics),
            "/admin/reload" => return Some(Self::Reload),
            _other => {}
        }
        if let Some(found) = ONE_MODEL.matches(path) {
            return found.model.map(|name| Self::Model { name });
        }
        let of_protocol = protocols.iter().find_map(|protocol| {
            let Description { answers, token_count, .. } = protocol.describe();
            if let Some(path) = answers.matches(path) {
                return Some(Self::Answers { template: answers.path, path });
            }
            let counts = token_count.as_ref()?;
            Some(Self::TokenCount { template: counts.path, path: counts.matches(path)? })
        });
        of_protocol
            .or_else(|| PassedRoute::find(path).map(Self::Passed))
            .or_else(|| StoredEndpoint::find(path).map(Self::Stored))
    }

    /// The path for the log, in which nothing is of the client's making.
    fn log_path(&self) -> &'static str {
        match self {
            Self::Answers { template, .. } | Self::TokenCount { template, .. } => template,
            Self::Passed(route) => route.path,
            Self::Stored(endpoint) => endpoint.route().0,
            Self::Models => "/v1/models",
            Self::Model { .. } => "/v1/models/…",
            Self::Live => "/livez",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
            Self::Reload => "/admin/reload",
        }
    }

    /// Who may use it. A path that does not exist is for clients.
    fn access(&self) -> Access {
        match self {
            Self::Live | Self::Ready => Access::Public,
            Self::Answers { .. }
            | Self::TokenCount { .. }
            | Self::Passed(_)
            | Self::Stored(_)
            | Self::Models
            | Self::Model { .. }
            | Self::Metrics => Access::Clients,
            Self::Reload => Access::Operator,
        }
    }

    /// Whether it answers HEAD like GET. What passes is not fetched for its head.
    fn answers_head(&self) -> bool {
        !matches!(self, Self::Passed(_)) && self.methods().contains(&Method::GET)
    }

    /// Whether its requests go to an upstream, or only show something.
    fn is_sent_to_upstreams(&self) -> bool {
        match self {
            Self::TokenCount { .. } | Self::Stored(_) | Self::Reload => false,
            Self::Answers { .. }
            | Self::Passed(_)
            | Self::Models
            | Self::Model { .. }
            | Self::Live
            | Self::Ready
            | Self::Metrics => true,
        }
    }

    /// Whether a POST needs no body, so that `curl -X POST` is enough. A request without one
    /// has no content type either: the TypeScript SDK sends neither to cancel a response.
    fn takes_no_body(&self) -> bool {
        if let Self::Stored(endpoint) = self {
            return endpoint.takes_no_body();
        }
        matches!(self, Self::Reload)
    }

    /// The media types that the body of a POST may have.
    fn media_types(&self) -> &'static [&'static str] {
        match self {
            Self::Passed(route) => route.media_types(),
            Self::Answers { .. }
            | Self::TokenCount { .. }
            | Self::Stored(_)
            | Self::Models
            | Self::Model { .. }
            | Self::Live
            | Self::Ready
            | Self::Metrics
            | Self::Reload => &["application/json"],
        }
    }

    fn methods(&self) -> &'static [Method] {
        match self {
            Self::Answers { .. } | Self::TokenCount { .. } | Self::Reload => &[Method::POST],
            Self::Passed(route) => route.methods,
            Self::Stored(endpoint) => endpoint.route().1,
            Self::Models | Self::Model { .. } | Self::Live | Self::Ready | Self::Metrics => {
                &[Method::GET]
            }
        }
    }
}

/// The path of one model. A slash in its name may be encoded or not.
const ONE_MODEL: Endpoint = Endpoint::fixed("/v1/models/{model}");

/// Every path whose requests pass as they are, and its methods, for tests. `{}`
/// stands for one segment.
#[doc(hidden)]
pub fn passed_routes() -> Vec<(&'static str, Vec<&'static str>)> {
    let names = |methods: &'static [Method]| methods.iter().map(Method::as_str).collect();
    passthrough::ROUTES.iter().map(|route| (route.path, names(route.methods))).collect()
}

/// Every path with an id of something that was kept, and its methods. Tests walk
/// them, so that none is forgotten.
#[doc(hidden)]
pub fn routes() -> Vec<(&'static str, Vec<&'static str>)> {
    let names = |methods: &'static [Method]| methods.iter().map(Method::as_str).collect();
    stored::ROUTES.iter().map(|(path, methods)| (*path, names(methods))).collect()
}

/// The protocol of a client: by the path, then by the header that only one
/// vendor's clients send.
pub(crate) fn client_protocol(protocols: &[Protocol], path: &str, headers: &HeaderMap) -> Protocol {
    let by_path = protocols.iter().find(|protocol| protocol.describe().owns_path(path));
    let by_header = || {
        protocols.iter().find(|protocol| {
            let version = protocol.describe().vendor.version;
            version.is_some_and(|(header, _)| headers.contains_key(header))
        })
    };
    let [default, ..] = Protocol::ALL;
    by_path.or_else(by_header).or(protocols.first()).copied().unwrap_or(default)
}

async fn model_list(
    active: &ActiveConfig,
    client: Protocol,
    parts: &Parts,
) -> Response<ResponseBody> {
    models::wait_for_first_lists(active).await;
    match models::list(active, parts.uri.query().unwrap_or_default(), client) {
        Ok(body) => json(body),
        Err(error) => Failure::new(*error).into_response(client, &relay::request_id()),
    }
}

async fn model(
    state: &GatewayState,
    active: &ActiveConfig,
    client: Protocol,
    name: &str,
) -> Response<ResponseBody> {
    models::wait_for_first_lists(active).await;
    let known = models::get(active, name, client);
    let found = match known {
        Some(body) => Some(body),
        None => models::ask(state, name, client).await,
    };
    match found {
        Some(body) => json(body),
        None => relay::no_model(name).into_response(client, &relay::request_id()),
    }
}

fn ready_or_not(state: &GatewayState, headers: &HeaderMap) -> Response<ResponseBody> {
    if !state.drain.is_serving() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned());
    }
    let mut response = text(StatusCode::OK, "ready\n".to_owned());
    let challenge = headers.get(identity::CHALLENGE);
    let proof = challenge.and_then(|challenge| state.identity.get()?.answer(challenge.as_bytes()));
    if let Some(Ok(proof)) = proof.map(HeaderValue::from_str) {
        response.headers_mut().insert(identity::PROOF, proof);
    }
    response
}

fn reload(state: &GatewayState, peer: SocketAddr, client: Protocol) -> Response<ResponseBody> {
    let refuse = |status, message: &str| {
        Failure::with_status(status, ApiError::new(ErrorKind::Permission, message))
            .into_response(client, &relay::request_id())
    };
    if !peer.ip().to_canonical().is_loopback() {
        return refuse(403, "Only clients on the same machine can reload the configuration.");
    }
    let Some(source) = &state.source else {
        return refuse(
            409,
            "This gateway runs without a configuration file, so there is nothing to reload.",
        );
    };
    let result =
        source().and_then(|config| state.reload(config).map_err(|error| error.to_string()));
    match result {
        Ok(()) => text(StatusCode::OK, "reloaded\n".to_owned()),
        Err(message) => text(StatusCode::UNPROCESSABLE_ENTITY, format!("{}\n", message.trim_end())),
    }
}

/// About how long the head of a request was. hyper refuses a head that is still
/// incomplete when it is too long, but reads up to twice the limit at a time.
fn head_size(parts: &Parts) -> usize {
    let path = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    let headers = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    path + headers.sum::<usize>()
}

fn head_too_long(limit: usize) -> Failure {
    let message =
        format!("The head of the request is longer than {limit} bytes, the limit of this gateway.");
    let error = ApiError::new(ErrorKind::TooLarge, message);
    let mut failure = Failure::with_status(431, error);
    failure.set_header("connection", "close");
    failure
}

/// Which methods a path has.
fn options(allowed: &[Method], answers_head: bool) -> Response<ResponseBody> {
    let mut names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
    names.extend(answers_head.then_some("HEAD"));
    names.push("OPTIONS");
    let mut response = Response::new(ResponseBody::whole(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    if let Ok(names) = HeaderValue::from_str(&names.join(", ")) {
        response.headers_mut().insert(ALLOW, names);
    }
    response
}

/// The head of a response, which says how long the body would have been.
fn without_body(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    if let Some(length) = response.body().size_hint().exact() {
        response.headers_mut().entry(CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    response.map(|_body| ResponseBody::whole(Vec::new()))
}

fn wrong_method(allowed: &[Method]) -> Failure {
    let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
    let message = format!("This path only accepts {} requests.", names.join(" and "));
    let error = ApiError::new(ErrorKind::InvalidRequest, message);
    let mut failure = Failure::with_status(405, error);
    if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
        failure.set_header_value("allow", value);
    }
    failure
}

fn not_found(protocols: &[Protocol], path: &str) -> Failure {
    let path: String = path.chars().take(200).collect();
    let paths: Vec<&str> =
        protocols.iter().map(|protocol| protocol.describe().answers.path).collect();
    let message = format!(
        "The path {} does not exist. The gateway serves {}, /v1/models, and the paths that docs/gateway.md lists.",
        path.escape_debug(),
        paths.join(", ")
    );
    Failure::with_status(404, ApiError::new(ErrorKind::NotFound, message))
}

fn json(body: Vec<u8>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn text(status: StatusCode, body: String) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
