//! The one place that knows about TLS.

use std::sync::{Arc, OnceLock};

use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::{ClientConfig, RootCertStore};

/// A connector for servers that speak TLS. The machine's own roots count, so
/// that companies' own authorities work; where a machine has none, as in an
/// empty container, those of the browsers do.
pub(super) fn secure(http: HttpConnector) -> HttpsConnector<HttpConnector> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let builder = ClientConfig::builder();
        let builder = match builder.clone().with_native_roots() {
            Ok(builder) => builder,
            Err(_none) => builder.with_webpki_roots(),
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    });
    HttpsConnector::from((http, Arc::clone(config)))
}

/// A connector for servers that do not. It trusts nobody, and reading the
/// machine's roots is spared to those who never need them.
pub(super) fn plain(http: HttpConnector) -> HttpsConnector<HttpConnector> {
    let config = ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    HttpsConnector::from((http, config))
}
