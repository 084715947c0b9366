//! Content parts and media: writing them.

use super::cache_out::{put_marker, takes_marker};
use super::documents_out::{document_parts, reads_as_text, write_document};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::media::{self, blocks};
use crate::model::{
    Audio, Cache, HostedItem, Image, Item, Opaque, Refusal, SearchResult, Source, Text,
};
use crate::wire::{Array, Object, Pos, Str};

/// Writes the parts of a message, or one string if all they are is one text.
pub(super) fn write_content(
    object: &mut Object<'_>,
    items: &[&Item<'_>],
    cx: &mut EncodeContext<'_>,
) {
    if let [Item::Text(text)] = items
        && !takes_marker(text.cache.as_ref(), cx)
    {
        object.put("content", &text.text);
        cx.ledger.lost_info(&text.cache, Code::CacheBreakpoint);
        return report_text_losses(text, cx);
    }
    let mut parts = object.array("content");
    for item in items {
        write_part(&mut parts, item, cx);
    }
}

/// Whether Chat has a part for the item. If it has none, reports the loss.
pub(super) fn has_part(item: &Item<'_>, cx: &mut EncodeContext<'_>) -> bool {
    match item {
        Item::Text(_) | Item::Refusal(_) | Item::SearchResult(_) => true,
        Item::Audio(audio) => audio.data.is_some() || report_lost(cx.ledger, audio.at, Code::Audio),
        Item::Image(image) => match &image.source {
            Source::Url(_) | Source::Base64 { media: _, data: _ } => true,
            Source::File(_) => report_lost(cx.ledger, image.at, Code::FileId),
            Source::Text { media: _, data: _ } | Source::Other(_) => {
                report_lost(cx.ledger, image.at, Code::MediaType)
            }
        },
        Item::Document(document) => match &document.source {
            Source::Url(_)
            | Source::Base64 { media: _, data: _ }
            | Source::Text { media: _, data: _ } => true,
            Source::File(_) if !cx.same_vendor() => {
                report_lost(cx.ledger, document.at, Code::FileId)
            }
            Source::File(_) => true,
            Source::Other(_) => {
                let readable = blocks::parts(document).is_some();
                readable || report_lost(cx.ledger, document.at, Code::MediaType)
            }
        },
        Item::Json(_) | Item::ToolReference(_) => true,
        Item::Opaque(opaque) => {
            tool_reference(opaque).is_some()
                || report_lost(cx.ledger, opaque.raw.pos(), opaque.code())
        }
        Item::Hosted(HostedItem { class: _, raw }) => {
            report_lost(cx.ledger, raw.pos(), Code::HostedHistory)
        }
        // Tools that are declared inside a conversation are sent with the
        // others; calls, results and reasoning are written elsewhere.
        Item::Tools(_) | Item::Reasoning(_) | Item::Call(_) | Item::Result(_) => false,
    }
}

fn report_lost(ledger: &mut Ledger, pos: Pos, code: Code) -> bool {
    ledger.dropped(pos, code);
    false
}

/// Writes an item that Chat has a part for.
pub(super) fn write_part(parts: &mut Array<'_>, item: &Item<'_>, cx: &mut EncodeContext<'_>) {
    match item {
        Item::Text(text) => {
            let Text { at: _, text: words, citations: _, logprobs: _, cache, extra: _ } = text;
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", words);
            put_marker(&mut part, cache.as_ref(), cx);
            report_text_losses(text, cx);
        }
        Item::Refusal(refusal) => {
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", refusal_text(refusal, cx));
        }
        Item::Image(image) => write_image(parts, image, cx),
        Item::Audio(Audio { at: _, data, format, cache, extra }) => {
            let mut part = parts.object();
            part.put("type", "input_audio");
            {
                let mut audio = part.object("input_audio");
                audio.maybe("data", data.as_ref());
                audio.maybe("format", format.as_ref());
            }
            cx.ledger.only(extra);
            put_marker(&mut part, cache.as_ref(), cx);
        }
        Item::Document(document) if !reads_as_text(document) => {
            write_document(parts, document, cx);
        }
        Item::Document(document) => {
            for part in document_parts(document, cx) {
                // Chat takes images from the user only.
                if let Item::Image(image) = &part {
                    cx.ledger.dropped(image.at, Code::MediaType);
                } else {
                    write_part(parts, &part, cx);
                }
            }
        }
        Item::SearchResult(_) | Item::Json(_) | Item::ToolReference(_) | Item::Opaque(_) => {
            let (text, cache) = text_of(item, cx);
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", &text);
            put_marker(&mut part, cache.as_ref(), cx);
        }
        Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) | Item::Tools(_) => {
        }
    }
}

/// The text of a refusal at a place where Chat has no refusals.
pub(super) fn refusal_text<'r, 'a>(
    refusal: &'r Refusal<'a>,
    cx: &mut EncodeContext<'_>,
) -> &'r Str<'a> {
    let Refusal { at, text, extra } = refusal;
    let note = cx.ledger.emulated(*at, Code::StopReason);
    note.detail("The target has no refusal at this place; it crosses as text.");
    cx.ledger.only(extra);
    text
}

/// Reports what a text loses, except for its cache marker.
pub(super) fn report_text_losses(text: &Text<'_>, cx: &mut EncodeContext<'_>) {
    let Text { at: _, text: _, citations, logprobs, cache: _, extra } = text;
    if let Some(citations) = citations.as_ref().filter(|list| !list.is_empty()) {
        cx.ledger.dropped(citations.pos(), Code::Citations);
    }
    if let Some(logprobs) = logprobs.as_ref().filter(|list| !list.is_empty()) {
        cx.ledger.dropped(logprobs.pos(), Code::Logprobs).info();
    }
    cx.ledger.only(extra);
}

fn write_image(parts: &mut Array<'_>, image: &Image<'_>, cx: &mut EncodeContext<'_>) {
    let Image { at: _, source, detail, cache, extra } = image;
    let mut part = parts.object();
    part.put("type", "image_url");
    {
        let mut url = part.object("image_url");
        match source {
            Source::Url(address) => url.put("url", address),
            Source::Base64 { media, data } => media::write_data_url(media, data, url.key("url")),
            Source::File(_) | Source::Text { media: _, data: _ } | Source::Other(_) => {}
        }
        url.maybe("detail", detail.as_ref());
    }
    cx.ledger.only(extra);
    put_marker(&mut part, cache.as_ref(), cx);
}

/// The text of an item that Chat takes only as text, and its cache marker.
pub(super) fn text_of<'r>(
    item: &'r Item<'_>,
    cx: &mut EncodeContext<'_>,
) -> (String, Option<Cache<'r>>) {
    match item {
        Item::SearchResult(found) => (search_result_text(found, cx), found.cache.clone()),
        Item::Json(raw) => (raw.text().to_owned(), None),
        Item::ToolReference(name) => {
            cx.ledger.degraded(name.pos, Code::ToolSearch);
            (loaded_text(&name.value), None)
        }
        Item::Opaque(opaque) => match tool_reference(opaque) {
            Some((name, cache)) => {
                cx.ledger.degraded(opaque.raw.pos(), Code::ToolSearch);
                (loaded_text(&name), cache)
            }
            None => (String::new(), None),
        },
        Item::Text(_)
        | Item::Image(_)
        | Item::Document(_)
        | Item::Audio(_)
        | Item::Refusal(_)
        | Item::Reasoning(_)
        | Item::Call(_)
        | Item::Result(_)
        | Item::Hosted(_)
        | Item::Tools(_) => (String::new(), None),
    }
}

fn loaded_text(name: &Str<'_>) -> String {
    format!("Loaded tool: {}", name.decode())
}

/// The tool that an unknown block refers to, and its cache marker.
fn tool_reference<'r>(opaque: &'r Opaque<'_>) -> Option<(Str<'r>, Option<Cache<'r>>)> {
    let kind = opaque.kind.as_ref()?;
    if *kind == "tool_reference" { blocks::reference(&opaque.raw) } else { None }
}

fn search_result_text(found: &SearchResult<'_>, cx: &mut EncodeContext<'_>) -> String {
    let SearchResult { at, source: _, title: _, content, citations, cache: _, extra } = found;
    cx.ledger.degraded(*at, Code::Citations);
    cx.ledger.lost(citations, Code::Citations);
    cx.ledger.only(extra);
    let mut text = found.heading();
    for item in content {
        if let Item::Text(part) = item {
            text.push('\n');
            text.push_str(&part.text.decode());
            cx.ledger.lost_info(&part.cache, Code::CacheBreakpoint);
            report_text_losses(part, cx);
        } else {
            cx.ledger.misplaced(item);
        }
    }
    text
}
