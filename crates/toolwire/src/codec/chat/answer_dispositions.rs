//! Table only: what happens to the fields of a Chat answer, whole, in chunks and
//! in errors.

use crate::disposition::Disposition::{self, Carried, Depends, Emulated, Lost, Only, SaysNothing};
use crate::disposition::common::{CONSTANT, ID, PADDING, POSITION, SUM};
use crate::disposition::{Row, rows};
use crate::ledger::Code::*;

pub(super) static TABLE: &[Row] = rows! { [Responses, Messages]
    "Answer" {
        "id" => Carried, Carried => "As an id of the target's form, which is a function of it.";
        "object" => CONSTANT, CONSTANT;
        "created" => Carried, Only("created");
        "model" => Carried, Carried;
        "metadata" => Carried, Only("metadata");
        "moderation*" => Only("moderation"), Only("moderation");
        "service_tier" => Depends(&[Carried, SaysNothing("the default")], "the default tier is not told"),
            Depends(&[Carried, Lost(Tier)], "auto, default and priority have a counterpart");
        "system_fingerprint" => Only("system_fingerprint"), Only("system_fingerprint") =>
            "It only compares with itself, so it is reported and no loss.";
        "obfuscation" => PADDING, PADDING;
        "choices" => Carried, Carried;
        "choices[].index" => POSITION, POSITION;
        "choices[].finish_reason" => STOP, STOP;
    }
    "Message" {
        "choices[].*.role" => CONSTANT, CONSTANT;
        "choices[].message.refusal" => Carried, Emulated(StopReason);
        "choices[].message.annotations" => Emulated(Citations), Lost(Citations);
        "choices[].message.annotations[type=url_citation]" => Emulated(Citations), Lost(Citations);
        "choices[].message.annotations*" => Carried, Lost(Citations);
        "choices[].*.audio.transcript" => Carried, Carried;
        "choices[].*.audio*" => Lost(Audio), Lost(Audio);
        "choices[].message.tool_calls[type=custom]" => Carried, Emulated(FreeformWrapped);
        "choices[].delta.tool_calls[type=function].index" => POSITION, POSITION;
        "choices[].delta.tool_calls[type=function].type" => CONSTANT, CONSTANT;
        "choices[].*.tool_calls[*.id" => ID, ID;
        "choices[].message*" => Carried, Carried;
        "choices[].delta*" => Carried, Carried;
        "choices[].logprobs.refusal*" => Lost(Logprobs), Lost(Logprobs);
        "choices[].logprobs*" => Carried, Lost(Logprobs);
    }
    "Usage" {
        "usage" => Carried, Carried;
        "usage.prompt_tokens" => Carried, Carried;
        "usage.completion_tokens" => Carried, Carried;
        "usage.total_tokens" => SUM, SUM;
        "usage.completion_tokens_details" => Carried, Carried;
        "usage.completion_tokens_details.reasoning_tokens" => Carried, Carried;
        "usage.prompt_tokens_details" => Carried, Carried;
        "usage.prompt_tokens_details.cached_tokens" => Carried, Carried;
        "usage.prompt_tokens_details.cache_write_tokens" => Carried, Carried;
        "usage*" => Lost(UsageDetail), Lost(UsageDetail);
    }
    "Errors" {
        "error_body*" => Carried, Carried =>
            "An error is written as one of the target's kinds; what that lacks stands beside it.";
    }
};

const STOP: Disposition = Depends(
    &[Carried, SaysNothing("the calls are there")],
    "carried; that the model stopped to call tools shows in the calls",
);
