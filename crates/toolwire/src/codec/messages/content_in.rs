//! Content blocks: text, media, search results and the cache markers on them.

use super::wire;
use crate::model::{Cache, Document, Image, SearchResult, Source, Text};
use crate::wire::{Extra, Kind, Raw, Read, ReadError, Str};

pub(super) fn cache(marker: wire::CacheControl<'_>) -> Cache<'_> {
    let wire::CacheControl { at, kind, ttl, mut extra } = marker;
    // A marker of a kind other than the one known is reported by its name.
    if let Some(kind) = kind.filter(|kind| *kind != *"ephemeral") {
        extra.push(Extra { key: Str::plain("type"), value: Raw::literal(&kind) });
    }
    Cache { at, ttl, extra }
}

pub(super) fn text(block: wire::Text<'_>) -> Option<Text<'_>> {
    let wire::Text { at, kind: _, text, citations, cache_control, extra } = block;
    let cache = cache_control.map(cache);
    Some(Text { at, text: text?, citations, logprobs: None, cache, extra })
}

pub(super) fn image(block: wire::Image<'_>) -> Result<Option<Image<'_>>, ReadError> {
    let wire::Image { at, kind: _, source: from, cache_control, extra } = block;
    let Some(from) = from else { return Ok(None) };
    let cache = cache_control.map(cache);
    Ok(Some(Image { at, source: source(from)?, detail: None, cache, extra }))
}

pub(super) fn document(block: wire::Document<'_>) -> Result<Option<Document<'_>>, ReadError> {
    let wire::Document {
        at,
        kind: _,
        source: from,
        title,
        context,
        citations,
        cache_control,
        extra,
    } = block;
    let Some(from) = from else { return Ok(None) };
    let cache = cache_control.map(cache);
    Ok(Some(Document { at, source: source(from)?, name: title, context, citations, cache, extra }))
}

pub(super) fn search_result(block: wire::SearchResult<'_>) -> SearchResult<'_> {
    let wire::SearchResult { at, kind: _, source, title, content, citations, cache_control, extra } =
        block;
    SearchResult {
        at,
        source,
        title,
        content: content.map(|content| content.items).unwrap_or_default(),
        citations,
        cache: cache_control.map(cache),
        extra,
    }
}

/// A source. If it has members that its kind does not have, it is kept as it
/// came.
fn source(raw: Raw<'_>) -> Result<Source<'_>, ReadError> {
    let Some(mut reader) = raw.source_reader().filter(|_| raw.kind() == Kind::Object) else {
        return Ok(Source::Other(raw));
    };
    let kind = reader.tag("type")?;
    let known = ["base64", "text", "url", "file"];
    if !kind.is_some_and(|kind| known.contains(&kind.decode().as_ref())) {
        return Ok(Source::Other(raw));
    }
    let wire::Source { at: _, kind, media_type, data, url, file_id, extra } =
        wire::Source::read(&mut reader)?;
    let kind = kind.map(Str::into_decoded).unwrap_or_default();
    Ok(match (kind.as_ref(), media_type, data, url, file_id) {
        (_, _, _, _, _) if !extra.is_empty() => Source::Other(raw),
        ("base64", Some(media), Some(data), None, None) => Source::Base64 { media, data },
        ("text", Some(media), Some(data), None, None) => Source::Text { media, data },
        ("url", None, None, Some(url), None) => Source::Url(url),
        ("file", None, None, None, Some(id)) => Source::File(id),
        (_, _, _, _, _) => Source::Other(raw),
    })
}
