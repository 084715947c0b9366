//! One connection of a client.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};

use super::connection_limiter::Full;
use super::timeout_stream::Watched;
use crate::active_config::Shared;
use crate::config::Limits;
use crate::endpoints;
use crate::relay::{self, Failure};
use crate::response_body::Body;

/// Serves a connection until it ends.
pub(super) async fn serve(shared: &Arc<Shared>, stream: TcpStream, peer: SocketAddr) {
    let limits = shared.live.load().config.limits.clone();
    tune(&stream, limits.stall);
    let io = TokioIo::new(Watched::new(stream, limits.head_time, limits.stall));
    let service = service_fn(|request| {
        let shared = Arc::clone(shared);
        async move { Ok::<_, Infallible>(answer(&shared, peer, request).await) }
    });
    shared.metrics.connection(1);
    let builder = builder(&limits);
    let mut connection = pin!(builder.serve_connection(io, service));
    tokio::select! {
        _ended = connection.as_mut() => {}
        () = shared.drain.closing() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                _ended = connection => {}
                () = shared.drain.dead() => {}
            }
        }
    }
    shared.metrics.connection(-1);
}

/// Answers whatever is asked with why nobody is served, and closes.
pub(super) async fn turn_away(shared: &Arc<Shared>, stream: TcpStream, full: Full) {
    let limits = shared.live.load().config.limits.clone();
    let service = service_fn(|request: Request<Incoming>| {
        let client = spoken(&request);
        async move {
            // A client that is still sending when the connection closes gets a
            // broken connection instead of the answer.
            let mut body = request.into_body();
            while let Some(Ok(_)) = body.frame().await {}
            Ok::<_, Infallible>(full.failure().response(client, &relay::request_id()))
        }
    });
    let builder = builder(&limits);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    let _ = tokio::time::timeout(REFUSAL, serving).await;
}

/// Answers a request, whatever happens: a defect fails the request that met it
/// and no other.
async fn answer(
    shared: &Arc<Shared>,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Response<Body> {
    let client = spoken(&request);
    let mut cut = shared.drain.cut();
    let mut answering = Box::pin(endpoints::answer(shared, peer, request));
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(cx)));
        let error = match polled {
            Ok(Poll::Ready(response)) => return Poll::Ready(response),
            Ok(Poll::Pending) if cut.poll(cx).is_pending() => return Poll::Pending,
            Ok(Poll::Pending) => {
                ApiError::new(ErrorKind::Overloaded, "The gateway is shutting down.")
            }
            Err(_panic) => {
                shared.metrics.panicked();
                ApiError::new(ErrorKind::Server, "The gateway failed by a defect of its own.")
            }
        };
        Poll::Ready(Failure::of(error).response(client, &relay::request_id()))
    })
    .await
}

fn spoken(request: &Request<Incoming>) -> Protocol {
    endpoints::spoken(request.uri().path(), request.headers())
}

/// Sets what the system does for a connection. What it cannot do, it does not:
/// a connection without is better than none.
fn tune(stream: &TcpStream, stall: Duration) {
    // An event must not wait for the next one to fill a packet.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
    // A client that vanished takes nothing. It does not even say so.
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(stall));
    #[cfg(not(target_os = "linux"))]
    let _ = stall;
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    let head = limits.head.max(8 * 1024);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(head)
        .max_headers(HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(ERRORS)
        .max_header_list_size(u32::try_from(head).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME)
        .max_send_buf_size(WINDOW as usize)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING);
    builder
}

const HEADERS: usize = 100;
const STREAMS: u32 = 100;
const RESETS: usize = 20;
const ERRORS: usize = 100;
const WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;
const FRAME: u32 = 16 * 1024;
const PING: Duration = Duration::from_secs(20);

/// How soon the system asks whether a silent client is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How long one that is not served may take to read why.
const REFUSAL: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
