//! Content blocks: text, media, search results and the cache markers on them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::blocks_out::{BlockWriter, WrittenBlock};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::media;
use crate::model::{Audio, Cache, Document, Image, Item, Refusal, SearchResult, Source, Text};
use crate::wire::{Object, Pos, Str};

/// Writes an item that both turns and results may hold.
pub(super) fn write_part(
    item: &Item<'_>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> WrittenBlock {
    match item {
        Item::Text(text) => write_text(text, out, cx),
        Item::Image(image) => write_image(image, out, cx),
        Item::Document(document) => write_document(document, out, cx),
        Item::SearchResult(result) => write_search_result(result, out, cx),
        Item::Audio(Audio { at, data: _, format: _, cache: _, extra: _ }) => {
            cx.ledger.dropped(*at, Code::Audio);
            WrittenBlock::Nothing
        }
        Item::Refusal(Refusal { at, text, extra }) => {
            report_refusal(*at, cx.ledger);
            cx.ledger.only(extra);
            write_text(&Text::new(text.borrowed()), out, cx)
        }
        Item::Json(value) => write_text(&Text::new(Str::plain(value.text())), out, cx),
        Item::ToolReference(name) => {
            cx.ledger.dropped(name.pos, Code::ToolSearch);
            WrittenBlock::Nothing
        }
        Item::Hosted(item) => {
            cx.ledger.dropped(item.raw.pos(), Code::HostedHistory);
            WrittenBlock::Nothing
        }
        Item::Opaque(item) => {
            cx.ledger.dropped(item.raw.pos(), item.code());
            WrittenBlock::Nothing
        }
        Item::Reasoning(_) => {
            cx.ledger.misplaced(item);
            WrittenBlock::Nothing
        }
        // Their place in the turn decides how these are written, so the callers
        // do it.
        Item::Call(_) | Item::Result(_) | Item::Tools(_) => WrittenBlock::Nothing,
    }
}

/// Reports a refusal, which is written as text.
pub(super) fn report_refusal(at: Pos, ledger: &mut Ledger) {
    let note = ledger.emulated(at, Code::StopReason);
    note.detail("The target has no refusal among content; it crosses as text.");
}

/// Writes a cache marker into a block.
pub(super) fn write_cache(
    cache: Option<&Cache<'_>>,
    block: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Some(Cache { at, ttl, extra }) = cache else { return };
    if cx.cache_markers == MAX_CACHE_MARKERS {
        let note = cx.ledger.dropped(*at, Code::CacheBreakpoint);
        note.detail("The target takes four cache markers; this one comes after them.").info();
        return;
    }
    cx.cache_markers += 1;
    let mut marker = block.object("cache_control");
    marker.put("type", "ephemeral");
    if let Some(ttl) = ttl {
        let nearest = match ttl.decode().as_ref() {
            "1h" | "12h" | "24h" => "1h",
            _other => "5m",
        };
        marker.put("ttl", nearest);
        if *ttl != *nearest {
            cx.ledger.degraded(ttl.pos(), Code::CacheTtl).info();
        }
    }
    for field in extra {
        // Vendors of other protocols take markers in these words too.
        if field.key != "type" || field.value.text() != "\"ephemeral\"" {
            cx.ledger.only(std::slice::from_ref(field));
        }
    }
}

/// Writes a `text` block, unless the text is blank: the API refuses that.
pub(super) fn write_text(
    text: &Text<'_>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> WrittenBlock {
    let Text { at, text: words, citations, logprobs, cache, extra } = text;
    if let Some(citations) = citations.as_ref().filter(|list| !list.is_empty()) {
        cx.ledger.dropped(citations.pos(), Code::Citations);
    }
    if let Some(logprobs) = logprobs.as_ref().filter(|list| !list.is_empty()) {
        cx.ledger.dropped(logprobs.pos(), Code::Logprobs).info();
    }
    cx.ledger.only(extra);
    if words.is_blank() {
        if let Some(Cache { at, ttl: _, extra: _ }) = cache {
            cx.ledger.dropped(*at, Code::CacheBreakpoint);
        }
        if !words.is_empty() {
            report_blank(*at, cx.ledger);
        }
        return WrittenBlock::Nothing;
    }
    let mut block = Object::new(out);
    block.put("type", "text");
    block.put("text", words);
    write_cache(cache.as_ref(), &mut block, cx);
    if cache.is_none() { WrittenBlock::BareText } else { WrittenBlock::Block }
}

/// Reports text of nothing but spaces, which is left out.
pub(super) fn report_blank(at: Pos, ledger: &mut Ledger) {
    let note = ledger.dropped(at, Code::Placeholder);
    note.detail("The target refuses text of nothing but spaces; it is left out.").info();
}

fn write_image(image: &Image<'_>, out: &mut Vec<u8>, cx: &mut EncodeContext<'_>) -> WrittenBlock {
    let Image { at, source, detail, cache, extra } = image;
    let Some(source) = MediaSource::new(source, *at, Medium::Image, cx.ledger) else {
        return WrittenBlock::Nothing;
    };
    cx.ledger.lost_info(detail, Code::ImageDetail);
    let mut block = Object::new(out);
    block.put("type", "image");
    source.write(&mut block);
    write_cache(cache.as_ref(), &mut block, cx);
    cx.ledger.only(extra);
    WrittenBlock::Block
}

fn write_document(
    document: &Document<'_>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> WrittenBlock {
    let Document { at, source, name, context: about, citations, cache, extra } = document;
    let Some(source) = MediaSource::new(source, *at, Medium::Document, cx.ledger) else {
        return WrittenBlock::Nothing;
    };
    let mut block = Object::new(out);
    block.put("type", "document");
    source.write(&mut block);
    block.maybe("title", name.as_ref());
    block.maybe("cx", about.as_ref());
    block.maybe("citations", citations.as_ref());
    write_cache(cache.as_ref(), &mut block, cx);
    cx.ledger.only(extra);
    WrittenBlock::Block
}

fn write_search_result(
    result: &SearchResult<'_>,
    out: &mut Vec<u8>,
    cx: &mut EncodeContext<'_>,
) -> WrittenBlock {
    let SearchResult { at: _, source, title, content, citations, cache, extra } = result;
    let mut block = Object::new(out);
    block.put("type", "search_result");
    block.maybe("source", source.as_ref());
    block.maybe("title", title.as_ref());
    let mut blocks = BlockWriter::default();
    for item in content {
        blocks.add(|out| write_part(item, out, cx));
    }
    blocks.write_list(block.key("content"));
    block.maybe("citations", citations.as_ref());
    write_cache(cache.as_ref(), &mut block, cx);
    cx.ledger.only(extra);
    WrittenBlock::Block
}

#[derive(Clone, Copy)]
enum Medium {
    Image,
    Document,
}

/// The `source` of an image or a document, as far as the API can take it from
/// another vendor's request.
enum MediaSource<'s> {
    Url(Str<'s>),
    Base64 { media: Str<'s>, data: Str<'s> },
    Text { media: Str<'s>, data: Str<'s> },
}

impl<'s> MediaSource<'s> {
    /// The source as the API takes it. If there is none, the ledger says why.
    fn new(source: &'s Source<'_>, at: Pos, medium: Medium, ledger: &mut Ledger) -> Option<Self> {
        match source {
            Source::Url(url) => match media::split_data_url(url) {
                Some((media, data)) => {
                    let (media, data) = (media.into_owned(), data.into_owned());
                    Self::inline(media, data, at, medium, ledger)
                }
                None => Some(Self::Url(url.borrowed())),
            },
            Source::Base64 { media, data } => {
                Self::inline(media.borrowed(), data.borrowed(), at, medium, ledger)
            }
            Source::Text { media, data } => {
                Some(Self::Text { media: media.borrowed(), data: data.borrowed() })
            }
            // The file is in another vendor's store.
            Source::File(_) => {
                ledger.dropped(at, Code::FileId);
                None
            }
            Source::Other(_) => {
                ledger.dropped(at, Code::MediaType);
                None
            }
        }
    }

    fn inline(
        media: Str<'s>,
        data: Str<'s>,
        at: Pos,
        medium: Medium,
        ledger: &mut Ledger,
    ) -> Option<Self> {
        let name = media.decode();
        match (medium, name.as_ref()) {
            (Medium::Image, "image/jpeg" | "image/png" | "image/gif" | "image/webp")
            | (Medium::Document, "application/pdf") => {}
            // The common misspelling means the same bytes.
            (Medium::Image, "image/jpg") => {
                ledger.emulated(at, Code::MediaType);
                return Some(Self::Base64 { media: Str::plain("image/jpeg"), data });
            }
            (Medium::Document, text) if text.starts_with("text/") => {
                let bytes = STANDARD.decode(data.decode().as_bytes()).ok();
                if let Some(decoded) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                    if text == "text/plain" {
                        ledger.emulated(at, Code::MediaType);
                    } else {
                        ledger.degraded(at, Code::MediaType).info();
                    }
                    let media = Str::plain("text/plain");
                    return Some(Self::Text { media, data: Str::plain(decoded) });
                }
                ledger.dropped(at, Code::MediaType);
                return None;
            }
            (Medium::Image | Medium::Document, _other) => {
                ledger.dropped(at, Code::MediaType);
                return None;
            }
        }
        drop(name);
        Some(Self::Base64 { media, data })
    }

    fn write(&self, block: &mut Object<'_>) {
        let mut source = block.object("source");
        match self {
            Self::Url(url) => {
                source.put("type", "url");
                source.put("url", url);
            }
            Self::Base64 { media, data } => {
                source.put("type", "base64");
                source.put("media_type", media);
                source.put("data", data);
            }
            Self::Text { media, data } => {
                source.put("type", "text");
                source.put("media_type", media);
                source.put("data", data);
            }
        }
    }
}

/// The API answers 400 to a fifth marker.
const MAX_CACHE_MARKERS: usize = 4;
