//! Content parts, cache markers and media: reading them.

use super::wire::{
    AnyImageUrl, AudioPart, Breakpoint, CacheControl, File, FilePart, ImagePart, ImageUrl,
    InputAudio, RefusalPart, TextPart, ThinkingPart, nest,
};
use crate::media;
use crate::model::{Audio, Cache, Document, Image, Item, Opaque, Reasoning, Refusal, Source, Text};
use crate::wire::{Extra, Kind, Raw, Read, ReadError, Reader, Str};

/// The content of a message: one text, or parts.
#[derive(Debug)]
pub(super) struct Content<'a>(pub(super) Vec<Item<'a>>);

impl<'a> Read<'a> for Content<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() != Kind::Array {
            return Ok(Self(vec![Item::Text(Text::new(reader.string()?))]));
        }
        let mut items = reader.list(part)?;
        // A thought without a text says nothing.
        items
            .retain(|item| !matches!(item, Item::Reasoning(thought) if thought.content.is_empty()));
        Ok(Self(items))
    }
}

fn part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    // Some clients mix bare strings into the list.
    if reader.peek() == Kind::String {
        return Ok(Item::Text(Text::new(reader.string()?)));
    }
    let kind = reader.tag("type")?;
    match kind.as_ref().map(Str::decode).as_deref() {
        Some("text") => text_part(reader),
        Some("refusal") => refusal_part(reader),
        Some("image_url") => image_part(reader),
        Some("input_audio") => audio_part(reader),
        Some("file") => file_part(reader),
        Some("thinking") => thinking_part(kind, reader),
        Some(_) | None => Ok(Item::Opaque(Opaque { kind, raw: reader.raw()? })),
    }
}

fn text_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let TextPart { at, kind: _, text, prompt_cache_breakpoint, cache_control, extra } =
        TextPart::read(reader)?;
    let text = text.ok_or_else(|| ReadError::missing(at, "text"))?;
    let cache = prompt_cache_breakpoint.map(marker).or(cache_control.map(foreign_marker));
    Ok(Item::Text(Text { at, text, citations: None, logprobs: None, cache, extra }))
}

fn refusal_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let RefusalPart { at, kind: _, refusal, extra } = RefusalPart::read(reader)?;
    let text = refusal.ok_or_else(|| ReadError::missing(at, "refusal"))?;
    Ok(Item::Refusal(Refusal { at, text, extra }))
}

fn image_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let ImagePart { at, kind: _, image_url, prompt_cache_breakpoint, cache_control, mut extra } =
        ImagePart::read(reader)?;
    let (url, detail) = match image_url.ok_or_else(|| ReadError::missing(at, "image_url"))? {
        AnyImageUrl::Object(ImageUrl { at: inner, url, detail, extra: nested }) => {
            nest(&mut extra, "image_url", nested);
            (url.ok_or_else(|| ReadError::missing(inner, "url"))?, detail)
        }
        AnyImageUrl::Bare(url) => (url, None),
    };
    let source = match media::split_data_url(&url) {
        Some((media, data)) => Source::Base64 { media, data },
        None => Source::Url(url),
    };
    let cache = prompt_cache_breakpoint.map(marker).or(cache_control.map(foreign_marker));
    Ok(Item::Image(Image { at, source, detail, cache, extra }))
}

/// The reasoning of a Mistral model, which stands among the content. What is not
/// a list of texts is kept as it came.
/// vectors/responses/chat-mistral-thinking
fn thinking_part<'a>(
    kind: Option<Str<'a>>,
    reader: &mut Reader<'a>,
) -> Result<Item<'a>, ReadError> {
    let mut ahead = reader.clone();
    let ThinkingPart { at, kind: _, thinking, closed: _, extra } = ThinkingPart::read(&mut ahead)?;
    let Content(items) = thinking.unwrap_or(Content(Vec::new()));
    let texts: Option<Vec<Str<'a>>> = items.into_iter().map(bare_text).collect();
    let Some(mut content) = texts else {
        return Ok(Item::Opaque(Opaque { kind, raw: reader.raw()? }));
    };
    if content.len() > 1 {
        // They are pieces of one text, as in a stream.
        let text: String = content.iter().map(Str::decode).collect();
        content = vec![Str::plain(text).at(at)];
    }
    *reader = ahead;
    let mut reasoning = Reasoning::new(at);
    reasoning.content = content;
    reasoning.extra = extra;
    Ok(Item::Reasoning(reasoning))
}

/// The text of an item that is nothing but text.
fn bare_text<'a>(item: Item<'a>) -> Option<Str<'a>> {
    if let Item::Text(text) = item { text.is_bare().then_some(text.text) } else { None }
}

fn audio_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let AudioPart { at, kind: _, input_audio, prompt_cache_breakpoint, cache_control, mut extra } =
        AudioPart::read(reader)?;
    let InputAudio { at: _, data, format, extra: nested } =
        input_audio.ok_or_else(|| ReadError::missing(at, "input_audio"))?;
    nest(&mut extra, "input_audio", nested);
    let cache = prompt_cache_breakpoint.map(marker).or(cache_control.map(foreign_marker));
    Ok(Item::Audio(Audio { at, data, format, cache, extra }))
}

fn file_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let FilePart { at, kind: _, file, prompt_cache_breakpoint, cache_control, mut extra } =
        FilePart::read(reader)?;
    let File { at: inner, file_data, file_id, filename, extra: nested } =
        file.ok_or_else(|| ReadError::missing(at, "file"))?;
    nest(&mut extra, "file", nested);
    let source = match (file_data, file_id) {
        (Some(data), id) => {
            if let Some(id) = id {
                // OpenAI does not document both at once; the bytes win.
                let value = Raw::literal(&id);
                extra.push(Extra { key: Str::plain("file.file_id"), value });
            }
            match media::split_data_url(&data) {
                Some((media, data)) => Source::Base64 { media, data },
                None if data.decode().starts_with("http") => Source::Url(data),
                // Bare base64 without a media type.
                None => Source::Base64 { media: Str::plain("application/pdf"), data },
            }
        }
        (None, Some(id)) => Source::File(id),
        (None, None) => return Err(ReadError::missing(inner, "file_data")),
    };
    let cache = prompt_cache_breakpoint.map(marker).or(cache_control.map(foreign_marker));
    Ok(Item::Document(Document {
        at,
        source,
        name: filename,
        context: None,
        citations: None,
        cache,
        extra,
    }))
}

/// Reads a marker in the words of Messages. It keeps its type, which tells it
/// from OpenAI's own.
pub(super) fn foreign_marker<'a>(control: CacheControl<'a>) -> Cache<'a> {
    let CacheControl { at, ttl, extra } = control;
    Cache { at, ttl, extra }
}

fn marker<'a>(breakpoint: Breakpoint<'a>) -> Cache<'a> {
    let Breakpoint { at, mode, ttl, mut extra } = breakpoint;
    // A marker on a part is always explicit, so only another mode is kept.
    if let Some(mode) = mode.filter(|mode| *mode != "explicit") {
        let value = Raw::literal(&mode);
        extra.push(Extra { key: Str::plain("mode"), value });
    }
    Cache { at, ttl, extra }
}
