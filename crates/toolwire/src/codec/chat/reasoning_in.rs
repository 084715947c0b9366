//! Reasoning: reading the four members that vendors invented, and the envelope.
//!
//! OpenAI's Chat shows no reasoning. Vendors do, each in members of its own,
//! and some want them back. Reasoning from another protocol is kept whole in an
//! envelope inside `reasoning_details`, which clients return untouched.

use super::wire::{
    REASONING, REASONING_CONTENT, REASONING_DETAILS, ReasoningDetail, THINKING_BLOCKS,
    ThinkingBlock, string,
};
use crate::model::{Issuer, Item, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Extra, Pos, Raw, Read, Str};

/// The reasoning members of a message.
pub(super) struct ReasoningMembers<'a> {
    pub(super) reasoning_content: Option<Raw<'a>>,
    pub(super) reasoning: Option<Raw<'a>>,
    pub(super) reasoning_details: Option<Raw<'a>>,
    pub(super) thinking_blocks: Option<Raw<'a>>,
}

/// Reads the reasoning of a message. Members of an unknown shape are added to
/// `extra`.
///
/// Vendors repeat a thought in several members, for clients that know only one of
/// them. It is read once, from the member that has the most beside the text.
/// vectors/responses/chat-litellm-thinking-blocks
pub(super) fn read<'a>(
    members: ReasoningMembers<'a>,
    extra: &mut Vec<Extra<'a>>,
) -> Vec<Reasoning<'a>> {
    let ReasoningMembers { reasoning_content, reasoning, reasoning_details, thinking_blocks } =
        members;
    let mut keep = |key: &'static str, value: Raw<'a>| {
        extra.push(Extra { key: Str::plain(key), value });
    };
    let mut text_of = |key: &'static str, raw: Option<Raw<'a>>| {
        let raw = raw?;
        let text = string(&raw);
        if text.is_none() {
            keep(key, raw);
        }
        text.filter(|text| !text.is_empty())
    };
    let mut shown = text_of(REASONING_CONTENT, reasoning_content);
    let mut other = text_of(REASONING, reasoning);
    if shown == other {
        shown = None;
    }
    let mut found = Vec::new();
    if let Some(raw) = thinking_blocks {
        match blocks(&raw) {
            Some(mut signed) => {
                let told: String = signed
                    .iter()
                    .flat_map(|block| &block.summary)
                    .map(|text| text.decode())
                    .collect();
                let is_news = |text: &Str<'a>| *text != *told;
                shown = shown.filter(is_news);
                other = other.filter(is_news);
                found.append(&mut signed);
            }
            None => keep(THINKING_BLOCKS, raw),
        }
    }
    if let Some(raw) = reasoning_details {
        match details(&raw) {
            Some(Details { mut opened, rest }) => {
                if !opened.is_empty() {
                    // What toolwire showed beside its envelopes is inside them.
                    shown = None;
                }
                found.append(&mut opened);
                if let Some(Rest { list, text }) = rest {
                    let mut item = Reasoning::new(raw.pos());
                    let text = (!text.is_empty()).then(|| Str::plain(text).at(raw.pos()));
                    item.content.extend(other.take().or_else(|| shown.take()).or(text));
                    let blob = Some(Str::plain(list).at(raw.pos()));
                    let issuer = Issuer::Vendor(REASONING_DETAILS.to_owned());
                    item.sealed = Some(Sealed::new(issuer, blob));
                    found.push(item);
                }
            }
            None => keep(REASONING_DETAILS, raw),
        }
    }
    if let Some(text) = other {
        let mut item = sealed(text.pos(), Issuer::Vendor(REASONING.to_owned()));
        item.content.push(text);
        found.push(item);
    }
    if let Some(text) = shown {
        let mut item = Reasoning::new(text.pos());
        item.content.push(text);
        found.push(item);
    }
    found
}

/// Puts reasoning among the items of its turn: at the place that its envelope
/// names, or first.
pub(super) fn insert<'a>(items: Vec<Item<'a>>, mut found: Vec<Reasoning<'a>>) -> Vec<Item<'a>> {
    if found.is_empty() {
        return items;
    }
    found.sort_by_key(|reasoning| reasoning.place.unwrap_or_default());
    let mut merged = Vec::with_capacity(items.len() + found.len());
    let mut found = found.into_iter().peekable();
    for item in items {
        let due = |reasoning: &Reasoning<'_>, before: usize| {
            reasoning.place.is_none_or(|place| place <= before as u64)
        };
        while let Some(reasoning) = found.next_if(|reasoning| due(reasoning, merged.len())) {
            merged.push(Item::Reasoning(reasoning));
        }
        merged.push(item);
    }
    merged.extend(found.map(Item::Reasoning));
    merged
}

/// What `reasoning_details` has.
struct Details<'a> {
    /// Toolwire's envelopes.
    opened: Vec<Reasoning<'a>>,
    /// The vendor's own entries.
    rest: Option<Rest>,
}

/// Entries of `reasoning_details` that are the vendor's own.
struct Rest {
    /// The entries, as a list.
    list: String,
    /// What they say in plain text.
    text: String,
}

/// Opens the envelopes of `reasoning_details`, and returns the other entries as
/// a list of their own. Returns `None` if it is no list.
fn details<'a>(raw: &Raw<'a>) -> Option<Details<'a>> {
    let entries = Vec::<Raw<'a>>::read(&mut raw.source_reader()?).ok()?;
    let mut opened = Vec::new();
    let mut rest: Vec<&str> = Vec::new();
    let mut text = String::new();
    for entry in &entries {
        match open(entry) {
            Some(reasoning) => opened.push(reasoning),
            None => {
                rest.push(entry.text());
                text.extend(detail_text(entry).map(Str::into_decoded));
            }
        }
    }
    let list = match rest.as_slice() {
        // An empty list seals nothing.
        [] => return Some(Details { opened, rest: None }),
        // The whole list is the seal.
        _entries if opened.is_empty() => raw.text().to_owned(),
        entries => format!("[{}]", entries.join(",")),
    };
    Some(Details { opened, rest: Some(Rest { list, text }) })
}

/// What an entry of `reasoning_details` says in plain text.
pub(super) fn detail_text<'a>(entry: &'a Raw<'_>) -> Option<Str<'a>> {
    let mut reader = entry.reader();
    let ReasoningDetail { at: _, kind: _, text, summary, data: _, extra: _ } =
        ReasoningDetail::read(&mut reader).ok()?;
    let text = text.or(summary)?;
    Str::read(&mut text.source_reader()?).ok().filter(|text| !text.is_empty())
}

pub(super) fn open<'a>(entry: &Raw<'a>) -> Option<Reasoning<'a>> {
    let mut reader = entry.source_reader()?;
    let ReasoningDetail { at, kind: _, text: _, summary: _, data, extra: _ } =
        ReasoningDetail::read(&mut reader).ok()?;
    let data = string(&data?)?.into_decoded();
    if !Envelope::is_sealed(&data) {
        return None;
    }
    let mut envelope = Envelope::open(&data)?;
    let mut item = Reasoning::new(at);
    let text = envelope.text.take().unwrap_or_default();
    item.summary = text.into_iter().map(Str::plain).collect();
    item.place = Some(envelope.place.unwrap_or_default());
    item.sealed = Some(envelope.into_sealed());
    Some(item)
}

/// The blocks of Messages as litellm passes them to Chat clients, or `None` if
/// one of them is of an unknown kind.
fn blocks<'a>(raw: &Raw<'a>) -> Option<Vec<Reasoning<'a>>> {
    let blocks = Vec::<ThinkingBlock<'a>>::read(&mut raw.source_reader()?).ok()?;
    blocks.into_iter().map(block).collect()
}

pub(super) fn block(block: ThinkingBlock<'_>) -> Option<Reasoning<'_>> {
    let ThinkingBlock { at, kind, thinking, signature, data, extra } = block;
    let mut item = sealed(at, Issuer::Anthropic);
    let seal = item.sealed.as_mut()?;
    let kind = kind?;
    if kind == "thinking" && data.is_none() {
        seal.blob = signature;
    } else if kind == "redacted_thinking" && thinking.is_none() && signature.is_none() {
        seal.blob = data;
        seal.redacted = true;
    } else {
        return None;
    }
    item.summary.extend(thinking);
    item.extra = extra;
    Some(item)
}

fn sealed<'a>(at: Pos, issuer: Issuer) -> Reasoning<'a> {
    let mut item = Reasoning::new(at);
    item.sealed = Some(Sealed::new(issuer, None));
    item
}
