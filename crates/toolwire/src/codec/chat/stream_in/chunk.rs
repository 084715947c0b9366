//! The objects of a Chat stream, in OpenAI's words and those of the vendors.
//!
//! Members of every chunk are named even if they are not used: unnamed members
//! are collected in a list, and a list per chunk would be an allocation per
//! chunk. What is large and in few chunks is boxed, because a chunk is moved several
//! times while it is read.

use crate::codec::chat::content_in::Content;
use crate::codec::chat::lenient_in::Index;
use crate::codec::chat::wire::Usage;
use crate::model::{Arguments, Item};
use crate::wire::{Kind, Raw, Read, ReadError, Reader, Str};

wire! {
    /// The data of one event.
    pub(super) struct Chunk<'a> {
        id: Raw<'a> = "id",
        object: Raw<'a> = "object",
        created: Raw<'a> = "created",
        model: Raw<'a> = "model",
        choices: SmallList<ChunkChoice<'a>> = "choices",
        usage: Box<Usage<'a>> = "usage",
        service_tier: Raw<'a> = "service_tier",
        system_fingerprint: Raw<'a> = "system_fingerprint",
        /// Random padding, so that the length of a chunk reveals nothing.
        obfuscation: Ignored = "obfuscation",
        error: Raw<'a> = "error",
        /// The provider behind OpenRouter.
        provider: Raw<'a> = "provider",
        /// Groq's own member.
        x_groq: Raw<'a> = "x_groq",
    }

    /// One of the choices, or what is new in it.
    pub(super) struct ChunkChoice<'a> {
        index: Index = "index",
        delta: ChunkDelta<'a> = "delta",
        /// Some servers send a message where a delta belongs, or the whole one behind them.
        message: Box<ChunkDelta<'a>> = "message",
        finish_reason: Raw<'a> = "finish_reason",
        logprobs: Raw<'a> = "logprobs",
        /// Moonshot counts tokens here.
        usage: Box<Usage<'a>> = "usage",
        /// OpenRouter sends errors in mid-stream here.
        error: Raw<'a> = "error",
        /// OpenRouter.
        native_finish_reason: Raw<'a> = "native_finish_reason",
        /// vLLM.
        stop_reason: Raw<'a> = "stop_reason",
        /// vLLM.
        token_ids: Raw<'a> = "token_ids",
        /// Azure.
        content_filter_results: Raw<'a> = "content_filter_results",
    }

    /// What is new in a message.
    pub(super) struct ChunkDelta<'a> {
        role: Ignored = "role",
        content: DeltaContent<'a> = "content",
        refusal: Str<'a> = "refusal",
        annotations: Raw<'a> = "annotations",
        audio: Raw<'a> = "audio",
        tool_calls: SmallList<AnyCallDelta<'a>> = "tool_calls",
        function_call: Box<FunctionDelta<'a>> = "function_call",
        reasoning_content: Raw<'a> = "reasoning_content",
        reasoning: Raw<'a> = "reasoning",
        reasoning_details: Raw<'a> = "reasoning_details",
        thinking_blocks: Raw<'a> = "thinking_blocks",
    }

    /// An element of `tool_calls`.
    pub(super) struct CallDelta<'a> {
        index: Index = "index",
        id: Str<'a> = "id",
        kind: Str<'a> = "type",
        function: FunctionDelta<'a> = "function",
        custom: Box<CustomDelta<'a>> = "custom",
    }

    /// The `function` of a call, and the deprecated `function_call`.
    pub(super) struct FunctionDelta<'a> {
        name: Str<'a> = "name",
        arguments: Arguments<'a> = "arguments",
    }

    /// The `custom` of a call.
    pub(super) struct CustomDelta<'a> {
        name: Str<'a> = "name",
        input: Str<'a> = "input",
    }

    /// The `logprobs` of a choice.
    pub(super) struct Logprobs<'a> {
        content: Raw<'a> = "content",
        refusal: Raw<'a> = "refusal",
    }

    /// Groq's own member of a chunk.
    pub(super) struct Groq<'a> {
        usage: Box<Usage<'a>> = "usage",
        error: Raw<'a> = "error",
    }
}

/// The elements of a list that almost always has one.
#[derive(Debug)]
pub(super) struct SmallList<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> SmallList<T> {
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Hands on each element, with its place. For elements that are large, which an
    /// iterator moves several times.
    pub(super) fn try_each<E>(
        self,
        mut each: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { first, rest } = self;
        if let Some(first) = first {
            each(0, first)?;
        }
        (1..).zip(rest).try_for_each(|(place, element)| each(place, element))
    }
}

impl<T> IntoIterator for SmallList<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<'a, T: Read<'a>> Read<'a> for SmallList<T> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let mut list = Self { first: None, rest: Vec::new() };
        let mut members = reader.array()?;
        if members.more(reader)? {
            T::read_into(&mut list.first, reader)?;
        }
        while list.first.is_some() && members.more(reader)? {
            list.rest.push(T::read(reader)?);
        }
        Ok(list)
    }
}

/// A value that is skipped.
#[derive(Debug)]
pub(super) struct Ignored;

impl<'a> Read<'a> for Ignored {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.skip()?;
        Ok(Self)
    }
}

/// New content: text, or from some vendors parts.
#[derive(Debug)]
pub(super) enum DeltaContent<'a> {
    Text(Str<'a>),
    Parts(Vec<Item<'a>>),
}

impl<'a> Read<'a> for DeltaContent<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() != Kind::Array {
            return reader.string().map(Self::Text);
        }
        let Content(items) = Content::read(reader)?;
        Ok(Self::Parts(items))
    }
}

/// An element of `tool_calls`, of a kind that toolwire knows or not.
#[derive(Debug)]
pub(super) enum AnyCallDelta<'a> {
    Known(CallDelta<'a>),
    Unknown { kind: Str<'a>, raw: Raw<'a> },
}

impl<'a> Read<'a> for AnyCallDelta<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let mut ahead = reader.clone();
        let call = CallDelta::read(&mut ahead)?;
        // A fragment may have no kind, and nothing but an id.
        let bare = call.function.is_none() && call.custom.is_none();
        let foreign = |kind: &Str<'_>| !kind.is_empty() && *kind != "function" && *kind != "custom";
        match call.kind {
            Some(ref kind) if bare && foreign(kind) => {
                Ok(Self::Unknown { kind: kind.clone(), raw: reader.raw()? })
            }
            Some(_) | None => {
                *reader = ahead;
                Ok(Self::Known(call))
            }
        }
    }
}
