//! Content parts and media: writing them.

use super::content_in::Toward;
use crate::ledger::{Code, Ledger};
use crate::media::{self, blocks};
use crate::model::{
    Audio, Cache, Document, HostedItem, Image, Item, Opaque, Refusal, SearchResult, Source, Text,
};
use crate::wire::{Array, Object, Pos, Raw, Str};

/// Writes the parts of a message: as one string where they are one text.
pub(super) fn write_content(object: &mut Object<'_>, items: &[&Item<'_>], toward: &mut Toward<'_>) {
    if let [Item::Text(text)] = items
        && !toward.takes(text.cache.as_ref())
    {
        object.put("content", &text.text);
        toward.drop_marker(text.cache.as_ref());
        return text_losses(text, toward);
    }
    let mut parts = object.array("content");
    for item in items {
        write_part(&mut parts, item, toward);
    }
}

/// Whether Chat has a part for the item. What it has none for is reported.
pub(super) fn crosses(item: &Item<'_>, toward: &mut Toward<'_>) -> bool {
    match item {
        Item::Text(_) | Item::Refusal(_) | Item::SearchResult(_) => true,
        Item::Audio(audio) => audio.data.is_some() || lost(toward.ledger, audio.at, Code::Audio),
        Item::Image(image) => match &image.source {
            Source::Url(_) | Source::Base64 { media: _, data: _ } => true,
            Source::File(_) => lost(toward.ledger, image.at, Code::FileId),
            Source::Text { media: _, data: _ } | Source::Other(_) => {
                lost(toward.ledger, image.at, Code::MediaType)
            }
        },
        Item::Document(document) => match &document.source {
            Source::Url(_)
            | Source::Base64 { media: _, data: _ }
            | Source::Text { media: _, data: _ } => true,
            Source::File(_) if !toward.same_vendor() => {
                lost(toward.ledger, document.at, Code::FileId)
            }
            Source::File(_) => true,
            Source::Other(_) => {
                let readable = blocks::parts(document).is_some();
                readable || lost(toward.ledger, document.at, Code::MediaType)
            }
        },
        Item::Json(_) | Item::ToolReference(_) => true,
        Item::Opaque(opaque) => {
            reference(opaque).is_some() || lost(toward.ledger, opaque.raw.pos(), opaque.code())
        }
        Item::Hosted(HostedItem { class: _, raw }) => {
            lost(toward.ledger, raw.pos(), Code::HostedHistory)
        }
        // Tools that become known inside a conversation are declared with the
        // others; calls, results and reasoning have places of their own.
        Item::Tools(_) | Item::Reasoning(_) | Item::Call(_) | Item::Result(_) => false,
    }
}

fn lost(ledger: &mut Ledger, pos: Pos, code: Code) -> bool {
    ledger.dropped(pos, code);
    false
}

/// Writes one part. Only items that cross are given to it.
pub(super) fn write_part(parts: &mut Array<'_>, item: &Item<'_>, toward: &mut Toward<'_>) {
    match item {
        Item::Text(text) => {
            let Text { at: _, text: words, citations: _, logprobs: _, cache, extra: _ } = text;
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", words);
            toward.put_marker(&mut part, cache.as_ref());
            text_losses(text, toward);
        }
        Item::Refusal(refusal) => {
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", refusal_text(refusal, toward));
        }
        Item::Image(image) => image_out(parts, image, toward),
        Item::Audio(Audio { at: _, data, format, cache, extra }) => {
            let mut part = parts.object();
            part.put("type", "input_audio");
            {
                let mut audio = part.object("input_audio");
                audio.maybe("data", data.as_ref());
                audio.maybe("format", format.as_ref());
            }
            toward.ledger.only(extra);
            toward.put_marker(&mut part, cache.as_ref());
        }
        Item::Document(document) if !reads_as_text(document) => {
            document_out(parts, document, toward);
        }
        Item::Document(document) => {
            for part in document_parts(document, toward) {
                // Only the user may show images.
                if let Item::Image(image) = &part {
                    toward.ledger.dropped(image.at, Code::MediaType);
                } else {
                    write_part(parts, &part, toward);
                }
            }
        }
        Item::SearchResult(_) | Item::Json(_) | Item::ToolReference(_) | Item::Opaque(_) => {
            let (text, cache) = as_text(item, toward);
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", &text);
            toward.put_marker(&mut part, cache.as_ref());
        }
        Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) | Item::Tools(_) => {
        }
    }
}

/// The text of a refusal of another protocol, where Chat has no refusal.
pub(super) fn refusal_text<'r, 'a>(
    refusal: &'r Refusal<'a>,
    toward: &mut Toward<'_>,
) -> &'r Str<'a> {
    let Refusal { at, text, extra } = refusal;
    let note = toward.ledger.emulated(*at, Code::StopReason);
    note.detail("The target has no refusal at this place; it crosses as text.");
    toward.ledger.only(extra);
    text
}

/// Reports what a text loses on the way from another protocol, beside its cache
/// marker.
pub(super) fn text_losses(text: &Text<'_>, toward: &mut Toward<'_>) {
    let Text { at: _, text: _, citations, logprobs, cache: _, extra } = text;
    if let Some(citations) = citations.as_ref().filter(|list| !list.is_empty()) {
        toward.ledger.dropped(citations.pos(), Code::Citations);
    }
    if let Some(logprobs) = logprobs.as_ref().filter(|list| !list.is_empty()) {
        toward.ledger.dropped(logprobs.pos(), Code::Logprobs).info();
    }
    toward.ledger.only(extra);
}

fn image_out(parts: &mut Array<'_>, image: &Image<'_>, toward: &mut Toward<'_>) {
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
    toward.ledger.only(extra);
    toward.put_marker(&mut part, cache.as_ref());
}

fn document_out(parts: &mut Array<'_>, document: &Document<'_>, toward: &mut Toward<'_>) {
    let Document { at: _, source, name, context, citations, cache, extra } = document;
    let mut part = parts.object();
    part.put("type", "file");
    {
        let mut file = part.object("file");
        match source {
            Source::Base64 { media, data } => {
                media::write_data_url(media, data, file.key("file_data"));
            }
            Source::File(id) => file.put("file_id", id),
            Source::Url(_) | Source::Text { media: _, data: _ } | Source::Other(_) => {}
        }
        match (name, source) {
            (Some(name), _) => file.put("filename", name),
            // OpenAI wants a name beside the bytes.
            (None, Source::Base64 { media, data: _ }) => {
                file.put("filename", default_name(media));
            }
            (None, _) => {}
        }
    }
    document_losses(context.as_ref(), citations.as_ref(), toward);
    toward.ledger.only(extra);
    toward.put_marker(&mut part, cache.as_ref());
}

fn default_name(media: &Str<'_>) -> &'static str {
    match media.decode().as_ref() {
        "application/pdf" => "document.pdf",
        "text/plain" => "document.txt",
        other => other.strip_prefix("text/").map_or("document", |_| "document.txt"),
    }
}

fn document_losses(
    context: Option<&Str<'_>>,
    citations: Option<&Raw<'_>>,
    toward: &mut Toward<'_>,
) {
    if let Some(context) = context {
        toward.ledger.dropped(context.pos(), Code::Only("context".to_owned()));
    }
    if let Some(citations) = citations {
        toward.ledger.dropped(citations.pos(), Code::Citations);
    }
}

/// Whether Chat can only have the document as text.
pub(super) fn reads_as_text(document: &Document<'_>) -> bool {
    match &document.source {
        Source::Base64 { media: _, data: _ } | Source::File(_) => false,
        Source::Url(_) | Source::Text { media: _, data: _ } | Source::Other(_) => true,
    }
}

/// What Chat can have of a document that it has no file for: its text, and the
/// images in it.
pub(super) fn document_parts<'r>(
    document: &'r Document<'_>,
    toward: &mut Toward<'_>,
) -> Vec<Item<'r>> {
    let Document { at, source, name: _, context: _, citations, cache, extra } = document;
    toward
        .ledger
        .degraded(*at, Code::MediaType)
        .detail("The target takes no such document; what can be read of it follows as text.");
    document_losses(None, citations.as_ref(), toward);
    toward.ledger.only(extra);
    let parts = if let Source::Url(address) = source {
        let text = Str::plain(format!("Document: {}", address.decode())).at(address.pos());
        blocks::dressed(document, vec![Item::Text(Text::new(text))])
    } else {
        blocks::parts(document).unwrap_or_default()
    };
    // A marker of the last part's own says the same as the document's.
    let kept = match parts.last() {
        Some(Item::Text(text)) => text.cache.as_ref(),
        Some(Item::Image(image)) => image.cache.as_ref(),
        Some(_) | None => None,
    };
    if let Some(marker) = cache
        && kept.is_none_or(|kept| kept.at != marker.at)
    {
        toward.drop_marker(Some(marker));
    }
    parts
}

/// What Chat can only have as text, as text, and the marker behind it.
pub(super) fn as_text<'r>(
    item: &'r Item<'_>,
    toward: &mut Toward<'_>,
) -> (String, Option<Cache<'r>>) {
    match item {
        Item::SearchResult(found) => (search_result_text(found, toward), found.cache.clone()),
        Item::Json(raw) => (raw.text().to_owned(), None),
        Item::ToolReference(name) => {
            toward.ledger.degraded(name.pos, Code::ToolSearch);
            (loaded(&name.value), None)
        }
        Item::Opaque(opaque) => match reference(opaque) {
            Some((name, cache)) => {
                toward.ledger.degraded(opaque.raw.pos(), Code::ToolSearch);
                (loaded(&name), cache)
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

fn loaded(name: &Str<'_>) -> String {
    format!("Loaded tool: {}", name.decode())
}

/// The reference to a tool that a block of Messages is, with its marker.
fn reference<'r>(opaque: &'r Opaque<'_>) -> Option<(Str<'r>, Option<Cache<'r>>)> {
    let kind = opaque.kind.as_ref()?;
    if *kind == "tool_reference" { blocks::reference(&opaque.raw) } else { None }
}

fn search_result_text(found: &SearchResult<'_>, toward: &mut Toward<'_>) -> String {
    let SearchResult { at, source, title, content, citations, cache: _, extra } = found;
    toward.ledger.degraded(*at, Code::Citations);
    if let Some(citations) = citations {
        toward.ledger.dropped(citations.pos(), Code::Citations);
    }
    toward.ledger.only(extra);
    let mut text = match (title, source) {
        (Some(title), Some(source)) => format!("{} ({})", title.decode(), source.decode()),
        (Some(only), None) | (None, Some(only)) => only.decode().into_owned(),
        (None, None) => String::new(),
    };
    for item in content {
        if let Item::Text(part) = item {
            text.push('\n');
            text.push_str(&part.text.decode());
            toward.drop_marker(part.cache.as_ref());
            text_losses(part, toward);
        } else {
            toward.ledger.misplaced(item);
        }
    }
    text
}
