//! Token counts: from the protocol into the model.

use toolwire::model::Usage;
use toolwire::wire::At;

use super::wire::Spent;

/// Reads `spent`. As in the model, `in` counts what came from a cache, and `out`
/// the reasoning.
pub(super) fn decode(spent: Spent<'_>) -> Usage<'_> {
    let Spent { at, input, output, recalled, stored, pondered, extra } = spent;
    let count = |field: Option<At<u64>>| field.map(|field| field.value);
    let mut usage = Usage::default();
    usage.at = at;
    usage.input = count(input).unwrap_or_default();
    usage.cache_read = count(recalled);
    usage.cache_write = count(stored);
    usage.output = count(output).unwrap_or_default();
    usage.reasoning = count(pondered);
    usage.extra = extra;
    usage
}
