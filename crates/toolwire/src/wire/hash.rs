//! Names and ids that must come out the same on every turn and every machine.

use sha2::{Digest, Sha256};

/// The first `length` characters of the base-62 spelling of SHA-256.
pub fn base62(parts: &[&[u8]], length: usize) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut number = digest(parts);
    let mut text = String::with_capacity(length);
    for _ in 0..length {
        // One long division by 62: the remainder is the next digit.
        let mut remainder = 0u32;
        for byte in &mut number {
            let value = remainder << 8 | u32::from(*byte);
            *byte = (value / 62) as u8;
            remainder = value % 62;
        }
        text.push(DIGITS.get(remainder as usize).copied().map_or('0', char::from));
    }
    text
}

/// The first eight hexadecimal digits of SHA-256.
pub fn hex8(parts: &[&[u8]]) -> String {
    let mut text = String::with_capacity(8);
    for byte in digest(parts).iter().take(4) {
        for nibble in [byte >> 4, byte & 0xf] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    text
}

/// Parts are hashed with their lengths, so that moving a character from one
/// part to the next changes the digest. A single part is hashed as it is.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        if parts.len() > 1 {
            hasher.update((part.len() as u64).to_be_bytes());
        }
        hasher.update(part);
    }
    hasher.finalize().into()
}
