//! Token counts: wire to model.

use super::wire::{self, InputDetails, OutputDetails};
use crate::model::Usage;
use crate::wire::{At, keep_meaningful};

/// Reads the counts. The total is the sum of input and output and is not kept.
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
    keep_meaningful(&mut extra);
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
