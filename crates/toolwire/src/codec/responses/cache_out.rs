//! Cache markers: model to wire.

use super::Out;
use super::content_out::Voice;
use crate::ledger::{Code, Ledger};
use crate::model::Cache;
use crate::wire::Object;

/// A cache marker on a part. OpenAI has them only on what the model reads.
pub(super) fn write_cache(
    cache: Option<&Cache<'_>>,
    part: &mut Object<'_>,
    voice: Voice,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Some(Cache { at, ttl, extra }) = cache else { return };
    if !cx.takes_markers() || voice != Voice::Input {
        ledger.dropped(*at, Code::CacheBreakpoint).info();
        return;
    }
    let mut marker = part.object("prompt_cache_breakpoint");
    if cx.same_vendor() {
        if !extra.iter().any(|field| field.key == "mode") {
            marker.put("mode", "explicit");
        }
        marker.maybe("ttl", ttl.as_ref());
        marker.extra(extra);
        return;
    }
    marker.put("mode", "explicit");
    let hour = ttl.as_ref().is_some_and(|ttl| *ttl == "1h");
    marker.put("ttl", if hour { "12h" } else { "30m" });
    ledger.degraded(*at, Code::CacheTtl).info();
    for field in extra {
        // Messages calls its one kind `ephemeral`.
        if field.key != "type" {
            ledger.only(std::slice::from_ref(field));
        }
    }
}

/// A cache marker where Responses has none.
pub(super) fn lose_cache(cache: Option<&Cache<'_>>, cx: &Out<'_>, ledger: &mut Ledger) {
    if let Some(Cache { at, ttl: _, extra: _ }) = cache {
        let note = ledger.dropped(*at, Code::CacheBreakpoint);
        if !cx.takes_markers() {
            note.info();
        }
    }
}
