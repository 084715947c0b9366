//! Token counts: writing them.

use crate::codec::losses_out::report_usage_details;
use crate::ledger::Ledger;
use crate::model::Usage;
use crate::wire::Object;

/// Writes token counts.
pub(super) fn write(object: &mut Object<'_>, usage: &Usage<'_>, ledger: &mut Ledger) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra: _ } = usage;
    let mut object = object.object("usage");
    object.put("prompt_tokens", input);
    object.put("completion_tokens", output);
    object.put("total_tokens", &input.saturating_add(*output));
    if cache_read.is_some() || cache_write.is_some() {
        let mut details = object.object("prompt_tokens_details");
        details.maybe("cached_tokens", cache_read.as_ref());
        details.maybe("cache_write_tokens", cache_write.as_ref());
    }
    if reasoning.is_some() {
        let mut details = object.object("completion_tokens_details");
        details.maybe("reasoning_tokens", reasoning.as_ref());
    }
    report_usage_details(usage, ledger);
}
