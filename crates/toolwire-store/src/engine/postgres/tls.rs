//! Encrypted connections.
//!
//! Whoever asks for encryption means that nobody else can read along, so the
//! server's certificate and its name are always checked.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as RustlsStream;

use crate::error::OpenError;

/// What an address says about encryption.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    Off,
    /// With the file of the authorities to trust, if they are not the system's.
    On(Option<String>),
}

impl Encryption {
    /// Takes `sslmode` and `sslrootcert` out of an address. The driver knows
    /// neither the modes that check certificates nor the file.
    pub(super) fn take_from(address: &mut String) -> Result<Self, OpenError> {
        let mode = take(address, "sslmode");
        let roots = take(address, "sslrootcert").filter(|path| path != "system");
        match mode.as_deref() {
            None | Some("disable" | "allow" | "prefer") => Ok(Self::Off),
            Some("require" | "verify-ca" | "verify-full") => Ok(Self::On(roots)),
            Some(_) => {
                let modes = "`sslmode` is `disable`, `require` or `verify-full`";
                Err(OpenError::Address(modes.to_owned()))
            }
        }
    }
}

/// Takes a parameter out of an address, which is a URL or a list of words.
fn take(address: &mut String, name: &str) -> Option<String> {
    let is_separator = |character: char| matches!(character, '?' | '&' | ' ');
    let mut start = 0;
    for part in address.split_inclusive(is_separator) {
        let value = part.strip_prefix(name).and_then(|rest| rest.strip_prefix('='));
        if let Some(value) = value {
            let value = value.trim_end_matches(is_separator).to_owned();
            let end = start + part.len();
            address.replace_range(start..end, "");
            return Some(value);
        }
        start += part.len();
    }
    None
}

/// Makes connections encrypted.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
}

impl Tls {
    /// Trusts the authorities in a file, or those of the system.
    pub(super) fn new(roots: Option<&str>) -> Result<Self, OpenError> {
        let mut store = RootCertStore::empty();
        match roots {
            Some(path) => {
                let unreadable = |error: &dyn std::error::Error| {
                    failed(format!("`sslrootcert` {path}: {error}"))
                };
                let found = CertificateDer::pem_file_iter(Path::new(path));
                for certificate in found.map_err(|error| unreadable(&error))? {
                    let certificate = certificate.map_err(|error| unreadable(&error))?;
                    store.add(certificate).map_err(|error| unreadable(&error))?;
                }
            }
            None => {
                let found = rustls_native_certs::load_native_certs();
                store.add_parsable_certificates(found.certs);
            }
        }
        if store.is_empty() {
            let none = "there is no certificate authority to check Postgres' certificate with; name a \
                        file of them in `sslrootcert`";
            return Err(failed(none.to_owned()));
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions();
        let config = config.map_err(|error| failed(error.to_string()))?;
        let config = config.with_root_certificates(store).with_no_client_auth();
        Ok(Self { connector: TlsConnector::from(Arc::new(config)) })
    }
}

fn failed(reason: String) -> OpenError {
    OpenError::Failed(reason)
}

/// Why there is no encrypted connection. It stays like this until somebody does
/// something.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Untrusted(String);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = EncryptedStream<S>;
    type TlsConnect = Handshake;
    type Error = Untrusted;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Untrusted> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| {
            Untrusted("a server without a name, such as a socket, cannot be checked".to_owned())
        })?;
        Ok(Handshake { connector: self.connector.clone(), name })
    }
}

/// The beginning of one connection.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = EncryptedStream<S>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Stream, Self::Error>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let connected = self.connector.connect(self.name, stream).await;
            connected.map(EncryptedStream).map_err(|error| {
                let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
                if let Some(rustls::Error::InvalidCertificate(_)) = cause {
                    return Untrusted(error.to_string()).into();
                }
                Self::Error::from(error)
            })
        })
    }
}

/// An encrypted connection.
pub(super) struct EncryptedStream<S>(RustlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for EncryptedStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
