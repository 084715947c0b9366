//! Table only: what happens to the fields of a Responses answer, whole, in events
//! and in errors.

use crate::disposition::Disposition::{
    self, Carried, Depends, Emulated, Lost, Only, Refused, SaysNothing,
};
use crate::disposition::common::{CONSTANT, ECHO, ID, ITS_ITEM, KIND, PADDING, POSITION, SUM};
use crate::disposition::{Row, rows};
use crate::ledger::Code::*;

pub(super) static TABLE: &[Row] = rows! { [Chat, Messages]
    "Answer" {
        "id" => Carried, Carried => "As an id of the target's form, which is a function of it.";
        "object" => CONSTANT, CONSTANT;
        "model" => Carried, Carried;
        "created_at" => Carried, Only("created_at");
        "completed_at" => ENDED, ENDED;
        "status" => STATUS, STATUS;
        "incomplete_details" => KIND, KIND;
        "incomplete_details.reason" => REASON, REASON;
        "error" => FAILED, FAILED;
        "error.*" => FAILED, FAILED;
        "moderation*" => Only("moderation"), Only("moderation");
        "prompt_cache_diagnostics*" => Only("prompt_cache_diagnostics"), Only("prompt_cache_diagnostics");
        "tool_usage*" => Only("tool_usage"), Only("tool_usage");
        "service_tier" => Depends(&[Carried, Lost(Tier)], "auto, default and priority have a counterpart"),
            Depends(&[Carried, Lost(Tier)], "auto, default and priority have a counterpart");
    }
    "Usage" {
        "usage.total_tokens" => SUM, SUM;
        "usage.input_tokens_details.cache_write_tokens_details*" => Lost(UsageDetail), Lost(UsageDetail);
        "usage*" => Carried, Carried;
    }
    "Messages of the model" {
        "output" => Carried, Carried;
        "output[role=assistant]" => Carried, Carried;
        "output[role=assistant].id" => ITEM_ID, ITEM_ID;
        "output[role=assistant].type" => CONSTANT, CONSTANT;
        "output[role=assistant].status" => COMPLETE, COMPLETE;
        "output[role=assistant].phase" => Lost(Phase), Lost(Phase);
        "output[role=assistant].content[type=output_text].annotations*.index" => POSITION, POSITION;
        "output[role=assistant].content[type=output_text].annotations[type=url_citation]*" =>
            Carried, Lost(Citations);
        "output[role=assistant].content[type=output_text].annotations*" => Lost(Citations), Lost(Citations);
        "output[role=assistant].content[type=output_text].logprobs*" => Carried, Lost(Logprobs);
        "output[role=assistant].content[type=refusal]" => Carried, Emulated(StopReason);
        "output[role=assistant]*" => Carried, Carried;
    }
    "Reasoning" {
        "output[type=reasoning]" => Carried, Emulated(ReasoningForeign);
        "output[type=reasoning].id" => ITEM_ID, ITEM_ID;
        "output[type=reasoning].status" => COMPLETE, COMPLETE;
        "output[type=reasoning].summary[type=summary_text]" => Carried, SEALED;
        "output[type=reasoning].content" => Carried, SEALED;
        "output[type=reasoning].content[type=reasoning_text]" => Carried, SEALED;
        "output[type=reasoning]*" => Carried, Carried;
    }
    "Calls" {
        "output[type=function_call].id" => ITEM_ID, ITEM_ID;
        "output[type=custom_tool_call].id" => ITEM_ID, ITEM_ID;
        "output[type=*shell_call].id" => ITEM_ID, ITEM_ID;
        "output[type=apply_patch_call].id" => ITEM_ID, ITEM_ID;
        "output[type=*_call].async" => Lost(AsyncTool), Lost(AsyncTool);
        "output[type=function_call].caller*" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "output[type=custom_tool_call].caller*" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "output[type=shell_call].caller*" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "output[type=apply_patch_call].caller*" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "output[type=function_call].namespace" => Lost(NamespaceFlattened), Emulated(NamespaceFlattened);
        "output[type=custom_tool_call].namespace" => Lost(NamespaceFlattened), Emulated(NamespaceFlattened);
        "output[type=function_call].status" => COMPLETE, COMPLETE;
        "output[type=function_call].call_id" => Carried, ID;
        "output[type=custom_tool_call].call_id" => Carried, ID;
        "output[type=custom_tool_call]" => Carried, Emulated(FreeformWrapped);
        "output[type=function_call]*" => Carried, Carried;
        "output[type=custom_tool_call]*" => Carried, Carried;
        "output[type=*shell_call]" => SHELL, SHELL;
        "output[type=apply_patch_call]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "output[type=*shell_call].status" => COMPLETE, COMPLETE;
        "output[type=apply_patch_call].status" => COMPLETE, COMPLETE;
        "output[type=local_shell_call].action.type" => CONSTANT, CONSTANT;
        "output[type=shell_call].environment*" => Only("environment"), Only("environment");
        "output[type=shell_call].created_by" => Only("created_by"), Only("created_by");
        "output[type=apply_patch_call].created_by" => Only("created_by"), Only("created_by");
        "output[type=apply_patch_call].operation(type=*)" =>
            Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "output[type=*shell_call]*" => Carried, Carried;
        "output[type=apply_patch_call]*" => Carried, Carried;
        "output[type=tool_search_call]" => Emulated(NativeToolWrapped), Emulated(NativeToolWrapped);
        "output[type=tool_search_call].execution" => CLIENT_SEARCH, CLIENT_SEARCH;
    }
    "Results, and what the vendor's own tools did" {
        "output[type=*_output].status" => Depends(&[Lost(Status), Lost(HostedHistory)], "lost with its item"),
            Depends(&[Lost(Status), Lost(HostedHistory)], "lost with its item");
        "output[type=additional_tools].role" => Lost(ToolPosition), Depends(&[Lost(Role), Lost(ToolPosition)], "lost with its item");
        "output[type=additional_tools]*" => Lost(ToolPosition), Lost(ToolPosition);
        "output[type=compaction]*" => Lost(UnknownItem), Lost(ContextManagement);
        "output*" => Lost(HostedHistory), Lost(HostedHistory) =>
            "What the vendor's own tools did; the text that follows says what came of it.";
    }
    "Events" {
        "event*.sequence_number" => POSITION, POSITION;
        "event*_index" => POSITION, POSITION;
        "event*.item_id" => ITS_ITEM, ITS_ITEM;
        "event*.obfuscation" => PADDING, PADDING;
        "event(type=response.audio*" => Lost(UnknownItem), Lost(UnknownItem);
        "event(type=response.output_text.*).logprobs*" => Carried, Lost(Logprobs);
        "event(type=response.reasoning_summary_part.done).status" => Only("status"), Only("status");
        "event(type=response.code_interpreter_call_code*" => Lost(HostedHistory), Lost(HostedHistory);
        "event(type=response.mcp_call_arguments*" => Lost(HostedHistory), Lost(HostedHistory);
        "event(type=response.shell_call_output_content*" => Lost(HostedHistory), Lost(HostedHistory);
        "event(type=response.image_generation_call.partial_image)*" => PREVIEW, PREVIEW;
        "event*" => Carried, Carried;
    }
    "Errors" {
        "error_body*" => Carried, Carried;
    }
    "Settings" {
        "access_programs*" => ECHO, ECHO;
        "background" => ECHO, ECHO;
        "conversation*" => ECHO, ECHO;
        "image*" => ECHO, ECHO;
        "instructions*" => ECHO, ECHO;
        "max_output_tokens" => ECHO, ECHO;
        "max_tool_calls" => ECHO, ECHO;
        "metadata" => ECHO, ECHO;
        "parallel_tool_calls" => ECHO, ECHO;
        "previous_response_id" => ECHO, ECHO;
        "prompt" => ECHO, ECHO;
        "prompt.*" => ECHO, ECHO;
        "prompt_cache_key" => ECHO, ECHO;
        "prompt_cache_options*" => ECHO, ECHO;
        "prompt_cache_retention" => ECHO, ECHO;
        "reasoning*" => ECHO, ECHO;
        "safety_identifier" => ECHO, ECHO;
        "temperature" => ECHO, ECHO;
        "text*" => ECHO, ECHO;
        "tool_choice*" => ECHO, ECHO;
        "tools*" => ECHO, ECHO;
        "top_logprobs" => ECHO, ECHO;
        "top_p" => ECHO, ECHO;
        "truncation" => ECHO, ECHO;
        "user" => ECHO, ECHO;
    }
};

const STATUS: Disposition = Depends(
    &[Carried, Lost(StopReason), Refused(StopReason), Refused(Background)],
    "completed and incomplete are carried; an answer that failed is an error",
);
const REASON: Disposition = Depends(
    &[Carried, Lost(StopReason), SaysNothing("what is meant without a reason")],
    "a limit and a filter are carried; the others become a limit",
);
const FAILED: Disposition = Depends(
    &[Carried, Refused(StopReason)],
    "an answer that failed is written as an error; a whole one is refused with it",
);
const ITEM_ID: Disposition =
    SaysNothing("a name in its vendor's API; no other answer has items with names");
const COMPLETE: Disposition = Depends(
    &[Lost(Status), SaysNothing("every item of an answer is complete unless it says otherwise")],
    "reported unless it is completed",
);
const SEALED: Disposition = Depends(
    &[Carried, Emulated(ReasoningForeign)],
    "carried; with an envelope as its signature where it has one",
);
const SHELL: Disposition = Depends(
    &[Emulated(NativeToolWrapped), Lost(Status)],
    "a call of a function; that it is not complete is reported",
);
const CLIENT_SEARCH: Disposition = Depends(
    &[Emulated(NativeToolWrapped), Lost(HostedHistory)],
    "a search that the client runs is a call; one that the vendor ran is not",
);
const ENDED: Disposition = SaysNothing("when the answer ended, which the client sees");
const PREVIEW: Disposition = SaysNothing("a preview of the image that its item has");
