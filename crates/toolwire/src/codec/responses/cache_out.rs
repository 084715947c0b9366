//! Cache markers: model to wire.

use super::content_out::PartRole;
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::Cache;
use crate::wire::Object;

/// Writes a cache marker on a part. OpenAI has markers only on what the model
/// reads.
pub(super) fn write_cache(
    cache: Option<&Cache<'_>>,
    part: &mut Object<'_>,
    role: PartRole,
    cx: &mut EncodeContext<'_>,
) {
    let Some(Cache { at, ttl, extra }) = cache else { return };
    if !takes_markers(cx) || role != PartRole::Input {
        cx.ledger.dropped(*at, Code::CacheBreakpoint).info();
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
    cx.ledger.degraded(*at, Code::CacheTtl).info();
    for field in extra {
        // Messages calls its one kind `ephemeral`.
        if field.key != "type" {
            cx.ledger.only(std::slice::from_ref(field));
        }
    }
}

/// Whether cache markers cross. Only newer models accept them, but a client of
/// OpenAI's other protocol already takes that into account.
pub(super) fn takes_markers(cx: &EncodeContext<'_>) -> bool {
    cx.profile.cache_breakpoints || cx.same_vendor()
}

/// Reports a cache marker at a place where Responses has none.
pub(super) fn lose_cache(cache: Option<&Cache<'_>>, cx: &mut EncodeContext<'_>) {
    if let Some(Cache { at, ttl: _, extra: _ }) = cache {
        let expected = !takes_markers(cx);
        let note = cx.ledger.dropped(*at, Code::CacheBreakpoint);
        if expected {
            note.info();
        }
    }
}
