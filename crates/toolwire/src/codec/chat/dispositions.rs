//! Table only: what happens to the fields of a Chat request.

use crate::disposition::Disposition::{Carried, Depends, Emulated, Lost, Only, Refused};
use crate::disposition::common::{
    ARGUMENTS, FLOOR, ID, NAME, OUTPUT_SCHEMA, SCHEMA, SCHEMALESS, STRICT, STRICT_OUTPUT, SUBSET,
    WITHOUT_TOOLS,
};
use crate::disposition::{Row, rows};
use crate::ledger::Code::*;
use crate::model::HostedClass::WebSearch;

pub(super) static TABLE: &[Row] = rows! { [Responses, Messages]
    "Fields that only Chat has" {
        "modalities" => Only("modalities"), Only("modalities");
        "audio*" => Only("audio"), Only("audio");
        "prediction*" => Only("prediction"), Only("prediction");
    }
    "Cache markers" {
        "*[type=input_audio].prompt_cache_breakpoint*" => Lost(Audio), Lost(Audio);
        "messages[role=assistant]*.prompt_cache_breakpoint.ttl" => Lost(CacheBreakpoint), Lost(CacheTtl);
        "messages[role=assistant]*.prompt_cache_breakpoint*" => Lost(CacheBreakpoint), Carried =>
            "Responses has them only on what the model reads.";
        "messages[role=tool]*.prompt_cache_breakpoint.ttl" => Lost(CacheBreakpoint), Lost(CacheTtl);
        "messages[role=tool]*.prompt_cache_breakpoint*" => Lost(CacheBreakpoint), Carried =>
            "Results of text alone are one string in Responses.";
        "*.prompt_cache_breakpoint.ttl" => Carried, Lost(CacheTtl);
        "*.prompt_cache_breakpoint*" => Carried, Carried;
        "*.cache_control*" => Lost(CacheBreakpoint), Carried =>
            "Not from OpenAI, but many vendors accept it on parts, messages and tools.";
        "prompt_cache_key" => Carried, Lost(PromptCacheKey);
        "prompt_cache_options*" => Carried, Only("prompt_cache_options");
        "prompt_cache_retention" => Carried, Only("prompt_cache_retention");
    }
    "Conversation" {
        "model" => Carried, Carried;
        "messages" => Carried, Carried;
        "messages[role=developer]" => Carried, Lost(DeveloperRole);
        "messages[role=function].name" => Emulated(ResultName), Emulated(ResultName) =>
            "The name pairs the result with its call, which has it too.";
        "messages[role=*].name" => Lost(MessageName), Lost(MessageName);
        "messages[role=user].content[type=image_url].image_url.detail" => Carried, Lost(ImageDetail);
        "messages[role=user].content[type=input_audio]*" => Lost(Audio), Lost(Audio) =>
            "Carried to a Responses upstream whose profile says that it takes `audio`.";
        "messages[role=user].content[type=file].file.file_id" => Carried, Lost(FileId);
        "messages[role=user].content[type=file].file.filename" => Emulated(MediaType), Carried =>
            "It gets the ending of the file's type if it has none.";
        "messages[role=assistant].audio*" => Lost(Audio), Lost(Audio);
        "messages[role=assistant].content[type=refusal]" => Carried, Emulated(StopReason);
        "messages[role=assistant].refusal" => Carried, Emulated(StopReason);
        "messages[role=assistant].reasoning_details" => Lost(ReasoningForeign), Lost(ReasoningForeign) =>
            "What toolwire has sealed itself goes back to the vendor that it came from.";
        "messages[role=assistant].content[type=thinking]*" =>
            Lost(ReasoningUnsigned), Lost(ReasoningUnsigned);
        "messages[role=assistant].reasoning*" => Lost(ReasoningUnsigned), Lost(ReasoningUnsigned);
        "messages[role=assistant].thinking_blocks" => Lost(ReasoningForeign), Carried;
    }
    "Calls and results" {
        "messages[role=assistant].tool_calls[type=custom]" => Carried, Emulated(FreeformWrapped);
        "messages[role=assistant].tool_calls[*.id" => Carried, ID;
        "messages[role=assistant].tool_calls[*.name" => NAME, NAME;
        "messages[role=assistant].tool_calls[type=function].function.arguments" => Carried, ARGUMENTS;
        "messages[role=assistant].function_call.arguments" => Carried, ARGUMENTS;
        "messages[role=tool].tool_call_id" => Carried, ID;
        "messages[role=*" => Carried, Carried;
    }
    "Tools" {
        "tools[type=function]" => SCHEMALESS, SCHEMALESS;
        "tools[type=function].function.name" => NAME, NAME;
        "tools[type=function].function.parameters" => SCHEMA, SCHEMA;
        "tools[type=function].function.strict" => STRICT, STRICT;
        "tools[type=custom]" => Carried, Emulated(FreeformWrapped);
        "tools[type=custom].custom.name" => NAME, NAME;
        "tools[type=custom].custom.format" => Carried, Lost(GrammarUnenforced);
        "tools[type=custom].custom.format(type=grammar)" => Carried, Lost(GrammarUnenforced);
        "tools[type=custom].custom.format(type=grammar).grammar*" => Carried, Carried =>
            "Told to the model in words where it cannot be enforced.";
        "functions" => Emulated(LegacyFunctions), Emulated(LegacyFunctions);
        "tools*" => Carried, Carried;
        "functions*" => Carried, Carried;
        "web_search_options" => Emulated(HostedTool(WebSearch)), Emulated(HostedTool(WebSearch));
        "web_search_options.search_context_size" => Carried, Lost(WebSearchOption);
        "web_search_options*" => Carried, Carried;
    }
    "Choice of tools" {
        "tool_choice" => Carried, WITHOUT_TOOLS;
        "tool_choice(string)" => Carried, WITHOUT_TOOLS;
        "tool_choice(type=allowed_tools)*" => Carried, SUBSET;
        "tool_choice*.name" => NAME, NAME;
        "tool_choice*" => Carried, Carried;
        "function_call*" => Carried, Carried;
        "parallel_tool_calls" => Carried, WITHOUT_TOOLS;
    }
    "Output" {
        "max_completion_tokens" => FLOOR, Carried;
        "max_tokens" => FLOOR, Carried;
        "stop*" => Lost(Stop), Carried;
        "n" => Refused(MultipleAnswers), Refused(MultipleAnswers);
        "response_format(type=json_schema).json_schema.name" => Carried, Lost(FormatName);
        "response_format(type=json_schema).json_schema.description" => Carried, Lost(FormatName);
        "response_format(type=json_schema).json_schema.strict" => Carried, STRICT_OUTPUT;
        "response_format(type=json_schema).json_schema.schema" => Carried, OUTPUT_SCHEMA;
        "response_format(type=json_object)" => Carried, Lost(JsonMode);
        "response_format*" => Carried, Depends(&[Carried, Lost(JsonMode)],
            "carried with a schema; without one it only asks for JSON");
        "verbosity" => Carried, Lost(Verbosity);
        "moderation*" => Carried, Only("moderation");
    }
    "Reasoning" {
        "reasoning_effort" => Carried, Depends(&[Carried, Emulated(Effort), Lost(Effort)],
            "none turns thinking off, minimal becomes low, the others are carried");
    }
    "Sampling" {
        "temperature" => Carried, Lost(Sampling) =>
            "Sent to a Messages upstream whose profile says that it takes sampling parameters.";
        "top_p" => Carried, Lost(Sampling);
        "frequency_penalty" => Lost(Sampling), Lost(Sampling);
        "presence_penalty" => Lost(Sampling), Lost(Sampling);
        "logit_bias" => Lost(Sampling), Lost(Sampling);
        "seed" => Lost(Sampling), Lost(Sampling);
        "logprobs" => Carried, Lost(Logprobs);
        "top_logprobs" => Carried, Lost(Logprobs);
    }
    "Service and labels" {
        "metadata" => Carried, Lost(Metadata);
        "safety_identifier" => Carried, Carried;
        "user" => Carried, Emulated(User);
        "service_tier" => Carried, Depends(&[Carried, Emulated(Tier), Lost(Tier)],
            "auto is carried, default and priority have a counterpart, the others become auto");
        "store" => Carried, Lost(ServerState);
        "stream" => Carried, Carried;
        "stream_options.include_usage" => Emulated(StreamOptions), Emulated(StreamOptions) =>
            "The usage always comes; the client gets it where it asked.";
        "stream_options*" => Carried, Lost(StreamOptions);
    }
};
