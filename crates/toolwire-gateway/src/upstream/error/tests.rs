use std::io;

use super::*;

/// What a connector says of a step that failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Step(&'static str, #[source] io::Error);

#[test]
fn no_descriptor_is_not_the_upstreams_fault() {
    for code in [ENFILE, EMFILE] {
        for step in ["tcp open error", "dns error"] {
            let error = Step(step, io::Error::from_raw_os_error(code));
            assert_eq!(UpstreamError::from_connector(&error), UpstreamError::NoSockets, "{step}");
        }
    }
}

/// A machine without IPv6 says of the address ::1 that it is not available, which is no lack of
/// sockets.
#[cfg(target_os = "linux")]
#[test]
fn an_address_of_another_family_is_no_lack_of_sockets() {
    const EADDRNOTAVAIL: i32 = 99;
    let error = Step("tcp connect error", io::Error::from_raw_os_error(EADDRNOTAVAIL));
    let expected = UpstreamError::Connect(ConnectFailure::Other);
    assert_eq!(UpstreamError::from_connector(&error), expected);
}
