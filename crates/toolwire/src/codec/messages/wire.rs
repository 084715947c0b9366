//! The objects of the Messages API, in its own words.

use super::tools_in::{ToolDefinition, Tools};
use super::turns_in::MessageContent;
use crate::wire::{At, Raw, Str};

wire! {
    /// The body of a request.
    pub(super) struct RequestBody<'a> {
        model: Str<'a> = "model",
        messages: At<Vec<Message<'a>>> = "messages",
        system: MessageContent<'a> = "system",
        max_tokens: At<u64> = "max_tokens",
        tools: Tools<'a> = "tools",
        tool_choice: Raw<'a> = "tool_choice",
        thinking: Thinking<'a> = "thinking",
        output_config: OutputConfig<'a> = "output_config",
        output_format: Raw<'a> = "output_format",
        metadata: Metadata<'a> = "metadata",
        stop_sequences: At<Vec<Str<'a>>> = "stop_sequences",
        temperature: Raw<'a> = "temperature",
        top_p: Raw<'a> = "top_p",
        top_k: Raw<'a> = "top_k",
        service_tier: Str<'a> = "service_tier",
        cache_control: CacheControl<'a> = "cache_control",
        context_management: Raw<'a> = "context_management",
        stream: At<bool> = "stream",
    }

    /// One entry of `messages`.
    pub(super) struct Message<'a> {
        role: Str<'a> = "role",
        content: MessageContent<'a> = "content",
    }

    /// A cache marker.
    pub(super) struct CacheControl<'a> {
        kind: Str<'a> = "type",
        ttl: Str<'a> = "ttl",
    }

    /// A `text` block.
    pub(super) struct Text<'a> {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        citations: Raw<'a> = "citations",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// An `image` block.
    pub(super) struct Image<'a> {
        kind: Str<'a> = "type",
        source: Raw<'a> = "source",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// A `document` block.
    pub(super) struct Document<'a> {
        kind: Str<'a> = "type",
        source: Raw<'a> = "source",
        title: Str<'a> = "title",
        context: Str<'a> = "context",
        citations: Raw<'a> = "citations",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// Where an image or a document comes from.
    pub(super) struct Source<'a> {
        kind: Str<'a> = "type",
        media_type: Str<'a> = "media_type",
        data: Str<'a> = "data",
        url: Str<'a> = "url",
        file_id: Str<'a> = "file_id",
    }

    /// A `search_result` block.
    pub(super) struct SearchResult<'a> {
        kind: Str<'a> = "type",
        source: Str<'a> = "source",
        title: Str<'a> = "title",
        content: MessageContent<'a> = "content",
        citations: Raw<'a> = "citations",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// A `tool_use` block.
    pub(super) struct ToolUse<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        name: Str<'a> = "name",
        input: Raw<'a> = "input",
        caller: Raw<'a> = "caller",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// A `tool_result` block.
    pub(super) struct ToolResult<'a> {
        kind: Str<'a> = "type",
        tool_use_id: Str<'a> = "tool_use_id",
        content: MessageContent<'a> = "content",
        is_error: At<bool> = "is_error",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// A `thinking` block.
    pub(super) struct ThinkingBlock<'a> {
        kind: Str<'a> = "type",
        thinking: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
    }

    /// A `redacted_thinking` block.
    pub(super) struct RedactedThinking<'a> {
        kind: Str<'a> = "type",
        data: Str<'a> = "data",
    }

    /// A `tool_reference` block.
    pub(super) struct ToolReference<'a> {
        kind: Str<'a> = "type",
        tool_name: Str<'a> = "tool_name",
    }

    /// A `tool_addition` block.
    pub(super) struct ToolAddition<'a> {
        kind: Str<'a> = "type",
        tool: AddedTool<'a> = "tool",
    }

    /// What a `tool_addition` block adds: a definition, or a reference to one.
    pub(super) struct AddedTool<'a> {
        kind: Str<'a> = "type",
        definition: ToolDefinition<'a> = "definition",
    }

    /// One entry of `tools`, whatever its kind.
    pub(super) struct Tool<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        input_schema: Raw<'a> = "input_schema",
        strict: At<bool> = "strict",
        defer_loading: At<bool> = "defer_loading",
        allowed_callers: Raw<'a> = "allowed_callers",
        input_examples: Raw<'a> = "input_examples",
        eager_input_streaming: At<bool> = "eager_input_streaming",
        cache_control: CacheControl<'a> = "cache_control",
    }

    /// `tool_choice`.
    pub(super) struct ToolChoice<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
        disable_parallel_tool_use: At<bool> = "disable_parallel_tool_use",
    }

    /// `thinking` of a request.
    pub(super) struct Thinking<'a> {
        kind: Str<'a> = "type",
        budget_tokens: At<u64> = "budget_tokens",
        display: Str<'a> = "display",
    }

    /// `output_config`.
    pub(super) struct OutputConfig<'a> {
        effort: Str<'a> = "effort",
        format: Raw<'a> = "format",
    }

    /// `output_config.format`.
    pub(super) struct OutputFormat<'a> {
        kind: Str<'a> = "type",
        schema: Raw<'a> = "schema",
    }

    /// `metadata`.
    pub(super) struct Metadata<'a> {
        user_id: Str<'a> = "user_id",
    }

    /// The body of an answer.
    pub(super) struct ResponseMessage<'a> {
        kind: Str<'a> = "type",
        role: Str<'a> = "role",
        id: Str<'a> = "id",
        model: Str<'a> = "model",
        content: MessageContent<'a> = "content",
        stop_reason: Str<'a> = "stop_reason",
        stop_sequence: Str<'a> = "stop_sequence",
        stop_details: Raw<'a> = "stop_details",
        usage: Usage<'a> = "usage",
    }

    /// `stop_details` of a refusal.
    pub(super) struct StopDetails<'a> {
        kind: Str<'a> = "type",
        category: Str<'a> = "category",
        explanation: Str<'a> = "explanation",
    }

    /// `usage`.
    pub(super) struct Usage<'a> {
        input_tokens: At<u64> = "input_tokens",
        cache_read_input_tokens: At<u64> = "cache_read_input_tokens",
        cache_creation_input_tokens: At<u64> = "cache_creation_input_tokens",
        output_tokens: At<u64> = "output_tokens",
        output_tokens_details: Raw<'a> = "output_tokens_details",
        service_tier: Str<'a> = "service_tier",
    }

    /// `usage.output_tokens_details`.
    pub(super) struct OutputDetails<'a> {
        thinking_tokens: At<u64> = "thinking_tokens",
    }

    /// The event `message_start`.
    pub(super) struct MessageStart<'a> {
        kind: Str<'a> = "type",
        message: StartedMessage<'a> = "message",
    }

    /// An answer as it begins. Its blocks are read like those that follow.
    pub(super) struct StartedMessage<'a> {
        kind: Str<'a> = "type",
        role: Str<'a> = "role",
        id: Str<'a> = "id",
        model: Str<'a> = "model",
        content: Raw<'a> = "content",
        stop_reason: Str<'a> = "stop_reason",
        stop_sequence: Str<'a> = "stop_sequence",
        stop_details: Raw<'a> = "stop_details",
        usage: Usage<'a> = "usage",
    }

    /// The event `content_block_start`.
    pub(super) struct BlockStart<'a> {
        kind: Str<'a> = "type",
        index: At<u64> = "index",
        content_block: Raw<'a> = "content_block",
    }

    /// The event `content_block_delta`.
    pub(super) struct BlockDelta<'a> {
        kind: Str<'a> = "type",
        index: At<u64> = "index",
        delta: Delta<'a> = "delta",
    }

    /// `delta` of a block, whatever its kind.
    pub(super) struct Delta<'a> {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        partial_json: Str<'a> = "partial_json",
        thinking: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
        citation: Raw<'a> = "citation",
    }

    /// The event `content_block_stop`.
    pub(super) struct BlockStop<'a> {
        kind: Str<'a> = "type",
        index: At<u64> = "index",
    }

    /// The event `message_delta`.
    pub(super) struct MessageDelta<'a> {
        kind: Str<'a> = "type",
        delta: StopDelta<'a> = "delta",
        usage: Usage<'a> = "usage",
    }

    /// `delta` of a message.
    pub(super) struct StopDelta<'a> {
        stop_reason: Str<'a> = "stop_reason",
        stop_sequence: Str<'a> = "stop_sequence",
        stop_details: Raw<'a> = "stop_details",
    }

    /// The event `message_stop`.
    pub(super) struct MessageStop<'a> {
        kind: Str<'a> = "type",
    }

    /// A `text` block at its start.
    pub(super) struct TextStart<'a> {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        citations: Raw<'a> = "citations",
    }

    /// A `tool_use` block at its start.
    pub(super) struct CallStart<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        name: Str<'a> = "name",
        input: Raw<'a> = "input",
        caller: Raw<'a> = "caller",
    }

    /// The body of an error.
    pub(super) struct ErrorBody<'a> {
        kind: Raw<'a> = "type",
        error: Raw<'a> = "error",
        message: Str<'a> = "message",
        request_id: Str<'a> = "request_id",
    }

    /// `error` of an error. Gateways in front of the vendor add `code` and
    /// `param`.
    pub(super) struct ErrorObject<'a> {
        kind: Str<'a> = "type",
        message: Str<'a> = "message",
        details: Raw<'a> = "details",
        code: Raw<'a> = "code",
        param: Raw<'a> = "param",
    }
}
