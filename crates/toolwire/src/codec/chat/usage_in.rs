//! Token counts: reading them.

use super::wire::{CompletionDetails, PromptDetails, Usage as WireUsage, nest};
use crate::model::Usage;
use crate::wire::{At, Extra, Raw, Str};

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
        nest(&mut usage.extra, "prompt_tokens_details", extra);
    }
    if let Some(CompletionDetails { at: _, reasoning_tokens, extra }) = completion_tokens_details {
        usage.reasoning = value(reasoning_tokens);
        nest(&mut usage.extra, "completion_tokens_details", extra);
    }
    let sum = usage.input.saturating_add(usage.output);
    if let Some(total) = total_tokens.filter(|total| total.value != sum) {
        let value = Raw::made(total.value.to_string()).at(total.pos);
        usage.extra.push(Extra { key: Str::plain("total_tokens"), value });
    }
    usage
}
