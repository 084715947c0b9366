//! A proxy of hyper and nothing else: it passes requests to one address and the
//! responses back. It is what toolwire is measured beside, since no gateway on
//! hyper can cost less.
//!
//! `bare_proxy LISTEN UPSTREAM`

#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "an example fails plainly")]

use std::net::SocketAddr;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

type Sender = hyper::client::conn::http1::SendRequest<Incoming>;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<SocketAddr>().unwrap());
    let (listen, upstream) = (arguments.next().unwrap(), arguments.next().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(serve(listen, upstream));
}

async fn serve(listen: SocketAddr, upstream: SocketAddr) {
    let listener = TcpListener::bind(listen).await.unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            // A client has a connection to the upstream of its own.
            let sender = Mutex::new(None);
            let service = service_fn(|request| pass(request, &sender, upstream));
            let server = hyper::server::conn::http1::Builder::new();
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn pass(
    mut request: Request<Incoming>,
    sender: &Mutex<Option<Sender>>,
    upstream: SocketAddr,
) -> hyper::Result<Response<Incoming>> {
    let mut sender = sender.lock().await;
    if sender.is_none() {
        let stream = TcpStream::connect(upstream).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (made, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        *sender = Some(made);
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>().unwrap();
    sender.as_mut().unwrap().send_request(request).await
}
