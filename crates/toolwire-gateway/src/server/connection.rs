//! One connection of a client.

use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};

use super::connection_limiter::LimitExceeded;
use super::exchange::{Exchange, ExchangeBody};
use super::framed_stream::FramedStream;
use super::head_timer::HeadTimer;
use super::request_framing::PREFACE;
use super::stream_task::StreamExecutor;
use super::timeout_stream::TimeoutStream;
use crate::config::Limits;
use crate::endpoints;
use crate::observe::write_event;
use crate::relay::{self, Failure};
use crate::response_body::ResponseBody;
use crate::state::GatewayState;

/// Serves a connection until it ends.
pub(super) async fn serve(state: &Arc<GatewayState>, stream: TcpStream, peer: SocketAddr) {
    let limits = state.active.load().config.limits.clone();
    set_socket_options(&stream, limits.stall);
    state.metrics.open_connections(1);
    tokio::select! {
        is_http1 = begins_as_http1(&stream, limits.head_time) => {
            if let Ok(is_http1) = is_http1 {
                serve_requests(state, stream, peer, &limits, is_http1).await;
            }
        }
        () = state.drain.closing() => {}
    }
    state.metrics.open_connections(-1);
}

/// Whether what a client sends first is the beginning of HTTP/1.1. If not, it may
/// be HTTP/2, of which too little has arrived to be sure.
///
/// hyper can tell them apart, too, but it takes the first bytes out of the
/// connection and reads the rest behind them into a buffer of twice the size,
/// which stays as long as the connection.
async fn begins_as_http1(stream: &TcpStream, wait: Duration) -> io::Result<bool> {
    let mut first = [0; PREFACE.len()];
    let length = tokio::time::timeout(wait, stream.peek(&mut first)).await??;
    Ok(!PREFACE.starts_with(first.get(..length).unwrap_or_default()))
}

/// Serves the requests of a connection that has begun.
async fn serve_requests(
    state: &Arc<GatewayState>,
    stream: TcpStream,
    peer: SocketAddr,
    limits: &Limits,
    is_http1: bool,
) {
    let exchange = Arc::new(Exchange::default());
    let stream = TimeoutStream::new(stream, limits.head_time, limits.stall);
    let io = TokioIo::new(FramedStream::new(stream, Arc::clone(&exchange)));
    let service = service_fn(|request: Request<Incoming>| {
        let (version, exchange) = (request.version(), Arc::clone(&exchange));
        let response = respond(state, peer, request);
        async move {
            let response = response.await;
            Ok::<_, Infallible>(response.map(|body| ExchangeBody::new(&exchange, version, body)))
        }
    });
    if is_http1 {
        let connection = pin!(http1_builder(limits).serve_connection(io, service));
        let shut_down = http1::Connection::graceful_shutdown;
        if let Some(Err(error)) = drive(state, &exchange, connection, shut_down).await {
            log_malformed(state, peer, &error);
        }
        return;
    }
    // Few connections come this way, and what serves them is large.
    Box::pin(async {
        let executor = StreamExecutor { exchange: Arc::clone(&exchange), stall: limits.stall };
        let builder = http_builder(executor, limits);
        let mut connection = pin!(builder.serve_connection(io, service));
        let shut_down = auto::Connection::graceful_shutdown;
        let serving = drive(state, &exchange, connection.as_mut(), shut_down);
        let is_unused = tokio::select! {
            ended = serving => {
                if let Some(Err(error)) = ended {
                    log_malformed(state, peer, error.as_ref());
                }
                false
            }
            () = exchange.unused_for(limits.idle) => true,
        };
        if is_unused {
            connection.as_mut().graceful_shutdown();
            // A client that has not read its last response would keep the
            // connection open.
            let _ = tokio::time::timeout(limits.head_time, connection).await;
        }
    })
    .await;
}

/// Logs a request that hyper has refused because of its head. Nothing else knows
/// of it.
fn log_malformed(state: &GatewayState, peer: SocketAddr, error: &(dyn Error + 'static)) {
    if error.downcast_ref().is_some_and(hyper::Error::is_parse) {
        let message = format!(
            "A request from {} was refused: its head is not valid HTTP, or is longer than `head`.",
            peer.ip().to_canonical()
        );
        let format = state.active.load().config.log;
        write_event(&state.log, format, "malformed_request", &message);
    }
}

/// Serves a connection until it ends or the gateway stops. Returns how it ended by
/// itself.
async fn drive<C: Future>(
    state: &GatewayState,
    exchange: &Exchange,
    mut connection: Pin<&mut C>,
    graceful_shutdown: fn(Pin<&mut C>),
) -> Option<C::Output> {
    let (mut close, mut cancel) = (state.drain.close_token(), state.drain.cancellation());
    let has_ended = poll_fn(|cx| {
        // Requests that wait look at it when the connection is polled.
        let _ = cancel.poll_cancelled(cx);
        match connection.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending => close.poll_reached(cx).map(|()| None),
        }
    });
    if let Some(ended) = has_ended.await {
        return Some(ended);
    }
    graceful_shutdown(connection.as_mut());
    let mut ended = pin!(poll_fn(|cx| {
        let _ = cancel.poll_cancelled(cx);
        connection.as_mut().poll(cx)
    }));
    tokio::select! {
        ended = ended.as_mut() => Some(ended),
        () = state.drain.terminated() => {
            exchange.cut();
            None
        }
    }
}

/// Answers the first request with the reason why the connection is rejected, and
/// closes it.
pub(super) async fn reject(state: &Arc<GatewayState>, stream: TcpStream, exceeded: LimitExceeded) {
    let limits = state.active.load().config.limits.clone();
    let service = service_fn(|request: Request<Incoming>| {
        let client = client_protocol(state, &request);
        async move {
            // If the connection closed while the client is still sending, the
            // client would see a broken connection instead of the response.
            let mut body = request.into_body();
            while let Some(Ok(_)) = body.frame().await {}
            Ok::<_, Infallible>(exceeded.into_failure().into_response(client, &relay::request_id()))
        }
    });
    let builder = http_builder(TokioExecutor::new(), &limits);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    let _ = tokio::time::timeout(REJECT_TIMEOUT, serving).await;
}

/// Answers a request. If handling it panics, only this request fails.
fn respond(
    state: &Arc<GatewayState>,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> impl Future<Output = Response<ResponseBody>> + use<> {
    let active = state.active.load_full();
    let (path, headers) = (request.uri().path(), request.headers());
    let client = endpoints::client_protocol(&active.config.protocols, path, headers);
    // In HTTP/1.1 the request is polled whenever its connection is, which is woken.
    let has_own_task = request.version() == Version::HTTP_2;
    let mut cancellation = has_own_task.then(|| state.drain.cancellation());
    let handle = || endpoints::handle(state, active, client, peer, request);
    let mut response = catch_unwind(AssertUnwindSafe(handle));
    let state = Arc::clone(state);
    poll_fn(move |cx| {
        let polled = match &mut response {
            Ok(response) => catch_unwind(AssertUnwindSafe(|| response.poll(cx))).ok(),
            Err(_panic) => None,
        };
        let mut is_cancelled = |cx: &mut Context<'_>| match &mut cancellation {
            Some(cancellation) => cancellation.poll_cancelled(cx).is_ready(),
            None => state.drain.is_cancelled(),
        };
        let error = match polled {
            Some(Poll::Ready(response)) => return Poll::Ready(response),
            Some(Poll::Pending) if !is_cancelled(cx) => return Poll::Pending,
            Some(Poll::Pending) => {
                ApiError::new(ErrorKind::Overloaded, "The gateway is shutting down.")
            }
            None => {
                state.metrics.panicked();
                ApiError::new(
                    ErrorKind::Server,
                    "This request failed because of a bug in the gateway.",
                )
            }
        };
        Poll::Ready(Failure::new(error).into_response(client, &relay::request_id()))
    })
}

fn client_protocol(state: &GatewayState, request: &Request<Incoming>) -> Protocol {
    let active = state.active.load();
    let protocols = &active.config.protocols;
    endpoints::client_protocol(protocols, request.uri().path(), request.headers())
}

/// Sets the socket options of a connection. An option that the system does not
/// support is left out.
fn set_socket_options(stream: &TcpStream, stall: Duration) {
    // An event must not wait until the next one fills a packet.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
    // A client that disappears from the network does not close its connection.
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(MOST_UNSENT);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(stall));
    #[cfg(not(target_os = "linux"))]
    let _ = stall;
}

/// hyper takes 100 headers. If that is set, even to the same, it fills two lists of
/// so many for every request.
fn http1_builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(HeadTimer::new())
        .header_read_timeout(limits.head_time)
        // `FramedStream` watches for the end of the connection.
        .half_close(true)
        .max_buf_size(limits.head.max(MIN_HEAD));
    builder
}

fn http_builder<E>(executor: E, limits: &Limits) -> auto::Builder<E> {
    let mut builder = auto::Builder::new(executor);
    let head_size = limits.head.max(MIN_HEAD);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .half_close(true)
        .max_buf_size(head_size);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .max_local_error_reset_streams(MAX_LOCAL_RESETS)
        .max_header_list_size(u32::try_from(head_size).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME)
        .max_send_buf_size(WINDOW as usize)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_INTERVAL);
    builder
}

const MIN_HEAD: usize = 8 * 1024;
const MAX_STREAMS: u32 = 100;
const MAX_PENDING_RESETS: usize = 20;
const MAX_LOCAL_RESETS: usize = 100;
const WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;
const FRAME: u32 = 16 * 1024;
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// How much the system takes before it has sent what it took, in bytes. It would
/// take megabytes for a client that does not read, and a stream that repeats its
/// text at its end would have to keep them.
#[cfg(target_os = "linux")]
const MOST_UNSENT: u32 = 32 * 1024;

/// How long a connection is idle before the system checks whether the client is
/// still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How long a rejected client may take to read the error.
const REJECT_TIMEOUT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
