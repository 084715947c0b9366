//! The bytes that may begin something in ordinary text.

use memchr::{memchr2, memchr3};

/// The next place from `at` on, or the end of the text. Where such bytes are near
/// to each other, to look each byte up is faster than to search.
pub(super) fn next_special(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = at;
    let near = bytes.get(at..).unwrap_or_default().iter().take(NEAR);
    if let Some(near) = near.clone().position(is_special) {
        return at + near;
    }
    at += near.len();
    // The second search ends where the first has found something.
    while at < bytes.len() {
        let window = bytes.get(at..bytes.len().min(at + WINDOW)).unwrap_or_default();
        let first = memchr3(b'<', b'[', b'\n', window).unwrap_or(window.len());
        let before = window.get(..first).unwrap_or_default();
        let place = memchr2(b']', b'`', before).unwrap_or(first);
        at += place;
        if place < window.len() {
            break;
        }
    }
    at
}

/// Whether there is such a byte in the text.
pub(super) fn has_special(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() <= NEAR {
        return bytes.iter().any(is_special);
    }
    if bytes.len() >= WINDOW {
        return next_special(text, 0) < text.len();
    }
    memchr3(b'<', b'[', b'\n', bytes).or_else(|| memchr2(b']', b'`', bytes)).is_some()
}

fn is_special(byte: &u8) -> bool {
    matches!(byte, b'<' | b'[' | b'\n' | b']' | b'`')
}

const NEAR: usize = 16;
const WINDOW: usize = 512;
