//! What somebody says, piece by piece: from the model to the protocol.

use toolwire::codec::context::EncodeContext;
use toolwire::model::{Cache, Image, Item, Refusal, Source, Text};
use toolwire::wire::{Array, Object};
use toolwire::{Code, Ledger, Protocol};

/// Writes a list of pieces, or a string if there is nothing but one text.
pub(super) fn encode(items: &[Item<'_>], out: &mut Vec<u8>, cx: &mut EncodeContext<'_>) {
    if let [Item::Text(text)] = items
        && text.is_bare()
    {
        return toolwire::wire::Write::write(&text.text, out);
    }
    let mut list = Array::new(out);
    for item in items {
        let same_vendor = cx.same_vendor();
        write_piece(item, same_vendor, &mut list, cx.ledger);
    }
}

/// Writes an item that anybody may say, or reports that it cannot be said.
pub(super) fn write_piece(
    item: &Item<'_>,
    same_vendor: bool,
    list: &mut Array<'_>,
    ledger: &mut Ledger,
) {
    match item {
        Item::Text(Text { at: _, text, citations, logprobs, cache, extra }) => {
            list.object().put("say", text);
            if let Some(citations) = citations.as_ref().filter(|list| !list.is_empty()) {
                ledger.dropped(citations.pos(), Code::Citations);
            }
            if let Some(logprobs) = logprobs.as_ref().filter(|list| !list.is_empty()) {
                ledger.dropped(logprobs.pos(), Code::Logprobs).info();
            }
            lose_cache(cache.as_ref(), ledger);
            ledger.only(extra);
        }
        Item::Refusal(Refusal { at: _, text, extra }) => {
            list.object().put("decline", text);
            ledger.only(extra);
        }
        Item::Image(image) => write_image(image, same_vendor, list, ledger),
        Item::Json(raw) => {
            list.object().put("say", raw.text());
            let note = ledger.emulated(raw.pos(), Code::NativeToolWrapped);
            note.detail("Structured output crosses as text.");
        }
        Item::Tools(tools) => {
            let names: Vec<_> = tools.iter().map(|tool| tool.name.decode()).collect();
            list.object().put("say", &format!("Loaded tools: {}", names.join(" ")));
        }
        Item::Document(_)
        | Item::Audio(_)
        | Item::SearchResult(_)
        | Item::Reasoning(_)
        | Item::Call(_)
        | Item::Result(_)
        | Item::Hosted(_)
        | Item::ToolReference(_)
        | Item::Opaque(_) => ledger.misplaced(item),
    }
}

fn write_image(image: &Image<'_>, same_vendor: bool, list: &mut Array<'_>, ledger: &mut Ledger) {
    let Image { at, source, detail, cache, extra } = image;
    match source {
        Source::Url(url) => list.object().object("see").put("url", url),
        Source::Base64 { media, data } => {
            let mut piece = list.object();
            let mut see = piece.object("see");
            see.put("kind", media);
            see.put("data", data);
        }
        Source::File(_) if !same_vendor => {
            ledger.dropped(*at, Code::FileId);
            return;
        }
        Source::File(_) | Source::Text { media: _, data: _ } | Source::Other(_) => {
            ledger.dropped(*at, Code::MediaType);
            return;
        }
    }
    if let Some(detail) = detail {
        ledger.dropped(detail.pos(), Code::ImageDetail).info();
    }
    lose_cache(cache.as_ref(), ledger);
    ledger.only(extra);
}

/// The protocol has no cache markers.
pub(super) fn lose_cache(cache: Option<&Cache<'_>>, ledger: &mut Ledger) {
    if let Some(Cache { at, ttl: _, extra: _ }) = cache {
        ledger.dropped(*at, Code::CacheBreakpoint).info();
    }
}

/// Opens an entry of `dialogue`.
pub(super) fn entry<'o>(out: &'o mut Vec<u8>, by: &str) -> Object<'o> {
    let mut entry = Object::new(out);
    entry.put("by", by);
    entry
}

/// Whether both protocols have one vendor's store of files.
pub(super) fn same_vendor(origin: Protocol) -> bool {
    origin.same_vendor(super::FOURTH)
}
