//! Cache markers: model to wire.

use super::Out;
use super::content_out::Voice;
use crate::ledger::{Code, Ledger};
use crate::model::{Cache, Protocol};
use crate::wire::Object;

/// A cache marker on a part. Only newer OpenAI models have them, and only on
/// what the model reads.
pub(super) fn write_cache(
    cache: Option<&Cache<'_>>,
    part: &mut Object<'_>,
    voice: Voice,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Some(Cache { at, ttl, extra }) = cache else { return };
    if cx.same() {
        let mut marker = part.object("prompt_cache_breakpoint");
        marker.maybe("ttl", ttl.as_ref());
        marker.extra(extra);
        return;
    }
    if !cx.profile.cache_breakpoints || voice != Voice::Input {
        ledger.dropped(*at, Code::CacheBreakpoint).info();
        return;
    }
    let mut marker = part.object("prompt_cache_breakpoint");
    marker.put("mode", "explicit");
    let word = ttl.as_ref().map(|ttl| ttl.decode());
    match word.as_deref() {
        Some(own @ ("30m" | "12h")) => marker.put("ttl", own),
        Some("1h") => marker.put("ttl", "12h"),
        Some(_other) => marker.put("ttl", "30m"),
        None if cx.origin == Protocol::Messages => marker.put("ttl", "30m"),
        None => {}
    }
    if cx.origin == Protocol::Messages {
        ledger.degraded(*at, Code::CacheTtl).info();
    }
    for field in extra {
        // Messages calls its one kind `ephemeral`, Chat its one mode `explicit`.
        if field.key != "mode" && field.key != "type" {
            ledger.dropped(field.value.pos(), Code::Only(field.key.decode().into_owned()));
        }
    }
}

/// A cache marker where Responses has none.
pub(super) fn lose_cache(cache: Option<&Cache<'_>>, cx: &Out<'_>, ledger: &mut Ledger) {
    if let Some(Cache { at, ttl: _, extra: _ }) = cache {
        let note = ledger.dropped(*at, Code::CacheBreakpoint);
        if !cx.profile.cache_breakpoints {
            note.info();
        }
    }
}
