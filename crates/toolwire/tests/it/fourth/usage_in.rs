//! Token counts: from the protocol into the model.

use toolwire::model::Usage;
use toolwire::wire::At;

use super::wire::Spent;

/// Reads `spent`. As in the model, `in` counts what came from a cache, and `out`
/// the reasoning.
pub(super) fn decode(spent: Spent<'_>) -> Usage<'_> {
    let Spent { at, input, output, recalled, stored, pondered, extra } = spent;
    let count = |field: Option<At<u64>>| field.map(|field| field.value);
    Usage {
        at,
        input: count(input).unwrap_or_default(),
        cache_read: count(recalled),
        cache_write: count(stored),
        output: count(output).unwrap_or_default(),
        reasoning: count(pondered),
        extra,
    }
}
