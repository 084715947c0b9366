//! Every path that the gateway answers.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};

use crate::active_config::{Live, Shared};
use crate::observe::Access;
use crate::relay::{self, Failure};
use crate::response_body::Body;
use crate::{guard, models};

/// Answers one request.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Response<Body> {
    let live = shared.live.load_full();
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let client = spoken(&path, &head.headers);
    let open = matches!(path.as_str(), "/livez" | "/readyz");
    let access =
        |client, path| Access::open(shared, live.config.log, relay::request_id(), client, path);
    let badge = match guard::admit(&live.config, &head, open) {
        Ok(badge) => badge,
        Err(failure) => {
            shared.metrics.refused();
            return relay::refuse(access(client, known(&path)), failure, client);
        }
    };
    let post = |client, path| {
        let access = access(client, path);
        relay::Visit { shared, live: &live, head: &head, badge: &badge, client, access }
    };
    use Protocol::{Chat, Messages, Responses};
    match (&head.method, path.as_str()) {
        (&Method::POST, "/v1/chat/completions") => {
            relay::relay(post(Chat, "/v1/chat/completions"), body).await
        }
        (&Method::POST, "/v1/responses") => {
            relay::relay(post(Responses, "/v1/responses"), body).await
        }
        (&Method::POST, "/v1/messages") => relay::relay(post(Messages, "/v1/messages"), body).await,
        (&Method::POST, "/v1/messages/count_tokens") => {
            relay::count(post(Messages, "/v1/messages/count_tokens"), body).await
        }
        (&Method::POST, "/v1/responses/input_tokens") => {
            relay::count(post(Responses, "/v1/responses/input_tokens"), body).await
        }
        (&Method::GET, "/v1/models") => json(models::list(&live, client)),
        (&Method::GET, path) if path.starts_with(MODEL) => model(&live, client, path),
        (&Method::GET, "/livez") => text(StatusCode::OK, "ok\n".to_owned()),
        (&Method::GET, "/readyz") => ready(shared),
        (&Method::GET, "/metrics") => {
            text(StatusCode::OK, shared.metrics.render(shared.log.lost()))
        }
        (&Method::POST, "/admin/reload") => reload(shared, peer, client),
        (_, path) => relay::refuse(access(client, known(path)), unknown(path), client),
    }
}

/// The protocol that a request without a body is understood in: by its path,
/// then by the header that only one vendor's clients send.
pub(crate) fn spoken(path: &str, headers: &HeaderMap) -> Protocol {
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

fn model(live: &Live, client: Protocol, path: &str) -> Response<Body> {
    let name = path.strip_prefix(MODEL).unwrap_or_default();
    // Names with a slash may come with it written out as %2F.
    let name = name.replace("%2F", "/").replace("%2f", "/");
    match models::one(live, &name, client) {
        Some(body) => json(body),
        None => relay::no_model(&name).response(client, &relay::request_id()),
    }
}

fn ready(shared: &Shared) -> Response<Body> {
    if shared.drain.is_serving() {
        text(StatusCode::OK, "ready\n".to_owned())
    } else {
        text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned())
    }
}

fn reload(shared: &Shared, peer: SocketAddr, client: Protocol) -> Response<Body> {
    let refuse = |status, message: &str| {
        Failure::with_status(status, ApiError::new(ErrorKind::Permission, message))
            .response(client, &relay::request_id())
    };
    if !peer.ip().to_canonical().is_loopback() {
        return refuse(403, "A reload can be asked for from the same machine only.");
    }
    let Some(source) = &shared.source else {
        return refuse(
            409,
            "This gateway runs without a configuration file; there is nothing to reload.",
        );
    };
    let outcome =
        source().and_then(|config| shared.reload(config).map_err(|error| error.to_string()));
    match outcome {
        Ok(()) => text(StatusCode::OK, "reloaded\n".to_owned()),
        Err(why) => text(StatusCode::UNPROCESSABLE_ENTITY, format!("{}\n", why.trim_end())),
    }
}

/// A path as the log may name it: what a client makes up stays out.
fn known(path: &str) -> &'static str {
    let known = POSTS.iter().chain(GETS).find(|known| **known == path);
    known.copied().unwrap_or(if path.starts_with(MODEL) { "/v1/models/…" } else { "elsewhere" })
}

fn unknown(path: &str) -> Failure {
    let allowed = if POSTS.contains(&path) {
        Some("POST")
    } else if GETS.contains(&path) || path.starts_with(MODEL) {
        Some("GET")
    } else {
        None
    };
    match allowed {
        Some(method) => {
            let message = format!("This path takes {method} requests only.");
            let error = ApiError::new(ErrorKind::InvalidRequest, message);
            let mut failure = Failure::with_status(405, error);
            failure.header("allow", method);
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

fn json(body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn text(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

const POSTS: &[&str] = &[
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/responses/input_tokens",
    "/admin/reload",
];
const GETS: &[&str] = &["/v1/models", "/livez", "/readyz", "/metrics"];
const MODEL: &str = "/v1/models/";
