//! Token counts: from the model to the protocol.

use toolwire::model::Usage;
use toolwire::wire::Object;
use toolwire::{Code, Ledger};

/// Writes the members of `spent`.
pub(super) fn encode(usage: &Usage<'_>, spent: &mut Object<'_>, ledger: &mut Ledger) {
    // Outside the library, more members may come.
    let Usage { input, cache_read, cache_write, output, reasoning, extra, .. } = usage;
    spent.put("in", input);
    spent.put("out", output);
    spent.maybe("recalled", cache_read.as_ref());
    spent.maybe("stored", cache_write.as_ref());
    spent.maybe("pondered", reasoning.as_ref());
    for field in extra {
        ledger.dropped(field.value.pos(), Code::UsageDetail).info();
    }
}
