//! The tokens of images and documents, estimated from their size.

use toolwire::model::Source;
use toolwire::wire::Str;

/// A document of unknown size counts as a page.
pub(super) const DOCUMENT: u64 = 4600;

/// An image's tokens.
pub(super) fn image(source: &Source<'_>, low_detail: bool) -> u64 {
    let size = match source {
        Source::Base64 { media: _, data } => size(data),
        Source::Url(_) | Source::File(_) | Source::Text { .. } | Source::Other(_) => None,
    };
    match size {
        Some((width, height)) => {
            let area = u64::from(width) * u64::from(height);
            (area / PIXELS_PER_TOKEN).clamp(MIN_IMAGE, MAX_IMAGE)
        }
        None if low_detail => LOW_DETAIL,
        None => MAX_IMAGE,
    }
}

/// The tokens of a document in base64.
pub(super) fn document(media: &Str<'_>, data: &Str<'_>) -> u64 {
    let bytes = data.size_hint() as u64 / 4 * 3;
    if media.decode().starts_with("text/") {
        // In any language, a token is rarely shorter than two bytes.
        return bytes.div_ceil(2);
    }
    DOCUMENT.max(bytes / DOCUMENT_BYTES_PER_TOKEN)
}

/// Width and height. JPEG files may have a lot of data before their size; in all
/// other formats it comes first.
fn size(data: &Str<'_>) -> Option<(u32, u32)> {
    let first = head(data, SHORT_SEARCH);
    let further = || first.starts_with(JPEG).then(|| dimensions(&head(data, LONG_SEARCH)));
    dimensions(&first).or_else(|| further().flatten())
}

/// Width and height from the first bytes of the common formats.
fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG") {
        return Some((big(bytes.get(16..20)?), big(bytes.get(20..24)?)));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?)));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP" {
        return webp(bytes);
    }
    if bytes.starts_with(JPEG) {
        return jpeg(bytes);
    }
    None
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes.get(24..27)?) + 1, little(bytes.get(27..30)?) + 1)),
        b"VP8 " => {
            let side = |range| Some(little(bytes.get(range)?) & 0x3fff);
            Some((side(26..28)?, side(28..30)?))
        }
        b"VP8L" => {
            let bits = little(bytes.get(21..25)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        _ => None,
    }
}

/// Skips segments until the one that describes the frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, marker] = bytes.get(at..at + 2)? else { return None };
        let frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if frame {
            return Some((big(bytes.get(at + 7..at + 9)?), big(bytes.get(at + 5..at + 7)?)));
        }
        at += 2 + big(bytes.get(at + 2..at + 4)?) as usize;
    }
}

/// Decodes the first `length` characters of a base64 text.
fn head(data: &Str<'_>, length: usize) -> Vec<u8> {
    let text = data.decode();
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.bytes().take(length) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            // The upper bits are already in the output.
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

const PIXELS_PER_TOKEN: u64 = 750;
const MIN_IMAGE: u64 = 100;
const MAX_IMAGE: u64 = 4800;
const LOW_DETAIL: u64 = 300;
const DOCUMENT_BYTES_PER_TOKEN: u64 = 16;
const JPEG: &[u8] = b"\xff\xd8";
/// How far to search for a size, in base64 characters.
const SHORT_SEARCH: usize = 2 * 1024;
const LONG_SEARCH: usize = 256 * 1024;
