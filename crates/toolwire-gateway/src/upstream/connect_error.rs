//! Why a connection could not be made, as far as the system tells.

use std::error::Error;
use std::io::ErrorKind;

use rustls::{AlertDescription, CertificateError};

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectFailure {
    /// Nothing listens there.
    Refused,
    /// The name has no address.
    NameNotFound,
    /// There is no way to the address.
    Unreachable,
    /// Anything else.
    Other,
}

/// Why a TLS handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsFailure {
    /// Nobody who is trusted has signed the certificate.
    UnknownIssuer,
    Expired,
    NotYetValid,
    /// The certificate is for another name.
    WrongName,
    /// The server speaks something else.
    NotTls,
    /// The server wants another protocol above TLS.
    NotHttp1,
    /// Anything else.
    Other,
}

impl ConnectFailure {
    /// Finds the reason among the causes of an error.
    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            // The connector tells a failed lookup by its message only.
            if error.to_string().starts_with("dns error") {
                return Self::NameNotFound;
            }
            let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
            match kind {
                Some(ErrorKind::ConnectionRefused) => return Self::Refused,
                Some(ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable) => {
                    return Self::Unreachable;
                }
                Some(_) | None => cause = error.source(),
            }
        }
        Self::Other
    }

    /// A word for the log.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::NameNotFound => "name_not_found",
            Self::Unreachable => "unreachable",
            Self::Other => "no_connection",
        }
    }

    /// What a client is told.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Refused => "cannot be reached: nothing listens at its address",
            Self::NameNotFound => "cannot be reached: the name of its host was not found",
            Self::Unreachable => "cannot be reached: there is no route to its address",
            Self::Other => "cannot be reached",
        }
    }
}

impl TlsFailure {
    pub(super) fn of(error: &rustls::Error) -> Self {
        let rustls::Error::InvalidCertificate(certificate) = error else {
            let no_protocol = rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol);
            return if matches!(error, rustls::Error::InvalidMessage(_)) {
                Self::NotTls
            } else if *error == no_protocol {
                Self::NotHttp1
            } else {
                Self::Other
            };
        };
        if matches!(
            certificate,
            CertificateError::Expired | CertificateError::ExpiredContext { .. }
        ) {
            Self::Expired
        } else if matches!(
            certificate,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }
        ) {
            Self::NotYetValid
        } else if matches!(
            certificate,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        ) {
            Self::WrongName
        } else if matches!(
            certificate,
            // Somebody else who has the name of one that is trusted.
            CertificateError::UnknownIssuer | CertificateError::BadSignature
        ) {
            Self::UnknownIssuer
        } else {
            Self::Other
        }
    }

    /// A word for the log.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::UnknownIssuer => "certificate_unknown_issuer",
            Self::Expired => "certificate_expired",
            Self::NotYetValid => "certificate_not_yet_valid",
            Self::WrongName => "certificate_wrong_name",
            Self::NotTls => "no_tls",
            Self::NotHttp1 => "no_http1",
            Self::Other => "tls",
        }
    }

    /// What a client is told.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::UnknownIssuer => {
                "failed the TLS handshake: nobody whom this machine or `ca` trusts has signed its certificate"
            }
            Self::Expired => "failed the TLS handshake: its certificate has expired",
            Self::NotYetValid => "failed the TLS handshake: its certificate is not valid yet",
            Self::WrongName => "failed the TLS handshake: its certificate is for another host",
            Self::NotTls => "failed the TLS handshake: it does not speak TLS at this port",
            Self::NotHttp1 => {
                "failed the TLS handshake: it does not speak HTTP/1.1, which the gateway needs"
            }
            Self::Other => {
                "failed the TLS handshake: its certificate is not trusted, or it does not speak TLS"
            }
        }
    }
}
