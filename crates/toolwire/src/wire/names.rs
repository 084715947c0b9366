//! Tool names that every protocol accepts, and the way back.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::hash;

/// What a protocol accepts as a tool name: letters, digits, `_` and `-`, up to
/// this many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// The longest name.
    pub max: usize,
}

impl NameRule {
    /// Chat refuses names over 64 characters.
    pub const CHAT: Self = Self { max: 64 };
    /// The published schema of Responses allows 128.
    pub const RESPONSES: Self = Self { max: 128 };
    /// Messages enforces 128, whatever its guide says.
    pub const MESSAGES: Self = Self { max: 128 };

    /// Whether the name may be sent as it is.
    pub fn accepts(self, name: &str) -> bool {
        !name.is_empty() && name.len() <= self.max && name.bytes().all(is_word)
    }

    /// A legal name that is a pure function of the full original name. It never
    /// cuts without a hash, so two long names cannot fall together.
    pub fn rename(self, full: &str) -> String {
        self.rename_by(full, &[full.as_bytes()])
    }

    /// The readable part of the name, and a hash of `parts`.
    fn rename_by(self, full: &str, parts: &[&[u8]]) -> String {
        let mut name: String = full
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .take(self.max.saturating_sub(9))
            .collect();
        name.push('_');
        name.push_str(&hash::hex8(parts));
        // Below ten characters there is room for a part of the hash only.
        name.split_off(name.len().saturating_sub(self.max))
    }
}

/// The names of one request's tools as a target protocol sees them.
///
/// Built from the declared tools alone, so the same request gives the same
/// names on every turn.
#[derive(Debug, Default)]
pub struct Names {
    rule: Option<NameRule>,
    /// Namespace and name to wire name, for tools that cannot keep their name. Two tools may have the same full name: `b__c` in
    /// `a`, and `c` in `a__b`.
    renamed: BTreeMap<Option<String>, BTreeMap<String, String>>,
}

impl Names {
    /// Names for tools given as (namespace, name) in the order of declaration.
    pub fn new<'n>(
        rule: NameRule,
        tools: impl Iterator<Item = (Option<Cow<'n, str>>, Cow<'n, str>)> + Clone,
    ) -> Self {
        let mut this = Self::kept(rule);
        let plain = |(namespace, name): &(Option<Cow<'_, str>>, Cow<'_, str>)| {
            namespace.is_none() && rule.accepts(name)
        };
        if tools.clone().all(|tool| plain(&tool)) {
            return this;
        }
        let tools: Vec<_> = tools.collect();
        // Names that are fine as they are keep their spelling, whatever the
        // others would like to be called.
        let mut taken: BTreeSet<String> =
            tools.iter().filter(|tool| plain(tool)).map(|(_, name)| name.to_string()).collect();
        for (namespace, name) in tools.iter().filter(|tool| !plain(tool)) {
            if this.find(namespace.as_deref(), name).is_some() {
                continue;
            }
            let full = full_name(namespace.as_deref(), name);
            let mut wire = if rule.accepts(&full) { full.to_string() } else { rule.rename(&full) };
            // A rule too short for a hash runs out of names at some point.
            let mut salt = 0u64;
            while !taken.insert(wire.clone()) && salt < 64 {
                wire = match salt {
                    0 => rule.rename(&full),
                    salt => {
                        let space = namespace.as_deref().unwrap_or_default();
                        let parts = [space.as_bytes(), name.as_bytes(), &salt.to_be_bytes()];
                        rule.rename_by(&full, &parts)
                    }
                };
                salt += 1;
            }
            let space = namespace.as_deref().map(str::to_owned);
            this.renamed.entry(space).or_default().insert(name.to_string(), wire);
        }
        this
    }

    /// Names for tools that all keep theirs.
    pub(crate) fn kept(rule: NameRule) -> Self {
        Self { rule: Some(rule), renamed: BTreeMap::new() }
    }

    /// Whether every declared tool keeps its name.
    pub(crate) fn are_kept(&self) -> bool {
        self.renamed.is_empty()
    }

    /// The name of one of the declared tools as the target sees it.
    pub fn declared<'n>(&self, namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
        // If none was renamed, each of them was accepted.
        if namespace.is_none() && self.renamed.is_empty() {
            return Cow::Borrowed(name);
        }
        self.wire(namespace, name)
    }

    /// The name as the target sees it.
    ///
    /// A name that no tool declares (a call in the history to a tool that is
    /// gone) is renamed by the same rule.
    pub fn wire<'n>(&self, namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
        let Some(rule) = self.rule else { return Cow::Borrowed(name) };
        if let Some(wire) = self.find(namespace, name) {
            return Cow::Owned(wire.to_owned());
        }
        let full = full_name(namespace, name);
        if rule.accepts(&full) { full } else { Cow::Owned(rule.rename(&full)) }
    }

    fn find(&self, namespace: Option<&str>, name: &str) -> Option<&str> {
        if self.renamed.is_empty() {
            return None;
        }
        let space = self.renamed.get(&namespace.map(str::to_owned))?;
        space.get(name).map(String::as_str)
    }
}

/// A tool's name with its namespace in front.
pub fn full_name<'n>(namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
    match namespace {
        Some(namespace) => Cow::Owned(format!("{namespace}__{name}")),
        None => Cow::Borrowed(name),
    }
}

/// Whether a byte is a letter, a digit, `_` or `-`.
pub(super) fn is_word(byte: u8) -> bool {
    WORDS.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Which bytes may be in a name.
#[expect(clippy::indexing_slicing, reason = "a byte is less than 256")]
const WORDS: [bool; 256] = {
    let mut words = [false; 256];
    let mut rest = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".as_slice();
    while let [byte, tail @ ..] = rest {
        words[*byte as usize] = true;
        rest = tail;
    }
    words
};
