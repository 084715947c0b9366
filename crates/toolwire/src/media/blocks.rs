//! Messages' blocks that reach the other codecs unread: those of a document
//! that is made of blocks, a reference to a tool that has more than a name, and
//! those that offer a declared tool or withdraw it.

use crate::model::{Cache, Document, Image, Item, Source, Text};
use crate::wire::{Kind, Raw, Read, ReadError, Reader, Str};

/// What a document says, for a target that takes no such document. `None` if
/// the document is a file, which the library cannot open.
pub(crate) fn parts<'r>(document: &'r Document<'_>) -> Option<Vec<Item<'r>>> {
    let parts = match &document.source {
        Source::Text { media: _, data } => vec![Item::Text(Text::new(data.borrowed()))],
        Source::Other(raw) => read_blocks(raw)?,
        Source::Url(_) | Source::Base64 { media: _, data: _ } | Source::File(_) => return None,
    };
    Some(with_heading(document, parts))
}

/// Puts the document's name and what it is about before its first text, and
/// its marker behind the last part.
pub(crate) fn with_heading<'r>(
    document: &'r Document<'_>,
    mut parts: Vec<Item<'r>>,
) -> Vec<Item<'r>> {
    let heads = [&document.name, &document.context].into_iter().flatten();
    let head: String = heads.map(|head| format!("{}\n\n", head.decode())).collect();
    match parts.first_mut() {
        _ if head.is_empty() => {}
        Some(Item::Text(text)) => {
            let titled = format!("{head}{}", text.text.decode());
            text.text = Str::plain(titled).at(text.text.pos());
        }
        Some(_) | None => {
            let head = Str::plain(head.trim_end().to_owned());
            parts.insert(0, Item::Text(Text::new(head)));
        }
    }
    match (&document.cache, parts.last_mut()) {
        (Some(cache), Some(Item::Text(text))) => _ = text.cache.get_or_insert(cache.clone()),
        (Some(cache), Some(Item::Image(image))) => _ = image.cache.get_or_insert(cache.clone()),
        (Some(_) | None, _last) => {}
    }
    parts
}

fn read_blocks<'r>(raw: &'r Raw<'_>) -> Option<Vec<Item<'r>>> {
    let Blocks { at: _, kind: _, content, extra } = Blocks::read(&mut raw.reader()).ok()?;
    let mut items: Vec<Item<'r>> = content?.0.into_iter().map(item).collect::<Option<_>>()?;
    // What else the source says is lost with the first of its blocks.
    match items.first_mut() {
        Some(Item::Text(text)) => text.extra.extend(extra),
        Some(Item::Image(image)) => image.extra.extend(extra),
        Some(_) | None if extra.is_empty() => {}
        Some(_) | None => return None,
    }
    Some(items)
}

fn item(block: Block<'_>) -> Option<Item<'_>> {
    let Block { at, kind: _, text, source, citations, cache_control, extra } = block;
    let cache = cache_control.map(cache);
    match (text, source) {
        (Some(text), None) => {
            Some(Item::Text(Text { at, text, citations, logprobs: None, cache, extra }))
        }
        (None, Some(source)) if citations.is_none() => {
            let BlockSource { at: _, kind: _, media_type, data, url, file_id, extra: more } =
                source;
            let extra = extra.into_iter().chain(more).collect();
            let source = match (media_type, data, url, file_id) {
                (Some(media), Some(data), None, None) => Source::Base64 { media, data },
                (None, None, Some(url), None) => Source::Url(url),
                (None, None, None, Some(file)) => Source::File(file),
                (_media, _data, _url, _file) => return None,
            };
            Some(Item::Image(Image { at, source, detail: None, cache, extra }))
        }
        (_text, _source) => None,
    }
}

fn cache(marker: Marker<'_>) -> Cache<'_> {
    let Marker { at, ttl, extra } = marker;
    Cache { at, ttl, extra }
}

/// The name in a reference to a tool, and its cache marker. `None` if the
/// block is not such a reference.
pub(crate) fn reference<'r>(raw: &'r Raw<'_>) -> Option<(Str<'r>, Option<Cache<'r>>)> {
    let read = ToolReference::read(&mut raw.reader()).ok()?;
    let ToolReference { at: _, kind, tool_name, cache_control, extra } = read;
    let known = kind.is_some_and(|kind| kind == "tool_reference") && extra.is_empty();
    Some((tool_name.filter(|_| known)?, cache_control.map(cache)))
}

/// What a block does to a tool that is declared elsewhere.
pub(crate) enum Change<'r> {
    /// The model may call it from here on.
    Offered(Str<'r>),
    /// The model may not call it any more.
    Withdrawn(Str<'r>),
}

/// What a block changes about a tool. `None` if it changes nothing.
pub(crate) fn change<'r>(raw: &'r Raw<'_>) -> Option<Change<'r>> {
    let ToolChange { at: _, kind, tool, extra: _ } = ToolChange::read(&mut raw.reader()).ok()?;
    let ChangedTool { at: _, kind: reference, name, extra: _ } = tool?;
    let name = name.filter(|_| reference.is_some_and(|kind| kind == "tool_reference"))?;
    match kind?.decode().as_ref() {
        "tool_addition" => Some(Change::Offered(name)),
        "tool_removal" => Some(Change::Withdrawn(name)),
        _other => None,
    }
}

wire! {
    struct ToolChange<'a> {
        kind: Str<'a> = "type",
        tool: ChangedTool<'a> = "tool",
    }

    struct ChangedTool<'a> {
        kind: Str<'a> = "type",
        name: Str<'a> = "name",
    }

    struct Blocks<'a> {
        kind: Str<'a> = "type",
        content: BlockList<'a> = "content",
    }

    /// A text or an image.
    struct Block<'a> {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        source: BlockSource<'a> = "source",
        citations: Raw<'a> = "citations",
        cache_control: Marker<'a> = "cache_control",
    }

    struct BlockSource<'a> {
        kind: Str<'a> = "type",
        media_type: Str<'a> = "media_type",
        data: Str<'a> = "data",
        url: Str<'a> = "url",
        file_id: Str<'a> = "file_id",
    }

    struct ToolReference<'a> {
        kind: Str<'a> = "type",
        tool_name: Str<'a> = "tool_name",
        cache_control: Marker<'a> = "cache_control",
    }

    struct Marker<'a> {
        ttl: Str<'a> = "ttl",
    }
}

/// One text, or blocks.
#[derive(Debug)]
struct BlockList<'a>(Vec<Block<'a>>);

impl<'a> Read<'a> for BlockList<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() != Kind::String {
            return Ok(Self(Vec::read(reader)?));
        }
        let text = reader.string()?;
        Ok(Self(vec![Block {
            at: text.pos(),
            kind: None,
            text: Some(text),
            source: None,
            citations: None,
            cache_control: None,
            extra: Vec::new(),
        }]))
    }
}
