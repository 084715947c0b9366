//! Reasoning in a stream that is being read: which member it came in, and what
//! seals it at the end.

use super::blocks::Blocks;
use super::chunk::Few;
use crate::codec::EventSink;
use crate::codec::chat::reasoning_in::{self, Members};
use crate::codec::chat::wire::{
    REASONING, REASONING_CONTENT, REASONING_DETAILS, THINKING_BLOCKS, ThinkingBlock, string,
};
use crate::model::{Issuer, Item, Sealed, Tail};
use crate::wire::{Array, Extra, Kind, Raw, Read, Str, TextBuffer, Write};

/// Which member reasoning came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// `reasoning_content`.
    Content,
    /// `reasoning`.
    Reasoning,
    /// `thinking_blocks`.
    Blocks,
}

/// Reads what a chunk says of reasoning. Gives back members of another shape
/// than known.
///
/// Vendors repeat the same text in several members, for clients that know only
/// one of them. Then it is read once.
pub(super) fn read<'a>(
    members: Members<'a>,
    blocks: &mut Blocks,
    sink: &mut dyn EventSink,
) -> [Option<Extra<'a>>; 4] {
    let Members { reasoning_content, reasoning, reasoning_details, thinking_blocks } = members;
    let (content, odd_content) = text_of(REASONING_CONTENT, reasoning_content);
    let (other, odd_reasoning) = text_of(REASONING, reasoning);
    let mut shown: Option<Str<'a>> = None;
    let mut odd_blocks = None;
    if let Some(raw) = thinking_blocks {
        match raw.source_reader().map(|mut reader| Few::<ThinkingBlock<'a>>::read(&mut reader)) {
            Some(Ok(list)) => {
                for block in list {
                    shown = read_block(block, blocks, sink).or(shown);
                }
            }
            Some(Err(_)) | None => odd_blocks = Some(kept(THINKING_BLOCKS, raw)),
        }
    }
    if let Some(text) = other.filter(|text| shown.as_ref() != Some(text)) {
        blocks.think(Source::Reasoning, text.clone(), sink);
        shown = Some(text);
    }
    if let Some(text) = content.filter(|text| shown.as_ref() != Some(text)) {
        blocks.think(Source::Content, text, sink);
    }
    let mut odd_details = None;
    if let Some(raw) = reasoning_details {
        match raw.source_reader().map(|mut reader| Few::<Raw<'a>>::read(&mut reader)) {
            Some(Ok(list)) => {
                for entry in list {
                    read_detail(&entry, blocks, sink);
                }
            }
            Some(Err(_)) | None => odd_details = Some(kept(REASONING_DETAILS, raw)),
        }
    }
    [odd_content, odd_reasoning, odd_details, odd_blocks]
}

fn text_of<'a>(key: &'static str, raw: Option<Raw<'a>>) -> (Option<Str<'a>>, Option<Extra<'a>>) {
    match raw {
        None => (None, None),
        Some(raw) => match string(&raw) {
            Some(text) => (Some(text).filter(|text| !text.is_empty()), None),
            None => (None, Some(kept(key, raw))),
        },
    }
}

fn kept<'a>(key: &'static str, value: Raw<'a>) -> Extra<'a> {
    Extra { key: Str::plain(key), value }
}

/// A block of Messages, or a piece of one. Its text, if it has any.
fn read_block<'a>(
    block: ThinkingBlock<'a>,
    blocks: &mut Blocks,
    sink: &mut dyn EventSink,
) -> Option<Str<'a>> {
    if block.kind.as_ref().is_some_and(|kind| *kind == "redacted_thinking") {
        let at = block.at;
        if let Some(withheld) = reasoning_in::block(block) {
            blocks.whole(at, Item::Reasoning(withheld), sink);
        }
        return None;
    }
    let text = block.thinking.filter(|text| !text.is_empty());
    if let Some(text) = &text {
        blocks.think(Source::Blocks, text.clone(), sink);
    }
    if let Some(signature) = &block.signature {
        blocks.sign(signature, sink);
    }
    text
}

/// An entry of OpenRouter's list, or what toolwire itself put there.
fn read_detail(entry: &Raw<'_>, blocks: &mut Blocks, sink: &mut dyn EventSink) {
    match reasoning_in::open(entry) {
        Some(opened) => blocks.whole(opened.at, Item::Reasoning(opened), sink),
        None => blocks.seal(entry, sink),
    }
}

/// A block of reasoning that is open.
#[derive(Debug)]
pub(super) struct Thought {
    pub(super) block: usize,
    source: Option<Source>,
    pub(super) details: Details,
    pub(super) signature: TextBuffer,
}

impl Thought {
    pub(super) fn new(block: usize, details: Details) -> Self {
        Self { block, source: None, details, signature: TextBuffer::default() }
    }

    /// Whether text of that source goes on in this block. Text behind a
    /// signature is another block's.
    pub(super) fn takes_text(&self, source: Source) -> bool {
        self.source.is_none_or(|own| own == source) && self.signature.is_empty()
    }

    pub(super) fn takes_signature(&self) -> bool {
        self.source.is_none_or(|own| own == Source::Blocks)
    }

    pub(super) fn of(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// What is known at the end.
    pub(super) fn tail(self) -> Tail<'static> {
        let Self { block: _, source, details, signature } = self;
        let vendor = |name: &str| Issuer::Vendor(name.to_owned());
        let (issuer, blob) = match source {
            Some(Source::Blocks) => {
                let signature = (!signature.is_empty()).then(|| signature.text().into_owned());
                (Issuer::Anthropic, signature)
            }
            Some(Source::Content | Source::Reasoning) | None if !details.is_empty() => {
                (vendor(REASONING_DETAILS), Some(Str::plain(details.list())))
            }
            Some(Source::Reasoning) | None => (vendor(REASONING), None),
            Some(Source::Content) => return Tail::default(),
        };
        Tail {
            sealed: Some(Sealed { issuer, item_id: None, blob, redacted: false }),
            extra: Vec::new(),
        }
    }
}

/// `reasoning_details`, put together. A vendor wants the list back as a whole
/// answer would have had it, and streams the texts in it piece by piece.
#[derive(Debug, Default)]
pub(super) struct Details {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Whether pieces of it may follow.
    grows: bool,
    members: Vec<(String, Value)>,
}

#[derive(Debug)]
enum Value {
    Text(TextBuffer),
    Other(String),
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes an entry, or the next piece of one.
    pub(super) fn push(&mut self, entry: &Raw<'_>) {
        let text = matches!(
            entry.reader().tag("type"),
            Ok(Some(kind)) if kind == "reasoning.text" || kind == "reasoning.summary"
        );
        let same = |own: &&mut Entry| own.grows && own.continues(entry);
        if text && let Some(own) = self.entries.last_mut().filter(same) {
            return own.take(entry);
        }
        let mut own = Entry { grows: text, members: Vec::new() };
        own.take(entry);
        self.entries.push(own);
    }

    fn list(&self) -> String {
        let mut out = Vec::new();
        {
            let mut array = Array::new(&mut out);
            for Entry { grows: _, members } in &self.entries {
                let mut object = array.object();
                for (key, value) in members {
                    let out = object.foreign_key(&Str::plain(key.as_str()));
                    match value {
                        Value::Text(text) => text.text().write(out),
                        Value::Other(raw) => out.extend_from_slice(raw.as_bytes()),
                    }
                }
            }
        }
        // Made of texts only.
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Entry {
    /// Whether a piece belongs to this entry: of the same kind and index, and
    /// of no other id.
    fn continues(&self, piece: &Raw<'_>) -> bool {
        let mut reader = piece.reader();
        let Ok(mut members) = reader.object() else { return false };
        while let Ok(Some(key)) = members.next(&mut reader) {
            let Ok(value) = reader.raw() else { return false };
            let key = key.decode();
            let differs = match (key.as_ref(), self.member(&key)) {
                ("type" | "index" | "id", Some(Value::Other(own))) => {
                    value.kind() != Kind::Null && own != "null" && own != value.text()
                }
                (_key, _own) => false,
            };
            if differs {
                return false;
            }
        }
        true
    }

    fn take(&mut self, piece: &Raw<'_>) {
        let mut reader = piece.reader();
        let Ok(mut members) = reader.object() else { return };
        while let Ok(Some(key)) = members.next(&mut reader) {
            let Ok(value) = reader.raw() else { return };
            let key = key.decode();
            let text = match key.as_ref() {
                "text" | "summary" => Str::read(&mut value.reader()).ok(),
                _other => None,
            };
            let own = self.members.iter_mut().find(|(own, _)| *own == *key);
            match (own, text) {
                (Some((_, Value::Text(own))), Some(text)) => own.push(&text),
                (Some((_, own)), _) => {
                    if matches!(own, Value::Other(raw) if raw == "null") {
                        *own = Value::Other(value.text().to_owned());
                    }
                }
                (None, Some(text)) => {
                    let mut growing = TextBuffer::default();
                    growing.push(&text);
                    self.members.push((key.into_owned(), Value::Text(growing)));
                }
                (None, None) => {
                    let value = Value::Other(value.text().to_owned());
                    self.members.push((key.into_owned(), value));
                }
            }
        }
    }

    fn member(&self, key: &str) -> Option<&Value> {
        self.members.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }
}
