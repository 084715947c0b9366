//! Table only: what happens to the fields of a Messages answer, whole, in events
//! and in errors.

use crate::disposition::Disposition::{self, Carried, Depends, Emulated, Lost, Only, SaysNothing};
use crate::disposition::common::{CONSTANT, ID, POSITION};
use crate::disposition::{Row, rows};
use crate::ledger::Code::*;

pub(super) static TABLE: &[Row] = rows! { [Chat, Responses]
    "Answer" {
        "id" => Carried, Carried => "As an id of the target's form, which is a function of it.";
        "type" => CONSTANT, CONSTANT;
        "role" => CONSTANT, CONSTANT;
        "model" => Carried, Carried;
        "container*" => Only("container"), Only("container");
        "context_management*" => Only("context_management"), Only("context_management");
        "diagnostics*" => Only("diagnostics"), Only("diagnostics");
        "input_transformations*" => Only("input_transformations"), Only("input_transformations");
        "stop_reason" => STOP, STOP;
        "stop_sequence" => Lost(StopReason), Lost(StopReason);
        "stop_details" => REFUSED, WHY_REFUSED;
        "stop_details.type" => REFUSED, WHY_REFUSED;
        "stop_details.category" => Lost(StopReason), Lost(StopReason);
        "stop_details.explanation" => Carried, Carried;
        "stop_details*" => Only("stop_details"), Only("stop_details");
    }
    "Content" {
        "content" => Carried, Carried;
        "content[type=text].citations" => Carried, Carried;
        "content[type=text].citations[type=web_search_result_location].title" => Carried, Carried;
        "content[type=text].citations[type=web_search_result_location].url" => Carried, Carried;
        "content[type=text].citations*" => Lost(Citations), Lost(Citations);
        "content[type=text]*" => Carried, Carried;
        "content[type=thinking]*" => Carried, Carried;
        "content[type=redacted_thinking]*" => Carried, Carried;
        "content[type=tool_use].caller*" => Lost(ProgrammaticCallers), Lost(ProgrammaticCallers);
        "content[type=tool_use].toolset_name" => Only("toolset_name"), Only("toolset_name");
        "content[type=tool_use].id" => Carried, ID;
        "content[type=tool_use]*" => Carried, Carried;
        "content[type=container_upload]*" => Lost(UnknownItem), Lost(FileId);
        "content[type=compaction]*" => Lost(UnknownItem), Lost(ContextManagement);
        "content[type=fallback]*" => Lost(UnknownItem), Lost(UnknownItem);
        "content*" => Lost(HostedHistory), Lost(HostedHistory) =>
            "What the vendor's own tools did; the text that follows says what came of it.";
    }
    "Usage" {
        "usage" => Carried, Carried;
        "usage.input_tokens" => Carried, Carried;
        "usage.output_tokens" => SO_FAR, SO_FAR;
        "usage.output_tokens_details*" => Carried, Carried;
        "usage.cache_creation_input_tokens" => Carried, Carried;
        "usage.cache_read_input_tokens" => Carried, Carried;
        "usage.service_tier" =>
            Depends(&[Carried, Emulated(Tier), Lost(Tier)], "standard becomes default; batch has no counterpart"),
            Depends(&[Carried, SaysNothing("the default"), Lost(Tier)], "standard is the default; batch has no counterpart");
        "usage*" => Lost(UsageDetail), Lost(UsageDetail);
    }
    "Events" {
        "event*.index" => POSITION, POSITION;
        "event(type=message_delta).delta" => Only("container"), Only("container");
        "event(type=content_block_delta).delta" => Carried, Carried;
        "event*(type=citations_delta)" => Carried, Carried;
        "event*(type=citations_delta).citation(type=web_search_result_location).title" => Carried, Carried;
        "event*(type=citations_delta).citation(type=web_search_result_location).url" => Carried, Carried;
        "event*(type=citations_delta)*" => Lost(Citations), Lost(Citations);
        "event*(type=compaction_delta)*" => Lost(UnknownItem), Lost(ContextManagement);
        "event*.estimated_tokens" => Only("estimated_tokens"), Only("estimated_tokens");
        "event*" => Carried, Carried;
    }
    "Errors" {
        "error_body.type" => CONSTANT, CONSTANT;
        "error_body.request_id" => Carried, Depends(
            &[Carried, SaysNothing("the headers of the stream have it")],
            "carried beside an error; the failed answer that ends a stream has no place for it");
        "error_body*" => Carried, Carried;
    }
};

const STOP: Disposition = Depends(
    &[Carried, SaysNothing("the calls are there"), Lost(StopReason), Lost(Paused)],
    "the common reasons are carried; that the model stopped to call tools shows in the calls",
);
const WHY_REFUSED: Disposition = SaysNothing("its members say why the model refused");
const REFUSED: Disposition = Depends(
    &[SaysNothing("its members say why the model refused"), Lost(StopReason)],
    "the category of a refusal is lost, its explanation carried",
);
const SO_FAR: Disposition = Depends(
    &[Carried, SaysNothing("the count so far")],
    "carried; the last count of a stream replaces the earlier ones",
);
