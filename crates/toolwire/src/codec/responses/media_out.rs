//! Images, documents and sound: model to wire.

use super::cache_out::write_cache;
use super::content_out::{PartRole, crosses, write_part, write_plain};
use crate::codec::context::EncodeContext;
use crate::codec::openai;
use crate::ledger::{Code, Ledger};
use crate::media;
use crate::media::blocks;
use crate::model::{Audio, Document, Image, Source};
use crate::wire::{Array, Object, Read, Str};

/// Why media from this source cannot cross, if it cannot.
fn lost(source: &Source<'_>, role: PartRole, cx: &EncodeContext<'_>) -> Option<Code> {
    if role.is_text_only() {
        return Some(Code::MediaType);
    }
    match source {
        Source::Url(_) | Source::Base64 { media: _, data: _ } => None,
        Source::File(_) => (!cx.same_vendor()).then_some(Code::FileId),
        Source::Text { media: _, data: _ } | Source::Other(_) => Some(Code::MediaType),
    }
}

pub(super) fn image_crosses(image: &Image<'_>, role: PartRole, cx: &EncodeContext<'_>) -> bool {
    lost(&image.source, role, cx).is_none()
}

pub(super) fn write_image(
    image: &Image<'_>,
    role: PartRole,
    parts: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Image { at, source, detail, cache, extra } = image;
    if let Some(code) = lost(source, role, cx) {
        cx.ledger.dropped(*at, code);
        return;
    }
    let mut part = parts.object();
    part.put("type", "input_image");
    match source {
        Source::Url(url) => part.put("image_url", url),
        Source::Base64 { media, data } => {
            media::write_data_url(media, data, part.key("image_url"));
        }
        Source::File(file) => part.put("file_id", file),
        Source::Text { media: _, data: _ } | Source::Other(_) => {}
    }
    match detail {
        Some(detail) => part.put("detail", detail),
        // The published type requires it, and this is the API's own default.
        None => part.put("detail", "auto"),
    }
    write_cache(cache.as_ref(), &mut part, PartRole::Input, cx);
    cx.ledger.only(extra);
}

pub(super) fn document_crosses(
    document: &Document<'_>,
    role: PartRole,
    cx: &EncodeContext<'_>,
) -> bool {
    match blocks::parts(document) {
        Some(parts) => parts.iter().any(|part| crosses(part, role, cx)),
        None => lost(&document.source, role, cx).is_none(),
    }
}

/// Writes a file as a file, and a document that can be read as its content.
pub(super) fn write_document(
    document: &Document<'_>,
    role: PartRole,
    parts: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    match blocks::parts(document) {
        Some(read) => {
            lose_document(document, cx.ledger);
            for part in &read {
                write_part(part, role, parts, cx);
            }
        }
        None => write_file(document, role, parts, cx),
    }
}

/// Reports what is lost of a document that crosses as its content.
pub(super) fn lose_document(document: &Document<'_>, ledger: &mut Ledger) {
    // Its name, its context and its cache marker are in the parts.
    let Document { at, source, name: _, context: _, citations, cache: _, extra } = document;
    let note = match source {
        Source::Text { media: _, data: _ } => ledger.emulated(*at, Code::MediaType),
        Source::Url(_)
        | Source::Base64 { media: _, data: _ }
        | Source::File(_)
        | Source::Other(_) => ledger.degraded(*at, Code::MediaType),
    };
    note.detail("The target has no such documents; what it says crosses under its title.");
    ledger.lost(citations, Code::Citations);
    ledger.only(extra);
}

fn write_file(
    document: &Document<'_>,
    role: PartRole,
    parts: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Document { at, source, name, context, citations, cache, extra } = document;
    if let Some(code) = lost(source, role, cx) {
        cx.ledger.dropped(*at, code);
        return;
    }
    if let Some(context) = context {
        cx.ledger.dropped(context.pos(), Code::Only("context".to_owned()));
    }
    cx.ledger.lost(citations, Code::Citations);
    let mut part = parts.object();
    part.put("type", "input_file");
    match source {
        Source::Url(url) => {
            part.put("file_url", url);
            part.maybe("filename", name.as_ref());
        }
        Source::Base64 { media, data } => {
            write_name(name.as_ref(), media, &mut part, cx);
            media::write_data_url(media, data, part.key("file_data"));
        }
        Source::File(file) => {
            part.put("file_id", file);
            part.maybe("filename", name.as_ref());
        }
        Source::Text { media: _, data: _ } | Source::Other(_) => {}
    }
    write_cache(cache.as_ref(), &mut part, PartRole::Input, cx);
    cx.ledger.only(extra);
}

/// Writes a file's name, which OpenAI requires with the file's bytes.
fn write_name(
    name: Option<&Str<'_>>,
    media: &Str<'_>,
    part: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    match name {
        Some(name) => openai::write_file_name(name, media, part, cx),
        None => {
            let media = media.decode();
            let ending = match media.as_ref() {
                "application/pdf" => "pdf",
                "text/plain" => "txt",
                other => other.split_once('/').map_or("bin", |(_, kind)| kind),
            };
            part.put("filename", &format!("document.{ending}"));
        }
    }
}

pub(super) fn audio_crosses(audio: &Audio<'_>, role: PartRole, cx: &EncodeContext<'_>) -> bool {
    if role.is_text_only() {
        transcript(audio).is_some()
    } else {
        cx.profile.audio && audio.data.is_some()
    }
}

pub(super) fn write_audio(
    audio: &Audio<'_>,
    role: PartRole,
    parts: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Audio { at, data, format, cache, extra } = audio;
    if role.is_text_only()
        && let Some(text) = transcript(audio)
    {
        cx.ledger
            .degraded(*at, Code::Audio)
            .detail("The target's models speak no audio; the transcript crosses.");
        write_plain(&text, role, parts);
        return;
    }
    if !audio_crosses(audio, role, cx) {
        cx.ledger.dropped(*at, Code::Audio);
        return;
    }
    let mut part = parts.object();
    part.put("type", "input_audio");
    {
        let mut inner = part.object("input_audio");
        inner.maybe("data", data.as_ref());
        inner.maybe("format", format.as_ref());
    }
    write_cache(cache.as_ref(), &mut part, PartRole::Input, cx);
    cx.ledger.only(extra);
}

/// The transcript of what a Chat model said.
fn transcript(audio: &Audio<'_>) -> Option<String> {
    let field = audio.extra.iter().find(|field| field.key == "transcript")?;
    Str::read(&mut field.value.reader()).ok().map(|text| text.into_decoded().into_owned())
}
