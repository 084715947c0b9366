//! The answer: from Chat into the model, and back to Chat unchanged.

use super::wire::{
    Choice, Completion, CompletionDetails, PromptDetails, Usage as WireUsage, has_nested, nest,
    replay,
};
use super::{response_out, turns_in};
use crate::ledger::{Code, Ledger};
use crate::model::{Candidate, Item, Protocol, Request, Response, Stop, Usage};
use crate::wire::{At, Extra, Object, Pos, Raw, Read, ReadError, Reader, Str, hash};

/// Reads an answer.
pub(super) fn decode<'a>(body: &'a str) -> Result<Response<'a>, ReadError> {
    let mut reader = Reader::new(body);
    let read = Completion::read(&mut reader)?;
    reader.finish()?;
    let Completion { at, id, object: _, created, model, choices, usage, service_tier, extra } =
        read;
    let choices = choices.ok_or_else(|| ReadError::missing(at, "choices"))?;
    let mut candidates = Vec::with_capacity(choices.len());
    for (index, choice) in choices.into_iter().enumerate() {
        candidates.push(candidate(choice, index as u64)?);
    }
    Ok(Response {
        origin: Protocol::Chat,
        id,
        model,
        created,
        candidates,
        usage: usage.map(read_usage),
        tier: service_tier,
        extra,
    })
}

fn candidate<'a>(choice: Choice<'a>, position: u64) -> Result<Candidate<'a>, ReadError> {
    let Choice { at, index, message, finish_reason, logprobs, mut extra } = choice;
    let mut message = message.ok_or_else(|| ReadError::missing(at, "message"))?;
    // Some vendors leave out who speaks in an answer.
    message.role.get_or_insert_with(|| Str::plain("assistant"));
    let turn = turns_in::turn(message)?;
    let stop =
        At::new(finish_reason.as_ref().map_or(at, Str::pos), stop(finish_reason, &turn.items));
    if let Some(index) = index.filter(|index| index.value != position) {
        let value = Raw::made(index.value.to_string()).at(index.pos);
        extra.push(Extra { key: Str::plain("index"), value });
    }
    Ok(Candidate { at, turns: vec![turn], stop, logprobs, extra })
}

/// Why the model stopped. A named function that was forced ends with `stop`,
/// and vendors vary, so the presence of calls decides. vectors/responses/chat-forced-call-stop
fn stop<'a>(word: Option<Str<'a>>, items: &[Item<'a>]) -> Stop<'a> {
    let calls = items.iter().any(|item| matches!(item, Item::Call(_)));
    let refused = items.iter().any(|item| matches!(item, Item::Refusal(_)));
    let ended = if calls {
        Stop::ToolCalls
    } else if refused {
        Stop::Refusal { category: None, explanation: None }
    } else {
        Stop::EndTurn
    };
    let Some(word) = word else { return ended };
    match word.decode().as_ref() {
        "stop" | "tool_calls" | "function_call" | "eos" | "end_turn" | "tool_use" => ended,
        "length" | "max_tokens" => Stop::MaxTokens,
        "content_filter" => Stop::ContentFilter,
        other => {
            if calls && other != "error" {
                Stop::ToolCalls
            } else {
                Stop::Other(word)
            }
        }
    }
}

fn read_usage<'a>(usage: WireUsage<'a>) -> Usage<'a> {
    let WireUsage {
        at,
        prompt_tokens,
        completion_tokens,
        total_tokens,
        prompt_tokens_details,
        completion_tokens_details,
        extra,
    } = usage;
    let value = |count: Option<At<u64>>| count.map(|count| count.value);
    let mut usage = Usage {
        at,
        input: value(prompt_tokens).unwrap_or_default(),
        cache_read: None,
        cache_write: None,
        output: value(completion_tokens).unwrap_or_default(),
        reasoning: None,
        extra,
    };
    if let Some(PromptDetails { at: _, cached_tokens, cache_write_tokens, extra }) =
        prompt_tokens_details
    {
        usage.cache_read = value(cached_tokens);
        usage.cache_write = value(cache_write_tokens);
        nest(&mut usage.extra, PROMPT_DETAILS, extra);
    }
    if let Some(CompletionDetails { at: _, reasoning_tokens, extra }) = completion_tokens_details {
        usage.reasoning = value(reasoning_tokens);
        nest(&mut usage.extra, COMPLETION_DETAILS, extra);
    }
    let sum = usage.input.saturating_add(usage.output);
    if let Some(total) = total_tokens.filter(|total| total.value != sum) {
        let value = Raw::made(total.value.to_string()).at(total.pos);
        usage.extra.push(Extra { key: Str::plain("total_tokens"), value });
    }
    usage
}

/// Writes an answer for a client.
pub(super) fn encode(
    response: &Response<'_>,
    request: Option<&Request<'_>>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let Response { origin, id, model, created, candidates, usage, tier, extra } = response;
    let same = *origin == Protocol::Chat;
    let mut object = Object::new(out);
    let upstream = id.as_ref().map(Str::decode).unwrap_or_default();
    if same {
        object.maybe("id", id.as_ref());
    } else {
        object.put("id", &format!("chatcmpl-{}", hash::base62(&[upstream.as_bytes()], 24)));
    }
    object.put("object", "chat.completion");
    object.put("created", &created.as_ref().map_or(0, |at| at.value));
    match (model, request.and_then(|request| request.model.as_ref())) {
        (Some(model), _) => object.put("model", model),
        (None, Some(model)) if !same => object.put("model", model),
        (None, _) => {}
    }
    let legacy = request.is_some_and(|request| request.legacy_functions);
    {
        let mut choices = object.array("choices");
        for (index, candidate) in candidates.iter().enumerate() {
            let mut choice = choices.object();
            if same {
                response_out::replay_candidate(&mut choice, candidate, index as u64, ledger);
            } else {
                let answer = response_out::Answer { origin: *origin, upstream: &upstream, legacy };
                answer.write(&mut choice, candidate, index as u64, ledger);
            }
        }
    }
    match usage {
        Some(usage) => write_usage(&mut object, usage, same, ledger),
        None if same => {}
        None => {
            ledger.dropped(Pos::START, Code::UsageMissing).key("usage").info();
        }
    }
    write_tier(&mut object, tier.as_ref(), *origin, ledger);
    if same {
        object.extra(extra);
    } else {
        ledger.only(extra);
    }
}

fn write_usage(object: &mut Object<'_>, usage: &Usage<'_>, same: bool, ledger: &mut Ledger) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra } = usage;
    let mut object = object.object("usage");
    object.put("prompt_tokens", input);
    object.put("completion_tokens", output);
    if !same || !extra.iter().any(|field| field.key == "total_tokens") {
        object.put("total_tokens", &input.saturating_add(*output));
    }
    let nested = |under: &str| same && has_nested(extra, under);
    if cache_read.is_some() || cache_write.is_some() || nested(PROMPT_DETAILS) {
        let mut details = object.object(PROMPT_DETAILS);
        details.maybe("cached_tokens", cache_read.as_ref());
        details.maybe("cache_write_tokens", cache_write.as_ref());
        if same {
            replay(&mut details, extra, PROMPT_DETAILS, &[]);
        }
    }
    if reasoning.is_some() || nested(COMPLETION_DETAILS) {
        let mut details = object.object(COMPLETION_DETAILS);
        details.maybe("reasoning_tokens", reasoning.as_ref());
        if same {
            replay(&mut details, extra, COMPLETION_DETAILS, &[]);
        }
    }
    if same {
        return replay(&mut object, extra, "", &[PROMPT_DETAILS, COMPLETION_DETAILS]);
    }
    for field in extra {
        ledger.dropped(field.value.pos(), Code::UsageDetail).info();
    }
}

fn write_tier(
    object: &mut Object<'_>,
    tier: Option<&Str<'_>>,
    origin: Protocol,
    ledger: &mut Ledger,
) {
    let Some(tier) = tier else { return };
    match (origin, tier.decode().as_ref()) {
        (Protocol::Messages, "standard") => {
            object.put("service_tier", "default");
            ledger.emulated(tier.pos(), Code::Tier);
        }
        (Protocol::Messages, "priority") => object.put("service_tier", "priority"),
        (Protocol::Messages, other) => {
            let detail = format!("Chat has no tier `{other}`.");
            ledger.dropped(tier.pos(), Code::Tier).detail(detail);
        }
        (Protocol::Responses, "ultrafast") => {
            object.put("service_tier", "fast");
            ledger.degraded(tier.pos(), Code::Tier);
        }
        (Protocol::Chat | Protocol::Responses, same) => object.put("service_tier", same),
    }
}

const PROMPT_DETAILS: &str = "prompt_tokens_details";
const COMPLETION_DETAILS: &str = "completion_tokens_details";
