//! What a model accepts.
//!
//! How a request is translated depends on the model, not only on the protocol:
//! some models take a thinking budget and others refuse it, some take a
//! temperature and others don't. [`lookup`] finds what is published about a model
//! in the library's own table. An upstream and the operator know better, so their
//! facts go on top, and each fact remembers where it came from.
//!
//! A fact that isn't known is `None`. It changes nothing, and nobody guesses it.
//!
//! ```
//! use toolwire::facts::{self, Fact, ModelFacts, Origin};
//!
//! let table = facts::lookup("us.anthropic.claude-haiku-4-5-20251001-v1:0");
//! assert_eq!(table.max_output.map(|fact| fact.value), Some(64_000));
//!
//! let mut operator = ModelFacts::default();
//! operator.max_output = Some(Fact { value: 8_000, origin: Origin::Operator });
//! let facts = table.overlaid_with(operator);
//! assert_eq!(facts.max_output.map(|fact| fact.value), Some(8_000));
//!
//! assert_eq!(facts::lookup("a-model-of-my-own"), ModelFacts::default());
//! ```

mod name;
mod table;
mod values;

use std::fmt;

use crate::model::Protocol;

pub use values::{Accepts, Efforts, Media, Protocols, ThinkingControl, ThinkingOff};

/// What the library's table knows about a model. Prefixes of vendors and regions,
/// dates and tags in the name are understood: `anthropic/claude-opus-4.5`,
/// `us.anthropic.claude-opus-4-5-20251101-v1:0` and `claude-opus-4-5@latest` are
/// one model.
pub fn lookup(name: &str) -> ModelFacts {
    name::readings(name)
        .find_map(row_for)
        .map(|row| {
            let facts = RowFacts { protocols: Some(row.source.protocols), ..row.facts };
            facts.with_origin(Origin::Table(row.source.document))
        })
        .unwrap_or_default()
}

/// A fact, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<T> {
    /// What is known.
    pub value: T,
    /// Who says so.
    pub origin: Origin,
}

impl<T> Fact<T> {
    /// What an upstream says itself.
    pub(crate) fn by_upstream(value: T) -> Self {
        Self { value, origin: Origin::Upstream }
    }

    fn is_not_published(&self) -> bool {
        match self.origin {
            Origin::Table(_) => false,
            Origin::Upstream | Origin::Operator => true,
        }
    }
}

/// Where a fact came from. Each is believed over those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The library's table, from this published document.
    Table(&'static str),
    /// The upstream's own list of models.
    Upstream,
    /// The operator's configuration.
    Operator,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table(document) => document,
            Self::Upstream => "upstream",
            Self::Operator => "configuration",
        })
    }
}

/// One known fact, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The fact's name, as the field of [`ModelFacts`].
    pub name: &'static str,
    /// Its value in words.
    pub value: String,
    /// Who says so.
    pub origin: Origin,
}

/// Declares the facts once, for the type that callers see and for the rows of
/// the table.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// What is known about a model.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct ModelFacts {
            $($(#[$doc])* pub $name: Option<Fact<$type>>,)*
        }

        impl ModelFacts {
            /// These facts, with those of a source that knows better on top.
            #[must_use]
            pub fn overlaid_with(self, above: Self) -> Self {
                Self { $($name: above.$name.or(self.$name),)* }
            }

            /// The facts that count in a protocol. What is published about a vendor's
            /// own API says nothing about another one; whoever runs or configures an
            /// upstream speaks of that upstream.
            #[must_use]
            pub fn toward(self, protocol: Protocol) -> Self {
                if self.protocols.is_none_or(|known| known.value.contains(protocol)) {
                    return self;
                }
                Self { $($name: self.$name.filter(Fact::is_not_published),)* }
            }

            /// Every fact that is known, in the order of the fields.
            pub fn list(&self) -> Vec<Listed> {
                let facts = [$(
                    self.$name.map(|fact| Listed {
                        name: stringify!($name),
                        value: fact.value.to_string(),
                        origin: fact.origin,
                    }),
                )*];
                facts.into_iter().flatten().collect()
            }
        }

        /// The facts of one row.
        #[derive(Clone, Copy)]
        struct RowFacts {
            $($name: Option<$type>,)*
        }

        impl RowFacts {
            const NOTHING: Self = Self { $($name: None,)* };

            fn with_origin(self, origin: Origin) -> ModelFacts {
                ModelFacts { $($name: self.$name.map(|value| Fact { value, origin }),)* }
            }
        }
    };
}

facts! {
    /// The protocols of the API that the facts are about. Whoever offers the
    /// model in another one translates, so nothing is known there.
    protocols: Protocols,
    /// How many tokens the prompt and the answer may have together.
    context_window: u64,
    /// The longest answer in tokens, reasoning included.
    max_output: u64,
    /// How thinking is turned on.
    thinking: ThinkingControl,
    /// How thinking is turned off.
    thinking_off: ThinkingOff,
    /// The effort levels that may be sent.
    efforts: Efforts,
    /// Whether `temperature` may be sent.
    temperature: Accepts,
    /// Whether `top_p` may be sent.
    top_p: Accepts,
    /// Whether `top_k` may be sent.
    top_k: Accepts,
    /// Whether Chat's `stop` may be sent.
    stop: Accepts,
    /// Whether `temperature` and `top_p` may be sent together.
    temperature_with_top_p: bool,
    /// Whether the last turn may be a begun answer.
    prefill: Accepts,
    /// Whether system turns may be inside the conversation.
    system_turns: bool,
    /// Whether the choice of tools may force a call.
    forced_tools: Accepts,
    /// Whether Chat takes tools together with reasoning.
    chat_tools_with_reasoning: bool,
    /// Whether the model reads the ids of its earlier calls, which then have to go back as it
    /// made them.
    reads_call_ids: bool,
    /// What the model reads besides text.
    media: Media,
}

impl ModelFacts {
    /// Whether the model is known not to think at all.
    pub fn never_thinks(&self) -> bool {
        self.thinking.is_some_and(|fact| fact.value == ThinkingControl::None)
    }
}

/// Who says what is in a row.
#[derive(Clone, Copy)]
struct Source {
    /// The published documents.
    document: &'static str,
    /// The protocols in which the vendor itself offers the models.
    protocols: Protocols,
}

impl Source {
    /// What it says about models.
    const fn row(self, models: &'static [&'static str], facts: RowFacts) -> Row {
        Row { models, source: self, facts }
    }
}

/// A row of the table.
struct Row {
    /// Names of models in their vendor's spelling. A `*` stands for anything.
    models: &'static [&'static str],
    source: Source,
    facts: RowFacts,
}

/// The row with the most specific pattern that matches.
fn row_for(name: &str) -> Option<&'static Row> {
    let specificity =
        |row: &&Row| row.models.iter().filter_map(|pattern| name::specificity(pattern, name)).max();
    let rows = table::rows().filter_map(|row| Some((specificity(&row)?, row)));
    rows.max_by_key(|(specificity, _)| *specificity).map(|(_, row)| row)
}

#[cfg(test)]
mod tests;
