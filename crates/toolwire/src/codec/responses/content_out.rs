//! Content parts, cache markers and media: model to wire.

use super::Out;
use super::cache_out::{lose_cache, write_cache};
use super::citations::annotations;
use crate::ledger::{Code, Ledger};
use crate::media;
use crate::model::{
    Audio, Document, Image, Item, Opaque, Refusal, SearchResult, Source, Text, ToolResult,
};
use crate::wire::{Array, Object, Pos, Raw, Read, Str};

/// Who a part is written for: text is spelled differently for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Anybody but the model.
    Input,
    /// The model, in the history.
    Model,
    /// The model, in an answer: every member of the published type is there.
    Answer,
}

/// The one text of a message or an output that can be a bare string.
pub(super) fn bare_text<'r, 'a>(items: &'r [Item<'a>]) -> Option<&'r Str<'a>> {
    match items {
        [Item::Text(text)] if text.is_bare() && text.at == text.text.pos() => Some(&text.text),
        _parts => None,
    }
}

/// Whether an item goes into a message's content. The others are items of
/// their own in Responses.
pub(super) fn is_content(item: &Item<'_>, turn_at: Pos, cx: &Out<'_>) -> bool {
    match item {
        Item::Text(_)
        | Item::Image(_)
        | Item::Document(_)
        | Item::Audio(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::ToolReference(_)
        | Item::Json(_) => true,
        // An unknown part stands inside its message, an unknown item is the
        // whole turn.
        Item::Opaque(opaque) => opaque.raw.pos() != turn_at,
        // So does the result of Messages that somebody put into a message.
        Item::Result(result) => cx.same() && result.at != turn_at,
        Item::Reasoning(_) | Item::Call(_) | Item::Hosted(_) | Item::Tools(_) => false,
    }
}

/// Whether anything of a content item reaches the target.
pub(super) fn crosses(item: &Item<'_>, voice: Voice, cx: &Out<'_>) -> bool {
    let carried = |source: &Source<'_>, text: bool| match source {
        Source::Url(_) | Source::Base64 { media: _, data: _ } => true,
        Source::File(_) => cx.knows_files(),
        Source::Text { media: _, data: _ } => text,
        Source::Other(_) => false,
    };
    match item {
        Item::Text(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::ToolReference(_)
        | Item::Json(_) => true,
        Item::Image(_) | Item::Document(_) if voice.is_text_only(cx) => false,
        Item::Audio(audio) if voice.is_text_only(cx) => transcript(audio).is_some(),
        Item::Image(image) => carried(&image.source, false),
        Item::Document(document) => carried(&document.source, true),
        Item::Audio(audio) => audio.data.is_some(),
        Item::Opaque(_) | Item::Result(_) => cx.same(),
        Item::Reasoning(_) | Item::Call(_) | Item::Hosted(_) | Item::Tools(_) => false,
    }
}

/// Whether content of another protocol says nothing: Chat writes an empty text
/// beside calls, which would become a message of its own here.
pub(super) fn is_silent(content: &[Item<'_>], cx: &Out<'_>, ledger: &mut Ledger) -> bool {
    let empty = |item: &Item<'_>| matches!(item, Item::Text(text) if text.text.is_empty());
    let silent = !cx.same() && content.iter().all(empty);
    if silent {
        for item in content {
            if let Item::Text(text) = item {
                ledger
                    .emulated(text.at, Code::MessageBoundary)
                    .detail("An empty text says nothing and would be a message of its own.");
            }
        }
    }
    silent
}

/// Writes one part.
pub(super) fn write_part(
    item: &Item<'_>,
    voice: Voice,
    parts: &mut Array<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    match item {
        Item::Text(text) => write_text(text, voice, parts, cx, ledger),
        Item::Image(Image { at, source: _, detail: _, cache: _, extra: _ })
        | Item::Document(Document {
            at,
            source: _,
            name: _,
            context: _,
            citations: _,
            cache: _,
            extra: _,
        }) if voice.is_text_only(cx) => {
            ledger.dropped(*at, Code::MediaType);
        }
        Item::Audio(audio) if voice.is_text_only(cx) => match transcript(audio) {
            Some(text) => {
                ledger
                    .degraded(audio.at, Code::Audio)
                    .detail("The target's models speak no audio; the transcript crosses.");
                write_plain(&text, voice, parts);
            }
            None => {
                ledger.dropped(audio.at, Code::Audio);
            }
        },
        Item::Image(image) => write_image(image, parts, cx, ledger),
        Item::Document(document) => write_file(document, parts, cx, ledger),
        Item::Audio(audio) => write_audio(audio, parts, cx, ledger),
        Item::SearchResult(result) => {
            let text = search_text(result, cx, ledger);
            write_plain(&text, voice, parts);
        }
        Item::Refusal(refusal) => {
            let Refusal { at: _, text, extra } = refusal;
            let mut part = parts.object();
            part.put("type", "refusal");
            part.put("refusal", text);
            cx.extra(&mut part, extra, ledger);
        }
        Item::ToolReference(name) => {
            ledger.degraded(name.pos, Code::ToolSearch).detail(
                "Responses has no reference to a tool in a result; the model is told its name.",
            );
            write_plain(&reference_text(&name.value), voice, parts);
        }
        Item::Json(raw) => write_plain(raw.text(), voice, parts),
        Item::Opaque(opaque) => {
            let Opaque { kind: _, raw } = opaque;
            if cx.same() {
                parts.push(raw);
            } else {
                ledger.dropped(raw.pos(), Code::UnknownItem);
            }
        }
        Item::Result(result) if cx.same() => write_foreign(result, parts, cx, ledger),
        Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) | Item::Tools(_) => {
        }
    }
}

/// The result of Messages in a message, as it came.
fn write_foreign(
    result: &ToolResult<'_>,
    parts: &mut Array<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let ToolResult {
        at: _,
        call_id,
        name: _,
        namespace: _,
        kind: _,
        content,
        is_error,
        cache: _,
        extra,
    } = result;
    let mut part = parts.object();
    part.put("type", "tool_result");
    part.maybe("tool_use_id", call_id.as_ref());
    match bare_text(content) {
        Some(text) => part.put("content", text),
        None if content.is_empty() => {}
        None => {
            let mut inner = part.array("content");
            for item in content {
                write_part(item, Voice::Input, &mut inner, cx, ledger);
            }
        }
    }
    part.maybe("is_error", is_error.as_ref());
    part.extra(extra);
}

/// A search result as text: Responses has no such part.
pub(super) fn search_text(result: &SearchResult<'_>, cx: &Out<'_>, ledger: &mut Ledger) -> String {
    let SearchResult { at, source, title, content, citations, cache, extra } = result;
    ledger.degraded(*at, Code::Citations);
    if let Some(citations) = citations {
        ledger.dropped(citations.pos(), Code::Citations);
    }
    lose_cache(cache.as_ref(), cx, ledger);
    ledger.only(extra);
    let mut text = match (title, source) {
        (Some(title), Some(source)) => format!("{} ({})", title.decode(), source.decode()),
        (Some(only), None) | (None, Some(only)) => only.decode().into_owned(),
        (None, None) => String::new(),
    };
    for item in content {
        if let Item::Text(part) = item {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&part.text.decode());
        }
    }
    text
}

pub(super) fn reference_text(name: &Str<'_>) -> String {
    format!("[tool found: {}]", name.decode())
}

/// Writes text of toolwire's own making.
pub(super) fn write_plain(text: &str, voice: Voice, parts: &mut Array<'_>) {
    let mut part = parts.object();
    part.put("type", voice.text_type());
    part.put("text", text);
    voice.complete(&mut part, None, None);
}

/// What a model of Chat's said, in words.
fn transcript(audio: &Audio<'_>) -> Option<String> {
    let field = audio.extra.iter().find(|field| field.key == "transcript")?;
    Str::read(&mut field.value.reader()).ok().map(|text| text.into_decoded().into_owned())
}

impl Voice {
    /// Whether Responses takes nothing but text from the speaker. What was
    /// Responses from the start is replayed whatever it holds.
    fn is_text_only(self, cx: &Out<'_>) -> bool {
        self != Self::Input && !cx.same()
    }

    fn text_type(self) -> &'static str {
        match self {
            Self::Input => "input_text",
            Self::Model | Self::Answer => "output_text",
        }
    }

    /// Writes the lists that the published type of an answer's text requires.
    fn complete(self, part: &mut Object<'_>, notes: Option<&Raw<'_>>, logprobs: Option<&Raw<'_>>) {
        match self {
            Self::Input | Self::Model => {
                part.maybe("annotations", notes);
                part.maybe("logprobs", logprobs);
            }
            Self::Answer => {
                part.put("annotations", notes.unwrap_or(&Raw::made("[]")));
                part.put("logprobs", logprobs.unwrap_or(&Raw::made("[]")));
            }
        }
    }
}

fn write_text(
    text: &Text<'_>,
    voice: Voice,
    parts: &mut Array<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let Text { at: _, text, citations, logprobs, cache, extra } = text;
    let notes = match citations {
        Some(citations) if cx.same() => Some(citations.borrowed()),
        Some(citations) if voice == Voice::Input => {
            ledger.dropped(citations.pos(), Code::Citations);
            None
        }
        Some(citations) => annotations(citations, text, cx.origin, ledger),
        None => None,
    };
    let mut part = parts.object();
    part.put("type", voice.text_type());
    part.put("text", text);
    voice.complete(&mut part, notes.as_ref(), logprobs.as_ref());
    write_cache(cache.as_ref(), &mut part, voice, cx, ledger);
    cx.extra(&mut part, extra, ledger);
}

fn write_image(image: &Image<'_>, parts: &mut Array<'_>, cx: &Out<'_>, ledger: &mut Ledger) {
    let Image { at, source, detail, cache, extra } = image;
    let mut part = match source {
        Source::Url(url) => {
            let mut part = parts.object();
            part.put("type", "input_image");
            part.put("image_url", url);
            part
        }
        Source::Base64 { media, data } => {
            let mut part = parts.object();
            part.put("type", "input_image");
            media::write_data_url(media, data, part.key("image_url"));
            part
        }
        Source::File(file) if cx.knows_files() => {
            let mut part = parts.object();
            part.put("type", "input_image");
            part.put("file_id", file);
            part
        }
        Source::File(_) => {
            ledger.dropped(*at, Code::FileId);
            return;
        }
        Source::Text { media: _, data: _ } | Source::Other(_) => {
            ledger.dropped(*at, Code::MediaType);
            return;
        }
    };
    match detail {
        Some(detail) => part.put("detail", detail),
        None if cx.same() => {}
        // The published type requires it, and this is the API's own default.
        None => part.put("detail", "auto"),
    }
    write_cache(cache.as_ref(), &mut part, Voice::Input, cx, ledger);
    cx.extra(&mut part, extra, ledger);
}

fn write_file(document: &Document<'_>, parts: &mut Array<'_>, cx: &Out<'_>, ledger: &mut Ledger) {
    let Document { at, source, name, context, citations, cache, extra } = document;
    if let Some(context) = context {
        ledger.dropped(context.pos(), Code::Only("context".to_owned()));
    }
    if let Some(citations) = citations {
        ledger.dropped(citations.pos(), Code::Citations);
    }
    let mut part = match source {
        Source::Url(url) => {
            let mut part = parts.object();
            part.put("type", "input_file");
            part.put("file_url", url);
            part.maybe("filename", name.as_ref());
            part
        }
        Source::Base64 { media, data } => {
            let mut part = parts.object();
            part.put("type", "input_file");
            write_name(name.as_ref(), &media.decode(), &mut part, cx);
            if cx.same() && media.pos() == Pos::NONE {
                part.put("file_data", data);
            } else {
                media::write_data_url(media, data, part.key("file_data"));
            }
            part
        }
        Source::File(file) if cx.knows_files() => {
            let mut part = parts.object();
            part.put("type", "input_file");
            part.put("file_id", file);
            part.maybe("filename", name.as_ref());
            part
        }
        Source::File(_) => {
            ledger.dropped(*at, Code::FileId);
            return;
        }
        // A document that is plain text stays readable as text.
        Source::Text { media: _, data } => {
            ledger.emulated(*at, Code::MediaType).detail(
                "The target has no plain-text documents; the text crosses as text under its title.",
            );
            let mut part = parts.object();
            part.put("type", "input_text");
            match name {
                Some(name) => {
                    let titled = format!("{}\n{}", name.decode(), data.decode());
                    part.put("text", &titled);
                }
                None => part.put("text", data),
            }
            part
        }
        Source::Other(_) => {
            ledger.dropped(*at, Code::MediaType);
            return;
        }
    };
    write_cache(cache.as_ref(), &mut part, Voice::Input, cx, ledger);
    cx.extra(&mut part, extra, ledger);
}

/// A file's name, which OpenAI requires beside the file's bytes.
fn write_name(name: Option<&Str<'_>>, media: &str, part: &mut Object<'_>, cx: &Out<'_>) {
    match name {
        Some(name) => part.put("filename", name),
        None if cx.same() => {}
        None => {
            let ending = match media {
                "application/pdf" => "pdf",
                "text/plain" => "txt",
                other => other.split_once('/').map_or("bin", |(_, kind)| kind),
            };
            part.put("filename", &format!("document.{ending}"));
        }
    }
}

fn write_audio(audio: &Audio<'_>, parts: &mut Array<'_>, cx: &Out<'_>, ledger: &mut Ledger) {
    let Audio { at, data, format, cache, extra } = audio;
    let Some(data) = data else {
        ledger.dropped(*at, Code::Audio);
        return;
    };
    let mut part = parts.object();
    part.put("type", "input_audio");
    {
        let mut inner = part.object("input_audio");
        inner.put("data", data);
        inner.maybe("format", format.as_ref());
    }
    write_cache(cache.as_ref(), &mut part, Voice::Input, cx, ledger);
    cx.extra(&mut part, extra, ledger);
}
