//! Token counts, both directions.

use super::wire::{CompletionDetails, PromptDetails, Usage as WireUsage, nest};
use crate::ledger::{Code, Ledger};
use crate::model::Usage;
use crate::wire::{At, Extra, Object, Raw, Str};

/// Reads token counts.
pub(super) fn read<'a>(usage: WireUsage<'a>) -> Usage<'a> {
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

/// Writes token counts.
pub(super) fn write(object: &mut Object<'_>, usage: &Usage<'_>, ledger: &mut Ledger) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra } = usage;
    let mut object = object.object("usage");
    object.put("prompt_tokens", input);
    object.put("completion_tokens", output);
    object.put("total_tokens", &input.saturating_add(*output));
    if cache_read.is_some() || cache_write.is_some() {
        let mut details = object.object(PROMPT_DETAILS);
        details.maybe("cached_tokens", cache_read.as_ref());
        details.maybe("cache_write_tokens", cache_write.as_ref());
    }
    if reasoning.is_some() {
        let mut details = object.object(COMPLETION_DETAILS);
        details.maybe("reasoning_tokens", reasoning.as_ref());
    }
    for field in extra {
        ledger.dropped(field.value.pos(), Code::UsageDetail).info();
    }
}

const PROMPT_DETAILS: &str = "prompt_tokens_details";
const COMPLETION_DETAILS: &str = "completion_tokens_details";
