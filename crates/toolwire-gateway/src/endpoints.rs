//! Every path that the gateway answers.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};

use crate::active_config::ActiveConfig;
use crate::observe::RequestLog;
use crate::relay::{self, Failure, RequestContext};
use crate::response_body::ResponseBody;
use crate::state::GatewayState;
use crate::{guard, models};

/// Handles one request.
pub(crate) async fn handle(
    state: &Arc<GatewayState>,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Response<ResponseBody> {
    let active = state.active.load_full();
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let client = client_protocol(&path, &parts.headers);
    let is_public = matches!(path.as_str(), "/livez" | "/readyz");
    let log = |client, path| {
        RequestLog::start(state, active.config.log, relay::request_id(), client, path)
    };
    let credentials = match guard::check(&active.config, &parts, is_public) {
        Ok(credentials) => credentials,
        Err(failure) => {
            state.metrics.request_rejected();
            return relay::respond_with_error(log(client, log_path(&path)), failure, client);
        }
    };
    let context = |client, path| RequestContext {
        state,
        active: &active,
        parts: &parts,
        credentials: &credentials,
        client,
        log: log(client, path),
    };
    use Protocol::{Chat, Messages, Responses};
    match (&parts.method, path.as_str()) {
        (&Method::POST, "/v1/chat/completions") => {
            relay::relay(context(Chat, "/v1/chat/completions"), body).await
        }
        (&Method::POST, "/v1/responses") => {
            relay::relay(context(Responses, "/v1/responses"), body).await
        }
        (&Method::POST, "/v1/messages") => {
            relay::relay(context(Messages, "/v1/messages"), body).await
        }
        (&Method::POST, "/v1/messages/count_tokens") => {
            relay::count_tokens(context(Messages, "/v1/messages/count_tokens"), body).await
        }
        (&Method::POST, "/v1/responses/input_tokens") => {
            relay::count_tokens(context(Responses, "/v1/responses/input_tokens"), body).await
        }
        (&Method::GET, "/v1/models") => json(models::list(&active, client)),
        (&Method::GET, path) if path.starts_with(MODEL_PREFIX) => model(&active, client, path),
        (&Method::GET, "/livez") => text(StatusCode::OK, "ok\n".to_owned()),
        (&Method::GET, "/readyz") => ready(state),
        (&Method::GET, "/metrics") => {
            text(StatusCode::OK, state.metrics.render(state.log.lost_lines()))
        }
        (&Method::POST, "/admin/reload") => reload(state, peer, client),
        (_, path) => {
            relay::respond_with_error(log(client, log_path(path)), not_found(path), client)
        }
    }
}

/// The protocol of a client: by the path, then by the header that only one
/// vendor's clients send.
pub(crate) fn client_protocol(path: &str, headers: &HeaderMap) -> Protocol {
    if path.starts_with("/v1/messages") {
        Protocol::Messages
    } else if path.starts_with("/v1/responses") {
        Protocol::Responses
    } else if headers.contains_key("anthropic-version") {
        Protocol::Messages
    } else {
        Protocol::Chat
    }
}

fn model(active: &ActiveConfig, client: Protocol, path: &str) -> Response<ResponseBody> {
    let name = path.strip_prefix(MODEL_PREFIX).unwrap_or_default();
    // The slash in a name may be encoded as %2F.
    let name = name.replace("%2F", "/").replace("%2f", "/");
    match models::get(active, &name, client) {
        Some(body) => json(body),
        None => relay::no_model(&name).into_response(client, &relay::request_id()),
    }
}

fn ready(state: &GatewayState) -> Response<ResponseBody> {
    if state.drain.is_serving() {
        text(StatusCode::OK, "ready\n".to_owned())
    } else {
        text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned())
    }
}

fn reload(state: &GatewayState, peer: SocketAddr, client: Protocol) -> Response<ResponseBody> {
    let refuse = |status, message: &str| {
        Failure::with_status(status, ApiError::new(ErrorKind::Permission, message))
            .into_response(client, &relay::request_id())
    };
    if !peer.ip().to_canonical().is_loopback() {
        return refuse(403, "A reload can be asked for from the same machine only.");
    }
    let Some(source) = &state.source else {
        return refuse(
            409,
            "This gateway runs without a configuration file; there is nothing to reload.",
        );
    };
    let result =
        source().and_then(|config| state.reload(config).map_err(|error| error.to_string()));
    match result {
        Ok(()) => text(StatusCode::OK, "reloaded\n".to_owned()),
        Err(message) => text(StatusCode::UNPROCESSABLE_ENTITY, format!("{}\n", message.trim_end())),
    }
}

/// The path for the log. Only known paths are logged, because a client could put
/// anything into the others.
fn log_path(path: &str) -> &'static str {
    let found = POST_PATHS.iter().chain(GET_PATHS).find(|known| **known == path);
    found.copied().unwrap_or(if path.starts_with(MODEL_PREFIX) {
        "/v1/models/…"
    } else {
        "elsewhere"
    })
}

fn not_found(path: &str) -> Failure {
    let allowed = if POST_PATHS.contains(&path) {
        Some("POST")
    } else if GET_PATHS.contains(&path) || path.starts_with(MODEL_PREFIX) {
        Some("GET")
    } else {
        None
    };
    match allowed {
        Some(method) => {
            let message = format!("This path takes {method} requests only.");
            let error = ApiError::new(ErrorKind::InvalidRequest, message);
            let mut failure = Failure::with_status(405, error);
            failure.set_header("allow", method);
            failure
        }
        None => Failure::with_status(
            404,
            ApiError::new(
                ErrorKind::NotFound,
                "There is nothing at this path. The gateway serves /v1/chat/completions, \
                 /v1/responses, /v1/messages and /v1/models.",
            ),
        ),
    }
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

const POST_PATHS: &[&str] = &[
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/responses/input_tokens",
    "/admin/reload",
];
const GET_PATHS: &[&str] = &["/v1/models", "/livez", "/readyz", "/metrics"];
const MODEL_PREFIX: &str = "/v1/models/";
