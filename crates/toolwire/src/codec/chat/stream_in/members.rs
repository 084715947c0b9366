//! Members of a chunk that are handed on once, though every chunk may have them.

use std::collections::HashSet;

use crate::codec::EventSink;
use crate::codec::chat::wire::string;
use crate::model::Event;
use crate::wire::{Extra, Raw, Str};

/// Hands members on, and remembers which.
#[derive(Debug, Default)]
pub(super) struct MemberReporter {
    keys: SeenKeys,
    tier: Option<String>,
}

impl MemberReporter {
    /// Hands the tier on if it is another than before.
    pub(super) fn tier(&mut self, tier: Option<Raw<'_>>, sink: &mut dyn EventSink) {
        let Some(raw) = tier else { return };
        let Some(tier) = string(&raw) else {
            return self.member("service_tier", Some(raw), sink);
        };
        if self.tier.as_deref().is_some_and(|reported| tier == *reported) {
            return;
        }
        self.tier = Some(tier.decode().into_owned());
        sink.event(Event::About { tier: Some(tier), extra: Vec::new() });
    }

    /// Hands a member on if it is the first of that name with a meaning.
    pub(super) fn member(
        &mut self,
        key: &'static str,
        value: Option<Raw<'_>>,
        sink: &mut dyn EventSink,
    ) {
        let is_new = |value: &Raw<'_>| is_meaningful(value) && !self.keys.contains(key);
        let Some(value) = value.filter(is_new) else { return };
        self.keys.insert(key.to_owned());
        let extra = vec![Extra { key: Str::plain(key), value }];
        sink.event(Event::About { tier: None, extra });
    }

    /// Hands on those members that are the first of their names with a meaning.
    pub(super) fn members(&mut self, mut extra: Vec<Extra<'_>>, sink: &mut dyn EventSink) {
        extra.retain(|field| {
            let key = field.key.decode();
            let is_new = is_meaningful(&field.value) && !self.keys.contains(key.as_ref());
            if is_new {
                self.keys.insert(key.into_owned());
            }
            is_new
        });
        if !extra.is_empty() {
            sink.event(Event::About { tier: None, extra });
        }
    }
}

/// The keys that were handed on. Nearly always they are so few that comparing them
/// is cheaper than hashing.
#[derive(Debug, Default)]
struct SeenKeys {
    few: Vec<String>,
    more: HashSet<String>,
}

impl SeenKeys {
    fn contains(&self, key: &str) -> bool {
        self.few.iter().any(|seen| seen == key) || self.more.contains(key)
    }

    fn insert(&mut self, key: String) {
        if self.few.len() < FEW_KEYS {
            self.few.push(key);
        } else {
            self.more.insert(key);
        }
    }
}

/// So many keys are compared one by one.
const FEW_KEYS: usize = 16;

/// Whether a value means anything.
pub(super) fn is_meaningful(raw: &Raw<'_>) -> bool {
    !matches!(raw.text(), "null" | "\"\"" | "{}" | "[]" | "false")
}
