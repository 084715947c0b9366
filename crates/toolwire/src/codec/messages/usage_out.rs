//! Token counts: from the model to Messages.

use crate::codec::losses_out::report_usage_details;
use crate::ledger::{Code, Ledger};
use crate::model::Usage;
use crate::wire::{Object, Pos, Str};

/// Writes `usage` of a whole answer.
pub(super) fn write_usage(
    usage: Option<&Usage<'_>>,
    tier: Option<&Str<'_>>,
    object: &mut Object<'_>,
    ledger: &mut Ledger,
) {
    let Some(usage) = usage else {
        ledger.degraded(Pos::START, Code::UsageMissing).key("usage");
        let mut counts = object.object("usage");
        counts.put("input_tokens", &0u64);
        counts.put("output_tokens", &0u64);
        return;
    };
    let mut counts = object.object("usage");
    write_counts(usage, &mut counts, ledger);
    if let Some(tier) = tier {
        write_tier(tier, &mut counts, ledger);
    }
}

/// Writes the members of `usage` that count tokens.
pub(super) fn write_counts(usage: &Usage<'_>, counts: &mut Object<'_>, ledger: &mut Ledger) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra: _ } = usage;
    // Messages counts cached tokens beside `input_tokens`, the model as part of it.
    let fresh = input
        .saturating_sub(cache_read.unwrap_or_default())
        .saturating_sub(cache_write.unwrap_or_default());
    counts.put("input_tokens", &fresh);
    counts.maybe("cache_creation_input_tokens", cache_write.as_ref());
    counts.maybe("cache_read_input_tokens", cache_read.as_ref());
    counts.put("output_tokens", output);
    if let Some(reasoning) = reasoning {
        counts.object("output_tokens_details").put("thinking_tokens", reasoning);
    }
    report_usage_details(usage, ledger);
}

/// Writes the tier, which is a member of `usage` too.
pub(super) fn write_tier(tier: &Str<'_>, counts: &mut Object<'_>, ledger: &mut Ledger) {
    match tier.decode().as_ref() {
        "default" => counts.put("service_tier", "standard"),
        "priority" => counts.put("service_tier", "priority"),
        _other => {
            ledger.dropped(tier.pos(), Code::Tier).info();
        }
    }
}
