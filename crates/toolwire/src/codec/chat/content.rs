//! Content parts, cache markers and media.

use super::wire::{
    AudioPart, Breakpoint, File, FilePart, ImagePart, ImageUrl, InputAudio, RefusalPart, TextPart,
    literal, nest, replay,
};
use crate::ledger::{Code, Ledger};
use crate::media;
use crate::model::{
    Audio, Cache, Document, HostedItem, Image, Item, Opaque, Protocol, Refusal, SearchResult,
    Source, Text,
};
use crate::profile::Profile;
use crate::wire::{Array, Extra, Kind, Object, Pos, Raw, Read, ReadError, Reader, Str};

/// The content of a message: one text, or parts.
#[derive(Debug)]
pub(super) struct Content<'a>(pub(super) Vec<Item<'a>>);

impl<'a> Read<'a> for Content<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() != Kind::Array {
            return Ok(Self(vec![Item::Text(Text::new(reader.string()?))]));
        }
        let mut items = Vec::new();
        let mut members = reader.array()?;
        while members.more(reader)? {
            items.push(part(reader)?);
        }
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
        Some(_) | None => Ok(Item::Opaque(Opaque { kind, raw: reader.raw()? })),
    }
}

fn text_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let TextPart { at, kind: _, text, prompt_cache_breakpoint, extra } = TextPart::read(reader)?;
    let text = text.ok_or_else(|| ReadError::missing(at, "text"))?;
    let cache = prompt_cache_breakpoint.map(marker);
    Ok(Item::Text(Text { at, text, citations: None, logprobs: None, cache, extra }))
}

fn refusal_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let RefusalPart { at, kind: _, refusal, extra } = RefusalPart::read(reader)?;
    let text = refusal.ok_or_else(|| ReadError::missing(at, "refusal"))?;
    Ok(Item::Refusal(Refusal { at, text, extra }))
}

fn image_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let ImagePart { at, kind: _, image_url, prompt_cache_breakpoint, mut extra } =
        ImagePart::read(reader)?;
    let ImageUrl { at: inner, url, detail, extra: nested } =
        image_url.ok_or_else(|| ReadError::missing(at, "image_url"))?;
    nest(&mut extra, "image_url", nested);
    let url = url.ok_or_else(|| ReadError::missing(inner, "url"))?;
    let source = match media::split_data_url(&url) {
        Some((media, data)) => Source::Base64 { media, data },
        None => Source::Url(url),
    };
    let cache = prompt_cache_breakpoint.map(marker);
    Ok(Item::Image(Image { at, source, detail, cache, extra }))
}

fn audio_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let AudioPart { at, kind: _, input_audio, prompt_cache_breakpoint, mut extra } =
        AudioPart::read(reader)?;
    let InputAudio { at: _, data, format, extra: nested } =
        input_audio.ok_or_else(|| ReadError::missing(at, "input_audio"))?;
    nest(&mut extra, "input_audio", nested);
    let cache = prompt_cache_breakpoint.map(marker);
    Ok(Item::Audio(Audio { at, data, format, cache, extra }))
}

fn file_part<'a>(reader: &mut Reader<'a>) -> Result<Item<'a>, ReadError> {
    let FilePart { at, kind: _, file, prompt_cache_breakpoint, mut extra } =
        FilePart::read(reader)?;
    let File { at: inner, file_data, file_id, filename, extra: nested } =
        file.ok_or_else(|| ReadError::missing(at, "file"))?;
    nest(&mut extra, "file", nested);
    let source = match (file_data, file_id) {
        (Some(data), id) => {
            if let Some(id) = id {
                // Both at once is nothing OpenAI documents; the bytes win.
                let value = literal(&id);
                extra.push(Extra { key: Str::plain("file.file_id"), value });
            }
            match media::split_data_url(&data) {
                Some((media, data)) => Source::Base64 { media, data },
                None if data.decode().starts_with("http") => Source::Url(data),
                // Bare base64: the file's name is all there is to go by, and
                // the made-up media type has no position of its own.
                None => Source::Base64 { media: Str::plain("application/pdf"), data },
            }
        }
        (None, Some(id)) => Source::File(id),
        (None, None) => return Err(ReadError::missing(inner, "file_data")),
    };
    let cache = prompt_cache_breakpoint.map(marker);
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

fn marker<'a>(breakpoint: Breakpoint<'a>) -> Cache<'a> {
    let Breakpoint { at, mode, ttl, mut extra } = breakpoint;
    // A marker on a part is always explicit; only another word is worth
    // keeping.
    if let Some(mode) = mode.filter(|mode| *mode != "explicit") {
        let value = literal(&mode);
        extra.push(Extra { key: Str::plain("mode"), value });
    }
    Cache { at, ttl, extra }
}

/// Where content goes: back to Chat as it came, or to a Chat upstream from
/// another protocol.
pub(super) struct Toward<'x> {
    /// The protocol the content was read from.
    pub(super) origin: Protocol,
    /// What the upstream accepts.
    pub(super) profile: &'x Profile,
    /// What is lost.
    pub(super) ledger: &'x mut Ledger,
}

impl Toward<'_> {
    /// Whether the content came from Chat.
    pub(super) fn same(&self) -> bool {
        self.origin == Protocol::Chat
    }

    /// Replays unknown members to Chat, or reports them as lost.
    pub(super) fn extra(
        &mut self,
        object: &mut Object<'_>,
        extra: &[Extra<'_>],
        under: &str,
        deeper: &[&str],
    ) {
        if extra.is_empty() {
            return;
        }
        if self.same() {
            replay(object, extra, under, deeper);
        } else if under.is_empty() {
            self.ledger.only(extra);
        }
    }

    /// Whether the marker can be written.
    pub(super) fn takes(&self, cache: Option<&Cache<'_>>) -> bool {
        cache.is_some() && (self.same() || self.profile.cache_breakpoints)
    }

    /// Reports a cache marker at a place where Chat has none.
    pub(super) fn drop_marker(&mut self, cache: Option<&Cache<'_>>) {
        if let Some(Cache { at, ttl: _, extra: _ }) = cache {
            self.ledger.dropped(*at, Code::CacheBreakpoint).info();
        }
    }

    fn put_marker(&mut self, object: &mut Object<'_>, cache: Option<&Cache<'_>>) {
        if !self.takes(cache) {
            return self.drop_marker(cache);
        }
        let Some(Cache { at, ttl, extra }) = cache else { return };
        let mut marker = object.object("prompt_cache_breakpoint");
        if !self.same() || !extra.iter().any(|field| field.key == "mode") {
            marker.put("mode", "explicit");
        }
        match ttl.as_ref().map(Str::decode).as_deref() {
            Some("5m") if self.origin == Protocol::Messages => {
                self.ledger.degraded(*at, Code::CacheTtl).info();
                marker.put("ttl", "30m");
            }
            Some("1h") if self.origin == Protocol::Messages => {
                self.ledger.degraded(*at, Code::CacheTtl).info();
                marker.put("ttl", "12h");
            }
            Some(_) | None => marker.maybe("ttl", ttl.as_ref()),
        }
        self.extra(&mut marker, extra, "", &[]);
    }
}

/// Writes the parts of a message: as one string where they are one text.
pub(super) fn write_content(object: &mut Object<'_>, items: &[&Item<'_>], toward: &mut Toward<'_>) {
    if let [Item::Text(text)] = items
        && !toward.takes(text.cache.as_ref())
        && (text.extra.is_empty() || !toward.same())
    {
        object.put("content", &text.text);
        return text_losses(text, toward);
    }
    let mut parts = object.array("content");
    for item in items {
        write_part(&mut parts, item, toward);
    }
}

/// Whether Chat has a part for the item. What it has none for is reported.
pub(super) fn crosses(item: &Item<'_>, toward: &mut Toward<'_>) -> bool {
    let same = toward.same();
    match item {
        Item::Text(_) | Item::Refusal(_) | Item::Audio(_) | Item::SearchResult(_) => true,
        Item::Image(image) => match &image.source {
            Source::Url(_) | Source::Base64 { media: _, data: _ } => true,
            Source::File(id) => lost(toward.ledger, id.pos(), Code::FileId),
            Source::Text { media, data: _ } => lost(toward.ledger, media.pos(), Code::MediaType),
            Source::Other(raw) => lost(toward.ledger, raw.pos(), Code::MediaType),
        },
        Item::Document(document) => match &document.source {
            Source::Url(_)
            | Source::Base64 { media: _, data: _ }
            | Source::Text { media: _, data: _ } => true,
            Source::File(id) if toward.origin == Protocol::Messages => {
                lost(toward.ledger, id.pos(), Code::FileId)
            }
            Source::File(_) => true,
            Source::Other(raw) => {
                blocks(raw).is_some() || lost(toward.ledger, raw.pos(), Code::MediaType)
            }
        },
        Item::Json(_) | Item::ToolReference(_) => true,
        Item::Opaque(_) if same => true,
        Item::Opaque(Opaque { kind: _, raw }) => lost(toward.ledger, raw.pos(), Code::UnknownItem),
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
            let Text { at: _, text: words, citations: _, logprobs: _, cache, extra } = text;
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", words);
            if toward.same() {
                replay(&mut part, extra, "", &[]);
            }
            if toward.takes(cache.as_ref()) {
                toward.put_marker(&mut part, cache.as_ref());
            }
            text_losses(text, toward);
        }
        Item::Refusal(Refusal { at: _, text, extra }) => {
            let mut part = parts.object();
            part.put("type", "refusal");
            part.put("refusal", text);
            toward.extra(&mut part, extra, "", &[]);
        }
        Item::Image(image) => image_out(parts, image, toward),
        Item::Audio(Audio { at: _, data, format, cache, extra }) => {
            let mut part = parts.object();
            part.put("type", "input_audio");
            {
                let mut audio = part.object("input_audio");
                audio.maybe("data", data.as_ref());
                audio.maybe("format", format.as_ref());
                toward.extra(&mut audio, extra, "input_audio", &[]);
            }
            toward.extra(&mut part, extra, "", &["input_audio"]);
            toward.put_marker(&mut part, cache.as_ref());
        }
        Item::Document(document) if !reads_as_text(document, toward) => {
            document_out(parts, document, toward);
        }
        Item::Opaque(Opaque { kind: _, raw }) => parts.push(raw),
        Item::Document(_) | Item::SearchResult(_) | Item::Json(_) | Item::ToolReference(_) => {
            let text = as_text(item, toward);
            let mut part = parts.object();
            part.put("type", "text");
            part.put("text", &text);
            toward.put_marker(&mut part, cache_of(item));
        }
        Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) | Item::Tools(_) => {
        }
    }
}

/// Reports what a text loses on the way from another protocol.
pub(super) fn text_losses(text: &Text<'_>, toward: &mut Toward<'_>) {
    let Text { at: _, text: _, citations, logprobs, cache, extra } = text;
    if toward.same() {
        return;
    }
    if let Some(citations) = citations.as_ref().filter(|list| !is_empty(list)) {
        toward.ledger.dropped(citations.pos(), Code::Citations);
    }
    if let Some(logprobs) = logprobs.as_ref().filter(|list| !is_empty(list)) {
        toward.ledger.dropped(logprobs.pos(), Code::Logprobs).info();
    }
    if !toward.takes(cache.as_ref()) {
        toward.drop_marker(cache.as_ref());
    }
    toward.ledger.only(extra);
}

/// Whether a list or object has no members.
pub(super) fn is_empty(raw: &Raw<'_>) -> bool {
    let inside = raw.text().trim_matches(|c| matches!(c, '[' | ']' | '{' | '}'));
    inside.trim().is_empty()
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
        toward.extra(&mut url, extra, "image_url", &[]);
    }
    toward.extra(&mut part, extra, "", &["image_url"]);
    toward.put_marker(&mut part, cache.as_ref());
}

fn document_out(parts: &mut Array<'_>, document: &Document<'_>, toward: &mut Toward<'_>) {
    let Document { at: _, source, name, context, citations, cache, extra } = document;
    let mut part = parts.object();
    part.put("type", "file");
    {
        let mut file = part.object("file");
        match source {
            Source::Base64 { media, data } if media.pos() == Pos::NONE && toward.same() => {
                file.put("file_data", data);
            }
            Source::Base64 { media, data } => {
                media::write_data_url(media, data, file.key("file_data"));
            }
            Source::Url(address) => file.put("file_data", address),
            Source::File(id) => file.put("file_id", id),
            Source::Text { media: _, data: _ } | Source::Other(_) => {}
        }
        match (name, source) {
            (Some(name), _) => file.put("filename", name),
            // OpenAI wants a name beside the bytes.
            (None, Source::Base64 { media, data: _ }) if !toward.same() => {
                file.put("filename", default_name(media));
            }
            (None, _) => {}
        }
        toward.extra(&mut file, extra, "file", &[]);
    }
    document_losses(context.as_ref(), citations.as_ref(), toward);
    toward.extra(&mut part, extra, "", &["file"]);
    toward.put_marker(&mut part, cache.as_ref());
}

fn default_name(media: &Str<'_>) -> &'static str {
    match media.decode().as_ref() {
        "application/pdf" => "document.pdf",
        "text/plain" => "document.txt",
        other if other.is_empty() => "document",
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

fn cache_of<'i, 'a>(item: &'i Item<'a>) -> Option<&'i Cache<'a>> {
    match item {
        Item::Text(text) => text.cache.as_ref(),
        Item::Image(image) => image.cache.as_ref(),
        Item::Document(document) => document.cache.as_ref(),
        Item::Audio(audio) => audio.cache.as_ref(),
        Item::SearchResult(found) => found.cache.as_ref(),
        Item::Call(call) => call.cache.as_ref(),
        Item::Result(result) => result.cache.as_ref(),
        Item::Refusal(_)
        | Item::Reasoning(_)
        | Item::Hosted(_)
        | Item::Tools(_)
        | Item::ToolReference(_)
        | Item::Json(_)
        | Item::Opaque(_) => None,
    }
}

/// Whether Chat can only have the document as text.
pub(super) fn reads_as_text(document: &Document<'_>, toward: &Toward<'_>) -> bool {
    match &document.source {
        Source::Base64 { media: _, data: _ } | Source::File(_) => false,
        Source::Url(_) => !toward.same(),
        Source::Text { media: _, data: _ } | Source::Other(_) => true,
    }
}

/// Whether an item of media crosses as text.
pub(super) fn is_texty(item: &Item<'_>, toward: &Toward<'_>) -> bool {
    matches!(item, Item::Document(document) if reads_as_text(document, toward))
}

/// Where an item of media stands.
pub(super) fn position(item: &Item<'_>) -> Pos {
    match item {
        Item::Image(image) => image.at,
        Item::Document(document) => document.at,
        Item::Audio(audio) => audio.at,
        Item::Text(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::Reasoning(_)
        | Item::Call(_)
        | Item::Result(_)
        | Item::Hosted(_)
        | Item::Tools(_)
        | Item::ToolReference(_)
        | Item::Json(_)
        | Item::Opaque(_) => Pos::NONE,
    }
}

/// What Chat can only have as text, as text.
pub(super) fn as_text(item: &Item<'_>, toward: &mut Toward<'_>) -> String {
    match item {
        Item::Document(document) => document_text(document, toward),
        Item::SearchResult(found) => search_result_text(found, toward),
        Item::Json(raw) => raw.text().to_owned(),
        Item::ToolReference(name) => {
            toward.ledger.degraded(name.pos, Code::ToolSearch);
            format!("Loaded tool: {}", name.value.decode())
        }
        Item::Text(_)
        | Item::Image(_)
        | Item::Audio(_)
        | Item::Refusal(_)
        | Item::Reasoning(_)
        | Item::Call(_)
        | Item::Result(_)
        | Item::Hosted(_)
        | Item::Tools(_)
        | Item::Opaque(_) => String::new(),
    }
}

fn document_text(document: &Document<'_>, toward: &mut Toward<'_>) -> String {
    let Document { at, source, name, context, citations, cache: _, extra } = document;
    toward
        .ledger
        .degraded(*at, Code::MediaType)
        .detail("The target takes no such document; what can be read of it follows as text.");
    document_losses(None, citations.as_ref(), toward);
    toward.ledger.only(extra);
    let mut text = String::new();
    for head in [name, context].into_iter().flatten() {
        text.push_str(&head.decode());
        text.push_str("\n\n");
    }
    match source {
        Source::Text { media: _, data } => text.push_str(&data.decode()),
        Source::Url(address) => {
            text.push_str("Document: ");
            text.push_str(&address.decode());
        }
        Source::Other(raw) => text.push_str(&blocks(raw).unwrap_or_default()),
        Source::Base64 { media: _, data: _ } | Source::File(_) => {}
    }
    text
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
            text_losses(part, toward);
        }
    }
    text
}

/// The text of a document that is made of text blocks. `None` if it has
/// anything else in it.
fn blocks(raw: &Raw<'_>) -> Option<String> {
    let mut reader = raw.reader();
    let BlockSource { at: _, kind: _, content, extra: _ } = BlockSource::read(&mut reader).ok()?;
    let Content(items) = content?;
    let mut texts = Vec::with_capacity(items.len());
    for item in &items {
        let Item::Text(text) = item else { return None };
        texts.push(text.text.decode().into_owned());
    }
    Some(texts.join("\n"))
}

wire! {
    /// A document made of blocks, as Messages has it.
    struct BlockSource<'a> {
        kind: Str<'a> = "type",
        content: Content<'a> = "content",
    }
}
