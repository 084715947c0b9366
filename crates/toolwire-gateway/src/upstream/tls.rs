//! The one place that knows about TLS.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::connect::Tcp;

/// Who may vouch for an upstream, instead of those whom the machine trusts.
#[derive(Clone)]
pub struct Authorities(Arc<RootCertStore>);

/// Why a file names no authorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthoritiesError {
    /// It is not PEM, or holds something else.
    #[error("no certificate in it; expected PEM, \"-----BEGIN CERTIFICATE-----\"")]
    Empty,
    /// One of its certificates is broken.
    #[error("certificate {0} of it cannot be read")]
    Malformed(usize),
}

impl Authorities {
    /// Reads the certificates of a PEM file.
    pub fn read(pem: &str) -> Result<Self, AuthoritiesError> {
        let mut roots = RootCertStore::empty();
        for (index, certificate) in CertificateDer::pem_slice_iter(pem.as_bytes()).enumerate() {
            let malformed = AuthoritiesError::Malformed(index + 1);
            let certificate = certificate.map_err(|_| malformed)?;
            roots.add(certificate).map_err(|_| malformed)?;
        }
        if roots.is_empty() {
            return Err(AuthoritiesError::Empty);
        }
        Ok(Self(Arc::new(roots)))
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authorities({})", self.0.len())
    }
}

/// A connector for servers that speak TLS. Unless somebody in particular must
/// vouch for them, the machine's own roots count, so that companies' own
/// authorities work; where a machine has none, as in an empty container, those
/// of the browsers do.
pub(super) fn secure(tcp: Tcp, vouched_by: Option<&Authorities>) -> HttpsConnector<Tcp> {
    static USUAL: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let config = match vouched_by {
        Some(Authorities(roots)) => {
            let builder = ClientConfig::builder().with_root_certificates(Arc::clone(roots));
            Arc::new(either_http(builder.with_no_client_auth()))
        }
        None => Arc::clone(USUAL.get_or_init(|| {
            let builder = ClientConfig::builder();
            let builder = match builder.clone().with_native_roots() {
                Ok(builder) => builder,
                Err(_none) => builder.with_webpki_roots(),
            };
            Arc::new(either_http(builder.with_no_client_auth()))
        })),
    };
    HttpsConnector::from((tcp, config))
}

/// A connector for servers that do not. It trusts nobody, and reading the
/// machine's roots is spared to those who never need them.
pub(super) fn plain(tcp: Tcp) -> HttpsConnector<Tcp> {
    let config = ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    HttpsConnector::from((tcp, config))
}

/// Lets the server choose between HTTP/2 and HTTP/1.1.
fn either_http(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

#[cfg(test)]
mod tests;
