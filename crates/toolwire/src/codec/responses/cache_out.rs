//! Cache markers: model to wire.

use super::content_out::PartRole;
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::Cache;
use crate::wire::{Extra, Object};

/// Writes a cache marker on a part. OpenAI has markers only on what the model
/// reads.
pub(super) fn write_cache(
    cache: Option<&Cache<'_>>,
    part: &mut Object<'_>,
    role: PartRole,
    cx: &mut EncodeContext<'_>,
) {
    let Some(Cache { at, ttl, extra }) = cache else { return };
    let is_own = cx.same_vendor() && is_own(extra);
    if !(is_own || cx.profile.cache_breakpoints) || role != PartRole::Input {
        cx.ledger.dropped(*at, Code::CacheBreakpoint).info();
        return;
    }
    let mut marker = part.object("prompt_cache_breakpoint");
    if is_own {
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

/// Whether a marker is in OpenAI's words. Clients of Chat may write one with a
/// type, as Messages does, which does not mean that the model takes OpenAI's.
fn is_own(extra: &[Extra<'_>]) -> bool {
    !extra.iter().any(|field| field.key == "type")
}

/// Whether cache markers cross. Only newer models accept them, but a client of
/// OpenAI's other protocol already takes that into account.
pub(super) fn takes_markers(cx: &EncodeContext<'_>) -> bool {
    cx.profile.cache_breakpoints || cx.same_vendor()
}

/// Reports a cache marker at a place where Responses has none.
pub(super) fn lose_cache(cache: Option<&Cache<'_>>, cx: &mut EncodeContext<'_>) {
    if let Some(Cache { at, ttl: _, extra }) = cache {
        let expected = !takes_markers(cx) || !is_own(extra);
        let note = cx.ledger.dropped(*at, Code::CacheBreakpoint);
        if expected {
            note.info();
        }
    }
}
