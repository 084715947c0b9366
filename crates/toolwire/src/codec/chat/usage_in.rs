//! Token counts: reading them.

use super::lenient_in::Lenient;
use super::wire::{CompletionDetails, PromptDetails, Usage as WireUsage, nest};
use crate::model::Usage;
use crate::wire::{At, Extra, Raw, Str, keep_meaningful};

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
    let mut extra = extra;
    let mut known =
        |key, count: Option<Count<'a>>| count.and_then(|it| it.or_keep(key, &mut extra));
    let prompt = known("prompt_tokens", prompt_tokens);
    let completion = known("completion_tokens", completion_tokens);
    let total_tokens = known("total_tokens", total_tokens);
    let value = |count: Option<At<u64>>| count.map(|count| count.value);
    let mut cached = None;
    let mut written = None;
    if let Some(details) = prompt_tokens_details
        && let Some(PromptDetails { at: _, cached_tokens, cache_write_tokens, extra: mut inner }) =
            details.or_keep("prompt_tokens_details", &mut extra)
    {
        cached = cached_tokens.and_then(|count| count.or_keep("cached_tokens", &mut inner));
        written =
            cache_write_tokens.and_then(|count| count.or_keep("cache_write_tokens", &mut inner));
        keep_meaningful(&mut inner);
        nest(&mut extra, "prompt_tokens_details", inner);
    }
    let mut reasoning = None;
    if let Some(details) = completion_tokens_details
        && let Some(CompletionDetails { at: _, reasoning_tokens, extra: mut inner }) =
            details.or_keep("completion_tokens_details", &mut extra)
    {
        reasoning = reasoning_tokens.and_then(|it| it.or_keep("reasoning_tokens", &mut inner));
        keep_meaningful(&mut inner);
        nest(&mut extra, "completion_tokens_details", inner);
    }
    let cached = cached.or_else(|| take_first(&CACHED, &mut extra));
    let written = written.or_else(|| take_first(&WRITTEN, &mut extra));
    let cached_at = cached.map_or(at, |count| count.pos);
    let written_at = written.map_or(at, |count| count.pos);
    let mut usage = Usage {
        at,
        input: value(prompt).unwrap_or_default(),
        cache_read: value(cached),
        cache_write: value(written),
        output: value(completion).unwrap_or_default(),
        reasoning: value(reasoning),
        extra,
    };
    let total = total_tokens.as_ref().map(|total| total.value);
    if let Some(surplus) = count_cached(&mut usage, total) {
        usage.extra.push(count("cached_tokens", At::new(cached_at, surplus)));
    }
    if let Some(surplus) = count_written(&mut usage) {
        usage.extra.push(count("cache_write_tokens", At::new(written_at, surplus)));
    }
    count_reasoning(&mut usage, total);
    let sum = usage.input.saturating_add(usage.output);
    if let Some(total) = total_tokens.filter(|total| total.value != sum) {
        usage.extra.push(count("total_tokens", total));
    }
    keep_meaningful(&mut usage.extra);
    usage
}

type Count<'a> = Lenient<'a, At<u64>>;

/// Where vendors count cached tokens if not in the details, as a part of the input all the
/// same: Kimi, DeepSeek, and gateways in the words of Messages. vectors/responses/chat-cached-outside-details
const CACHED: [&str; 3] = ["cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"];

/// The same for tokens that were written to a cache.
const WRITTEN: [&str; 1] = ["cache_creation_input_tokens"];

/// Takes the first of these members that is a count out of the unknown ones.
fn take_first(keys: &[&str], extra: &mut Vec<Extra<'_>>) -> Option<At<u64>> {
    keys.iter().find_map(|key| {
        let place = extra.iter().position(|field| field.key == *key)?;
        let value = &extra.get(place)?.value;
        let count = value.text().parse().ok()?;
        let pos = value.pos();
        extra.remove(place);
        Some(At::new(pos, count))
    })
}

/// Adds cached tokens to the input where a vendor counts them beside. Grok on
/// Azure reports more of them than it has read in all, and its total says that
/// they are not beside either: then all of the input was cached, and the count
/// that cannot be right is returned.
/// vectors/responses/chat-cached-beside-prompt, vectors/responses/chat-cached-above-prompt
fn count_cached(usage: &mut Usage<'_>, total: Option<u64>) -> Option<u64> {
    let cached = usage.cache_read.filter(|cached| *cached > usage.input)?;
    let input = usage.input.saturating_add(cached);
    let sum = input.saturating_add(usage.output);
    let with_reasoning = sum.saturating_add(usage.reasoning.unwrap_or_default());
    if total.is_none_or(|total| total == sum || total == with_reasoning) {
        usage.input = input;
        return None;
    }
    usage.cache_read = Some(usage.input);
    Some(cached)
}

/// Gemini over OpenRouter reports the same tokens as read from the cache and
/// as written to it. Together they cannot be more than the input: what is too
/// much was not written, and the count that cannot be right is returned.
/// vectors/responses/chat-cached-and-written
fn count_written(usage: &mut Usage<'_>) -> Option<u64> {
    let rest = usage.input.saturating_sub(usage.cache_read.unwrap_or_default());
    let written = usage.cache_write.filter(|written| *written > rest)?;
    usage.cache_write = Some(rest);
    Some(written)
}

/// Adds reasoning to the output where a vendor counts it beside. xAI says how
/// much it was, Gemini's compatible endpoint leaves it to the total.
/// vectors/responses/chat-reasoning-beside-completion,
/// vectors/responses/chat-reasoning-only-in-total
fn count_reasoning(usage: &mut Usage<'_>, total: Option<u64>) {
    let reasoning = usage.reasoning.unwrap_or_default();
    let sum = usage.input.saturating_add(usage.output);
    match total.map(|total| total.saturating_sub(sum)) {
        Some(beside) if beside > 0 && (beside == reasoning || reasoning == 0) => {
            usage.reasoning = Some(beside);
            usage.output = usage.output.saturating_add(beside);
        }
        // A part cannot be more than the whole.
        Some(_) | None if reasoning > usage.output => {
            usage.output = usage.output.saturating_add(reasoning);
        }
        Some(_) | None => {}
    }
}

fn count<'a>(key: &'static str, count: At<u64>) -> Extra<'a> {
    let value = Raw::made(count.value.to_string()).at(count.pos);
    Extra { key: Str::plain(key), value }
}
