//! The objects of Responses in the vendor's own words.
//!
//! `type` is declared where it tells items apart, so that it is not among the
//! unknown members.

use super::agent_message_in::AgentContent;
use super::choice_in::ToolChoice;
use super::content_in::Content;
use super::output_in::Output;
use super::request_in::TextFormat;
use super::tools_in::{FreeformFormat, ToolList};
use super::turns_in::Input;
use crate::codec::openai::error_in::ErrorDetail;
use crate::model::Arguments;
use crate::wire::{At, Raw, Str};

wire! {
    /// The body of `POST /v1/responses`.
    pub(super) struct Request<'a> {
        model: Str<'a> = "model",
        input: Input<'a> = "input",
        instructions: Str<'a> = "instructions",
        tools: ToolList<'a> = "tools",
        tool_choice: ToolChoice<'a> = "tool_choice",
        parallel_tool_calls: At<bool> = "parallel_tool_calls",
        reasoning: ReasoningConfig<'a> = "reasoning",
        text: TextConfig<'a> = "text",
        max_output_tokens: At<u64> = "max_output_tokens",
        max_tool_calls: At<u64> = "max_tool_calls",
        top_logprobs: At<u64> = "top_logprobs",
        temperature: Raw<'a> = "temperature",
        top_p: Raw<'a> = "top_p",
        metadata: Raw<'a> = "metadata",
        user: Str<'a> = "user",
        safety_identifier: Str<'a> = "safety_identifier",
        prompt_cache_key: Str<'a> = "prompt_cache_key",
        service_tier: Str<'a> = "service_tier",
        store: At<bool> = "store",
        previous_response_id: Str<'a> = "previous_response_id",
        conversation: Raw<'a> = "conversation",
        background: At<bool> = "background",
        include: At<Vec<Str<'a>>> = "include",
        truncation: Str<'a> = "truncation",
        context_management: Raw<'a> = "context_management",
        stream: At<bool> = "stream",
        stream_options: StreamOptions<'a> = "stream_options",
    }

    pub(super) struct ReasoningConfig<'a> {
        effort: Str<'a> = "effort",
        summary: Str<'a> = "summary",
    }

    pub(super) struct TextConfig<'a> {
        format: TextFormat<'a> = "format",
        verbosity: Str<'a> = "verbosity",
    }

    pub(super) struct JsonSchemaFormat<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        schema: Raw<'a> = "schema",
        strict: At<bool> = "strict",
    }

    pub(super) struct StreamOptions<'a> {
        include_obfuscation: At<bool> = "include_obfuscation",
    }

    /// A message of any role, in its short or its full form.
    pub(super) struct Message<'a> {
        kind: Str<'a> = "type",
        role: Str<'a> = "role",
        content: Content<'a> = "content",
        id: Str<'a> = "id",
        status: Str<'a> = "status",
        phase: Str<'a> = "phase",
    }

    /// What one agent of Codex writes to another.
    pub(super) struct AgentMessage<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        author: Str<'a> = "author",
        recipient: Str<'a> = "recipient",
        content: AgentContent<'a> = "content",
        status: Str<'a> = "status",
    }

    /// A part that the model which wrote it may have sealed.
    pub(super) struct SealedPart<'a> {
        kind: Str<'a> = "type",
        encrypted_content: Str<'a> = "encrypted_content",
    }

    /// `function_call`, `custom_tool_call` and the calls of native tools. They
    /// differ only in the member that holds the arguments.
    pub(super) struct ToolCall<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        call_id: Str<'a> = "call_id",
        name: Str<'a> = "name",
        namespace: Str<'a> = "namespace",
        arguments: Arguments<'a> = "arguments",
        input: Str<'a> = "input",
        action: Raw<'a> = "action",
        operation: Raw<'a> = "operation",
        execution: Str<'a> = "execution",
        status: Str<'a> = "status",
        caller: Raw<'a> = "caller",
    }

    /// `function_call_output` and its like.
    pub(super) struct ToolOutput<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        call_id: Str<'a> = "call_id",
        name: Str<'a> = "name",
        namespace: Str<'a> = "namespace",
        output: Content<'a> = "output",
        status: Str<'a> = "status",
    }

    pub(super) struct ShellOutput<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        call_id: Str<'a> = "call_id",
        output: Raw<'a> = "output",
        status: Str<'a> = "status",
    }

    pub(super) struct ToolSearchOutput<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        call_id: Str<'a> = "call_id",
        execution: Str<'a> = "execution",
        tools: ToolList<'a> = "tools",
        status: Str<'a> = "status",
    }

    pub(super) struct AdditionalTools<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        role: Str<'a> = "role",
        tools: ToolList<'a> = "tools",
    }

    pub(super) struct ReasoningItem<'a> {
        kind: Str<'a> = "type",
        id: Str<'a> = "id",
        summary: Vec<ReasoningPart<'a>> = "summary",
        content: Vec<ReasoningPart<'a>> = "content",
        encrypted_content: Str<'a> = "encrypted_content",
        status: Str<'a> = "status",
    }

    pub(super) struct ReasoningPart<'a> {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
    }

    /// `input_text` and `output_text`.
    pub(super) struct TextPart<'a> {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        annotations: Raw<'a> = "annotations",
        logprobs: Raw<'a> = "logprobs",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
    }

    pub(super) struct RefusalPart<'a> {
        kind: Str<'a> = "type",
        refusal: Str<'a> = "refusal",
    }

    pub(super) struct ImagePart<'a> {
        kind: Str<'a> = "type",
        image_url: Str<'a> = "image_url",
        file_id: Str<'a> = "file_id",
        detail: Str<'a> = "detail",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
    }

    pub(super) struct FilePart<'a> {
        kind: Str<'a> = "type",
        file_data: Str<'a> = "file_data",
        file_id: Str<'a> = "file_id",
        file_url: Str<'a> = "file_url",
        filename: Str<'a> = "filename",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
    }

    pub(super) struct AudioPart<'a> {
        kind: Str<'a> = "type",
        input_audio: AudioData<'a> = "input_audio",
        prompt_cache_breakpoint: Breakpoint<'a> = "prompt_cache_breakpoint",
    }

    pub(super) struct AudioData<'a> {
        data: Str<'a> = "data",
        format: Str<'a> = "format",
    }

    pub(super) struct Breakpoint<'a> {
        ttl: Str<'a> = "ttl",
    }

    /// The `tool_result` of Messages, which people send to Responses by mistake.
    pub(super) struct ForeignResult<'a> {
        kind: Str<'a> = "type",
        tool_use_id: Str<'a> = "tool_use_id",
        content: Content<'a> = "content",
        is_error: At<bool> = "is_error",
    }

    pub(super) struct FunctionTool<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        parameters: Raw<'a> = "parameters",
        strict: At<bool> = "strict",
        defer_loading: At<bool> = "defer_loading",
        allowed_callers: Raw<'a> = "allowed_callers",
        output_schema: Raw<'a> = "output_schema",
        deferred_result: At<bool> = "async",
        /// How Chat nests a function. The vendor's own SDK accepts it.
        function: Raw<'a> = "function",
    }

    pub(super) struct CustomTool<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        format: FreeformFormat<'a> = "format",
        defer_loading: At<bool> = "defer_loading",
        allowed_callers: Raw<'a> = "allowed_callers",
        deferred_result: At<bool> = "async",
    }

    pub(super) struct GrammarFormat<'a> {
        kind: Str<'a> = "type",
        syntax: Str<'a> = "syntax",
        definition: Str<'a> = "definition",
    }

    pub(super) struct NamespaceTool<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
        description: Str<'a> = "description",
        tools: ToolList<'a> = "tools",
    }

    /// A native or hosted tool. Its type identifies it, and the rest is settings.
    pub(super) struct TypedTool<'a> {
        kind: Str<'a> = "type",
        description: Str<'a> = "description",
        server_label: Str<'a> = "server_label",
        allowed_callers: Raw<'a> = "allowed_callers",
    }

    /// A choice of one tool, and an entry of `allowed_tools`.
    pub(super) struct ChoiceRef<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
        namespace: Str<'a> = "namespace",
        server_label: Str<'a> = "server_label",
    }

    pub(super) struct AllowedTools<'a> {
        kind: Str<'a> = "type",
        mode: Str<'a> = "mode",
        tools: Vec<ChoiceRef<'a>> = "tools",
    }

    /// The answer.
    pub(super) struct Response<'a> {
        id: Str<'a> = "id",
        model: Str<'a> = "model",
        created_at: Raw<'a> = "created_at",
        status: Str<'a> = "status",
        error: ErrorDetail<'a> = "error",
        incomplete_details: IncompleteDetails<'a> = "incomplete_details",
        output: Output<'a> = "output",
        usage: Usage<'a> = "usage",
        service_tier: Str<'a> = "service_tier",
    }

    pub(super) struct IncompleteDetails<'a> {
        reason: Str<'a> = "reason",
    }

    pub(super) struct Usage<'a> {
        input_tokens: At<u64> = "input_tokens",
        input_tokens_details: InputDetails<'a> = "input_tokens_details",
        output_tokens: At<u64> = "output_tokens",
        output_tokens_details: OutputDetails<'a> = "output_tokens_details",
        total_tokens: At<u64> = "total_tokens",
    }

    pub(super) struct InputDetails<'a> {
        cached_tokens: At<u64> = "cached_tokens",
        cache_write_tokens: At<u64> = "cache_write_tokens",
    }

    pub(super) struct OutputDetails<'a> {
        reasoning_tokens: At<u64> = "reasoning_tokens",
    }

    /// An event of a stream about one item.
    pub(super) struct OutputItemEvent<'a> {
        kind: Str<'a> = "type",
        sequence_number: Raw<'a> = "sequence_number",
        item_id: Str<'a> = "item_id",
        output_index: At<u64> = "output_index",
        content_index: At<u64> = "content_index",
        summary_index: At<u64> = "summary_index",
        delta: Str<'a> = "delta",
        logprobs: Raw<'a> = "logprobs",
        obfuscation: Raw<'a> = "obfuscation",
        text: Str<'a> = "text",
        refusal: Str<'a> = "refusal",
        arguments: Arguments<'a> = "arguments",
        input: Str<'a> = "input",
        name: Str<'a> = "name",
        part: Raw<'a> = "part",
        item: Raw<'a> = "item",
        annotation: Raw<'a> = "annotation",
        annotation_index: Raw<'a> = "annotation_index",
    }

    /// An event of a stream about the answer as a whole.
    pub(super) struct ResponseEvent<'a> {
        kind: Str<'a> = "type",
        sequence_number: Raw<'a> = "sequence_number",
        response: Raw<'a> = "response",
    }
}
