//! How many files the gateway may have open. Every connection is one.
//!
//! The usual limit, 1,024 on Linux and 256 on macOS, is that of programs which use
//! `select`. It may be raised without any privilege, up to another limit that the
//! operator or the system sets.

#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) use unix::raise_limit;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn raise_limit() {}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod unix {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// Lets this process open as many files as it may. Programs that it starts
    /// would inherit that, so this is for a gateway that starts none.
    pub(crate) fn raise_limit() {
        let limit = getrlimit(Resource::Nofile);
        let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
        if raised.is_err() && limit.current.is_some_and(|current| current < MACOS_MAX) {
            // A gateway with few connections works all the same.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(MACOS_MAX), ..limit });
        }
    }

    /// What macOS takes at least where it says that there is no limit, as its
    /// manual page of setrlimit(2) has it: `OPEN_MAX`.
    const MACOS_MAX: u64 = 10_240;
}
