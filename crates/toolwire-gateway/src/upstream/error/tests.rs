use std::io;

use super::*;

/// What a connector says of a step that failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Step(&'static str, #[source] io::Error);

fn cause(step: &'static str, error: io::Error, host: &str) -> UpstreamError {
    UpstreamError::from_connector(&Step(step, error), host)
}

#[test]
fn no_descriptor_is_not_the_upstreams_fault() {
    for code in [ENFILE, EMFILE] {
        for step in ["tcp open error", "dns error"] {
            let error = io::Error::from_raw_os_error(code);
            assert_eq!(cause(step, error, "api.example"), UpstreamError::NoSockets, "{step}");
        }
    }
}

/// A machine without IPv6 says the same of the address ::1, which localhost may have.
#[test]
fn no_port_is_told_from_no_address() {
    let no_address = UpstreamError::Connect(ConnectFailure::Other);
    for (host, expected) in [
        ("127.0.0.1", UpstreamError::NoSockets),
        ("10.0.0.9", UpstreamError::NoSockets),
        ("localhost", no_address),
        ("api.example", no_address),
        ("[::1]", no_address),
    ] {
        let error = io::Error::from(io::ErrorKind::AddrNotAvailable);
        assert_eq!(cause("tcp connect error", error, host), expected, "{host}");
    }
}
