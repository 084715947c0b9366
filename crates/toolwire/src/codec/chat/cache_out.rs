//! Cache markers: writing them.

use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::Cache;
use crate::wire::{Object, Str};

/// Whether the marker can be written. Only newer models take one, but a client
/// of OpenAI's other protocol knows that as well.
pub(super) fn takes_marker(cache: Option<&Cache<'_>>, cx: &EncodeContext<'_>) -> bool {
    cache.is_some() && (cx.same_vendor() || cx.profile.cache_breakpoints)
}

/// Writes a cache marker, or reports it if the upstream takes none.
pub(super) fn put_marker(
    object: &mut Object<'_>,
    cache: Option<&Cache<'_>>,
    cx: &mut EncodeContext<'_>,
) {
    if !takes_marker(cache, cx) {
        return cx.ledger.lost_info(&cache, Code::CacheBreakpoint);
    }
    let Some(Cache { at, ttl, extra }) = cache else { return };
    let mut marker = object.object("prompt_cache_breakpoint");
    marker.put("mode", "explicit");
    match ttl.as_ref().map(Str::decode).as_deref() {
        Some("5m") if !cx.same_vendor() => {
            cx.ledger.degraded(*at, Code::CacheTtl).info();
            marker.put("ttl", "30m");
        }
        Some("1h") if !cx.same_vendor() => {
            cx.ledger.degraded(*at, Code::CacheTtl).info();
            marker.put("ttl", "12h");
        }
        Some(_) | None => marker.maybe("ttl", ttl.as_ref()),
    }
    cx.ledger.only(extra);
}
