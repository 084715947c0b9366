//! The objects of Chat Completions, in OpenAI's words.

use super::content_in::Content;
use super::lenient_in::Lenient;
use super::tools_in::{Functions, Tools};
use super::turns_in::Turns;
use crate::model::Arguments;
use crate::wire::{At, Extra, Kind, Pos, Raw, Read, ReadError, Reader, Str, read_fields};

wire! {
    /// The body of a request.
    pub(super) struct Request<'a> {
        model: Str<'a> = "model",
        messages: Turns<'a> = "messages",
        tools: Tools<'a> = "tools",
        functions: Functions<'a> = "functions",
        tool_choice: Raw<'a> = "tool_choice",
        function_call: Raw<'a> = "function_call",
        parallel_tool_calls: At<bool> = "parallel_tool_calls",
        web_search_options: RawMembers<'a> = "web_search_options",
        response_format: Raw<'a> = "response_format",
        reasoning_effort: Str<'a> = "reasoning_effort",
        verbosity: Str<'a> = "verbosity",
        max_tokens: At<u64> = "max_tokens",
        max_completion_tokens: At<u64> = "max_completion_tokens",
        stop: StopTexts<'a> = "stop",
        n: At<u64> = "n",
        logprobs: At<bool> = "logprobs",
        top_logprobs: At<u64> = "top_logprobs",
        temperature: Raw<'a> = "temperature",
        top_p: Raw<'a> = "top_p",
        /// Not from OpenAI, but many vendors accept it.
        top_k: Raw<'a> = "top_k",
        frequency_penalty: Raw<'a> = "frequency_penalty",
        presence_penalty: Raw<'a> = "presence_penalty",
        seed: Raw<'a> = "seed",
        logit_bias: Raw<'a> = "logit_bias",
        metadata: Raw<'a> = "metadata",
        user: Str<'a> = "user",
        safety_identifier: Str<'a> = "safety_identifier",
        prompt_cache_key: Str<'a> = "prompt_cache_key",
        service_tier: Str<'a> = "service_tier",
        store: At<bool> = "store",
        stream: At<bool> = "stream",
        stream_options: StreamOptions<'a> = "stream_options",
    }

    /// `stream_options`.
    pub(super) struct StreamOptions<'a> {
        include_usage: At<bool> = "include_usage",
        include_obfuscation: At<bool> = "include_obfuscation",
    }

    /// A message of any role, in a request or an answer.
    pub(super) struct Message<'a> {
        role: Str<'a> = "role",
        content: Content<'a> = "content",
        name: Str<'a> = "name",
        tool_call_id: Str<'a> = "tool_call_id",
        refusal: Str<'a> = "refusal",
        annotations: Raw<'a> = "annotations",
        audio: MessageAudio<'a> = "audio",
        tool_calls: Vec<AnyToolCall<'a>> = "tool_calls",
        function_call: CalledFunction<'a> = "function_call",
        reasoning_content: Raw<'a> = "reasoning_content",
        reasoning: Raw<'a> = "reasoning",
        reasoning_details: Raw<'a> = "reasoning_details",
        thinking_blocks: Raw<'a> = "thinking_blocks",
        cache_control: Raw<'a> = "cache_control",
    }

    /// Spoken output; in a request only its id.
    pub(super) struct MessageAudio<'a> {
        data: Str<'a> = "data",
        transcript: Str<'a> = "transcript",
    }

    /// An entry of `reasoning_details`.
    pub(super) struct ReasoningDetail<'a> {
        kind: Raw<'a> = "type",
        text: Raw<'a> = "text",
        summary: Raw<'a> = "summary",
        data: Raw<'a> = "data",
    }

    /// An entry of `thinking_blocks`.
    pub(super) struct ThinkingBlock<'a> {
        kind: Str<'a> = "type",
        thinking: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
        data: Str<'a> = "data",
    }

    /// An element of `tool_calls`.
    pub(super) struct ToolCall<'a> {
        id: Str<'a> = "id",
        kind: Str<'a> = "type",
        function: CalledFunction<'a> = "function",
        custom: CalledCustom<'a> = "custom",
    }

    /// The `function` of a call, and the deprecated `function_call`.
    pub(super) struct CalledFunction<'a> {
        name: Str<'a> = "name",
        arguments: Arguments<'a> = "arguments",
    }

    /// The `custom` of a call.
    pub(super) struct CalledCustom<'a> {
        name: Str<'a> = "name",
        input: Str<'a> = "input",
    }

    /// A content part of type `text`.
    pub(super) struct TextPart<'a> {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// A content part of type `refusal`.
    pub(super) struct RefusalPart<'a> {
        kind: Str<'a> = "type",
        refusal: Str<'a> = "refusal",
    }

    /// A content part of type `image_url`.
    pub(super) struct ImagePart<'a> {
        kind: Str<'a> = "type",
        image_url: AnyImageUrl<'a> = "image_url",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// The `image_url` of a part.
    pub(super) struct ImageUrl<'a> {
        url: Str<'a> = "url",
        detail: Str<'a> = "detail",
    }

    /// A content part of type `thinking`, which Mistral has.
    pub(super) struct ThinkingPart<'a> {
        kind: Str<'a> = "type",
        thinking: Content<'a> = "thinking",
        /// Whether more of it may follow.
        closed: Raw<'a> = "closed",
    }

    /// A content part of type `input_audio`.
    pub(super) struct AudioPart<'a> {
        kind: Str<'a> = "type",
        input_audio: InputAudio<'a> = "input_audio",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// The `input_audio` of a part.
    pub(super) struct InputAudio<'a> {
        data: Str<'a> = "data",
        format: Str<'a> = "format",
    }

    /// A content part of type `file`.
    pub(super) struct FilePart<'a> {
        kind: Str<'a> = "type",
        file: File<'a> = "file",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// The `file` of a part.
    pub(super) struct File<'a> {
        file_data: Str<'a> = "file_data",
        file_id: Str<'a> = "file_id",
        filename: Str<'a> = "filename",
    }

    /// A cache marker in the words of Messages, which OpenRouter, LiteLLM and others
    /// take on parts, messages and tools.
    pub(super) struct CacheControl<'a> {
        ttl: Str<'a> = "ttl",
    }

    /// A cache marker on a content part.
    pub(super) struct Breakpoint<'a> {
        mode: Str<'a> = "mode",
        ttl: Str<'a> = "ttl",
    }

    /// A tool of type `function`.
    pub(super) struct FunctionTool<'a> {
        kind: Str<'a> = "type",
        function: Function<'a> = "function",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// The definition of a function, and an element of the deprecated
    /// `functions`.
    pub(super) struct Function<'a> {
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        parameters: Raw<'a> = "parameters",
        strict: At<bool> = "strict",
        /// LiteLLM takes a marker here too.
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// A tool of type `custom`.
    pub(super) struct CustomTool<'a> {
        kind: Str<'a> = "type",
        custom: Custom<'a> = "custom",
    }

    /// The definition of a custom tool.
    pub(super) struct Custom<'a> {
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        format: CustomFormat<'a> = "format",
    }

    /// The format of a custom tool's input.
    pub(super) struct CustomFormat<'a> {
        kind: Str<'a> = "type",
        grammar: Grammar<'a> = "grammar",
    }

    /// The grammar of a custom tool's input.
    pub(super) struct Grammar<'a> {
        syntax: Str<'a> = "syntax",
        definition: Str<'a> = "definition",
    }

    /// `tool_choice` as an object, and a reference inside `allowed_tools`.
    pub(super) struct NamedChoice<'a> {
        kind: Str<'a> = "type",
        function: Named<'a> = "function",
        custom: Named<'a> = "custom",
        allowed_tools: AllowedTools<'a> = "allowed_tools",
        /// Some vendors and clients write the name flat, as Responses does.
        name: Str<'a> = "name",
    }

    /// The name of a chosen tool.
    pub(super) struct Named<'a> {
        name: Str<'a> = "name",
    }

    /// The `allowed_tools` of a choice.
    pub(super) struct AllowedTools<'a> {
        mode: Raw<'a> = "mode",
        tools: Vec<Raw<'a>> = "tools",
    }

    /// `response_format`.
    pub(super) struct ResponseFormat<'a> {
        kind: Str<'a> = "type",
        json_schema: JsonSchema<'a> = "json_schema",
    }

    /// The `json_schema` of a response format.
    pub(super) struct JsonSchema<'a> {
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        schema: Raw<'a> = "schema",
        strict: At<bool> = "strict",
    }

    /// The body of an answer.
    pub(super) struct Completion<'a> {
        id: Str<'a> = "id",
        object: Str<'a> = "object",
        created: At<u64> = "created",
        model: Str<'a> = "model",
        choices: Vec<CompletionChoice<'a>> = "choices",
        usage: Usage<'a> = "usage",
        service_tier: Str<'a> = "service_tier",
        /// Why the vendor broke the answer off.
        error: Raw<'a> = "error",
    }

    /// One of the choices of an answer.
    pub(super) struct CompletionChoice<'a> {
        index: Lenient<'a, At<u64>> = "index",
        message: Message<'a> = "message",
        finish_reason: Str<'a> = "finish_reason",
        logprobs: Raw<'a> = "logprobs",
        /// OpenRouter explains here why it broke the answer off.
        error: Raw<'a> = "error",
    }

    /// Token counts.
    pub(super) struct Usage<'a> {
        prompt_tokens: Lenient<'a, At<u64>> = "prompt_tokens",
        completion_tokens: Lenient<'a, At<u64>> = "completion_tokens",
        total_tokens: Lenient<'a, At<u64>> = "total_tokens",
        prompt_tokens_details: Lenient<'a, PromptDetails<'a>> = "prompt_tokens_details",
        completion_tokens_details: Lenient<'a, CompletionDetails<'a>> =
            "completion_tokens_details",
    }

    /// `prompt_tokens_details`.
    pub(super) struct PromptDetails<'a> {
        cached_tokens: Lenient<'a, At<u64>> = "cached_tokens",
        cache_write_tokens: Lenient<'a, At<u64>> = "cache_write_tokens",
    }

    /// `completion_tokens_details`.
    pub(super) struct CompletionDetails<'a> {
        reasoning_tokens: Lenient<'a, At<u64>> = "reasoning_tokens",
    }
}

/// An element of `tool_calls`, of a kind that toolwire knows or not.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "almost every call is of a known kind")]
pub(super) enum AnyToolCall<'a> {
    Known(ToolCall<'a>),
    Unknown(Raw<'a>),
}

impl<'a> Read<'a> for AnyToolCall<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let mut ahead = reader.clone();
        let call = ToolCall::read(&mut ahead)?;
        if call.function.is_none() && call.custom.is_none() {
            return Ok(Self::Unknown(reader.raw()?));
        }
        *reader = ahead;
        Ok(Self::Known(call))
    }
}

/// The `image_url` of a part: an object or, in Mistral's words, the bare URL.
#[derive(Debug)]
pub(super) enum AnyImageUrl<'a> {
    Object(ImageUrl<'a>),
    Bare(Str<'a>),
}

impl<'a> Read<'a> for AnyImageUrl<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() == Kind::String {
            return reader.string().map(Self::Bare);
        }
        ImageUrl::read(reader).map(Self::Object)
    }
}

/// `stop`: one text or several.
#[derive(Debug)]
pub(super) struct StopTexts<'a> {
    pub(super) at: Pos,
    pub(super) texts: Vec<Str<'a>>,
}

impl<'a> Read<'a> for StopTexts<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        let texts =
            if reader.peek() == Kind::String { vec![reader.string()?] } else { Vec::read(reader)? };
        Ok(Self { at, texts })
    }
}

/// An object whose members are kept as they are.
#[derive(Debug)]
pub(super) struct RawMembers<'a> {
    pub(super) at: Pos,
    pub(super) fields: Vec<Extra<'a>>,
}

impl<'a> Read<'a> for RawMembers<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        Ok(Self { at: reader.here(), fields: read_fields(reader)? })
    }
}

/// Reads a raw value of the input as another type.
pub(super) fn reread<'a, T: Read<'a>>(raw: &Raw<'a>) -> Option<Result<T, ReadError>> {
    raw.source_reader().map(|mut reader| T::read(&mut reader))
}

/// The string that a raw value is, if it is one.
pub(super) fn string<'a>(raw: &Raw<'a>) -> Option<Str<'a>> {
    if raw.kind() == Kind::String { raw.source_reader()?.string().ok() } else { None }
}

/// Keeps the unknown members of a nested object among those of the object that
/// the model has, under a dotted name.
///
/// Chat nests where the model is flat (`function.name`), so the model has one
/// list of unknown members for two objects. The name says which object a member
/// belongs to, for the user who reads the ledger.
pub(super) fn nest<'a>(extra: &mut Vec<Extra<'a>>, under: &str, inner: Vec<Extra<'a>>) {
    extra.extend(inner.into_iter().map(|field| field.under(under)));
}

/// The member that turns a hosted web search on.
pub(super) const WEB_SEARCH_OPTIONS: &str = "web_search_options";

/// The member of DeepSeek, and the one that most clients know.
pub(super) const REASONING_CONTENT: &str = "reasoning_content";
/// The member of OpenRouter and vLLM. It also names the issuer of reasoning that
/// was read from it, so that it is written back under its own name.
pub(super) const REASONING: &str = "reasoning";
/// OpenRouter's list. It also names an issuer: the whole list is the seal.
pub(super) const REASONING_DETAILS: &str = "reasoning_details";
/// The member in which litellm passes blocks of Messages.
pub(super) const THINKING_BLOCKS: &str = "thinking_blocks";
