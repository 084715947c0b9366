//! Answers that outlive the bytes they were read from.
//!
//! Every field is named, so that one that is added is carried here too.

use super::{
    Arguments, Audio, Cache, Call, CallHead, Document, Grammar, Hosted, HostedItem, Image, Item,
    Native, Opaque, Part, Reasoning, Refusal, Role, Sealed, SearchResult, Source, Stop, Text, Tool,
    ToolKind, ToolResult, Turn, Usage,
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

impl Own for Role<'_> {
    type Owned = Role<'static>;
    fn into_owned(self) -> Self::Owned {
        match self {
            Self::System => Role::System,
            Self::Developer => Role::Developer,
            Self::User => Role::User,
            Self::Assistant => Role::Assistant,
            Self::Other(word) => Role::Other(word.into_owned()),
        }
    }
}

impl Own for Item<'_> {
    type Owned = Item<'static>;
    fn into_owned(self) -> Self::Owned {
        match self {
            Self::Text(text) => Item::Text(text.into_owned()),
            Self::Image(image) => Item::Image(image.into_owned()),
            Self::Document(document) => Item::Document(document.into_owned()),
            Self::Audio(audio) => Item::Audio(audio.into_owned()),
            Self::SearchResult(found) => Item::SearchResult(found.into_owned()),
            Self::Refusal(refusal) => Item::Refusal(refusal.into_owned()),
            Self::Reasoning(reasoning) => Item::Reasoning(reasoning.into_owned()),
            Self::Call(call) => Item::Call(call.into_owned()),
            Self::Result(result) => Item::Result(result.into_owned()),
            Self::Hosted(hosted) => Item::Hosted(hosted.into_owned()),
            Self::Tools(tools) => Item::Tools(tools.into_owned()),
            Self::ToolReference(name) => Item::ToolReference(name.into_owned()),
            Self::Json(raw) => Item::Json(raw.into_owned()),
            Self::Opaque(opaque) => Item::Opaque(opaque.into_owned()),
        }
    }
}

impl Own for Source<'_> {
    type Owned = Source<'static>;
    fn into_owned(self) -> Self::Owned {
        match self {
            Self::Url(url) => Source::Url(url.into_owned()),
            Self::Base64 { media, data } => {
                Source::Base64 { media: media.into_owned(), data: data.into_owned() }
            }
            Self::File(id) => Source::File(id.into_owned()),
            Self::Text { media, data } => {
                Source::Text { media: media.into_owned(), data: data.into_owned() }
            }
            Self::Other(raw) => Source::Other(raw.into_owned()),
        }
    }
}

impl Own for Arguments<'_> {
    type Owned = Arguments<'static>;
    fn into_owned(self) -> Self::Owned {
        match self {
            Self::Text(text) => Arguments::Text(text.into_owned()),
            Self::Json(json) => Arguments::Json(json.into_owned()),
            Self::Freeform(text) => Arguments::Freeform(text.into_owned()),
            Self::Native(kind, action) => Arguments::Native(kind, action.into_owned()),
        }
    }
}

impl Own for ToolKind<'_> {
    type Owned = ToolKind<'static>;
    fn into_owned(self) -> Self::Owned {
        match self {
            Self::Function { schema } => ToolKind::Function { schema: schema.into_owned() },
            Self::Freeform { grammar } => ToolKind::Freeform { grammar: grammar.into_owned() },
            Self::Namespace { tools } => ToolKind::Namespace { tools: tools.into_owned() },
            Self::Native(native) => ToolKind::Native(native.into_owned()),
            Self::Hosted(hosted) => ToolKind::Hosted(hosted.into_owned()),
            Self::Unknown(raw) => ToolKind::Unknown(raw.into_owned()),
        }
    }
}

impl Own for Stop<'_> {
    type Owned = Stop<'static>;
    fn into_owned(self) -> Self::Owned {
        match self {
            Self::EndTurn => Stop::EndTurn,
            Self::ToolCalls => Stop::ToolCalls,
            Self::MaxTokens => Stop::MaxTokens,
            Self::ContextWindow => Stop::ContextWindow,
            Self::StopSequence(text) => Stop::StopSequence(text.into_owned()),
            Self::ContentFilter => Stop::ContentFilter,
            Self::Refusal { category, explanation } => Stop::Refusal {
                category: category.into_owned(),
                explanation: explanation.into_owned(),
            },
            Self::Paused => Stop::Paused,
            Self::Compaction => Stop::Compaction,
            Self::Cancelled => Stop::Cancelled,
            Self::Steered => Stop::Steered,
            Self::Running => Stop::Running,
            Self::Failed(error) => Stop::Failed(error),
            Self::Other(word) => Stop::Other(word.into_owned()),
        }
    }
}
