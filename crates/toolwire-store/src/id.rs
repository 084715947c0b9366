//! Who owns something, and what it is called.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::model::Timestamp;
use crate::options::Clock;

/// Whose content it is. Nobody finds what belongs to another tenant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The tenant that a client's key stands for. The store keeps a digest of
    /// the key, so that nobody learns keys from it.
    pub fn of_key(key: &str) -> Self {
        let digest = Sha256::digest([b"toolwire tenant\0", key.as_bytes()].concat());
        Self(with_hex::<32>("key_", digest.get(..16).unwrap_or_default()).into())
    }

    /// The one tenant of a gateway without keys.
    pub fn single() -> Self {
        Self("everybody".into())
    }

    pub(crate) fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The name under which the tenant's content is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tenant({})", self.0)
    }
}

/// A new id: the prefix, the millisecond in which it was made and 144 random bits.
/// Nobody can guess one.
///
/// Ids that are made at about the same time are neighbours in an index, so that
/// those of a group of writes change its last page and not one page each.
pub fn random_id(prefix: &str) -> Result<String, StoreError> {
    let Timestamp(now) = Clock::System.now();
    // The last four bytes of the seconds go on until 2106.
    let [_, _, _, _, a, b, c, d] = now.div_euclid(1000).to_be_bytes();
    let [.., e, f] = now.rem_euclid(1000).to_be_bytes();
    let time = [a, b, c, d, e, f];
    let random = RANDOM.with_borrow_mut(RandomBytes::take).map_err(|error| {
        let reason = format!("the system has no random numbers: {error}");
        StoreError::Unavailable { reason, retry: true }
    })?;
    let mut bytes = [0; TIME_IN_ID + RANDOM_IN_ID];
    let (first, last) = bytes.split_at_mut(TIME_IN_ID);
    first.copy_from_slice(&time);
    last.copy_from_slice(&random);
    Ok(with_hex::<{ 2 * (TIME_IN_ID + RANDOM_IN_ID) }>(prefix, &bytes))
}

/// Whether an id is like those of [`random_id`], which nobody has had before.
pub(crate) fn is_random(id: &str) -> bool {
    let digits = id.len().checked_sub(2 * (TIME_IN_ID + RANDOM_IN_ID));
    let digits = digits.and_then(|prefix| id.as_bytes().get(prefix..));
    digits.is_some_and(|digits| digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}

thread_local! {
    static RANDOM: RefCell<RandomBytes> = const { RefCell::new(RandomBytes::NONE) };
}

/// Random bytes for the next ids. To ask the system for each id alone costs more than
/// everything else about an id.
struct RandomBytes {
    bytes: [u8; RANDOM_IN_ID * 64],
    /// Where those begin that nobody has got yet.
    next: usize,
}

impl RandomBytes {
    const NONE: Self = Self { bytes: [0; RANDOM_IN_ID * 64], next: usize::MAX };

    /// The random bytes of one id. They are not kept here, so nobody gets them twice.
    fn take(&mut self) -> Result<[u8; RANDOM_IN_ID], getrandom::Error> {
        let mut taken = [0; RANDOM_IN_ID];
        if self.bytes.get(self.next..).is_none_or(<[u8]>::is_empty) {
            getrandom::fill(&mut self.bytes)?;
            self.next = 0;
        }
        let unused = self.bytes.get_mut(self.next..).unwrap_or_default();
        if let Some(unused) = unused.first_chunk_mut() {
            taken = std::mem::replace(unused, taken);
        }
        self.next += RANDOM_IN_ID;
        Ok(taken)
    }
}

/// The id of an item that a client has sent without one, which tells where it is:
/// the store finds it without a list of such items.
pub fn item_id(response: &str, index: usize) -> String {
    let random = response.strip_prefix(RESPONSE_PREFIX).unwrap_or(response);
    // The longest index has twenty digits.
    let mut id = String::with_capacity(ITEM_PREFIX.len() + random.len() + 1 + 20);
    id.push_str(ITEM_PREFIX);
    id.push_str(random);
    id.push('_');
    match u8::try_from(index) {
        Ok(digit @ 0..=9) => id.push(char::from(b'0' + digit)),
        Ok(_) | Err(_) => id.push_str(&index.to_string()),
    }
    id
}

/// The response whose id is part of an item's, as in those of [`item_id`] and of
/// the items of an answer, which have other prefixes.
pub(crate) fn response_of_item(item: &str) -> Option<String> {
    told_by_item(item).map(|random| format!("{RESPONSE_PREFIX}{random}"))
}

/// Whether an item's id tells that it belongs to a response.
pub(crate) fn tells_response(item: &str, response: &str) -> bool {
    let random = response.strip_prefix(RESPONSE_PREFIX);
    random.is_some() && told_by_item(item) == random
}

/// The part of a response's id that is part of an item's.
fn told_by_item(item: &str) -> Option<&str> {
    let (_prefix, told) = item.split_once('_')?;
    let (random, index) = told.rsplit_once('_')?;
    let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some(random)
}

/// Whether something may have this id: it is neither empty nor longer than 1,024 bytes and
/// has no null characters.
pub fn is_possible_id(id: &str) -> bool {
    !id.is_empty() && is_possible_text(id)
}

/// Whether every engine can keep a text. Postgres takes no null characters, and
/// no more than a third of a page for an entry of an index.
pub(crate) fn is_possible_text(text: &str) -> bool {
    text.len() <= LONGEST_TEXT && !text.contains('\0')
}

/// How many bytes of an id are the time.
const TIME_IN_ID: usize = 6;

/// How many random bytes an id has.
const RANDOM_IN_ID: usize = 18;

const RESPONSE_PREFIX: &str = "resp_";
const ITEM_PREFIX: &str = "item_";

const LONGEST_TEXT: usize = 1024;

/// A text and these bytes in hexadecimal digits, `DIGITS` of them.
fn with_hex<const DIGITS: usize>(prefix: &str, bytes: &[u8]) -> String {
    // They are one text before they are added, because a text that grows by a character is
    // checked at each of them.
    let mut digits = [b'0'; DIGITS];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[hex_digit(byte >> 4), hex_digit(byte & 15)]);
    }
    let mut text = String::with_capacity(prefix.len() + DIGITS);
    text.push_str(prefix);
    text.push_str(str::from_utf8(&digits).unwrap_or_default());
    text
}

fn hex_digit(digit: u8) -> u8 {
    b"0123456789abcdef".get(usize::from(digit)).copied().unwrap_or(b'0')
}

#[cfg(test)]
mod tests;
