//! What a model thought, and how its vendor sealed it.

use crate::wire::{Extra, Pos, Str};

/// The model reasons.
#[derive(Clone, Debug)]
pub struct Reasoning<'a> {
    /// Where it stood.
    pub at: Pos,
    /// What the vendor shows of it: Messages' `thinking` (one text),
    /// Responses' `summary` (any number).
    pub summary: Vec<Str<'a>>,
    /// The reasoning itself, unsigned: Responses' `reasoning_text`, the
    /// `reasoning_content` of Chat vendors.
    pub content: Vec<Str<'a>>,
    /// What only the vendor can read, and checks when it comes back.
    pub sealed: Option<Sealed<'a>>,
    /// How many items of its turn stood before it, if it came through a
    /// protocol that has no place for it among them.
    pub place: Option<u64>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl Reasoning<'_> {
    /// Reasoning of which nothing is known.
    pub fn new(at: Pos) -> Self {
        let (summary, content) = (Vec::new(), Vec::new());
        Self { at, summary, content, sealed: None, place: None, extra: Vec::new() }
    }
}

/// Reasoning that only its issuer can read.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed<'a> {
    /// Who can read it.
    pub issuer: Issuer,
    /// The item id it is bound to (Responses).
    pub item_id: Option<Str<'a>>,
    /// Messages' `signature` or `data`, Responses' `encrypted_content`.
    pub blob: Option<Str<'a>>,
    /// The issuer withheld the text (Messages' `redacted_thinking`).
    pub redacted: bool,
}

impl<'a> Sealed<'a> {
    /// A blob that shows its text beside it and is the seal of no item.
    pub(crate) fn new(issuer: Issuer, blob: Option<Str<'a>>) -> Self {
        Self { issuer, item_id: None, blob, redacted: false }
    }
}

/// Who sealed a piece of reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// A model behind Messages.
    Anthropic,
    /// A model behind Responses.
    OpenAi,
    /// Somebody else, by name.
    Vendor(String),
}

impl Issuer {
    /// The issuer's name inside an envelope.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Vendor(name) => name,
        }
    }

    /// The issuer with that name.
    pub fn parse(name: &str) -> Self {
        match name {
            "anthropic" => Self::Anthropic,
            "openai" => Self::OpenAi,
            vendor => Self::Vendor(vendor.to_owned()),
        }
    }
}
