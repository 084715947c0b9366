//! Tool names that every protocol accepts, and the way back.

use std::borrow::Cow;
use std::collections::BTreeMap;

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
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        !name.is_empty() && name.len() <= self.max && name.bytes().all(word)
    }

    /// A legal name that is a pure function of the full original name. It never
    /// cuts without a hash, so two long names cannot fall together.
    pub fn rename(self, full: &str) -> String {
        let mut name: String = full
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .take(self.max.saturating_sub(9))
            .collect();
        name.push('_');
        name.push_str(&hash::hex8(&[full.as_bytes()]));
        name
    }
}

/// The names of one request's tools as a target protocol sees them.
///
/// Built from the declared tools alone, so the same request gives the same
/// names on every turn.
#[derive(Debug, Default)]
pub struct Names {
    rule: Option<NameRule>,
    /// Full name (see [`full_name`]) to wire name, only where they differ.
    renamed: BTreeMap<String, String>,
}

impl Names {
    /// Names for tools given as (namespace, name) in the order of declaration.
    pub fn new<'n>(
        rule: NameRule,
        tools: impl Iterator<Item = (Option<Cow<'n, str>>, Cow<'n, str>)>,
    ) -> Self {
        let tools: Vec<_> = tools.collect();
        let plain = |(namespace, name): &(Option<Cow<'_, str>>, Cow<'_, str>)| {
            namespace.is_none() && rule.accepts(name)
        };
        if tools.iter().all(plain) {
            return Self { rule: Some(rule), renamed: BTreeMap::new() };
        }
        // Names that are fine as they are keep their spelling, whatever the
        // others would like to be called.
        let mut taken: BTreeMap<String, ()> = tools
            .iter()
            .filter(|tool| plain(tool))
            .map(|(_, name)| (name.to_string(), ()))
            .collect();
        let mut renamed = BTreeMap::new();
        for (namespace, name) in tools.iter().filter(|tool| !plain(tool)) {
            let full = full_name(namespace.as_deref(), name).into_owned();
            let mut wire = if rule.accepts(&full) { full.clone() } else { rule.rename(&full) };
            if renamed.contains_key(&full) {
                continue;
            }
            if taken.contains_key(&wire) {
                wire = rule.rename(&full);
            }
            taken.insert(wire.clone(), ());
            renamed.insert(full, wire);
        }
        Self { rule: Some(rule), renamed }
    }

    /// The name as the target sees it.
    ///
    /// A name that no tool declares (a call in the history to a tool that is
    /// gone) is renamed by the same rule.
    pub fn wire<'n>(&self, namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
        let Some(rule) = self.rule else { return Cow::Borrowed(name) };
        if namespace.is_none()
            && (self.renamed.is_empty() || !self.renamed.contains_key(name))
            && rule.accepts(name)
        {
            return Cow::Borrowed(name);
        }
        let full = full_name(namespace, name);
        match self.renamed.get(full.as_ref()) {
            Some(wire) => Cow::Owned(wire.clone()),
            None if rule.accepts(&full) => Cow::Owned(full.into_owned()),
            None => Cow::Owned(rule.rename(&full)),
        }
    }
}

/// A tool's name with its namespace in front.
pub fn full_name<'n>(namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
    match namespace {
        Some(namespace) => Cow::Owned(format!("{namespace}__{name}")),
        None => Cow::Borrowed(name),
    }
}
