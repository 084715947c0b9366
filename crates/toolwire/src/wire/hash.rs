//! Names and ids that must come out the same on every turn and every machine.

use sha2::{Digest, Sha256};

/// The first `length` characters of the base-62 spelling of SHA-256.
pub fn base62(parts: &[&[u8]], length: usize) -> String {
    let mut number = limbs(digest(parts));
    let mut text = String::with_capacity(length);
    while text.len() < length {
        // One long division by a power of 62: the remainder is the next few
        // digits, the lowest first.
        let mut remainder = 0u64;
        for limb in &mut number {
            let value = remainder << 32 | u64::from(*limb);
            *limb = (value / POWER) as u32;
            remainder = value % POWER;
        }
        for _ in 0..TOGETHER.min(length - text.len()) {
            let digit = DIGITS.get((remainder % 62) as usize);
            text.push(digit.copied().map_or('0', char::from));
            remainder /= 62;
        }
    }
    text
}

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many digits a division gives: as many as fit into a limb.
const TOGETHER: usize = 5;
const POWER: u64 = 62u64.pow(TOGETHER as u32);

/// A number in base 2^32, the highest first.
fn limbs(bytes: [u8; 32]) -> [u32; 8] {
    let mut limbs = [0; 8];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks_exact(4)) {
        *limb = bytes.iter().fold(0, |limb, byte| limb << 8 | u32::from(*byte));
    }
    limbs
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
