//! A scripted upstream behind TLS, which speaks HTTP/2 or HTTP/1.1 as negotiated
//! in the handshake.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use toolwire::Protocol;
use toolwire_gateway::config::{CaBundle, Origin, UpstreamConfig};

use crate::upstream::Server;

/// A request that arrived.
#[derive(Clone, Debug)]
pub(crate) struct SecureRequest {
    /// The number of its connection, from 0.
    pub(crate) connection: usize,
    /// The number of the request, from 0.
    pub(crate) number: usize,
    pub(crate) version: Version,
    pub(crate) body: String,
}

/// What a server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends a whole response, and says that the connection is for no other request.
    Last(String),
    /// Sends a whole response.
    Whole(String),
    /// Sends a stream.
    Stream(Vec<String>),
    /// Starts a stream and never ends it.
    Begin(Vec<String>),
    /// Sends a piece again and again.
    Flood(String),
    /// Never responds.
    Hang,
}

/// A scripted server behind TLS.
pub(crate) struct Secure {
    pub(crate) address: SocketAddr,
    pub(crate) protocol: Protocol,
    pub(crate) ca: CaBundle,
    desk: Arc<Desk>,
}

/// What all connections of a server share.
struct Desk {
    script: Box<dyn Fn(&SecureRequest) -> Act + Send + Sync>,
    asked: Mutex<Vec<SecureRequest>>,
    left: watch::Sender<Vec<usize>>,
}

impl Secure {
    /// A server that supports the protocols in `alpn`.
    pub(crate) async fn new(
        protocol: Protocol,
        alpn: &[&str],
        script: impl Fn(&SecureRequest) -> Act + Send + Sync + 'static,
    ) -> Self {
        let (ca, acceptor) = identity(alpn);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let desk = Arc::new(Desk {
            script: Box::new(script),
            asked: Mutex::default(),
            left: watch::Sender::new(Vec::new()),
        });
        let address = listener.local_addr().unwrap();
        let server = Self { address, protocol, ca, desk: Arc::clone(&desk) };
        tokio::spawn(async move {
            for connection in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                stream.set_nodelay(true).unwrap();
                let (acceptor, desk) = (acceptor.clone(), Arc::clone(&desk));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(|request| {
                        let desk = Arc::clone(&desk);
                        async move { desk.answer(connection, request).await }
                    });
                    let mut builder = Builder::new(TokioExecutor::new());
                    builder.http2().max_concurrent_streams(STREAMS);
                    let io = TokioIo::new(stream);
                    let _ = builder.serve_connection(io, service).await;
                });
            }
        });
        server
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<SecureRequest> {
        self.desk.asked.lock().unwrap().clone()
    }

    /// Waits until that many requests have arrived.
    pub(crate) async fn until_asked(&self, count: usize) {
        let waiting = async {
            while self.asked().len() < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("no request came");
    }

    /// Waits until the peer has cancelled that many requests, and returns which.
    pub(crate) async fn left(&self, count: usize) -> Vec<usize> {
        let mut left = self.desk.left.subscribe();
        let waiting = left.wait_for(|left| left.len() >= count);
        let left = tokio::time::timeout(Duration::from_secs(10), waiting).await;
        left.expect("the peer stays").unwrap().clone()
    }
}

/// How many requests a server takes on a connection in HTTP/2, as many vendors do.
pub(crate) const STREAMS: u32 = 100;

/// A certificate authority, and a TLS server that it has signed.
pub(crate) fn identity(alpn: &[&str]) -> (CaBundle, TlsAcceptor) {
    identity_with(alpn, CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap())
}

/// The same, with a certificate that says what a test wants it to say.
pub(crate) fn identity_with(alpn: &[&str], server: CertificateParams) -> (CaBundle, TlsAcceptor) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = server.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    (CaBundle::read(&authority.pem()).unwrap(), TlsAcceptor::from(Arc::new(config)))
}

/// An upstream at a server behind TLS, for every model.
pub(crate) fn behind(address: SocketAddr, protocol: Protocol, ca: &CaBundle) -> UpstreamConfig {
    let base = format!("https://{address}");
    UpstreamConfig {
        origin: Origin::Http { base, path: "/v1".to_owned() },
        ca: Some(ca.clone()),
        ..crate::at(&Server::nowhere(protocol, address))
    }
}

impl Desk {
    async fn answer(
        &self,
        connection: usize,
        request: Request<Incoming>,
    ) -> Result<Response<Pieces>, h2::Error> {
        let version = request.version();
        // An incomplete request does not count.
        let Ok(body) = request.into_body().collect().await else {
            return Err(h2::Reason::CANCEL.into());
        };
        let body = String::from_utf8(body.to_bytes().to_vec()).unwrap();
        let asked = {
            let mut all = self.asked.lock().unwrap();
            let asked = SecureRequest { connection, number: all.len(), version, body };
            all.push(asked.clone());
            asked
        };
        let waits = Waits { number: asked.number, left: Some(self.left.clone()) };
        let mut flood = None;
        let mut is_last = false;
        let (kind, pieces, waits) = match (self.script)(&asked) {
            Act::Last(body) => {
                is_last = true;
                ("application/json", vec![body], waits.over())
            }
            Act::Whole(body) => ("application/json", vec![body], waits.over()),
            Act::Stream(pieces) => ("text/event-stream", pieces, waits.over()),
            Act::Begin(pieces) => ("text/event-stream", pieces, waits),
            Act::Flood(piece) => {
                flood = Some(piece.clone());
                ("text/event-stream", vec![piece], waits)
            }
            Act::Hang => {
                let _waits = waits;
                std::future::pending().await
            }
        };
        let mut response = Response::new(Pieces { pieces: pieces.into(), flood, waits });
        response.headers_mut().insert("content-type", kind.parse().unwrap());
        if is_last {
            response.headers_mut().insert("connection", "close".parse().unwrap());
        }
        Ok(response)
    }
}

/// Records when the peer cancels a request before its response ends.
struct Waits {
    number: usize,
    left: Option<watch::Sender<Vec<usize>>>,
}

impl Waits {
    fn over(mut self) -> Self {
        self.left = None;
        self
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(left) = &self.left {
            left.send_modify(|left| left.push(self.number));
        }
    }
}

/// A body in chunks, which may have no end.
struct Pieces {
    pieces: VecDeque<String>,
    /// What comes when there are no more pieces.
    flood: Option<String>,
    waits: Waits,
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.pieces.pop_front().or_else(|| self.flood.clone()) {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece.into())))),
            None if self.waits.left.is_some() => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}
