//! Token counts: from Messages into the model.

use std::collections::BTreeSet;

use super::wire::{OutputDetails, Usage};
use crate::model::{Own, Usage as Counts};
use crate::wire::{At, Extra, Pos, Read, ReadError, Str, keep_meaningful};

/// The token counts, and the tier that is among them.
pub(super) fn counts(usage: Usage<'_>) -> Result<(Counts<'_>, Option<Str<'_>>), ReadError> {
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
    keep_meaningful(&mut extra);
    let counts = Counts { at, input, cache_read, cache_write, output, reasoning, extra };
    Ok((counts, service_tier))
}

/// Counts are running totals, so a later one replaces an earlier one. One that
/// is left out has not changed.
pub(super) fn merge_counts<'e>(before: Usage<'static>, mut later: Usage<'e>) -> Usage<'e> {
    let Usage {
        at: _,
        input_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        output_tokens,
        output_tokens_details,
        service_tier: _,
        extra,
    } = before;
    later.input_tokens = later.input_tokens.or(input_tokens);
    later.cache_read_input_tokens = later.cache_read_input_tokens.or(cache_read_input_tokens);
    later.cache_creation_input_tokens =
        later.cache_creation_input_tokens.or(cache_creation_input_tokens);
    later.output_tokens = later.output_tokens.or(output_tokens);
    later.output_tokens_details = later.output_tokens_details.or(output_tokens_details);
    let newer: BTreeSet<String> =
        later.extra.iter().map(|field| field.key.decode().into_owned()).collect();
    let is_missing = |field: &Extra<'_>| !newer.contains(field.key.decode().as_ref());
    later.extra.extend(extra.into_iter().filter(is_missing));
    later
}

/// The counts without the bytes they were read from. The tier is left out,
/// because it has been passed on.
pub(super) fn to_owned_counts(usage: &Usage<'_>) -> Usage<'static> {
    let Usage {
        at: _,
        input_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        output_tokens,
        output_tokens_details,
        service_tier: _,
        extra,
    } = usage;
    let unplaced = |field: &Extra<'_>| Extra {
        key: field.key.clone().into_owned(),
        value: field.value.clone().into_owned().at(Pos::NONE),
    };
    Usage {
        at: Pos::NONE,
        input_tokens: *input_tokens,
        cache_read_input_tokens: *cache_read_input_tokens,
        cache_creation_input_tokens: *cache_creation_input_tokens,
        output_tokens: *output_tokens,
        output_tokens_details: output_tokens_details.clone().into_owned(),
        service_tier: None,
        extra: extra.iter().map(unplaced).collect(),
    }
}
