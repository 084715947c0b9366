//! Byte-level scanning of JSON: whitespace, string literals, numbers and whole
//! values. Every function takes the input and a position and returns the
//! position after what it recognised, so that a byte is looked at once.

use wide::u8x16;

use super::What;
use super::blocks::{self, Escapes};

/// How many containers may be open at once. The number is serde_json's, and
/// far above what any published request nests.
pub(super) const MAX_DEPTH: u32 = 127;

/// The position behind what was recognised. An error is boxed, because a result of
/// two words is passed in registers, and this one is passed for every value.
pub(super) type Scan<T = usize> = Result<T, Box<Fault>>;

/// Where a document is not JSON, and why.
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) what: What,
}

#[cold]
fn fault<T>(at: usize, what: What) -> Scan<T> {
    Err(Box::new(Fault { at, what }))
}

/// The end of a string literal, and whether it holds a backslash, in one word.
#[derive(Clone, Copy)]
pub(super) struct LiteralEnd(usize);

impl LiteralEnd {
    pub(super) fn new(behind: usize, is_escaped: bool) -> Self {
        Self(behind << 1 | usize::from(is_escaped))
    }

    pub(super) fn word(self) -> usize {
        self.0
    }

    pub(super) fn from_word(word: usize) -> Self {
        Self(word)
    }

    /// The position behind the closing quote.
    pub(super) fn behind(self) -> usize {
        self.0 >> 1
    }

    pub(super) fn is_escaped(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The position of the next byte that is not whitespace. Between most tokens there
/// is none, or one space.
#[inline(always)]
pub(super) fn whitespace(bytes: &[u8], pos: usize) -> usize {
    match bytes.get(pos) {
        Some(byte) if *byte > b' ' => pos,
        Some(b' ') if bytes.get(pos + 1).is_some_and(|byte| *byte > b' ') => pos + 1,
        Some(_) | None => long_whitespace(bytes, pos),
    }
}

fn long_whitespace(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(pos) {
        pos += 1;
    }
    pos
}

/// Scans a string literal whose opening quote is at `pos`.
///
/// Escapes that stand for half a character are refused, also in values that
/// are only copied: no UTF-8 text can hold them, so the next program that decodes
/// the text would have to change it.
///
/// Inlined, because every string of every document goes through it, most of
/// them short.
#[inline(always)]
pub(super) fn string(bytes: &[u8], pos: usize) -> Scan<LiteralEnd> {
    let inside = bytes.get(pos + 1..).unwrap_or_default();
    let Some(block) = inside.first_chunk::<BLOCK>() else { return long_string(bytes, inside) };
    let at = special(*block).to_bitmask().trailing_zeros() as usize;
    if block.get(at) == Some(&b'"') {
        return Ok(LiteralEnd::new(pos + at + 2, false));
    }
    long_string(bytes, inside.get(at.min(BLOCK)..).unwrap_or_default())
}

/// Scans the rest of a string literal that is long, or has escapes, or ends with the
/// document. There is no escape before the rest.
fn long_string(bytes: &[u8], inside: &[u8]) -> Scan<LiteralEnd> {
    // Most events of a stream end with short strings, behind which there is no
    // whole block.
    if inside.len() < BLOCK
        && let Some(block) = bytes.last_chunk::<BLOCK>()
    {
        let hits = special(*block).to_bitmask() >> (BLOCK - inside.len());
        let at = hits.trailing_zeros() as usize;
        if inside.get(at) == Some(&b'"') {
            return Ok(LiteralEnd::new(bytes.len() - inside.len() + at + 1, false));
        }
    }
    let rest = after_plain(inside);
    match rest {
        [b'"', ..] => Ok(LiteralEnd::new(bytes.len() - rest.len() + 1, false)),
        _ => escaped_string(bytes, bytes.len() - rest.len()),
    }
}

/// Scans the rest of a string literal from its first escape on. Source code has an
/// escape every few bytes, so each block is compared once, whatever it holds.
fn escaped_string(bytes: &[u8], mut at: usize) -> Scan<LiteralEnd> {
    let mut escapes = Escapes::default();
    // How far escapes are known to be right. One character may take two.
    let mut checked = at;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let [quotes, backslashes] =
            blocks::masks(block, |bytes| [blocks::equal(bytes, b'"'), blocks::equal(bytes, b'\\')]);
        let controls = if blocks::has_at_most(block, 0x1f) { controls(block) } else { 0 };
        let escaped = escapes.next(backslashes);
        let ends = quotes & !escaped;
        // Nothing behind the end is part of the literal.
        let mut doubtful =
            (controls | escaped & !(quotes | backslashes)) & !ends & ends.wrapping_sub(1);
        while doubtful != 0 {
            let place = doubtful.trailing_zeros() as usize;
            doubtful &= doubtful - 1;
            if let Some(b'n' | b'r' | b't') = block.get(place) {
                continue;
            }
            if at + place >= checked {
                let is_escaped = escaped >> place & 1 == 1;
                checked = behind_rare(bytes, at + place - usize::from(is_escaped))?;
            }
        }
        if ends != 0 {
            return Ok(LiteralEnd::new(at + ends.trailing_zeros() as usize + 1, true));
        }
        at += blocks::BLOCK;
    }
    // The rest begins with the backslash whose byte is still to come.
    at -= usize::from(escapes.is_pending());
    at = at.max(checked);
    let mut rest = bytes.get(at..).unwrap_or_default();
    loop {
        rest = match after_few(rest) {
            [b'"', tail @ ..] => return Ok(LiteralEnd::new(bytes.len() - tail.len(), true)),
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', tail @ ..] => tail,
            rare => {
                let end = behind_rare(bytes, bytes.len() - rare.len())?;
                bytes.get(end..).unwrap_or_default()
            }
        };
    }
}

/// The control characters of a block. Hardly any literal has one behind it in the
/// same block, and none in it that is JSON.
#[cold]
fn controls(block: &[u8; blocks::BLOCK]) -> u64 {
    let [controls] = blocks::masks(block, |bytes| [blocks::at_most(bytes, 0x1f)]);
    controls
}

/// The position behind an escape that is rare. Anything else here is an error.
#[cold]
fn behind_rare(bytes: &[u8], at: usize) -> Scan {
    match after_rare(bytes.get(at..).unwrap_or_default()) {
        Ok(tail) => Ok(bytes.len() - tail.len()),
        Err(What::End) => fault(bytes.len(), What::End),
        Err(what) => fault(at, what),
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

/// What is left behind an escape that is rare, most of all one by number.
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
        [b'\\', b'/' | b'b' | b'f', tail @ ..] => Ok(tail),
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
#[inline(always)]
pub(super) fn after_plain(mut rest: &[u8]) -> &[u8] {
    // Keys, enum values and the lines of source code are short, so the first
    // blocks are looked at one by one.
    for _ in 0..4 {
        let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() else { return after_few(rest) };
        let hits = special(*block).to_bitmask();
        if hits != 0 {
            return rest.get(hits.trailing_zeros() as usize..).unwrap_or_default();
        }
        rest = tail;
    }
    after_many(rest)
}

/// The same for what is long: prose and base64.
fn after_many(mut rest: &[u8]) -> &[u8] {
    while let Some((blocks, tail)) = rest.split_first_chunk::<{ 4 * BLOCK }>() {
        let (blocks, _) = blocks.as_chunks::<BLOCK>();
        if blocks.iter().fold(u8x16::ZERO, |found, block| found | special(*block)).any() {
            break;
        }
        rest = tail;
    }
    while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
        let hits = special(*block).to_bitmask();
        if hits != 0 {
            return rest.get(hits.trailing_zeros() as usize..).unwrap_or_default();
        }
        rest = tail;
    }
    after_few(rest)
}

/// The same for the last bytes of a document, and for short words.
fn after_few(mut rest: &[u8]) -> &[u8] {
    // Two halves that overlap make up anything of eight to sixteen bytes.
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk())
        && rest.len() <= 16
        && is_plain(*first)
        && is_plain(*last)
    {
        return &[];
    }
    while let [byte, tail @ ..] = rest
        && *byte != b'"'
        && *byte != b'\\'
        && *byte >= b' '
    {
        rest = tail;
    }
    rest
}

/// Whether none of the bytes is a quote, a backslash or a control character.
fn is_plain(bytes: [u8; 8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let word = u64::from_ne_bytes(bytes);
    // Borrows from lower bytes can only add zeros that are not there where there is
    // one already.
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7) != 0;
    let (quotes, backslashes) = (ONES * u64::from(b'"'), ONES * u64::from(b'\\'));
    !(has_zero(word ^ quotes) || has_zero(word ^ backslashes) || has_zero(word & (ONES * 0xe0)))
}

/// A vector register of the oldest processors that run this.
pub(crate) const BLOCK: usize = 16;

/// Marks each byte that is a quote, a backslash or a control character.
pub(crate) fn special(block: [u8; BLOCK]) -> u8x16 {
    let bytes = u8x16::new(block);
    let is_control = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
    bytes.simd_eq(u8x16::splat(b'"')) | bytes.simd_eq(u8x16::splat(b'\\')) | is_control
}

/// How many bytes there are before the next quote.
pub(super) fn quote(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    // Source code inside of a text has a quote every few dozen bytes, and then
    // a call of `memchr` costs more than it saves.
    for _ in 0..4 {
        let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() else { break };
        let hits = u8x16::new(*block).simd_eq(u8x16::splat(b'"')).to_bitmask();
        if hits != 0 {
            return Some(bytes.len() - rest.len() + hits.trailing_zeros() as usize);
        }
        rest = tail;
    }
    Some(bytes.len() - rest.len() + memchr::memchr(b'"', rest)?)
}

fn digits(bytes: &[u8], mut pos: usize) -> Scan {
    let start = pos;
    while bytes.get(pos).is_some_and(u8::is_ascii_digit) {
        pos += 1;
    }
    match (pos > start, pos == bytes.len()) {
        (true, _) => Ok(pos),
        (false, true) => fault(pos, What::End),
        (false, false) => fault(pos, What::Number),
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
        fault(bytes.len(), What::End)
    } else {
        fault(pos, What::Value)
    }
}

/// What is told about the values inside of a value that is passed over.
pub(super) trait Visit {
    /// A string of the document that is not a key.
    fn string(&mut self, document: &[u8], start: usize, end: LiteralEnd);
    /// A container that is not empty begins.
    fn open(&mut self, start: usize);
    /// The innermost container ends before that position.
    fn close(&mut self, end: usize);
}

impl Visit for () {
    fn string(&mut self, _document: &[u8], _start: usize, _end: LiteralEnd) {}
    fn open(&mut self, _start: usize) {}
    fn close(&mut self, _end: usize) {}
}

/// Scans one whole value that starts at `pos` (no whitespace before it).
///
/// Iterative on purpose: hostile nesting costs a bit each, not a stack frame.
pub(super) fn value(bytes: &[u8], mut pos: usize, outer: u32, visit: &mut impl Visit) -> Scan {
    let mut objects = 0u128;
    let mut depth = 0u32;
    loop {
        pos = match bytes.get(pos) {
            Some(b'"') => {
                let end = string(bytes, pos)?;
                visit.string(bytes, pos, end);
                end.behind()
            }
            Some(open @ (b'{' | b'[')) => {
                if outer + depth >= MAX_DEPTH {
                    return fault(pos, What::Depth);
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
                        visit.open(pos);
                        pos = key(bytes, inside)?;
                        continue;
                    }
                    (_, _) => {
                        visit.open(pos);
                        pos = inside;
                        continue;
                    }
                }
            }
            Some(b't') => literal(bytes, pos, "true")?,
            Some(b'f') => literal(bytes, pos, "false")?,
            Some(b'n') => literal(bytes, pos, "null")?,
            Some(b'-' | b'0'..=b'9') => number(bytes, pos)?,
            Some(_) => return fault(pos, What::Value),
            None => return fault(pos, What::End),
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
                    visit.close(pos);
                }
                (Some(_), true) => return fault(pos, What::CommaOrBrace),
                (Some(_), false) => return fault(pos, What::CommaOrBracket),
                (None, _) => return fault(pos, What::End),
            }
        }
    }
}

/// Scans `"key" :` and returns where the value starts.
#[inline]
fn key(bytes: &[u8], pos: usize) -> Scan {
    match bytes.get(pos) {
        Some(b'"') => {}
        Some(_) => return fault(pos, What::Key),
        None => return fault(pos, What::End),
    }
    colon(bytes, string(bytes, pos)?.behind())
}

#[inline(always)]
pub(super) fn colon(bytes: &[u8], pos: usize) -> Scan {
    let pos = whitespace(bytes, pos);
    match bytes.get(pos) {
        Some(b':') => Ok(whitespace(bytes, pos + 1)),
        Some(_) => fault(pos, What::Colon),
        None => fault(pos, What::End),
    }
}
