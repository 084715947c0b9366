//! The values that facts have.

use std::fmt;

use crate::model::{Effort, Protocol};

/// When a model accepts something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// It refuses it.
    Never,
    /// It accepts it as long as it doesn't think.
    WithoutThinking,
    /// It accepts it.
    Always,
}

impl Accepts {
    /// Whether it may be sent in a request that makes the model think, or not.
    pub fn while_thinking(self, thinking: bool) -> bool {
        match self {
            Self::Never => false,
            Self::WithoutThinking => !thinking,
            Self::Always => true,
        }
    }
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "no",
            Self::WithoutThinking => "without thinking",
            Self::Always => "yes",
        })
    }
}

/// How thinking is turned on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingControl {
    /// The model doesn't think.
    None,
    /// It always thinks, and nothing changes how much.
    Always,
    /// By a switch of the vendor's own.
    Switch,
    /// By an effort level alone.
    Effort,
    /// By a number of tokens: Messages' `enabled` with a budget.
    Budget,
    /// By Messages' `adaptive`, with an effort.
    Adaptive,
}

impl fmt::Display for ThinkingControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Always => "always",
            Self::Switch => "switch",
            Self::Effort => "effort",
            Self::Budget => "budget",
            Self::Adaptive => "adaptive",
        })
    }
}

/// How thinking is turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingOff {
    /// It can't be.
    Never,
    /// By saying so: Messages' `disabled`, the effort `none`, or the vendor's own
    /// switch.
    Disabled,
    /// By Messages' `between_tools`, which leaves short notes between calls.
    BetweenTools,
}

impl fmt::Display for ThinkingOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "never",
            Self::Disabled => "disabled",
            Self::BetweenTools => "between_tools",
        })
    }
}

/// The protocols of a vendor's API, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocols(pub(super) &'static [&'static str]);

impl Protocols {
    /// Whether the API speaks a protocol.
    pub fn contains(self, protocol: Protocol) -> bool {
        self.0.contains(&protocol.as_str())
    }
}

impl fmt::Display for Protocols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

/// A set of effort levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Efforts(u8);

impl Efforts {
    /// No level: an effort may not be sent.
    pub const EMPTY: Self = Self(0);
    /// `none`: no reasoning.
    pub const NONE: Self = Self(1);
    /// `minimal`.
    pub const MINIMAL: Self = Self(2);
    /// `low`.
    pub const LOW: Self = Self(4);
    /// `medium`.
    pub const MEDIUM: Self = Self(8);
    /// `high`.
    pub const HIGH: Self = Self(16);
    /// `xhigh`.
    pub const XHIGH: Self = Self(32);
    /// `max`.
    pub const MAX: Self = Self(64);

    const NAMES: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The levels with these names. Names that nobody knows are skipped.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let bit = |name| Self::NAMES.iter().position(|known| *known == name);
        Self(names.into_iter().filter_map(bit).fold(0, |set, bit| set | 1 << bit))
    }

    /// Whether the set has this level.
    #[doc(hidden)]
    pub fn contains(self, effort: &Effort<'_>) -> bool {
        let name = effort.name();
        let name = name.decode();
        self.names().any(|known| known == name)
    }

    /// The level of the set that is nearest: the next lower one, or else the
    /// lowest that makes the model reason. `None` if there is none.
    pub(crate) fn nearest(self, effort: &Effort<'_>) -> Option<&'static str> {
        let name = effort.name();
        let wanted = Self::NAMES.iter().position(|known| *known == name.decode())?;
        let has = |bit: &usize| self.0 & (1 << bit) != 0;
        let lower = (1..=wanted).rev().find(has);
        let found = lower.or_else(|| (wanted + 1..Self::NAMES.len()).find(has))?;
        Self::NAMES.get(found).copied()
    }

    /// The levels from the lowest to the highest.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        names(self.0, &Self::NAMES)
    }
}

impl fmt::Display for Efforts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.names(), "not accepted")
    }
}

/// What a model reads besides text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Media(u8);

impl Media {
    /// Only text.
    pub const TEXT: Self = Self(0);
    /// Images.
    pub const IMAGE: Self = Self(1);
    /// Documents such as PDF.
    pub const DOCUMENT: Self = Self(2);
    /// Audio.
    pub const AUDIO: Self = Self(4);
    /// Video.
    pub const VIDEO: Self = Self(8);

    const NAMES: [&str; 4] = ["image", "document", "audio", "video"];

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is read.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is read besides text.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        names(self.0, &Self::NAMES)
    }
}

impl fmt::Display for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.names(), "text only")
    }
}

fn names(set: u8, names: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    names.iter().enumerate().filter(move |(bit, _)| set & (1 << bit) != 0).map(|(_, name)| *name)
}

fn write_list(
    f: &mut fmt::Formatter<'_>,
    names: impl Iterator<Item = &'static str>,
    empty: &str,
) -> fmt::Result {
    let mut first = true;
    for name in names {
        f.write_str(if first { "" } else { ", " })?;
        f.write_str(name)?;
        first = false;
    }
    if first { f.write_str(empty) } else { Ok(()) }
}
