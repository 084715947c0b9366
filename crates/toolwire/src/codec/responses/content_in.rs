//! Content parts, cache markers and media: wire to model.

use super::wire::{
    AudioData, AudioPart, Breakpoint, FilePart, ForeignResult, ImagePart, RefusalPart, TextPart,
};
use crate::media;
use crate::model::{
    Audio, Cache, Document, Image, Item, Opaque, Refusal, ResultKind, Source, Text, ToolResult,
};
use crate::wire::{Kind, Read, ReadError, Reader, Str};

/// The content of a message or the output of a tool: text, or parts.
#[derive(Debug)]
pub(super) struct Content<'a>(pub(super) Vec<Item<'a>>);

impl<'a> Read<'a> for Content<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() == Kind::String {
            return Ok(Self(vec![Item::Text(Text::new(reader.string()?))]));
        }
        if reader.peek() == Kind::Object {
            return Ok(Self(vec![part(reader)?]));
        }
        Ok(Self(reader.list(part)?))
    }
}

/// Reads one part.
pub(super) fn part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let tag = reader.tag("type")?;
    let start = reader.clone();
    let read = match tag.as_ref().map(Str::decode).as_deref() {
        Some("input_text" | "output_text" | "text") => text(TextPart::read(reader)?),
        Some("refusal") => refusal(RefusalPart::read(reader)?),
        Some("input_image") => image(ImagePart::read(reader)?),
        Some("input_file") => file(FilePart::read(reader)?),
        Some("input_audio") => audio(AudioPart::read(reader)?),
        Some("tool_result") => Some(foreign_result(ForeignResult::read(reader)?)),
        Some(_unknown) => None,
        None => None,
    };
    match read {
        Some(item) => Ok(item),
        None => {
            *reader = start;
            Ok(Item::Opaque(Opaque { kind: tag, raw: reader.raw()? }))
        }
    }
}

fn text(part: TextPart<'_>) -> Option<Item<'_>> {
    let TextPart { at, kind: _, text, annotations, logprobs, prompt_cache_breakpoint, extra } =
        part;
    // An empty list says nothing; OpenAI writes both on every text.
    Some(Item::Text(Text {
        at,
        text: text?,
        citations: annotations.filter(|list| !list.is_empty()),
        logprobs: logprobs.filter(|list| !list.is_empty()),
        cache: prompt_cache_breakpoint.map(cache),
        extra,
    }))
}

fn refusal(part: RefusalPart<'_>) -> Option<Item<'_>> {
    let RefusalPart { at, kind: _, refusal, extra } = part;
    Some(Item::Refusal(Refusal { at, text: refusal?, extra }))
}

fn image(part: ImagePart<'_>) -> Option<Item<'_>> {
    let ImagePart { at, kind: _, image_url, file_id, detail, prompt_cache_breakpoint, extra } =
        part;
    let source = match (image_url, file_id) {
        (Some(url), None) => match media::split_data_url(&url) {
            Some((media, data)) => Source::Base64 { media, data },
            None => Source::Url(url),
        },
        (None, Some(file)) => Source::File(file),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let cache = prompt_cache_breakpoint.map(cache);
    Some(Item::Image(Image { at, source, detail, cache, extra }))
}

fn file(part: FilePart<'_>) -> Option<Item<'_>> {
    let FilePart {
        at,
        kind: _,
        file_data,
        file_id,
        file_url,
        filename,
        prompt_cache_breakpoint,
        extra,
    } = part;
    let source = match (file_data, file_id, file_url) {
        (Some(data), None, None) => match media::split_data_url(&data) {
            Some((media, data)) => Source::Base64 { media, data },
            // This is base64 without a media type. PDF is the one type that has
            // always been accepted.
            None => Source::Base64 { media: Str::plain("application/pdf"), data },
        },
        (None, Some(file), None) => Source::File(file),
        (None, None, Some(url)) => Source::Url(url),
        (_data, _id, _url) => return None,
    };
    Some(Item::Document(Document {
        at,
        source,
        name: filename,
        context: None,
        citations: None,
        cache: prompt_cache_breakpoint.map(cache),
        extra,
    }))
}

fn audio(part: AudioPart<'_>) -> Option<Item<'_>> {
    let AudioPart { at, kind: _, input_audio, prompt_cache_breakpoint, extra } = part;
    let AudioData { at: _, data, format, extra: inner } = input_audio?;
    if !inner.is_empty() {
        return None;
    }
    let cache = prompt_cache_breakpoint.map(cache);
    Some(Item::Audio(Audio { at, data, format, cache, extra }))
}

fn foreign_result(part: ForeignResult<'_>) -> Item<'_> {
    let ForeignResult { at, kind: _, tool_use_id, content, is_error, extra } = part;
    let content = content.map(|content| content.0).unwrap_or_default();
    let mut result = ToolResult::new(at, tool_use_id, ResultKind::Function, content);
    result.extra = extra;
    result.is_error = is_error;
    Item::Result(result)
}

fn cache(breakpoint: Breakpoint<'_>) -> Cache<'_> {
    let Breakpoint { at, ttl, mut extra } = breakpoint;
    // A marker on a part is always explicit, so only another word is kept.
    extra.retain(|field| field.key != "mode" || field.value.text() != r#""explicit""#);
    Cache { at, ttl, extra }
}
