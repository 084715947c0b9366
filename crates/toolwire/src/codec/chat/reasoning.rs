//! Reasoning: four members that vendors invented, and the envelope.
//!
//! OpenAI's Chat shows no reasoning. Vendors do, each in members of its own,
//! and some want them back. Reasoning that came from another protocol is shown
//! in the most common of them, `reasoning_content`, and kept whole in an
//! envelope inside `reasoning_details`, which clients return untouched.

use super::content_in::Toward;
use super::wire::string;
use crate::ledger::{Code, Ledger};
use crate::model::{Issuer, Item, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Extra, Kind, Object, Pos, Raw, Read, Str, Write};

/// The reasoning members of a message.
pub(super) struct Members<'a> {
    pub(super) reasoning_content: Option<Raw<'a>>,
    pub(super) reasoning: Option<Raw<'a>>,
    pub(super) reasoning_details: Option<Raw<'a>>,
    pub(super) thinking_blocks: Option<Raw<'a>>,
}

/// Reads the reasoning of a message. Members of another shape than known are
/// added to `extra`.
pub(super) fn read<'a>(members: Members<'a>, extra: &mut Vec<Extra<'a>>) -> Vec<Reasoning<'a>> {
    let Members { reasoning_content, reasoning, reasoning_details, thinking_blocks } = members;
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
    let mut shown = text_of(CONTENT, reasoning_content);
    let mut other = text_of(REASONING, reasoning);
    let mut found = Vec::new();
    if let Some(raw) = thinking_blocks {
        match blocks(&raw) {
            Some(mut signed) => found.append(&mut signed),
            None => keep(BLOCKS, raw),
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
                    let mut item = sealed(raw.pos(), Issuer::Vendor(DETAILS.to_owned()));
                    item.content.extend(other.take());
                    if let Some(seal) = &mut item.sealed {
                        seal.blob = Some(Str::plain(rest).at(raw.pos()));
                    }
                    found.push(item);
                }
            }
            None => keep(DETAILS, raw),
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

/// Puts reasoning among the items of its turn: where it stood before Chat took
/// it apart, else in front.
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

/// Writes reasoning for an upstream, as far as its vendor wants any back.
pub(super) fn write_upstream(
    object: &mut Object<'_>,
    list: &[&Reasoning<'_>],
    toward: &mut Toward<'_>,
) {
    let mut text = Vec::new();
    let mut details = Vec::new();
    for reasoning in list {
        let Reasoning { at: _, summary: _, content: _, sealed, place: _, extra } = reasoning;
        let foreign = match sealed.as_ref().map(|seal| &seal.issuer) {
            Some(Issuer::Anthropic | Issuer::OpenAi) => true,
            Some(Issuer::Vendor(_)) | None => false,
        };
        if foreign || toward.profile.reasoning_field.is_none() {
            lose(reasoning, toward.ledger);
            continue;
        }
        text.extend(texts(reasoning));
        details.extend(seal_blob(reasoning));
        toward.ledger.only(extra);
    }
    if let Some(field) = toward.profile.reasoning_field {
        put_texts(object, field, &text);
    }
    write_details(object, &[], &details);
}

/// Reports reasoning that does not go to an upstream.
pub(super) fn lose(reasoning: &Reasoning<'_>, ledger: &mut Ledger) {
    let sealed = reasoning.sealed.is_some();
    let code = if sealed { Code::ReasoningForeign } else { Code::ReasoningUnsigned };
    ledger.dropped(reasoning.at, code).detail(NOT_TAKEN_BACK);
}

/// Writes reasoning of another protocol for a client, each with its place in
/// the turn.
pub(super) fn write_client(
    object: &mut Object<'_>,
    list: &[(u64, &Reasoning<'_>)],
    ledger: &mut Ledger,
) {
    let text: Vec<_> = list.iter().flat_map(|(_, reasoning)| texts(reasoning)).collect();
    put_texts(object, CONTENT, &text);
    write_envelopes(object, list, ledger);
}

/// Writes what a client is to bring back of reasoning whose text it has been
/// shown.
pub(super) fn write_envelopes(
    object: &mut Object<'_>,
    list: &[(u64, &Reasoning<'_>)],
    ledger: &mut Ledger,
) {
    let mut enveloped = Vec::with_capacity(list.len());
    for (place, reasoning) in list {
        let Reasoning { at: _, summary: _, content, sealed, place: _, extra } = reasoning;
        ledger.only(extra);
        if sealed.is_none() {
            continue;
        }
        // The envelope has room for what the seal covers, not for the
        // reasoning itself.
        for text in content {
            ledger
                .degraded(text.pos(), Code::ReasoningUnsigned)
                .detail("The text is shown to the client but does not come back.")
                .info();
        }
        enveloped.push((*place, *reasoning));
    }
    write_details(object, &enveloped, &[]);
}

fn texts<'r, 'a>(reasoning: &'r Reasoning<'a>) -> impl Iterator<Item = &'r Str<'a>> {
    reasoning.summary.iter().chain(&reasoning.content).filter(|text| !text.is_empty())
}

fn put_texts(object: &mut Object<'_>, key: &str, list: &[&Str<'_>]) {
    if !list.is_empty() {
        write_joined(list, object.key(key));
    }
}

fn write_joined(list: &[&Str<'_>], out: &mut Vec<u8>) {
    out.push(b'"');
    for (index, text) in list.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\\n\\n");
        }
        text.write_inside(out);
    }
    out.push(b'"');
}

/// A vendor's own `reasoning_details`, as the inside of the list. It may have
/// come through a client, so it is read again before it is written.
fn seal_blob(reasoning: &Reasoning<'_>) -> Option<String> {
    let text = reasoning.sealed.as_ref()?.blob.as_ref()?.decode();
    let raw = Raw::parse(text.trim()).ok().filter(|raw| raw.kind() == Kind::Array)?;
    let inside = raw.text().strip_prefix('[')?.strip_suffix(']')?;
    (!inside.trim().is_empty()).then(|| inside.to_owned())
}

fn write_details(object: &mut Object<'_>, enveloped: &[(u64, &Reasoning<'_>)], rest: &[String]) {
    if enveloped.is_empty() && rest.is_empty() {
        return;
    }
    let mut array = object.array(DETAILS);
    for (index, (place, reasoning)) in enveloped.iter().enumerate() {
        let mut detail = array.object();
        detail.put("type", "reasoning.encrypted");
        detail.put("data", &envelope(reasoning, *place).seal());
        detail.put("index", &(index as u64));
    }
    for inside in rest {
        Raw::made(inside.as_str()).write(array.item());
    }
}

fn envelope(reasoning: &Reasoning<'_>, place: u64) -> Envelope {
    let own = |text: &Str<'_>| text.decode().into_owned();
    let text: Vec<String> = reasoning.summary.iter().map(own).collect();
    let (issuer, item_id, blob, redacted) = match &reasoning.sealed {
        Some(Sealed { issuer, item_id, blob, redacted }) => {
            (issuer.clone(), item_id.as_ref().map(own), blob.as_ref().map(own), *redacted)
        }
        None => (Issuer::Vendor(CONTENT.to_owned()), None, None, false),
    };
    Envelope {
        issuer,
        item_id,
        text: (!redacted).then_some(text),
        blob,
        redacted,
        place: Some(place),
    }
}

/// Opens the envelopes of `reasoning_details`, and gives the other entries as
/// a list of their own. `None` if it is no list.
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
    let Detail { at, kind: _, data, extra: _ } = Detail::read(&mut reader).ok()?;
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

/// The blocks of Messages as litellm hands them to Chat clients. `None` if one
/// of them is not of a known kind.
fn blocks<'a>(raw: &Raw<'a>) -> Option<Vec<Reasoning<'a>>> {
    let blocks = Vec::<Block<'a>>::read(&mut raw.source_reader()?).ok()?;
    blocks.into_iter().map(block).collect()
}

pub(super) fn block(block: Block<'_>) -> Option<Reasoning<'_>> {
    let Block { at, kind, thinking, signature, data, extra } = block;
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
    item.sealed = Some(Sealed { issuer, item_id: None, blob: None, redacted: false });
    item
}

wire! {
    /// An entry of `reasoning_details`.
    struct Detail<'a> {
        kind: Raw<'a> = "type",
        data: Raw<'a> = "data",
    }

    /// An entry of `thinking_blocks`.
    pub(super) struct Block<'a> {
        kind: Str<'a> = "type",
        thinking: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
        data: Str<'a> = "data",
    }
}

/// What the ledger says about reasoning that does not go to an upstream.
pub(super) const NOT_TAKEN_BACK: &str = "The target takes no reasoning back.";

/// DeepSeek's member, and the one most clients know.
pub(super) const CONTENT: &str = "reasoning_content";
/// OpenRouter's and vLLM's member. Also the issuer of what stood in it, so
/// that it is written back under its own name.
pub(super) const REASONING: &str = "reasoning";
/// OpenRouter's list, likewise also an issuer: the whole list is the seal.
pub(super) const DETAILS: &str = "reasoning_details";
/// litellm's copy of Messages' blocks.
pub(super) const BLOCKS: &str = "thinking_blocks";
