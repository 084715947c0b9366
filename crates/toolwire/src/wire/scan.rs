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
/// are only copied: no UTF-8 text can hold them, so the next program that decodes
/// the text would have to change it.
pub(super) fn string(bytes: &[u8], pos: usize) -> Result<(usize, bool), (usize, What)> {
    let mut escaped = false;
    let mut rest = bytes.get(pos + 1..).unwrap_or_default();
    loop {
        rest = after_plain(rest);
        rest = match rest {
            [b'"', ..] => return Ok((bytes.len() - rest.len() + 1, escaped)),
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', tail @ ..] => tail,
            _ => after_rare(rest).map_err(|what| {
                let fault = if what == What::End { 0 } else { rest.len() };
                (bytes.len() - fault, what)
            })?,
        };
        escaped = true;
    }
}

/// Where a literal ends, behind its closing quote, if `pos` is in it. The literal is
/// known to be whole.
pub(crate) fn literal_end(bytes: &[u8], pos: usize) -> usize {
    let mut rest = bytes.get(pos..).unwrap_or_default();
    loop {
        rest = match after_plain(rest) {
            [b'\\', _, tail @ ..] => tail,
            end => return bytes.len() - end.len() + 1,
        };
    }
}

/// What is left behind an escape by number. Anything else here is an error.
#[cold]
fn after_rare(rest: &[u8]) -> Result<&[u8], What> {
    match rest {
        [b'\\', b'u', digits @ ..] => match unit(digits)? {
            (0xD800..=0xDBFF, [b'\\', b'u', digits @ ..]) => match unit(digits)? {
                (0xDC00..=0xDFFF, tail) => Ok(tail),
                (_, _) => Err(What::Surrogate),
            },
            (0xD800..=0xDBFF, [] | [b'\\']) => Err(What::End),
            (0xD800..=0xDFFF, _) => Err(What::Surrogate),
            (_, tail) => Ok(tail),
        },
        [b'\\', _, ..] => Err(What::Escape),
        [b'\\'] | [] => Err(What::End),
        [_, ..] => Err(What::Control),
    }
}

/// Four hexadecimal digits and what is left behind them.
fn unit(digits: &[u8]) -> Result<(u16, &[u8]), What> {
    let Some((digits, tail)) = digits.split_first_chunk::<4>() else { return Err(What::End) };
    let mut unit = 0;
    for &digit in digits {
        let value = char::from(digit).to_digit(16).ok_or(What::Escape)?;
        unit = unit << 4 | value as u16;
    }
    Ok((unit, tail))
}

/// What follows the bytes of a literal that need no escape.
///
/// Inlined, because every string of every document goes through it, most of
/// them short.
#[inline(always)]
pub(super) fn after_plain(mut rest: &[u8]) -> &[u8] {
    // Keys, enum values and the lines of source code are short: eight bytes at
    // a time finds their end.
    for _ in 0..8 {
        let Some((word, tail)) = rest.split_first_chunk::<8>() else { return after_few(rest) };
        let hit = special(u64::from_le_bytes(*word));
        if hit != 0 {
            return rest.get((hit.trailing_zeros() / 8) as usize..).unwrap_or_default();
        }
        rest = tail;
    }
    // Prose and base64 are long: the compiler turns this loop into a few
    // vector instructions for each block.
    while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
        if block.iter().fold(0, |found, &byte| found | u8::from(is_special(byte))) != 0 {
            break;
        }
        rest = tail;
    }
    after_few(rest)
}

fn after_few(mut rest: &[u8]) -> &[u8] {
    while let [byte, tail @ ..] = rest
        && !is_special(*byte)
    {
        rest = tail;
    }
    rest
}

fn is_special(byte: u8) -> bool {
    // Not `||`: without branches the compiler can look at many bytes at once.
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Two vector registers of the oldest processors that run this.
const BLOCK: usize = 32;

/// How many bytes there are before the next quote.
pub(super) fn quote(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    // Source code inside of a text has a quote every few dozen bytes, and then
    // a call of `memchr` costs more than it saves.
    for _ in 0..8 {
        let Some((word, tail)) = rest.split_first_chunk::<8>() else { break };
        let other = u64::from_le_bytes(*word) ^ (ONES * b'"' as u64);
        let hit = other.wrapping_sub(ONES) & !other & HIGH;
        if hit != 0 {
            return Some(bytes.len() - rest.len() + (hit.trailing_zeros() / 8) as usize);
        }
        rest = tail;
    }
    Some(bytes.len() - rest.len() + memchr::memchr(b'"', rest)?)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks each byte of `word` that is a quote, a backslash or a control
/// character by its high bit. Only the lowest mark is exact, which is all that
/// is used.
fn special(word: u64) -> u64 {
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * 0x20);
    // Each subtraction borrows into the high bit of a byte that matches; bytes
    // that are not ASCII have it set already and are masked out.
    (quote | backslash | control) & !word & HIGH
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
