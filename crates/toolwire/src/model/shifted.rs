//! Tools that were read from one document, as if they had been read from another.
//!
//! Every field is named, so that one that is added is carried here too.

use super::{Cache, Grammar, Hosted, Native, Tool, ToolKind};
use crate::wire::{At, Extra, Pos, Raw, Str};

/// Something that knows where it stood, and may stand elsewhere again.
pub(crate) trait Shift {
    /// The same, borrowing what is kept.
    type Shifted<'s>
    where
        Self: 's;

    /// The same in a document in which it stands `by` bytes later.
    fn shifted(&self, by: usize) -> Self::Shifted<'_>;
}

impl Shift for Pos {
    type Shifted<'s> = Self;
    fn shifted(&self, by: usize) -> Self {
        self.advance(by)
    }
}

impl Shift for At<bool> {
    type Shifted<'s> = Self;
    fn shifted(&self, by: usize) -> Self {
        Self { pos: self.pos.advance(by), value: self.value }
    }
}

impl Shift for Str<'static> {
    type Shifted<'s> = Str<'s>;
    fn shifted(&self, by: usize) -> Str<'_> {
        self.borrowed().at(self.pos().advance(by))
    }
}

impl Shift for Raw<'static> {
    type Shifted<'s> = Raw<'s>;
    fn shifted(&self, by: usize) -> Raw<'_> {
        self.borrowed().at(self.pos().advance(by))
    }
}

impl<T: Shift + 'static> Shift for Option<T> {
    type Shifted<'s> = Option<T::Shifted<'s>>;
    fn shifted(&self, by: usize) -> Self::Shifted<'_> {
        self.as_ref().map(|value| value.shifted(by))
    }
}

impl<T: Shift + 'static> Shift for Vec<T> {
    type Shifted<'s> = Vec<T::Shifted<'s>>;
    fn shifted(&self, by: usize) -> Self::Shifted<'_> {
        self.iter().map(|value| value.shifted(by)).collect()
    }
}

/// Implements [`Shift`] for structs: the fields that stood somewhere first, the others
/// after the semicolon.
macro_rules! shift {
    ($( $name:ident { $($placed:ident),* ; $($plain:ident),* } )*) => {$(
        impl Shift for $name<'static> {
            type Shifted<'s> = $name<'s>;
            fn shifted(&self, by: usize) -> $name<'_> {
                let Self { $($placed,)* $($plain,)* } = self;
                $name { $($placed: $placed.shifted(by),)* $($plain: *$plain,)* }
            }
        }
    )*};
}

shift! {
    Tool {
        at, name, description, kind, strict, defer, callers, examples, output_schema,
        deferred_result, eager, cache, extra;
    }
    Grammar { at, syntax, definition, extra; }
    Native { kind_text; kind }
    Hosted { kind_text; class }
    Cache { at, ttl, extra; }
    Extra { key, value; }
}

impl Shift for ToolKind<'static> {
    type Shifted<'s> = ToolKind<'s>;
    fn shifted(&self, by: usize) -> ToolKind<'_> {
        match self {
            Self::Function { schema } => ToolKind::Function { schema: schema.shifted(by) },
            Self::Freeform { grammar } => ToolKind::Freeform { grammar: grammar.shifted(by) },
            Self::Namespace { tools } => ToolKind::Namespace { tools: tools.shifted(by) },
            Self::Native(native) => ToolKind::Native(native.shifted(by)),
            Self::Hosted(hosted) => ToolKind::Hosted(hosted.shifted(by)),
            Self::Unknown(raw) => ToolKind::Unknown(raw.shifted(by)),
        }
    }
}
