//! Token counts: from Messages into the model.

use super::wire::{OutputDetails, Usage};
use crate::model::Usage as Counts;
use crate::wire::{At, Extra, Read, ReadError, Str};

pub(super) type Counted<'a> = (Option<Counts<'a>>, Option<Str<'a>>);

/// The token counts and the tier that stands among them.
pub(super) fn counts(usage: Usage<'_>) -> Result<Counted<'_>, ReadError> {
    let Usage {
        at,
        input_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        output_tokens,
        output_tokens_details,
        service_tier,
        mut extra,
    } = usage;
    let count = |field: Option<At<u64>>| field.map(|field| field.value);
    let cache_read = count(cache_read_input_tokens);
    let cache_write = count(cache_creation_input_tokens);
    let fresh = count(input_tokens).unwrap_or_default();
    // Messages counts cached tokens beside `input_tokens`, the model as part of it.
    let input = fresh
        .saturating_add(cache_read.unwrap_or_default())
        .saturating_add(cache_write.unwrap_or_default());
    let mut reasoning = None;
    if let Some(raw) = output_tokens_details {
        let mut reader = raw.reader();
        let OutputDetails { at: _, thinking_tokens, extra: more } =
            OutputDetails::read(&mut reader)?;
        reasoning = count(thinking_tokens);
        if !more.is_empty() {
            extra.push(Extra { key: Str::plain("output_tokens_details"), value: raw.clone() });
        }
    }
    let output = count(output_tokens).unwrap_or_default();
    let counts = Counts { at, input, cache_read, cache_write, output, reasoning, extra };
    Ok((Some(counts), service_tier))
}
