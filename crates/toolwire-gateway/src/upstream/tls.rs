//! TLS toward upstreams. No other file knows about it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

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

/// A connector for https. Without a CA bundle it trusts the machine's own roots,
/// so that a company's own authorities work. If the machine has none, as in an
/// empty container, it trusts the roots of the browsers.
pub(super) fn https(tcp: Tcp, ca: Option<&CaBundle>) -> HttpsConnector<Tcp> {
    static DEFAULT: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let config = match ca {
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
    };
    HttpsConnector::from((tcp, config))
}

/// A connector for plain http. It trusts no roots, so a gateway without https
/// upstreams does not have to load the machine's.
pub(super) fn plain(tcp: Tcp) -> HttpsConnector<Tcp> {
    let config = ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    HttpsConnector::from((tcp, config))
}

/// Lets the server choose between HTTP/2 and HTTP/1.1.
fn with_alpn(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

#[cfg(test)]
mod tests;
