//! A small HTTP client for the APIs of models.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::uri::Scheme;
use http::{Method, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use toolwire::protocol::{Auth, PathMatch};
use toolwire::translate::RequestHead;
use toolwire::{ApiError, Protocol, codec};

use crate::Error;

/// Sends requests to the API of a model, which speaks one protocol.
#[derive(Clone)]
pub struct Client {
    protocol: Protocol,
    /// The address without the path prefix of the protocol's version.
    base: String,
    headers: HeaderMap,
    timeout: Duration,
    http: HttpClient<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

/// The response to a request.
pub(crate) enum ModelResponse {
    Whole(Vec<u8>),
    Stream(ResponseBody),
}

/// The body of a response as it arrives.
pub(crate) struct ResponseBody {
    body: Incoming,
    timeout: Duration,
    received: usize,
}

impl Client {
    /// A client of the API at an address: a gateway's, such as
    /// `http://127.0.0.1:8787`, or a vendor's, such as `https://api.openai.com/v1`.
    ///
    /// # Errors
    ///
    /// [`Error::Client`] if it is not the address of an API.
    pub fn new(protocol: Protocol, address: &str) -> Result<Self, Error> {
        let description = protocol.describe();
        let address = address.trim_end_matches('/');
        let base = address.strip_suffix(description.prefix).unwrap_or(address);
        let wrong = |what: &str| Error::Client(format!("`{address}` {what}"));
        let uri: Uri = base.parse().map_err(|_| wrong("is not a URL"))?;
        if uri.host().is_none() {
            return Err(wrong("has no host; expected http://… or https://…"));
        }
        let tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => trusting_the_machine(),
            Some(scheme) if *scheme == Scheme::HTTP => trusting_nobody(),
            Some(_) | None => return Err(wrong("must begin with http:// or https://")),
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some((name, version)) = description.vendor.version {
            headers.insert(name, HeaderValue::from_static(version));
        }
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnector::from((tcp, Arc::new(tls)));
        let http = HttpClient::builder(TokioExecutor::new()).build(connector);
        Ok(Self { protocol, base: base.to_owned(), headers, timeout: DEFAULT_TIMEOUT, http })
    }

    /// A client of a toolwire gateway: the one at `TOOLWIRE_URL`, or the one on
    /// this machine at the default address. `TOOLWIRE_KEY` is its key, if it wants
    /// one.
    ///
    /// # Errors
    ///
    /// [`Error::Client`] if `TOOLWIRE_URL` is not an address.
    pub fn gateway(protocol: Protocol) -> Result<Self, Error> {
        let address = std::env::var("TOOLWIRE_URL");
        let client = Self::new(protocol, address.as_deref().unwrap_or(DEFAULT_GATEWAY))?;
        match std::env::var("TOOLWIRE_KEY") {
            Ok(key) => client.key(&key),
            Err(_unset) => Ok(client),
        }
    }

    /// The key of the account, or of the gateway.
    ///
    /// # Errors
    ///
    /// [`Error::Client`] if it cannot be sent in a header.
    pub fn key(mut self, key: &str) -> Result<Self, Error> {
        let (name, value) = match &self.protocol.describe().vendor.auth {
            Auth::KeyHeader { header, key_prefix: _, token_prefix }
                if !key.starts_with(token_prefix) =>
            {
                (HeaderName::from_static(header), key.to_owned())
            }
            Auth::KeyHeader { header: _, key_prefix: _, token_prefix: _ } | Auth::Bearer => {
                (AUTHORIZATION, format!("Bearer {key}"))
            }
        };
        let value = HeaderValue::from_str(&value);
        let mut value =
            value.map_err(|_| Error::Client("the key cannot be sent in a header".to_owned()))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Another header for every request.
    ///
    /// # Errors
    ///
    /// [`Error::Client`] if it is not a header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let wrong = || Error::Client(format!("`{}` is not a header", name.escape_debug()));
        let key = HeaderName::try_from(name).map_err(|_| wrong())?;
        self.headers.insert(key, HeaderValue::try_from(value).map_err(|_| wrong())?);
        Ok(self)
    }

    /// How long the API may send nothing; ten minutes if nothing is said.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The protocol that the API speaks.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Sends a request and waits for the beginning of the answer, or for all of
    /// it if it is no stream.
    pub(crate) async fn send(&self, body: &[u8]) -> Result<ModelResponse, Error> {
        let head = RequestHead::read(self.protocol, &PathMatch::default(), body)?;
        let endpoint = &self.protocol.describe().answers;
        let path = endpoint.fill(head.model.as_deref().unwrap_or_default(), head.stream);
        let mut request = http::Request::new(Full::new(Bytes::copy_from_slice(body)));
        *request.method_mut() = Method::POST;
        let uri = format!("{}{path}", self.base).parse();
        *request.uri_mut() = uri.map_err(|_| Error::Client("the model's name".to_owned()))?;
        request.headers_mut().clone_from(&self.headers);
        let sent = timeout(self.timeout, self.http.request(request)).await;
        let response = sent.map_err(|_elapsed| Error::Timeout(self.timeout))?;
        let (parts, body) = response.map_err(|error| transport(&error))?.into_parts();
        let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut body = ResponseBody { body, timeout: self.timeout, received: 0 };
        if parts.status.is_success() && is_stream {
            return Ok(ModelResponse::Stream(body));
        }
        let mut whole = Vec::new();
        while let Some(chunk) = body.next().await? {
            whole.extend_from_slice(&chunk);
        }
        if parts.status.is_success() {
            return Ok(ModelResponse::Whole(whole));
        }
        let status = parts.status.as_u16();
        Err(Error::Api { status, error: Box::new(refusal(self.protocol, status, &whole)) })
    }
}

impl ResponseBody {
    /// The next bytes.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = timeout(self.timeout, self.body.frame()).await;
            let frame = match frame.map_err(|_elapsed| Error::Timeout(self.timeout))? {
                None => return Ok(None),
                Some(Err(error)) => return Err(transport(&error)),
                Some(Ok(frame)) => frame,
            };
            let Ok(chunk) = frame.into_data() else { continue };
            self.received += chunk.len();
            if self.received > LONGEST_ANSWER {
                let what = format!("the answer is longer than {LONGEST_ANSWER} bytes");
                return Err(Error::Transport(what));
            }
            return Ok(Some(chunk));
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("protocol", &self.protocol)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// What an error response says. One that cannot be read says its status.
fn refusal(protocol: Protocol, status: u16, body: &[u8]) -> ApiError {
    let text = std::str::from_utf8(body).ok();
    let decoded = text.and_then(|text| (codec(protocol).decode_error)(Some(status), text).ok());
    decoded.unwrap_or_else(|| {
        let kind = toolwire::ErrorKind::from_status(status);
        let kind = kind.unwrap_or(toolwire::ErrorKind::Server);
        ApiError::new(kind, "the response has no error that can be read")
    })
}

/// An error with its causes, which have the reason.
fn transport(error: &dyn std::error::Error) -> Error {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    Error::Transport(text)
}

/// Trusts the machine's own roots or, if it has none, those of the browsers.
fn trusting_the_machine() -> ClientConfig {
    let builder = ClientConfig::builder();
    let builder = match builder.clone().with_native_roots() {
        Ok(builder) => builder,
        Err(_none) => builder.with_webpki_roots(),
    };
    builder.with_no_client_auth()
}

/// For plain http, which needs no roots.
fn trusting_nobody() -> ClientConfig {
    ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}

const DEFAULT_GATEWAY: &str = "http://127.0.0.1:8787";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;
