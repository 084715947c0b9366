//! Token counts: model to wire.

use crate::codec::losses_out::report_usage_details;
use crate::ledger::Ledger;
use crate::model::Usage;
use crate::wire::Object;

/// Writes every count that the published type requires.
pub(super) fn write(usage: &Usage<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra: _ } = usage;
    let mut tokens = object.object("usage");
    tokens.put("input_tokens", input);
    {
        let mut details = tokens.object("input_tokens_details");
        details.put("cached_tokens", &cache_read.unwrap_or_default());
        details.put("cache_write_tokens", &cache_write.unwrap_or_default());
    }
    tokens.put("output_tokens", output);
    tokens.object("output_tokens_details").put("reasoning_tokens", &reasoning.unwrap_or_default());
    tokens.put("total_tokens", &input.saturating_add(*output));
    report_usage_details(usage, ledger);
}

/// Writes how many tokens a request has.
pub(super) fn write_token_count(tokens: u64, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.put("object", "response.input_tokens");
    object.put("input_tokens", &tokens);
}
