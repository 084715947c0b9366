//! Table only: what happens to the fields of a Messages request.
//!
//! A tool is declared in `tools`, or in the conversation by a `tool_addition`
//! block: `*type=bash_*` is either.

use crate::disposition::Disposition::{Carried, Depends, Emulated, Lost, Only};
use crate::disposition::common::{FLOOR, ID, NAME, SCHEMA, STRICT, WITHOUT_TOOLS};
use crate::disposition::{Disposition, Row, rows};
use crate::ledger::Code::*;
use crate::model::HostedClass::{Advisor, Code as CodeTool, Mcp, WebFetch, WebSearch};

pub(super) static TABLE: &[Row] = rows! { [Chat, Responses]
    "Fields that only Messages has" {
        "speed" => Only("speed"), Only("speed");
        "inference_geo" => Only("inference_geo"), Only("inference_geo");
        "container*" => Only("container"), Only("container");
        "diagnostics*" => Only("diagnostics"), Only("diagnostics");
        "compaction*" => Only("compaction"), Only("compaction");
        "fallbacks*" => Only("fallbacks"), Only("fallbacks");
        "fallback_credit_token*" => Only("fallback_credit_token"), Only("fallback_credit_token");
        "thread*" => Only("thread"), Only("thread");
        "mcp_servers*" => Only("mcp_servers"), Only("mcp_servers");
    }
    "What hosted tools did" {
        "messages*.content[type=server_tool_use]*" => Lost(HostedHistory), Lost(HostedHistory);
        "messages*.content[type=mcp_tool_*" => Lost(HostedHistory), Lost(HostedHistory);
        "messages*.content[type=*_tool_result]*" => Lost(HostedHistory), Lost(HostedHistory);
    }
    "Blocks that only Messages has" {
        "messages*.content[type=compaction]*" => Lost(ContextManagement), Lost(ContextManagement);
        "messages*.content[type=container_upload]*" => Lost(FileId), Lost(FileId);
        "messages*.content[type=fallback]*" => Lost(UnknownItem), Lost(UnknownItem);
        "messages*.content[type=tool_removal]*" => Lost(ToolPosition), Lost(ToolPosition) =>
            "A tool that is withdrawn and not offered again is not sent.";
        "messages*.tool(type=tool_reference)*" => Lost(ToolPosition), Lost(ToolPosition);
        "messages*.tool(type=mcp_*" => Lost(ToolPosition), Lost(ToolPosition);
        "messages*.content[type=tool_addition]" => Lost(ToolPosition), Lost(ToolPosition) =>
            "A tool that is defined in it crosses.";
        "messages*.content[type=tool_addition].cache_control*" =>
            Lost(ToolPosition), Lost(ToolPosition);
        "messages*.content[type=tool_addition].tool" => Lost(ToolPosition), Lost(ToolPosition);
        "messages*.content[type=browser_state]*" => Lost(UnknownItem), Lost(UnknownItem);
    }
    "Hosted tools" {
        "*.content[type=tool_use].caller*" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "*type=web_fetch_*" => Lost(HostedTool(WebFetch)), Lost(HostedTool(WebFetch));
        "*type=code_execution_*" => Lost(HostedTool(CodeTool)), Lost(HostedTool(CodeTool));
        "*type=advisor_*" => Lost(HostedTool(Advisor)), Lost(HostedTool(Advisor));
        "*type=mcp_toolset)*" => Lost(HostedTool(Mcp)), Lost(HostedTool(Mcp));
        "*type=mcp_toolset]*" => Lost(HostedTool(Mcp)), Lost(HostedTool(Mcp));
        "*type=computer_*" => Lost(ComputerTool), Lost(ComputerTool);
        "*type=browser_toolset_*" => Lost(ComputerTool), Lost(ComputerTool);
        "*type=web_search_2*.allowed_callers" => Lost(HostedTool(WebSearch)), Lost(ProgrammaticCallers);
        "*type=web_search_2*.allowed_domains" => Lost(HostedTool(WebSearch)), Carried;
        "*type=web_search_2*.user_location*" => Lost(HostedTool(WebSearch)), Carried;
        "*type=web_search_2*.blocked_domains" => Lost(HostedTool(WebSearch)), Lost(WebSearchOption);
        "*type=web_search_2*.max_uses" => Lost(HostedTool(WebSearch)), Lost(WebSearchOption);
        "*type=web_search_2*.response_inclusion" => Lost(HostedTool(WebSearch)), Lost(WebSearchOption);
        "*type=web_search_2*.cache_control*" => Lost(HostedTool(WebSearch)), Lost(CacheBreakpoint);
        "*type=web_search_2*.defer_loading" => Lost(HostedTool(WebSearch)), Lost(DeferLoading);
        "*type=web_search_2*.strict" => Lost(HostedTool(WebSearch)), Lost(StrictDowngraded);
        "*type=web_search_2*" => Lost(HostedTool(WebSearch)), Emulated(HostedTool(WebSearch)) =>
            "Carried to a Chat upstream whose profile says that it takes `web_search_options`.";
        "*type=tool_search_tool_*.allowed_callers" => Lost(ToolSearch), Lost(ProgrammaticCallers);
        "*type=tool_search_tool_*.cache_control*" => Lost(ToolSearch), Lost(CacheBreakpoint);
        "*type=tool_search_tool_*.defer_loading" => Lost(ToolSearch), Lost(DeferLoading);
        "*type=tool_search_tool_*.strict" => Lost(ToolSearch), Lost(StrictDowngraded);
        "*type=tool_search_tool_*.name" => Lost(ToolSearch), Carried;
        "*type=tool_search_tool_*" => Lost(ToolSearch), Lost(ToolSearch) =>
            "Responses searches in its own way, not by regular expression or bm25.";
    }
    "Media in what the model said" {
        "messages[role=assistant].content[type=image]*" => Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document]" => Lost(MediaType), Lost(MediaType) =>
            "What can be read of a document goes as text.";
        "messages[role=assistant].content[type=document].source" => Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document].source(type=base64)*" =>
            Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document].source(type=file)*" =>
            Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document].source(type=url)" =>
            Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document].source(type=url).url" =>
            Carried, Lost(MediaType);
        "messages[role=assistant].content[type=document].cache_control*" =>
            Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document].citations*" => Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document].context" => Lost(MediaType), Lost(MediaType);
        "messages[role=assistant].content[type=document].title" => Lost(MediaType), Lost(MediaType);
    }
    "Images in a document" {
        "*[type=document].source(type=content).content[type=image]*" =>
            Depends(&[Carried, Lost(MediaType), Lost(ResultMediaMoved), Lost(FileId),
                Lost(CacheBreakpoint), Only("transformations")],
                "as an image beside the document; none where the model speaks"),
            Depends(&[Carried, Lost(MediaType), Lost(FileId), Lost(CacheBreakpoint),
                Only("transformations")],
                "as an image beside the document; none where the model speaks");
    }
    "Cache markers" {
        "*cache_control*" => Lost(CacheBreakpoint), Lost(CacheBreakpoint) =>
            "Sent to an OpenAI upstream whose profile says that it takes them on content.";
    }
    "Tools" {
        "*.allowed_callers" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "*.eager_input_streaming" => Only("eager_input_streaming"), Only("eager_input_streaming");
        "*.input_examples" => Lost(InputExamples), Lost(InputExamples) =>
            "Told in the description if the upstream's profile says so.";
        "tools*.defer_loading" => Lost(DeferLoading), Depends(&[Carried, Lost(DeferLoading)],
            "carried if there is a tool search");
        "messages*.defer_loading" => Lost(DeferLoading), Lost(DeferLoading);
        "*type=text_editor_*.max_characters" => Only("max_characters"), Only("max_characters");
        "*type=bash_*.strict" => Lost(StrictDowngraded), Lost(StrictDowngraded);
        "*type=memory_*.strict" => Lost(StrictDowngraded), Lost(StrictDowngraded);
        "*type=text_editor_*.strict" => Lost(StrictDowngraded), Lost(StrictDowngraded);
        "tools[type=bash_*" => Lost(NativeToolTraining), Lost(NativeToolTraining);
        "tools[type=memory_*" => Lost(NativeToolTraining), Lost(NativeToolTraining);
        "tools[type=text_editor_*" => Lost(NativeToolTraining), Lost(NativeToolTraining);
        "messages*.definition(type=bash_*" => TRAINED_ELSEWHERE, Lost(NativeToolTraining);
        "messages*.definition(type=memory_*" => TRAINED_ELSEWHERE, Lost(NativeToolTraining);
        "messages*.definition(type=text_editor_*" => TRAINED_ELSEWHERE, Lost(NativeToolTraining);
        "*type=custom*.input_schema" => SCHEMA, SCHEMA;
        "*type=custom*.strict" => STRICT, STRICT;
        "*type=custom*.name" => NAME, NAME;
        "messages*.definition" => Lost(ToolPosition), Carried;
        "messages*.definition(type=custom)" => Lost(ToolPosition), Carried;
        "messages*.tool(type=tool_definition)*" => Carried, Carried;
        "tools*" => Carried, Carried;
    }
    "Choice of tools" {
        "tool_choice(type=tool).name" => NAME, NAME;
        "tool_choice*" => WITHOUT_TOOLS, Carried;
    }
    "Documents, search results and citations" {
        "*.citations*" => Lost(Citations), Depends(&[Lost(Citations), Carried],
            "what cites a page of the web is carried within an answer");
        "*[type=document].source(type=text)" => Lost(MediaType), Emulated(MediaType);
        "*[type=document].source(type=text).media_type" => Lost(MediaType), Emulated(MediaType);
        "*[type=document].source(type=content)" => Lost(MediaType), Lost(MediaType);
        "*[type=document].source(type=content).content[type=text]" => Lost(MediaType), Lost(MediaType);
        "*[type=document].source(type=content).*" => Carried, Carried => "The text goes as text.";
        "*[type=document].source(type=url)" => Lost(MediaType), Carried;
        "*[type=search_result]" => Lost(Citations), Lost(Citations);
        "*[type=search_result].content[type=text]" => Lost(Citations), Lost(Citations);
        "*[type=search_result].*" => Carried, Carried;
    }
    "Conversation" {
        "model" => Carried, Carried;
        "system" => Carried, Carried;
        "system(string)" => Carried, Carried;
        "system*" => Carried, Carried;
        "messages" => Carried, Carried;
        "messages[role=system].clear_at" => Only("clear_at"), Only("clear_at");
        "messages[role=system].output_config*" => Only("output_config"), Only("output_config");
        "*.content[type=image].source(type=file)*" => Lost(FileId), Lost(FileId);
        "*.content[type=image].transformations*" => Only("transformations"), Only("transformations");
        "*.content[type=document].source(type=file)*" => Lost(FileId), Lost(FileId);
        "*.content[type=document].title" => Emulated(MediaType), Emulated(MediaType) =>
            "The name of a file, which gets the ending of its type if it has none.";
        "*.content[type=document].context" => Only("context"), Only("context");
        "*.content[type=thinking]*" => Lost(ReasoningForeign), Lost(ReasoningForeign) =>
            "What toolwire has sealed itself goes back to the vendor that it came from.";
        "*.content[type=redacted_thinking]*" => Lost(ReasoningForeign), Lost(ReasoningForeign);
    }
    "Calls and results" {
        "*.content[type=tool_use].name" => NAME, NAME;
        "*.content[type=tool_use].id" => ID, ID;
        "*.toolset_name" => Only("toolset_name"), Only("toolset_name");
        "messages[role=user].content[type=tool_use]" => Lost(MissingResult), Lost(MissingResult);
        "messages[role=assistant].content[type=tool_result]" => Lost(OrphanResult), Lost(OrphanResult);
        "*.content[type=tool_result].tool_use_id" => ID, ID;
        "*.content[type=tool_result].is_error" => Lost(IsError), Lost(IsError);
        "*.content[type=tool_result].content[type=tool_reference]" => Lost(ToolSearch), Lost(ToolSearch);
        "*.content[type=tool_result].content[type=image]" => Lost(ResultMediaMoved), Carried;
        "*.content[type=tool_result].content[type=image].source(type=*)" =>
            Lost(ResultMediaMoved), Carried;
        "*.content[type=tool_result].content[type=document]" => Lost(ResultMediaMoved), Carried;
        "*.content[type=tool_result].content[type=document].source(type=base64)" =>
            Lost(ResultMediaMoved), Carried;
        "*.content[type=tool_result].content[type=document].source(type=base64).media_type" =>
            Lost(ResultMediaMoved), Carried;
        "messages*" => Carried, Carried;
    }
    "Output" {
        "max_tokens" => Carried, FLOOR;
        "stop_sequences" => Carried, Lost(Stop);
        "output_config.format" => Emulated(FormatName), Emulated(FormatName);
        "output_config.format.type" => Emulated(FormatName), Emulated(FormatName);
        "output_config.task_budget*" =>
            Only("output_config.task_budget"), Only("output_config.task_budget");
        "output_config*" => Carried, Carried;
    }
    "Reasoning" {
        "thinking*.display" => Lost(ReasoningDisplay),
            Depends(&[Emulated(ReasoningDisplay), Lost(ReasoningDisplay)],
            "Responses gives summaries or nothing");
        "thinking*.block_binding*" => Only("block_binding"), Only("block_binding");
        "thinking(type=enabled).budget_tokens" => Lost(ThinkingBudget), Lost(ThinkingBudget);
        "thinking(type=disabled)" => Emulated(ThinkingMode), Emulated(ThinkingMode);
        "thinking(type=between_tools)" => Lost(ThinkingMode), Lost(ThinkingMode);
        "thinking*" => Lost(ThinkingMode), Emulated(ThinkingMode);
    }
    "Sampling" {
        "temperature" => Carried, Carried;
        "top_p" => Carried, Carried;
        "top_k" => Lost(Sampling), Lost(Sampling);
    }
    "Service and labels" {
        "metadata*" => Carried, Carried;
        "service_tier" => Depends(&[Carried, Emulated(Tier)], "standard_only becomes default"),
            Depends(&[Carried, Emulated(Tier)], "standard_only becomes default");
        "stream" => Carried, Carried;
        "context_management*" => Lost(ContextManagement), Lost(ContextManagement);
    }
};

const TRAINED_ELSEWHERE: Disposition = Depends(
    &[Lost(NativeToolTraining), Lost(ToolPosition)],
    "declared from the start, and as a function that the model was not trained on",
);
