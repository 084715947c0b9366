//! Token counts, both directions.

use super::Out;
use super::wire::{self, InputDetails, OutputDetails};
use crate::ledger::{Code, Ledger};
use crate::model::Usage;
use crate::wire::{At, Extra, Object};

/// Reads the counts. The total is the sum of the two and is made anew.
pub(super) fn decode(usage: wire::Usage<'_>) -> Usage<'_> {
    let wire::Usage {
        at,
        input_tokens,
        input_tokens_details,
        output_tokens,
        output_tokens_details,
        total_tokens: _,
        mut extra,
    } = usage;
    let value = |count: Option<At<u64>>| count.map(|count| count.value);
    let (mut cache_read, mut cache_write, mut reasoning) = (None, None, None);
    if let Some(details) = input_tokens_details {
        let InputDetails { at: _, cached_tokens, cache_write_tokens, extra: more } = details;
        cache_read = value(cached_tokens);
        cache_write = value(cache_write_tokens);
        extra.extend(more);
    }
    if let Some(details) = output_tokens_details {
        let OutputDetails { at: _, reasoning_tokens, extra: more } = details;
        reasoning = value(reasoning_tokens);
        extra.extend(more);
    }
    Usage {
        at,
        input: value(input_tokens).unwrap_or_default(),
        cache_read,
        cache_write,
        output: value(output_tokens).unwrap_or_default(),
        reasoning,
        extra,
    }
}

/// Writes the counts, every one that the published type requires.
pub(super) fn write(usage: &Usage<'_>, object: &mut Object<'_>, cx: &Out<'_>, ledger: &mut Ledger) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra } = usage;
    let own = |list: &'static [&'static str]| {
        extra.iter().filter(move |field| cx.same() && list.contains(&field.key.decode().as_ref()))
    };
    let replay = |object: &mut Object<'_>, field: &Extra<'_>| {
        object.extra(std::slice::from_ref(field));
    };
    let mut tokens = object.object("usage");
    tokens.put("input_tokens", input);
    {
        let mut details = tokens.object("input_tokens_details");
        details.put("cached_tokens", &cache_read.unwrap_or_default());
        if cache_write.is_some() || !cx.same() {
            details.put("cache_write_tokens", &cache_write.unwrap_or_default());
        }
        own(&INPUT_DETAILS).for_each(|field| replay(&mut details, field));
    }
    tokens.put("output_tokens", output);
    {
        let mut details = tokens.object("output_tokens_details");
        details.put("reasoning_tokens", &reasoning.unwrap_or_default());
    }
    tokens.put("total_tokens", &input.saturating_add(*output));
    for field in extra {
        if !cx.same() {
            ledger.dropped(field.value.pos(), Code::UsageDetail).info();
        } else if !INPUT_DETAILS.contains(&field.key.decode().as_ref()) {
            replay(&mut tokens, field);
        }
    }
}

/// Members of the usage that stand among the details of the input.
const INPUT_DETAILS: [&str; 4] =
    ["cache_write_tokens_details", "audio_tokens", "image_tokens", "text_tokens"];
