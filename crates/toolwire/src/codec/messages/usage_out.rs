//! Token counts: from the model to Messages.

use super::content_out::Pen;
use crate::ledger::Code;
use crate::model::Usage;
use crate::wire::{Object, Pos, Str};

/// Writes `usage` of a whole answer.
pub(super) fn encode(
    usage: Option<&Usage<'_>>,
    tier: Option<&Str<'_>>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let Some(usage) = usage else {
        pen.ledger.degraded(Pos::START, Code::UsageMissing).key("usage");
        let mut counts = object.object("usage");
        counts.put("input_tokens", &0u64);
        counts.put("output_tokens", &0u64);
        return;
    };
    let mut counts = object.object("usage");
    encode_usage(usage, &mut counts, pen);
    if let Some(tier) = tier {
        encode_tier(tier, &mut counts, pen);
    }
}

/// Writes token counts.
pub(super) fn encode_usage(usage: &Usage<'_>, counts: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra } = usage;
    // Messages counts cached tokens beside `input_tokens`; the model inside.
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
    for field in extra {
        pen.ledger.dropped(field.value.pos(), Code::UsageDetail).info();
    }
}

/// Writes the tier, which stands among the counts.
pub(super) fn encode_tier(tier: &Str<'_>, counts: &mut Object<'_>, pen: &mut Pen<'_>) {
    match tier.decode().as_ref() {
        "default" => counts.put("service_tier", "standard"),
        "priority" => counts.put("service_tier", "priority"),
        _other => {
            pen.ledger.dropped(tier.pos(), Code::Tier).info();
        }
    }
}
