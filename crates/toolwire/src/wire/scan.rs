//! Byte-level scanning of JSON: whitespace, string literals, numbers and whole
//! values. Every function takes the input and a position and returns the
//! position after what it recognised, so that a byte is looked at once.

use super::read::What;

/// How many containers may be open at once. The number is serde_json's, and
/// far above what any published request nests.
pub(super) const MAX_DEPTH: u32 = 127;

type Scan = Result<usize, (usize, What)>;

pub(super) fn whitespace(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(pos) {
        pos += 1;
    }
    pos
}

/// Scans a string literal whose opening quote is at `pos`. The flag says
/// whether the literal holds a backslash.
///
/// Escapes that stand for half a character are refused, also in values that
/// are only copied: no UTF-8 text can hold them, so whoever decodes the text
/// next would have to change it.
pub(super) fn string(bytes: &[u8], pos: usize) -> Result<(usize, bool), (usize, What)> {
    let mut at = pos + 1;
    let mut escaped = false;
    loop {
        at = plain_run(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                escaped = true;
                at = escape(bytes, at)?;
            }
            Some(_) => return Err((at, What::Control)),
            None => return Err((at, What::End)),
        }
    }
}

/// Skips bytes that stand for themselves inside a string literal.
fn plain_run(bytes: &[u8], mut pos: usize) -> usize {
    // Keys and enum values are short: eight bytes at a time finds their end.
    for _ in 0..4 {
        let Some(word) = bytes.get(pos..pos + 8).and_then(|w| <[u8; 8]>::try_from(w).ok()) else {
            return plain_tail(bytes, pos);
        };
        let hit = special(u64::from_le_bytes(word));
        if hit != 0 {
            return pos + (hit.trailing_zeros() / 8) as usize;
        }
        pos += 8;
    }
    // Prompts and file contents are long: let the vectorised search find the
    // end, then look for a stray control character in what it passed over.
    let rest = bytes.get(pos..).unwrap_or_default();
    let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    let passed = rest.get(..run).unwrap_or_default();
    if passed.iter().fold(false, |found, &byte| found | (byte < 0x20)) {
        return pos + passed.iter().position(|&byte| byte < 0x20).unwrap_or(run);
    }
    pos + run
}

fn plain_tail(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(&byte) = bytes.get(pos) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        pos += 1;
    }
    pos
}

/// Marks each byte of `word` that is a quote, a backslash or a control
/// character by its high bit. Only the lowest mark is exact, which is all that
/// is used.
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    let quote = zero(word ^ (ONES * b'"' as u64));
    let backslash = zero(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | backslash | control) & HIGH
}

fn escape(bytes: &[u8], pos: usize) -> Scan {
    match bytes.get(pos + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(pos + 2),
        Some(b'u') => match unit(bytes, pos)? {
            // A high half must be followed at once by the escape of its low half.
            0xD800..=0xDBFF => match bytes.get(pos + 6..).unwrap_or_default() {
                [] | [b'\\'] => Err((bytes.len(), What::End)),
                [b'\\', b'u', ..] if (0xDC00..=0xDFFF).contains(&unit(bytes, pos + 6)?) => {
                    Ok(pos + 12)
                }
                [..] => Err((pos, What::Surrogate)),
            },
            0xDC00..=0xDFFF => Err((pos, What::Surrogate)),
            _other => Ok(pos + 6),
        },
        Some(_) => Err((pos, What::Escape)),
        None => Err((bytes.len(), What::End)),
    }
}

/// The UTF-16 unit that the escape at `pos` stands for.
fn unit(bytes: &[u8], pos: usize) -> Result<u32, (usize, What)> {
    let Some(digits) = bytes.get(pos + 2..pos + 6) else {
        return Err((bytes.len(), What::End));
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    digits
        .iter()
        .try_fold(0, |unit, byte| digit(byte).map(|digit| unit << 4 | digit))
        .ok_or((pos, What::Escape))
}

fn digits(bytes: &[u8], mut pos: usize) -> Scan {
    let start = pos;
    while bytes.get(pos).is_some_and(u8::is_ascii_digit) {
        pos += 1;
    }
    match (pos > start, pos == bytes.len()) {
        (true, _) => Ok(pos),
        (false, true) => Err((pos, What::End)),
        (false, false) => Err((pos, What::Number)),
    }
}

pub(super) fn number(bytes: &[u8], mut pos: usize) -> Scan {
    if bytes.get(pos) == Some(&b'-') {
        pos += 1;
    }
    pos = match bytes.get(pos) {
        Some(b'0') => pos + 1,
        Some(_) | None => digits(bytes, pos)?,
    };
    if bytes.get(pos) == Some(&b'.') {
        pos = digits(bytes, pos + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(pos) {
        pos += 1;
        if let Some(b'+' | b'-') = bytes.get(pos) {
            pos += 1;
        }
        pos = digits(bytes, pos)?;
    }
    Ok(pos)
}

pub(super) fn literal(bytes: &[u8], pos: usize, word: &'static str) -> Scan {
    let found = bytes.get(pos..).unwrap_or_default();
    if found.starts_with(word.as_bytes()) {
        Ok(pos + word.len())
    } else if word.as_bytes().starts_with(found) {
        Err((bytes.len(), What::End))
    } else {
        Err((pos, What::Value))
    }
}

/// Scans one whole value that starts at `pos` (no whitespace before it).
///
/// Iterative on purpose: hostile nesting costs a bit each, not a stack frame.
pub(super) fn value(bytes: &[u8], mut pos: usize, outer: u32) -> Scan {
    let mut objects = 0u128;
    let mut depth = 0u32;
    loop {
        pos = match bytes.get(pos) {
            Some(b'"') => string(bytes, pos)?.0,
            Some(open @ (b'{' | b'[')) => {
                if outer + depth >= MAX_DEPTH {
                    return Err((pos, What::Depth));
                }
                depth += 1;
                objects = objects << 1 | u128::from(*open == b'{');
                let inside = whitespace(bytes, pos + 1);
                match (open, bytes.get(inside)) {
                    (b'{', Some(b'}')) | (b'[', Some(b']')) => {
                        depth -= 1;
                        objects >>= 1;
                        inside + 1
                    }
                    (b'{', _) => {
                        pos = key(bytes, inside)?;
                        continue;
                    }
                    (_, _) => {
                        pos = inside;
                        continue;
                    }
                }
            }
            Some(b't') => literal(bytes, pos, "true")?,
            Some(b'f') => literal(bytes, pos, "false")?,
            Some(b'n') => literal(bytes, pos, "null")?,
            Some(b'-' | b'0'..=b'9') => number(bytes, pos)?,
            Some(_) => return Err((pos, What::Value)),
            None => return Err((pos, What::End)),
        };
        loop {
            if depth == 0 {
                return Ok(pos);
            }
            pos = whitespace(bytes, pos);
            let in_object = objects & 1 == 1;
            match (bytes.get(pos), in_object) {
                (Some(b','), true) => {
                    pos = key(bytes, whitespace(bytes, pos + 1))?;
                    break;
                }
                (Some(b','), false) => {
                    pos = whitespace(bytes, pos + 1);
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    pos += 1;
                    depth -= 1;
                    objects >>= 1;
                }
                (Some(_), true) => return Err((pos, What::CommaOrBrace)),
                (Some(_), false) => return Err((pos, What::CommaOrBracket)),
                (None, _) => return Err((pos, What::End)),
            }
        }
    }
}

/// Scans `"key" :` and returns where the value starts.
fn key(bytes: &[u8], pos: usize) -> Scan {
    match bytes.get(pos) {
        Some(b'"') => {}
        Some(_) => return Err((pos, What::Key)),
        None => return Err((pos, What::End)),
    }
    colon(bytes, string(bytes, pos)?.0)
}

pub(super) fn colon(bytes: &[u8], pos: usize) -> Scan {
    let pos = whitespace(bytes, pos);
    match bytes.get(pos) {
        Some(b':') => Ok(whitespace(bytes, pos + 1)),
        Some(_) => Err((pos, What::Colon)),
        None => Err((pos, What::End)),
    }
}
