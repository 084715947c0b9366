//! Table only: what happens to the fields of a Responses request.

use crate::disposition::Disposition::{Carried, Depends, Emulated, Lost, Only, Refused};
use crate::disposition::common::{
    ARGUMENTS, ID, MOVED, MOVED_FREEFORM, MOVED_NATIVE, MOVED_WITH_SCHEMA, NAME, OUTPUT_SCHEMA,
    SCHEMA, SCHEMALESS, STRICT, STRICT_OUTPUT, SUBSET, WITHOUT_TOOLS,
};
use crate::disposition::{Disposition, Row, rows};
use crate::ledger::Code::*;
use crate::model::HostedClass::{
    self, Code as CodeTool, FileSearch, ImageGeneration, Mcp, WebSearch,
};

pub(super) static TABLE: &[Row] = rows! { [Chat, Messages]
    "Fields that only Responses has" {
        "prompt" => Only("prompt"), Only("prompt");
        "prompt.*" => Only("prompt"), Only("prompt");
        "image*" => Only("image"), Only("image");
        "access_programs*" => Only("access_programs"), Only("access_programs");
        "client_metadata" => Only("client_metadata"), Only("client_metadata") => "Codex sends it.";
    }
    "What hosted tools did" {
        "input[type=web_search_call]*" => Lost(HostedHistory), Lost(HostedHistory);
        "input[type=file_search_call]*" => Lost(HostedHistory), Lost(HostedHistory);
        "input[type=image_generation_call]*" => Lost(HostedHistory), Lost(HostedHistory);
        "input[type=code_interpreter_call]*" => Lost(HostedHistory), Lost(HostedHistory);
        "input[type=computer_call*" => Lost(HostedHistory), Lost(HostedHistory);
        "input[type=mcp_*" => Lost(HostedHistory), Lost(HostedHistory);
        "input[type=program*" => Lost(HostedHistory), Lost(HostedHistory);
    }
    "Media where only text is taken" {
        "input[role=assistant].content[type=input_image]*" => Lost(MediaType), Lost(MediaType);
        "input[role=assistant].content[type=input_file]*" => FILE_AS_TEXT, Lost(MediaType);
        "input[role=system].content[type=input_image]*" => Lost(MediaType), Lost(MediaType);
        "input[role=system].content[type=input_file]*" => FILE_AS_TEXT, Lost(MediaType);
        "input[role=developer].content[type=input_image]*" => Lost(MediaType), Lost(MediaType);
        "input[role=developer].content[type=input_file]*" => FILE_AS_TEXT, Lost(MediaType);
    }
    "Cache markers" {
        "input[type=*_output].output[type=input_text].prompt_cache_breakpoint.ttl" =>
            Lost(CacheBreakpoint), Lost(CacheTtl);
        "input[type=*_output].output[type=input_text].prompt_cache_breakpoint*" =>
            Lost(CacheBreakpoint), Carried => "A result in Chat is one text.";
        "*.prompt_cache_breakpoint.ttl" => Carried, Lost(CacheTtl);
        "*.prompt_cache_breakpoint*" => Carried, Carried;
        "prompt_cache_key" => Carried, Lost(PromptCacheKey);
        "prompt_cache_options.comparison_response_id" =>
            Only("prompt_cache_options.comparison_response_id"), Only("prompt_cache_options");
        "prompt_cache_options.prewarm" =>
            Only("prompt_cache_options.prewarm"), Only("prompt_cache_options");
        "prompt_cache_options*" => Carried, Only("prompt_cache_options");
        "prompt_cache_retention" => Carried, Only("prompt_cache_retention");
    }
    "Conversation" {
        "model" => Carried, Carried;
        "instructions" => Carried, Carried;
        "input" => Carried, Carried;
        "input(string)" => Carried, Carried;
        "input[role=developer]" => Lost(DeveloperRole), Lost(DeveloperRole) =>
            "Kept toward a Chat upstream whose profile says that it takes the role.";
        "input[role=*].phase" => Lost(Phase), Lost(Phase);
        "input[role=*].id" => Lost(ItemId), Lost(ItemId);
        "input[role=*].status" => Lost(Status), Lost(Status);
        "input*[type=input_image].detail" => Carried, Lost(ImageDetail);
        "input*[type=input_image].file_id" => Lost(FileId), Lost(FileId);
        "input*[type=input_file].detail" => Only("detail"), Only("detail");
        "input*[type=input_file].file_id" => Carried, Lost(FileId);
        "input*[type=input_file].filename" => Emulated(MediaType), Carried =>
            "It gets the ending of the file's type if it has none.";
        "input[role=*].content[type=input_file].file_url" => Carried, Carried =>
            "Chat takes no URL of a file; it is told as text.";
        "input[role=assistant].content[type=output_text].annotations*" => Lost(Citations), Lost(Citations);
        "input[role=assistant].content[type=output_text].logprobs*" => Lost(Logprobs), Lost(Logprobs);
        "input[role=assistant].content[type=refusal]" => Carried, Emulated(StopReason);
        "input[role=*" => Carried, Carried;
        "input[type=item_reference]*" => Lost(UnknownItem), Lost(UnknownItem);
        "input[type=compaction*" => Lost(ContextManagement), Lost(ContextManagement);
        "input[type=configuration_update]*" => Lost(UnknownItem), Lost(UnknownItem);
        "previous_response_id" => Refused(PreviousResponse), Refused(PreviousResponse);
        "conversation*" => Refused(Conversation), Refused(Conversation);
    }
    "Reasoning" {
        "input[type=reasoning].id" => Lost(ItemId), Lost(ItemId);
        "input[type=reasoning].status" => Lost(Status), Lost(Status);
        "input[type=reasoning].encrypted_content" => Lost(ReasoningForeign), Lost(ReasoningForeign) =>
            "What toolwire has sealed itself goes back to the vendor that it came from.";
        "input[type=reasoning]*" => Lost(ReasoningUnsigned), Lost(ReasoningUnsigned);
        "reasoning.effort" => Carried, Depends(&[Carried, Emulated(Effort), Lost(Effort)],
            "none turns thinking off, minimal becomes low, the others are carried");
        "reasoning.summary" => Lost(ReasoningDisplay), Lost(ReasoningDisplay);
        "reasoning.generate_summary" => Lost(ReasoningDisplay), Lost(ReasoningDisplay);
        "reasoning.context" => Only("reasoning.context"), Only("reasoning.context");
        "reasoning.mode" => Only("reasoning.mode"), Only("reasoning.mode");
        "reasoning" => Carried, Carried;
    }
    "Calls and results" {
        "input[type=*_call].async" => Lost(AsyncTool), Lost(AsyncTool);
        "input[type=*_call].id" => Lost(ItemId), Lost(ItemId);
        "input[type=*_output].id" => Lost(ItemId), Lost(ItemId);
        "input[type=apply_patch_call_output].status" =>
            Lost(IsError), Carried => "That a patch failed is told as text in Chat.";
        "input[type=*].status" => Lost(Status), Lost(Status);
        "input[type=*].caller*" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "input[type=*].call_id" => ID, ID;
        "input[type=function_call].arguments" => Carried, ARGUMENTS;
        "input[type=function_call].namespace" =>
            Emulated(NamespaceFlattened), Emulated(NamespaceFlattened);
        "input[type=custom_tool_call].namespace" =>
            Emulated(NamespaceFlattened), Emulated(NamespaceFlattened);
        "input[type=function_call_output].name*" => Emulated(ResultName), Emulated(ResultName) =>
            "The call that the result answers has the name.";
        "input[type=*_call].name" => NAME, NAME;
        "input[type=*_output].output[type=input_image]" => Lost(ResultMediaMoved), Carried;
        "input[type=*_output].output[type=input_file]" => Lost(ResultMediaMoved), Carried;
        "input[type=custom_tool_call]" => Carried, Emulated(FreeformWrapped);
        "input[type=function_call*" => Carried, Carried;
        "input[type=custom_tool_call*" => Carried, Carried;
    }
    "Calls and results of shell, patch and search" {
        "input[type=local_shell_call]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=local_shell_call].action.type" =>
            Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=local_shell_call_output]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=shell_call]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=shell_call].environment*" => Only("environment"), Only("environment");
        "input[type=shell_call_output]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=shell_call_output].max_output_length" =>
            Only("max_output_length"), Only("max_output_length");
        "input[type=shell_call_output].output[].outcome" =>
            Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=shell_call_output].output[].outcome(type=*)" =>
            Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=apply_patch_call]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=apply_patch_call].operation(type=*)" =>
            Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=apply_patch_call_output]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=tool_search_call]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input[type=tool_search_call].execution" => Lost(HostedHistory), Lost(HostedHistory) =>
            "Only what the client searched for itself is carried.";
        "input[type=tool_search_output].execution" => Lost(HostedHistory), Lost(HostedHistory) =>
            "Only what the client searched for itself is carried.";
        "input[type=tool_search_output]" => Carried, Carried;
        "input[type=tool_search_output].tools" => Carried, Carried;
        "input[type=local_shell_call*" => Carried, Carried;
        "input[type=shell_call*" => Carried, Carried;
        "input[type=apply_patch_call*" => Carried, Carried;
        "input[type=tool_search_call*" => Carried, Carried;
    }
    "Hosted tools" {
        "*tools[type=web_search*].external_web_access" =>
            Lost(HostedTool(WebSearch)), Lost(WebSearchOption);
        "*tools[type=web_search*].search_con*" => Lost(HostedTool(WebSearch)), Lost(WebSearchOption);
        "*tools[type=web_search*].*" => Lost(HostedTool(WebSearch)), Carried;
        "tools[type=web_search_*2025_*" => Lost(HostedTool(WebSearch)),
            Depends(&[Emulated(HostedTool(WebSearch)), Lost(WebSearchOption)],
                "the target has versions of its own");
        "input*.tools[type=web_search_*2025_*" => Lost(HostedTool(WebSearch)),
            Depends(&[Emulated(HostedTool(WebSearch)), Lost(ToolPosition), Lost(WebSearchOption)],
                "declared from the start; the target has versions of its own");
        "tools[type=web_search*" => Lost(HostedTool(WebSearch)), Emulated(HostedTool(WebSearch)) =>
            "Carried to a Chat upstream whose profile says that it takes `web_search_options`.";
        "input*.tools[type=web_search*" => Lost(HostedTool(WebSearch)),
            Depends(&[Emulated(HostedTool(WebSearch)), Lost(ToolPosition)], "declared from the start");
        "*tools[type=file_search]*" => Lost(HostedTool(FileSearch)), Lost(HostedTool(FileSearch));
        "*tools[type=image_generation]*" =>
            Lost(HostedTool(ImageGeneration)), Lost(HostedTool(ImageGeneration));
        "*tools[type=code_interpreter]*" => Lost(HostedTool(CodeTool)), Lost(HostedTool(CodeTool));
        "*tools[type=programmatic_tool_calling]" =>
            Lost(HostedTool(CodeTool)), Lost(HostedTool(CodeTool));
        "*tools[type=mcp]*" => Lost(HostedTool(Mcp)), Lost(HostedTool(Mcp));
        "*tools[type=computer*" => Lost(ComputerTool), Lost(ComputerTool);
        "tools[type=tool_search]" => Lost(ToolSearch), Emulated(HostedTool(HostedClass::ToolSearch));
        "input*.tools[type=tool_search]" => Lost(ToolSearch),
            Depends(&[Emulated(HostedTool(HostedClass::ToolSearch)), Lost(ToolPosition)],
                "declared from the start");
        "tools[type=tool_search].execution" =>
            Depends(&[Emulated(NativeToolWrapped), Lost(ToolSearch)], "Chat has no other search"),
            Emulated(NativeToolWrapped) => "A search that the client runs crosses as a function.";
        "input*.tools[type=tool_search].execution" =>
            Depends(&[Emulated(NativeToolWrapped), Lost(ToolSearch), Lost(ToolPosition), Lost(ToolName)],
                "declared from the start, and once only"),
            Depends(&[Emulated(NativeToolWrapped), Lost(ToolPosition), Lost(ToolName)],
                "declared from the start, and once only");
        "*tools[type=tool_search].description" => Lost(ToolSearch), Only("description");
        "*tools[type=tool_search].parameters" => Lost(ToolSearch), Only("parameters");
    }
    "Tools" {
        "*tools[type=*].async" => Lost(AsyncTool), Lost(AsyncTool);
        "*tools[type=*].allowed_callers" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "*tools[type=*].output_schema" => Lost(OutputSchema), Lost(OutputSchema);
        "tools*.defer_loading" => Lost(DeferLoading), Depends(&[Carried, Lost(DeferLoading)],
            "carried if there is a tool search");
        "input*.defer_loading" => Lost(DeferLoading), Lost(DeferLoading);
        "*tools[type=shell].environment*" => Only("environment"), Only("environment");
        "*tools[type=*].format" => Carried, Lost(GrammarUnenforced);
        "*tools[type=*].format(type=grammar)" => Carried, Lost(GrammarUnenforced);
        "*tools[type=*].format(type=grammar).*" => Carried, Carried =>
            "Told to the model in words where it cannot be enforced.";
        "*tools[type=function].parameters" => SCHEMA, SCHEMA;
        "*tools[type=function].strict" => STRICT, STRICT;
        "*tools[type=*].name" => NAME, NAME;
        "tools[type=namespace]" => Emulated(NamespaceFlattened), Emulated(NamespaceFlattened);
        "input*.tools[type=namespace]" => Emulated(NamespaceFlattened), Emulated(NamespaceFlattened);
        "tools[type=namespace].tools[type=function]" =>
            Emulated(NamespaceFlattened), Emulated(NamespaceFlattened);
        "tools[type=namespace].tools[type=custom]" => Emulated(NamespaceFlattened),
            Depends(&[Emulated(NamespaceFlattened), Emulated(FreeformWrapped)], "as a function");
        "tools[type=function]" => Carried, SCHEMALESS;
        "tools[type=custom]" => Carried, Emulated(FreeformWrapped);
        "tools[type=local_shell]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "tools[type=shell]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "tools[type=apply_patch]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "input*.tools[type=function]" => MOVED, MOVED_WITH_SCHEMA;
        "input*.tools[type=custom]" => MOVED, MOVED_FREEFORM;
        "input*.tools[type=local_shell]" => MOVED_NATIVE, MOVED_NATIVE;
        "input*.tools[type=shell]" => MOVED_NATIVE, MOVED_NATIVE;
        "input*.tools[type=apply_patch]" => MOVED_NATIVE, MOVED_NATIVE;
        "input[type=additional_tools].id" => Lost(ItemId), Lost(ItemId);
        "input[type=additional_tools].role" => Carried, Carried;
        "input[type=additional_tools]*" => Carried, Carried;
        "input*" => Carried, Carried;
        "tools*" => Carried, Carried;
    }
    "Choice of tools" {
        "tool_choice" => WITHOUT_TOOLS, WITHOUT_TOOLS;
        "tool_choice(string)" => WITHOUT_TOOLS, WITHOUT_TOOLS;
        "tool_choice(type=allowed_tools)*" => Carried, SUBSET;
        "tool_choice(type=mcp)*" => Refused(ChoiceTarget), Refused(ChoiceTarget);
        "tool_choice*.name" => NAME, NAME;
        "tool_choice(type=function)" => Carried, Carried;
        "tool_choice(type=custom)" => Carried, Carried;
        "tool_choice(type=shell)" => Carried, Carried;
        "tool_choice(type=apply_patch)" => Carried, Carried;
        "tool_choice(type=web_search_preview*" =>
            Refused(ChoiceTarget), Emulated(HostedTool(WebSearch));
        "tool_choice*" => Refused(ChoiceTarget), Refused(ChoiceTarget);
        "parallel_tool_calls" => WITHOUT_TOOLS, WITHOUT_TOOLS;
        "max_tool_calls" => Lost(MaxToolCalls), Lost(MaxToolCalls);
    }
    "Output" {
        "max_output_tokens" => Carried, Carried;
        "text.format(type=json_schema).name" => Carried, Lost(FormatName);
        "text.format(type=json_schema).description" => Carried, Lost(FormatName);
        "text.format(type=json_schema).strict" => Carried, STRICT_OUTPUT;
        "text.format(type=json_schema).schema" => Carried, OUTPUT_SCHEMA;
        "text.format(type=json_object)" => Carried, Lost(JsonMode);
        "text.verbosity" => Carried, Lost(Verbosity);
        "text*" => Carried, Carried;
        "include" => Lost(Include), Lost(Include);
        "moderation*" => Carried, Only("moderation");
    }
    "Sampling" {
        "temperature" => Carried, Lost(Sampling) =>
            "Sent to a Messages upstream whose profile says that it takes sampling parameters.";
        "top_p" => Carried, Lost(Sampling);
        "top_logprobs" => Carried, Lost(Logprobs);
    }
    "Service and labels" {
        "metadata" => Carried, Lost(Metadata);
        "safety_identifier" => Carried, Carried;
        "user" => Carried, Emulated(User);
        "service_tier" => Depends(&[Carried, Lost(Tier)], "ultrafast is unknown to Chat"),
            Depends(&[Carried, Emulated(Tier), Lost(Tier)],
                "auto is carried, default and priority have a counterpart, the others become auto");
        "store" => Carried, Emulated(ServerState);
        "background" => Refused(Background), Refused(Background);
        "truncation" => Depends(&[Emulated(Truncation), Lost(Truncation)], "disabled is what happens anyway"),
            Depends(&[Emulated(Truncation), Lost(Truncation)], "disabled is what happens anyway");
        "context_management*" => Lost(ContextManagement), Lost(ContextManagement);
        "stream" => Carried, Carried;
        "stream_options*" => Carried, Lost(StreamOptions);
    }
};

const FILE_AS_TEXT: Disposition = Depends(&[Lost(MediaType), Carried], "a URL is told as text");
