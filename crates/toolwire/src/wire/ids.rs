//! Call ids that every protocol accepts, the same on every turn.
//!
//! An id that fits the target's rule is never touched. One that does not is
//! replaced by a pure function of itself, so the call, its result and every
//! later turn agree without any state.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::hash;
use super::names::is_word;

/// What a protocol accepts as a call id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRule {
    /// The longest id.
    pub max: usize,
    /// Whether only letters, digits, `_` and `-` are allowed.
    pub word: bool,
    /// Whether an id must not come twice in one conversation.
    pub unique: bool,
    /// Whether an id must be as long as the longest, of letters and digits.
    pub exact: bool,
}

impl IdRule {
    /// OpenAI has refused Chat call ids over forty characters.
    pub const CHAT: Self = Self { max: 40, word: true, unique: false, exact: false };
    /// Other servers that speak Chat take what any of them makes up, and models of Kimi
    /// read the ids of their calls: `functions.NAME:0`. One that is replaced keeps them
    /// from calling again.
    pub const CHAT_COMPATIBLE: Self = Self { max: 64, word: false, unique: false, exact: false };
    /// The published schema of Responses says 1 to 64 characters.
    pub const RESPONSES: Self = Self { max: 64, word: false, unique: true, exact: false };
    /// Messages answers 400 to any other character or to a repeated id.
    pub const MESSAGES: Self = Self { max: 64, word: true, unique: true, exact: false };
    /// Mistral answers 400: "must be a-z, A-Z, 0-9, with a length of 9".
    pub const MISTRAL: Self = Self { max: 9, word: true, unique: true, exact: true };

    /// Whether the id may be sent as it is.
    pub fn accepts(self, id: &str) -> bool {
        if self.exact {
            return id.len() == self.max && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        }
        !id.is_empty() && id.len() <= self.max && (!self.word || id.bytes().all(is_word))
    }

    /// The id as the target gets it. `occurrence` counts earlier calls with the
    /// same id in the conversation.
    pub fn render<'i>(self, id: &'i str, occurrence: usize) -> Cow<'i, str> {
        if occurrence > 0 && self.unique {
            let salt = (occurrence as u64).to_be_bytes();
            return Cow::Owned(
                self.cut(format!("call_{}", hash::base62(&[id.as_bytes(), &salt], 24))),
            );
        }
        if self.accepts(id) {
            return Cow::Borrowed(id);
        }
        let reversible = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(id));
        if !id.is_empty() && !self.exact && reversible.len() <= self.max {
            return Cow::Owned(reversible);
        }
        Cow::Owned(self.cut(format!("call_{}", hash::base62(&[id.as_bytes()], 24))))
    }

    /// The id that [`IdRule::render`] has made this one of, if it has. An id of
    /// somebody else's that merely looks like it stands for one that the rule
    /// accepts, or for none at all.
    pub fn original(self, id: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(id.strip_prefix(PREFIX)?).ok()?;
        let original = String::from_utf8(bytes).ok()?;
        (self.render(&original, 0) == id && original != id).then_some(original)
    }

    fn cut(self, mut id: String) -> String {
        // Only vendors with very short ids (nine characters) come below 29.
        if id.len() > self.max {
            id = id.replace('_', "");
            id = id.split_off(id.len().saturating_sub(self.max));
        }
        id
    }
}

/// An id for a call whose maker gave none.
pub fn mint(scope: &str, ordinal: usize) -> String {
    format!("call_{}", hash::base62(&[scope.as_bytes(), &(ordinal as u64).to_be_bytes()], 24))
}

/// The item id of reasoning whose vendor gave none. Its last characters follow from the
/// others, so that it is told from everybody else's ids.
pub fn reasoning(parts: &[&[u8]]) -> String {
    let random = hash::base62(parts, REASONING_RANDOM);
    let check = reasoning_check(&random);
    format!("{REASONING}{random}{check}")
}

/// Whether reasoning has an id that toolwire gave it: one of [`reasoning`], or one that
/// repeats the id of an answer that is kept (`rs_RANDOM_INDEX`).
pub fn is_own_reasoning(id: &str) -> bool {
    let Some(own) = id.strip_prefix(REASONING) else { return false };
    match own.split_once('_') {
        Some((random, index)) => {
            KEPT_RANDOM.contains(&random.len())
                && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && !index.is_empty()
                && index.bytes().all(|byte| byte.is_ascii_digit())
        }
        None => own
            .split_at_checked(REASONING_RANDOM)
            .is_some_and(|(random, check)| check == reasoning_check(random)),
    }
}

/// Whether the inside of a string may be such an id. It costs next to nothing, and
/// OpenAI's own ids, which are longer and have one `_`, are not taken for one.
pub(crate) fn may_be_own_reasoning(text: &[u8]) -> bool {
    text.strip_prefix(REASONING.as_bytes()).is_some_and(|own| {
        own.len() == REASONING_RANDOM + REASONING_CHECK || memchr::memchr(b'_', own).is_some()
    })
}

/// Whether a document may hold such an id.
pub(crate) fn may_hold_own_reasoning(document: &[u8]) -> bool {
    memchr::memmem::find(document, b"\"rs_").is_some()
}

fn reasoning_check(random: &str) -> String {
    hash::base62(&[b"toolwire reasoning", random.as_bytes()], REASONING_CHECK)
}

const PREFIX: &str = "tw_";

const REASONING: &str = "rs_";
const REASONING_RANDOM: usize = 18;
const REASONING_CHECK: usize = 6;

/// How long the part of an answer's id is that the ids of its items repeat.
const KEPT_RANDOM: std::ops::RangeInclusive<usize> = 25..=48;
