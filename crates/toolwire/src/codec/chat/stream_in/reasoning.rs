//! Reasoning in a stream: which member it came in, and what seals it at the end.

use std::collections::HashMap;

use super::blocks::BlockAssembler;
use super::chunk::SmallList;
use crate::codec::EventSink;
use crate::codec::chat::reasoning_in::{self, ReasoningMembers};
use crate::codec::chat::wire::{
    REASONING, REASONING_CONTENT, REASONING_DETAILS, THINKING_BLOCKS, ThinkingBlock, string,
};
use crate::model::{Issuer, Item, Sealed, Tail};
use crate::wire::{Array, Extra, Kind, Raw, Read, Str, TextBuffer, Write, written};

/// The member that reasoning came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningMember {
    /// `reasoning_content`.
    Content,
    /// `reasoning`.
    Reasoning,
    /// `thinking_blocks`.
    ThinkingBlocks,
    /// `reasoning_details`, of a vendor that shows its text nowhere else.
    Details,
}

/// Reads the reasoning of a chunk. Returns the members of an unknown shape.
///
/// Vendors repeat a text in several members, for clients that know only one of
/// them. It is read once.
pub(super) fn read<'a>(
    members: ReasoningMembers<'a>,
    blocks: &mut BlockAssembler,
    sink: &mut dyn EventSink,
) -> [Option<Extra<'a>>; 4] {
    let ReasoningMembers { reasoning_content, reasoning, reasoning_details, thinking_blocks } =
        members;
    let (content, odd_content) = text_of(REASONING_CONTENT, reasoning_content);
    let (other, odd_reasoning) = text_of(REASONING, reasoning);
    let mut shown: Option<Str<'a>> = None;
    let mut odd_blocks = None;
    if let Some(raw) = thinking_blocks {
        match raw
            .source_reader()
            .map(|mut reader| SmallList::<ThinkingBlock<'a>>::read(&mut reader))
        {
            Some(Ok(list)) => {
                for block in list {
                    shown = read_block(block, blocks, sink).or(shown);
                }
            }
            Some(Err(_)) | None => odd_blocks = Some(unknown_member(THINKING_BLOCKS, raw)),
        }
    }
    if let Some(text) = other.filter(|text| shown.as_ref() != Some(text)) {
        blocks.push_reasoning(ReasoningMember::Reasoning, text.clone(), sink);
        shown = Some(text);
    }
    if let Some(text) = content.filter(|text| shown.as_ref() != Some(text)) {
        blocks.push_reasoning(ReasoningMember::Content, text, sink);
    }
    let mut odd_details = None;
    if let Some(raw) = reasoning_details {
        match raw.source_reader().map(|mut reader| SmallList::<Raw<'a>>::read(&mut reader)) {
            Some(Ok(list)) => {
                for entry in list {
                    read_detail(&entry, blocks, sink);
                }
            }
            Some(Err(_)) | None => odd_details = Some(unknown_member(REASONING_DETAILS, raw)),
        }
    }
    [odd_content, odd_reasoning, odd_details, odd_blocks]
}

fn text_of<'a>(key: &'static str, raw: Option<Raw<'a>>) -> (Option<Str<'a>>, Option<Extra<'a>>) {
    match raw {
        None => (None, None),
        Some(raw) => match string(&raw) {
            Some(text) => (Some(text).filter(|text| !text.is_empty()), None),
            None => (None, Some(unknown_member(key, raw))),
        },
    }
}

fn unknown_member<'a>(key: &'static str, value: Raw<'a>) -> Extra<'a> {
    Extra { key: Str::plain(key), value }
}

/// Reads a thinking block, or a piece of one. Returns its text, if it has any.
fn read_block<'a>(
    block: ThinkingBlock<'a>,
    blocks: &mut BlockAssembler,
    sink: &mut dyn EventSink,
) -> Option<Str<'a>> {
    if block.kind.as_ref().is_some_and(|kind| *kind == "redacted_thinking") {
        let at = block.at;
        if let Some(withheld) = reasoning_in::block(block) {
            blocks.push_whole(at, Item::Reasoning(withheld), sink);
        }
        return None;
    }
    let text = block.thinking.filter(|text| !text.is_empty());
    if let Some(text) = &text
        && !blocks.sign_repeated(text)
    {
        blocks.push_reasoning(ReasoningMember::ThinkingBlocks, text.clone(), sink);
    }
    if let Some(signature) = &block.signature {
        blocks.push_signature(signature, sink);
    }
    text
}

/// Reads an entry of `reasoning_details`: the vendor's, or an envelope.
fn read_detail(entry: &Raw<'_>, blocks: &mut BlockAssembler, sink: &mut dyn EventSink) {
    match reasoning_in::open(entry) {
        Some(opened) => blocks.push_whole(opened.at, Item::Reasoning(opened), sink),
        None => blocks.push_detail(entry, sink),
    }
}

/// An open block of reasoning.
#[derive(Debug)]
pub(super) struct ReasoningBlock {
    pub(super) block: usize,
    member: Option<ReasoningMember>,
    pub(super) details: DetailsBuffer,
    pub(super) signature: TextBuffer,
    /// The text, as long as a thinking block may come that repeats it.
    shown: TextBuffer,
}

impl ReasoningBlock {
    pub(super) fn new(block: usize, details: DetailsBuffer) -> Self {
        let (signature, shown) = (TextBuffer::default(), TextBuffer::default());
        Self { block, member: None, details, signature, shown }
    }

    /// Whether text of that member continues this block. Text after a signature
    /// belongs to another block.
    pub(super) fn takes_text(&self, member: ReasoningMember) -> bool {
        self.member.is_none_or(|own| own == member) && self.signature.is_empty()
    }

    pub(super) fn takes_signature(&self) -> bool {
        self.member.is_none_or(|own| own == ReasoningMember::ThinkingBlocks)
    }

    /// Whether the text of details is shown in this block. A vendor that has
    /// shown text in another member only repeats it in its details.
    pub(super) fn shows_details(&self) -> bool {
        self.takes_text(ReasoningMember::Details)
    }

    pub(super) fn of(mut self, member: ReasoningMember) -> Self {
        self.member = Some(member);
        self
    }

    /// Takes note of text that has been shown.
    pub(super) fn push_shown(&mut self, text: &Str<'_>) {
        if self.member != Some(ReasoningMember::ThinkingBlocks) {
            self.shown.push(text);
        }
    }

    /// Becomes the thinking block with that text, if it has that text. LiteLLM
    /// sends a thought as `reasoning_content` while it arrives, and may send the
    /// block with its signature when it is whole.
    /// vectors/streams/chat-litellm-repeated-thinking
    pub(super) fn sign_repeated(&mut self, text: &Str<'_>) -> bool {
        let repeated = !self.shown.is_empty() && self.shown.text() == *text;
        if repeated {
            self.member = Some(ReasoningMember::ThinkingBlocks);
            self.shown = TextBuffer::default();
        }
        repeated
    }

    /// The seal, which is known at the end.
    pub(super) fn tail(self) -> Tail<'static> {
        let Self { block: _, member, details, signature, shown: _ } = self;
        let vendor = |name: &str| Issuer::Vendor(name.to_owned());
        let (issuer, blob) = match member {
            Some(ReasoningMember::ThinkingBlocks) => {
                let signature = (!signature.is_empty()).then(|| signature.text().into_owned());
                (Issuer::Anthropic, signature)
            }
            Some(
                ReasoningMember::Content | ReasoningMember::Reasoning | ReasoningMember::Details,
            )
            | None
                if !details.is_empty() =>
            {
                (vendor(REASONING_DETAILS), Some(Str::plain(details.list())))
            }
            Some(ReasoningMember::Reasoning | ReasoningMember::Details) | None => {
                (vendor(REASONING), None)
            }
            Some(ReasoningMember::Content) => return Tail::default(),
        };
        Tail { sealed: Some(Sealed::new(issuer, blob)), extra: Vec::new() }
    }
}

/// Puts `reasoning_details` together. A vendor streams the texts in the list
/// piece by piece, and wants the list back as it is in a whole answer.
#[derive(Debug, Default)]
pub(super) struct DetailsBuffer {
    entries: Vec<DetailEntry>,
}

#[derive(Debug)]
struct DetailEntry {
    /// Whether more pieces of it may follow.
    grows: bool,
    members: Vec<(String, DetailValue)>,
    /// Where each member is, if they are so many that a search takes long.
    places: HashMap<String, usize>,
}

#[derive(Debug)]
enum DetailValue {
    Text(TextBuffer),
    Other(String),
}

impl DetailsBuffer {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds an entry, or the next piece of one.
    pub(super) fn push(&mut self, entry: &Raw<'_>) {
        let text = matches!(
            entry.reader().tag("type"),
            Ok(Some(kind)) if kind == "reasoning.text" || kind == "reasoning.summary"
        );
        let same = |own: &&mut DetailEntry| own.grows && own.continues(entry);
        if text && let Some(own) = self.entries.last_mut().filter(same) {
            return own.take(entry);
        }
        let mut own = DetailEntry { grows: text, members: Vec::new(), places: HashMap::new() };
        own.take(entry);
        self.entries.push(own);
    }

    /// What the entries say in plain text.
    pub(super) fn text(&self) -> String {
        let members = self.entries.iter().flat_map(|entry| &entry.members);
        let texts = members.filter_map(|(_, value)| match value {
            DetailValue::Text(text) => Some(text.text().into_decoded().into_owned()),
            DetailValue::Other(_) => None,
        });
        texts.collect()
    }

    fn list(&self) -> String {
        written(|out| {
            let mut array = Array::new(out);
            for DetailEntry { grows: _, members, places: _ } in &self.entries {
                let mut object = array.object();
                for (key, value) in members {
                    let out = object.foreign_key(&Str::plain(key.as_str()));
                    match value {
                        DetailValue::Text(text) => text.text().write(out),
                        DetailValue::Other(raw) => out.extend_from_slice(raw.as_bytes()),
                    }
                }
            }
        })
    }
}

impl DetailEntry {
    /// Whether a piece belongs to this entry: it has the same kind and index, and
    /// no other id.
    fn continues(&self, piece: &Raw<'_>) -> bool {
        let mut reader = piece.reader();
        let Ok(mut members) = reader.object() else { return false };
        while let Ok(Some(key)) = members.next(&mut reader) {
            let Ok(value) = reader.raw() else { return false };
            let key = key.decode();
            let differs = match (key.as_ref(), self.member(&key)) {
                ("type" | "index" | "id", Some(DetailValue::Other(own))) => {
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
            let own = self.place(&key).and_then(|place| self.members.get_mut(place));
            match (own, text) {
                (Some((_, DetailValue::Text(own))), Some(text)) => own.push(&text),
                (Some((_, own)), _) => {
                    if matches!(own, DetailValue::Other(raw) if raw == "null") {
                        *own = DetailValue::Other(value.text().to_owned());
                    }
                }
                (None, Some(text)) => {
                    let mut growing = TextBuffer::default();
                    growing.push(&text);
                    self.add(key.into_owned(), DetailValue::Text(growing));
                }
                (None, None) => {
                    let value = DetailValue::Other(value.text().to_owned());
                    self.add(key.into_owned(), value);
                }
            }
        }
    }

    fn member(&self, key: &str) -> Option<&DetailValue> {
        self.place(key).and_then(|place| self.members.get(place)).map(|(_, value)| value)
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.places.is_empty() {
            return self.members.iter().position(|(own, _)| own == key);
        }
        self.places.get(key).copied()
    }

    fn add(&mut self, key: String, value: DetailValue) {
        self.members.push((key, value));
        let known = self.places.len();
        if self.members.len() > FEW_MEMBERS {
            let unknown = self.members.iter().enumerate().skip(known);
            self.places.extend(unknown.map(|(place, (key, _))| (key.clone(), place)));
        }
    }
}

/// So many members are searched one by one.
const FEW_MEMBERS: usize = 16;
