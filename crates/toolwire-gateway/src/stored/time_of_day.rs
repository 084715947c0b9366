//! When something was made, for clients. Nothing is decided by it.

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "answers say when they were made")]
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
