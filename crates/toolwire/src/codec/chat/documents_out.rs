//! Documents: writing them as files, or as what can be read of them.

use super::cache_out::put_marker;
use crate::codec::context::EncodeContext;
use crate::codec::openai;
use crate::ledger::Code;
use crate::media::{self, blocks};
use crate::model::{Document, Item, Source, Text};
use crate::wire::{Array, Raw, Str};

/// Whether Chat takes the document only as text.
pub(super) fn reads_as_text(document: &Document<'_>) -> bool {
    match &document.source {
        Source::Base64 { media: _, data: _ } | Source::File(_) => false,
        Source::Url(_) | Source::Text { media: _, data: _ } | Source::Other(_) => true,
    }
}

/// Writes a document as a file.
pub(super) fn write_document(
    parts: &mut Array<'_>,
    document: &Document<'_>,
    cx: &mut EncodeContext<'_>,
) {
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
            (Some(name), Source::Base64 { media, data: _ }) => {
                openai::write_file_name(name, media, &mut file, cx);
            }
            (Some(name), _) => file.put("filename", name),
            // OpenAI requires a name beside the bytes.
            (None, Source::Base64 { media, data: _ }) => {
                file.put("filename", default_name(media));
            }
            (None, _) => {}
        }
    }
    report_document_losses(context.as_ref(), citations.as_ref(), cx);
    cx.ledger.only(extra);
    put_marker(&mut part, cache.as_ref(), cx);
}

/// What can be sent of a document that Chat takes only as text: its text, and
/// the images in it.
pub(super) fn document_parts<'r>(
    document: &'r Document<'_>,
    cx: &mut EncodeContext<'_>,
) -> Vec<Item<'r>> {
    let Document { at, source, name: _, context: _, citations, cache, extra } = document;
    cx.ledger
        .degraded(*at, Code::MediaType)
        .detail("The target takes no such document; what can be read of it follows as text.");
    report_document_losses(None, citations.as_ref(), cx);
    cx.ledger.only(extra);
    let parts = if let Source::Url(address) = source {
        let text = Str::plain(format!("Document: {}", address.decode())).at(address.pos());
        blocks::with_heading(document, vec![Item::Text(Text::new(text))])
    } else {
        blocks::parts(document).unwrap_or_default()
    };
    // The last part may already have the document's marker.
    let kept = match parts.last() {
        Some(Item::Text(text)) => text.cache.as_ref(),
        Some(Item::Image(image)) => image.cache.as_ref(),
        Some(_) | None => None,
    };
    if let Some(marker) = cache
        && kept.is_none_or(|kept| kept.at != marker.at)
    {
        cx.ledger.dropped(marker.at, Code::CacheBreakpoint).info();
    }
    parts
}

fn default_name(media: &Str<'_>) -> &'static str {
    match media.decode().as_ref() {
        "application/pdf" => "document.pdf",
        "text/plain" => "document.txt",
        other => other.strip_prefix("text/").map_or("document", |_| "document.txt"),
    }
}

fn report_document_losses(
    context: Option<&Str<'_>>,
    citations: Option<&Raw<'_>>,
    cx: &mut EncodeContext<'_>,
) {
    if let Some(context) = context {
        cx.ledger.dropped(context.pos(), Code::Only("context".to_owned()));
    }
    cx.ledger.lost(&citations, Code::Citations);
}
