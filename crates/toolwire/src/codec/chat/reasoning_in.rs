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

/// Reads the reasoning of a message. ReasoningMembers of an unknown shape are added to
/// `extra`.
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
        text
    };
    let mut shown = text_of(REASONING_CONTENT, reasoning_content);
    let mut other = text_of(REASONING, reasoning);
    let mut found = Vec::new();
    if let Some(raw) = thinking_blocks {
        match blocks(&raw) {
            Some(mut signed) => found.append(&mut signed),
            None => keep(THINKING_BLOCKS, raw),
        }
    }
    if let Some(raw) = reasoning_details {
        match details(&raw) {
            Some((mut opened, rest)) => {
                if !opened.is_empty() {
                    // What toolwire showed beside its envelopes is inside them.
                    shown = None;
                }
                found.append(&mut opened);
                if let Some(rest) = rest {
                    let mut item = bare(raw.pos());
                    item.content.extend(other.take());
                    let blob = Some(Str::plain(rest).at(raw.pos()));
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
        let mut item = bare(text.pos());
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

/// Opens the envelopes of `reasoning_details`, and returns the other entries as
/// a list of their own. Returns `None` if it is no list.
fn details<'a>(raw: &Raw<'a>) -> Option<(Vec<Reasoning<'a>>, Option<String>)> {
    let entries = Vec::<Raw<'a>>::read(&mut raw.source_reader()?).ok()?;
    let mut opened = Vec::new();
    let mut rest: Vec<String> = Vec::new();
    for entry in &entries {
        match open(entry) {
            Some(reasoning) => opened.push(reasoning),
            None => rest.push(entry.text().to_owned()),
        }
    }
    // The whole list is the seal; an empty one seals nothing.
    if opened.is_empty() && !rest.is_empty() {
        return Some((opened, Some(raw.text().to_owned())));
    }
    let rest = (!rest.is_empty()).then(|| format!("[{}]", rest.join(",")));
    Some((opened, rest))
}

pub(super) fn open<'a>(entry: &Raw<'a>) -> Option<Reasoning<'a>> {
    let mut reader = entry.source_reader()?;
    let ReasoningDetail { at, kind: _, data, extra: _ } =
        ReasoningDetail::read(&mut reader).ok()?;
    let data = string(&data?)?.into_decoded();
    if !Envelope::is_sealed(&data) {
        return None;
    }
    let Envelope { issuer, item_id, text, blob, redacted, place } = Envelope::open(&data)?;
    let mut item = bare(at);
    item.summary = text.unwrap_or_default().into_iter().map(Str::plain).collect();
    item.place = Some(place.unwrap_or_default());
    item.sealed = Some(Sealed {
        issuer,
        item_id: item_id.map(Str::plain),
        blob: blob.map(Str::plain),
        redacted,
    });
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

fn bare<'a>(at: Pos) -> Reasoning<'a> {
    Reasoning {
        at,
        summary: Vec::new(),
        content: Vec::new(),
        sealed: None,
        place: None,
        extra: Vec::new(),
    }
}

fn sealed<'a>(at: Pos, issuer: Issuer) -> Reasoning<'a> {
    let mut item = bare(at);
    item.sealed = Some(Sealed::new(issuer, None));
    item
}
