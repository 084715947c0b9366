//! Answers that outlive the bytes they were read from.
//!
//! Every field is named, so that one that is added is carried here too.

use super::{
    ApiError, Arguments, Audio, Cache, Call, CallHead, Document, Grammar, Hosted, HostedItem,
    Image, Item, Native, NativeKind, Opaque, Part, Reasoning, Refusal, Role, Sealed, SearchResult,
    Source, Stop, Text, Tool, ToolKind, ToolResult, Turn, Usage,
};
use crate::wire::{At, Extra, Raw, Str};

/// Something that borrows its input and can stop doing so.
pub trait Own {
    /// The same without the borrow.
    type Owned: 'static;

    /// Gives up the borrow of the input.
    fn into_owned(self) -> Self::Owned;
}

impl Own for Str<'_> {
    type Owned = Str<'static>;
    fn into_owned(self) -> Self::Owned {
        Str::into_owned(self)
    }
}

impl Own for Raw<'_> {
    type Owned = Raw<'static>;
    fn into_owned(self) -> Self::Owned {
        Raw::into_owned(self)
    }
}

impl Own for Extra<'_> {
    type Owned = Extra<'static>;
    fn into_owned(self) -> Self::Owned {
        Extra::into_owned(self)
    }
}

impl Own for NativeKind {
    type Owned = Self;
    fn into_owned(self) -> Self {
        self
    }
}

impl Own for Box<ApiError> {
    type Owned = Self;
    fn into_owned(self) -> Self {
        self
    }
}

impl<T: Own> Own for Option<T> {
    type Owned = Option<T::Owned>;
    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }
}

impl<T: Own> Own for Vec<T> {
    type Owned = Vec<T::Owned>;
    fn into_owned(self) -> Self::Owned {
        self.into_iter().map(T::into_owned).collect()
    }
}

impl<T: Own> Own for At<T> {
    type Owned = At<T::Owned>;
    fn into_owned(self) -> Self::Owned {
        At { pos: self.pos, value: self.value.into_owned() }
    }
}

/// Implements [`Own`] for structs: the borrowed fields first, the others after
/// the semicolon.
macro_rules! own {
    ($( $name:ident { $($borrowed:ident),* ; $($plain:ident),* } )*) => {$(
        impl Own for $name<'_> {
            type Owned = $name<'static>;
            fn into_owned(self) -> Self::Owned {
                let Self { $($borrowed,)* $($plain,)* } = self;
                $name { $($borrowed: $borrowed.into_owned(),)* $($plain,)* }
            }
        }
    )*};
}

own! {
    Turn { role, items, id, name, status, phase, extra; at, slot }
    Text { text, citations, logprobs, cache, extra; at }
    Cache { ttl, extra; at }
    Image { source, detail, cache, extra; at }
    Document { source, name, context, citations, cache, extra; at }
    Audio { data, format, cache, extra; at }
    SearchResult { source, title, content, citations, cache, extra; at }
    Refusal { text, extra; at }
    Reasoning { summary, content, sealed, extra; at, place }
    Sealed { item_id, blob; issuer, redacted }
    Call { id, name, namespace, arguments, caller, cache, extra; at }
    ToolResult { call_id, name, namespace, content, cache, extra; at, kind, is_error }
    HostedItem { raw; class }
    Opaque { kind, raw; }
    Usage { extra; at, input, cache_read, cache_write, output, reasoning }
    Tool {
        name, description, kind, callers, examples, output_schema, cache, extra;
        at, strict, defer, deferred_result, eager
    }
    Grammar { syntax, definition, extra; at }
    Native { kind_text; kind }
    Hosted { kind_text; class }
    Part { phase, extra; message }
    CallHead { id, name, namespace, caller, extra; form }
}

/// The same for enums, whose variants hold nothing, values or fields.
macro_rules! own_variants {
    ($( $name:ident { $(
        $variant:ident $( ( $($value:ident),+ ) )? $( { $($field:ident),+ } )?
    ),+ $(,)? } )*) => {$(
        impl Own for $name<'_> {
            type Owned = $name<'static>;
            fn into_owned(self) -> Self::Owned {
                match self {
                    $( Self::$variant $( ( $($value),+ ) )? $( { $($field),+ } )? => $name::$variant
                        $( ( $($value.into_owned()),+ ) )?
                        $( { $($field: $field.into_owned()),+ } )?, )+
                }
            }
        }
    )*};
}

own_variants! {
    Role { System, Developer, User, Assistant, Other(word) }
    Item {
        Text(text), Image(image), Document(document), Audio(audio), SearchResult(found),
        Refusal(refusal), Reasoning(reasoning), Call(call), Result(result), Hosted(hosted),
        Tools(tools), ToolReference(name), Json(raw), Opaque(opaque),
    }
    Source { Url(url), Base64 { media, data }, File(id), Text { media, data }, Other(raw) }
    Arguments { Text(text), Json(json), Freeform(text), Native(kind, action) }
    ToolKind {
        Function { schema }, Freeform { grammar }, Namespace { tools }, Native(native),
        Hosted(hosted), Unknown(raw),
    }
    Stop {
        EndTurn, ToolCalls, MaxTokens, ContextWindow, StopSequence(text), ContentFilter,
        Refusal { category, explanation }, Paused, Compaction, Cancelled, Steered, Running,
        Failed(error), Other(word),
    }
}
