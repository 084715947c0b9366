//! What is said: text, media, search results and the cache markers on them, as
//! Messages' blocks.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::ledger::{Code, Ledger};
use crate::media;
use crate::model::{Cache, Document, Image, Item, SearchResult, Source, Text};
use crate::wire::{Object, Str, write_escaped};

/// What was written for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrote {
    /// Nothing: the item cannot cross or is empty.
    Nothing,
    /// A text block with nothing attached.
    BareText,
    /// Any other block.
    Block,
}

/// Writes content from one protocol for one target.
pub(super) struct Pen<'l> {
    /// What could not be carried.
    pub(super) ledger: &'l mut Ledger,
    /// How many cache markers were written.
    markers: usize,
}

impl<'l> Pen<'l> {
    pub(super) fn new(ledger: &'l mut Ledger) -> Self {
        Self { ledger, markers: 0 }
    }

    pub(super) fn cache(&mut self, object: &mut Object<'_>, cache: Option<&Cache<'_>>) {
        let Some(Cache { at, ttl, extra }) = cache else { return };
        if self.markers == MOST_MARKERS {
            let note = self.ledger.dropped(*at, Code::CacheBreakpoint);
            note.detail("The target takes four cache markers; this one comes after them.").info();
            return;
        }
        self.markers += 1;
        let mut marker = object.object("cache_control");
        marker.put("type", "ephemeral");
        if let Some(ttl) = ttl {
            let nearest = match ttl.decode().as_ref() {
                "1h" | "12h" | "24h" => "1h",
                _other => "5m",
            };
            marker.put("ttl", nearest);
            if *ttl != *nearest {
                self.ledger.degraded(ttl.pos(), Code::CacheTtl).info();
            }
        }
        self.ledger.only(extra);
    }

    pub(super) fn text(&mut self, text: &Text<'_>, out: &mut Vec<u8>) -> Wrote {
        let Text { at, text: words, citations, logprobs, cache, extra } = text;
        if let Some(citations) = citations.as_ref().filter(|list| !list.is_empty()) {
            self.ledger.dropped(citations.pos(), Code::Citations);
        }
        if let Some(logprobs) = logprobs.as_ref().filter(|list| !list.is_empty()) {
            self.ledger.dropped(logprobs.pos(), Code::Logprobs).info();
        }
        self.ledger.only(extra);
        if words.is_blank() {
            if let Some(Cache { at, ttl: _, extra: _ }) = cache {
                self.ledger.dropped(*at, Code::CacheBreakpoint);
            }
            if !words.is_empty() {
                let note = self.ledger.dropped(*at, Code::Placeholder);
                note.detail("The target refuses text of nothing but spaces; it is left out.")
                    .info();
            }
            return Wrote::Nothing;
        }
        let mut block = Object::new(out);
        block.put("type", "text");
        block.put("text", words);
        self.cache(&mut block, cache.as_ref());
        if cache.is_none() { Wrote::BareText } else { Wrote::Block }
    }

    pub(super) fn image(&mut self, image: &Image<'_>, out: &mut Vec<u8>) -> Wrote {
        let Image { at, source, detail, cache, extra } = image;
        let source = match self.sent(source, *at, Medium::Image) {
            Some(source) => source,
            None => return Wrote::Nothing,
        };
        if let Some(detail) = detail {
            self.ledger.dropped(detail.pos(), Code::ImageDetail).info();
        }
        let mut block = Object::new(out);
        block.put("type", "image");
        write_source(&source, &mut block);
        self.cache(&mut block, cache.as_ref());
        self.ledger.only(extra);
        Wrote::Block
    }

    pub(super) fn document(&mut self, document: &Document<'_>, out: &mut Vec<u8>) -> Wrote {
        let Document { at, source, name, context, citations, cache, extra } = document;
        let source = match self.sent(source, *at, Medium::Document) {
            Some(source) => source,
            None => return Wrote::Nothing,
        };
        let mut block = Object::new(out);
        block.put("type", "document");
        write_source(&source, &mut block);
        block.maybe("title", name.as_ref());
        block.maybe("context", context.as_ref());
        block.maybe("citations", citations.as_ref());
        self.cache(&mut block, cache.as_ref());
        self.ledger.only(extra);
        Wrote::Block
    }

    pub(super) fn search_result(&mut self, result: &SearchResult<'_>, out: &mut Vec<u8>) -> Wrote {
        let SearchResult { at: _, source, title, content, citations, cache, extra } = result;
        let mut block = Object::new(out);
        block.put("type", "search_result");
        block.maybe("source", source.as_ref());
        block.maybe("title", title.as_ref());
        {
            let list = block.key("content");
            list.push(b'[');
            let mut first = true;
            for item in content {
                let mark = list.len();
                if !first {
                    list.push(b',');
                }
                if self.part(item, list) == Wrote::Nothing {
                    list.truncate(mark);
                } else {
                    first = false;
                }
            }
            list.push(b']');
        }
        block.maybe("citations", citations.as_ref());
        self.cache(&mut block, cache.as_ref());
        self.ledger.only(extra);
        Wrote::Block
    }

    /// Writes an item that both turns and results may hold.
    pub(super) fn part(&mut self, item: &Item<'_>, out: &mut Vec<u8>) -> Wrote {
        match item {
            Item::Text(text) => self.text(text, out),
            Item::Image(image) => self.image(image, out),
            Item::Document(document) => self.document(document, out),
            Item::SearchResult(result) => self.search_result(result, out),
            Item::Audio(audio) => {
                let crate::model::Audio { at, data: _, format: _, cache: _, extra: _ } = audio;
                self.ledger.dropped(*at, Code::Audio);
                Wrote::Nothing
            }
            Item::Refusal(refusal) => {
                let crate::model::Refusal { at, text, extra } = refusal;
                let note = self.ledger.emulated(*at, Code::StopReason);
                note.detail("The target has no refusal among content; it crosses as text.");
                self.ledger.only(extra);
                self.text(&Text::new(text.borrowed()), out)
            }
            Item::Json(value) => self.text(&Text::new(Str::plain(value.text())), out),
            Item::ToolReference(name) => {
                self.ledger.dropped(name.pos, Code::ToolSearch);
                Wrote::Nothing
            }
            Item::Hosted(item) => {
                self.ledger.dropped(item.raw.pos(), Code::HostedHistory);
                Wrote::Nothing
            }
            Item::Opaque(item) => {
                self.ledger.dropped(item.raw.pos(), item.code());
                Wrote::Nothing
            }
            Item::Reasoning(_) => {
                self.ledger.misplaced(item);
                Wrote::Nothing
            }
            // These are written by those who know their place in the turn.
            Item::Call(_) | Item::Result(_) | Item::Tools(_) => Wrote::Nothing,
        }
    }

    /// The source as the target takes it, or nothing and a line.
    fn sent<'s>(
        &mut self,
        source: &'s Source<'_>,
        at: crate::wire::Pos,
        medium: Medium,
    ) -> Option<Source<'s>> {
        match source {
            Source::Url(url) => {
                let Some((media, data)) = media::split_data_url(url) else {
                    return Some(Source::Url(url.borrowed()));
                };
                let (media, data) = (media.into_owned(), data.into_owned());
                self.inline(media, data, at, medium)
            }
            Source::Base64 { media, data } => {
                self.inline(media.borrowed(), data.borrowed(), at, medium)
            }
            Source::File(_) => {
                self.ledger.dropped(at, Code::FileId);
                None
            }
            Source::Text { media, data } => {
                Some(Source::Text { media: media.borrowed(), data: data.borrowed() })
            }
            Source::Other(_) => {
                self.ledger.dropped(at, Code::MediaType);
                None
            }
        }
    }

    fn inline<'s>(
        &mut self,
        media: Str<'s>,
        data: Str<'s>,
        at: crate::wire::Pos,
        medium: Medium,
    ) -> Option<Source<'s>> {
        let name = media.decode();
        match (medium, name.as_ref()) {
            (Medium::Image, "image/jpeg" | "image/png" | "image/gif" | "image/webp")
            | (Medium::Document, "application/pdf") => {}
            // The common misspelling means the same bytes.
            (Medium::Image, "image/jpg") => {
                self.ledger.emulated(at, Code::MediaType);
                return Some(Source::Base64 { media: Str::plain("image/jpeg"), data });
            }
            (Medium::Document, text) if text.starts_with("text/") => {
                let bytes = STANDARD.decode(data.decode().as_bytes()).ok();
                if let Some(decoded) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                    if text == "text/plain" {
                        self.ledger.emulated(at, Code::MediaType);
                    } else {
                        self.ledger.degraded(at, Code::MediaType).info();
                    }
                    let media = Str::plain("text/plain");
                    return Some(Source::Text { media, data: Str::plain(decoded) });
                }
                self.ledger.dropped(at, Code::MediaType);
                return None;
            }
            (Medium::Image | Medium::Document, _other) => {
                self.ledger.dropped(at, Code::MediaType);
                return None;
            }
        }
        drop(name);
        Some(Source::Base64 { media, data })
    }
}

/// Writes one literal of several texts, keeping the escapes of those that came
/// from a document.
pub(super) fn write_joined(parts: &[Cow<'_, str>], around: Option<&Str<'_>>, out: &mut Vec<u8>) {
    out.push(b'"');
    if let Some(text) = around {
        text.write_inside(out);
    }
    for part in parts {
        write_escaped(part, out);
    }
    out.push(b'"');
}

#[derive(Clone, Copy)]
enum Medium {
    Image,
    Document,
}

fn write_source(source: &Source<'_>, block: &mut Object<'_>) {
    if let Source::Other(raw) = source {
        block.put("source", raw);
        return;
    }
    let mut object = block.object("source");
    match source {
        Source::Url(url) => {
            object.put("type", "url");
            object.put("url", url);
        }
        Source::Base64 { media, data } => {
            object.put("type", "base64");
            object.put("media_type", media);
            object.put("data", data);
        }
        Source::File(id) => {
            object.put("type", "file");
            object.put("file_id", id);
        }
        Source::Text { media, data } => {
            object.put("type", "text");
            object.put("media_type", media);
            object.put("data", data);
        }
        Source::Other(_) => {}
    }
}

/// The API answers 400 to a fifth marker.
const MOST_MARKERS: usize = 4;
