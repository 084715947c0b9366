//! TLS toward upstreams. No other file knows about it.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::connect::Tcp;

/// The certificate authorities that an upstream must be signed by, instead of
/// those that the machine trusts.
#[derive(Clone)]
pub struct CaBundle(Arc<RootCertStore>);

/// Why a file is not a CA bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaBundleError {
    /// It holds no certificate in PEM format.
    #[error("no certificate found; expected PEM, \"-----BEGIN CERTIFICATE-----\"")]
    Empty,
    /// One of its certificates cannot be parsed.
    #[error("certificate {0} cannot be parsed")]
    Malformed(usize),
}

impl CaBundle {
    /// Reads the certificates of a PEM file.
    pub fn read(pem: &str) -> Result<Self, CaBundleError> {
        let mut roots = RootCertStore::empty();
        for (index, certificate) in CertificateDer::pem_slice_iter(pem.as_bytes()).enumerate() {
            let malformed = CaBundleError::Malformed(index + 1);
            let certificate = certificate.map_err(|_| malformed)?;
            roots.add(certificate).map_err(|_| malformed)?;
        }
        if roots.is_empty() {
            return Err(CaBundleError::Empty);
        }
        Ok(Self(Arc::new(roots)))
    }
}

impl fmt::Debug for CaBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaBundle({})", self.0.len())
    }
}

/// A connection with TLS.
pub(super) type TlsStream = tokio_rustls::client::TlsStream<TcpStream>;

/// Makes TLS of connections to one host.
pub(super) struct TlsClient {
    connector: TlsConnector,
    host: ServerName<'static>,
}

impl TlsClient {
    /// TLS for a host as a URL has it, or `None` if no certificate could name it.
    pub(super) fn new(host: &str, ca: Option<&CaBundle>) -> Option<Self> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = ServerName::try_from(host.to_owned()).ok()?;
        Some(Self { connector: TlsConnector::from(client_config(ca)), host })
    }

    pub(super) async fn connect(&self, tcp: TcpStream) -> io::Result<TlsStream> {
        self.connector.connect(self.host.clone(), tcp).await
    }
}

/// A connector for https.
pub(super) fn https(tcp: Tcp, ca: Option<&CaBundle>) -> HttpsConnector<Tcp> {
    HttpsConnector::from((tcp, client_config(ca)))
}

/// Without a CA bundle the machine's own roots are trusted, so that a company's
/// own authorities work. If the machine has none, as in an empty container, the
/// roots of the browsers are.
fn client_config(ca: Option<&CaBundle>) -> Arc<ClientConfig> {
    static DEFAULT: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    match ca {
        Some(CaBundle(roots)) => {
            let builder = ClientConfig::builder().with_root_certificates(Arc::clone(roots));
            Arc::new(with_alpn(builder.with_no_client_auth()))
        }
        None => Arc::clone(DEFAULT.get_or_init(|| {
            let builder = ClientConfig::builder();
            let builder = match builder.clone().with_native_roots() {
                Ok(builder) => builder,
                Err(_none) => builder.with_webpki_roots(),
            };
            Arc::new(with_alpn(builder.with_no_client_auth()))
        })),
    }
}

/// A connector for plain http. It trusts no roots, so a gateway without https
/// upstreams does not have to load the machine's.
pub(super) fn plain(tcp: Tcp) -> HttpsConnector<Tcp> {
    let config = ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    HttpsConnector::from((tcp, config))
}

/// Offers HTTP/1.1 only, for which `http1` has the reason.
fn with_alpn(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

#[cfg(test)]
mod tests;
