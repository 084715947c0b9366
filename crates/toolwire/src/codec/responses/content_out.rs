//! Content parts, cache markers and media: model to wire.

use super::cache_out::{lose_cache, write_cache};
use super::citations_out::annotations;
use super::media_out::{
    audio_crosses, document_crosses, image_crosses, write_audio, write_document, write_image,
};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::media::blocks;
use crate::model::{Cache, Item, Refusal, SearchResult, Text};
use crate::wire::{Array, At, Object, Pos, Raw, Str};

/// Where a part is written. The type of a text depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartRole {
    /// In what the model reads.
    Input,
    /// In what the model said, in the history.
    History,
    /// In what the model said, in an answer. It has every member of the published
    /// type.
    Answer,
}

/// The text of a message or an output that can be a plain string.
pub(super) fn bare_text<'r, 'a>(items: &'r [Item<'a>]) -> Option<&'r Str<'a>> {
    match items {
        [Item::Text(text)] if text.is_bare() && text.at == text.text.pos() => Some(&text.text),
        _parts => None,
    }
}

/// Whether an item is part of a message's content. The others are items of their
/// own in Responses.
pub(super) fn is_content(item: &Item<'_>, turn_at: Pos) -> bool {
    match item {
        Item::Text(_)
        | Item::Image(_)
        | Item::Document(_)
        | Item::Audio(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::ToolReference(_)
        | Item::Json(_) => true,
        // An unknown part is inside its message. An unknown item is the whole
        // turn.
        Item::Opaque(opaque) => opaque.raw.pos() != turn_at,
        Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) | Item::Tools(_) => {
            false
        }
    }
}

/// Whether anything of a content item reaches the target.
pub(super) fn crosses(item: &Item<'_>, role: PartRole, cx: &EncodeContext<'_>) -> bool {
    match item {
        Item::Text(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::ToolReference(_)
        | Item::Json(_) => true,
        Item::Image(image) => image_crosses(image, role, cx),
        Item::Document(document) => document_crosses(document, role, cx),
        Item::Audio(audio) => audio_crosses(audio, role, cx),
        Item::Opaque(opaque) => blocks::reference(&opaque.raw).is_some(),
        Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) | Item::Tools(_) => {
            false
        }
    }
}

/// Whether content says nothing: Chat writes an empty text beside calls, which
/// would become a message of its own here.
pub(super) fn is_silent(content: &[Item<'_>], cx: &mut EncodeContext<'_>) -> bool {
    let empty = |item: &Item<'_>| matches!(item, Item::Text(text) if text.text.is_empty());
    let silent = content.iter().all(empty);
    if silent {
        for item in content {
            if let Item::Text(text) = item {
                cx.ledger
                    .emulated(text.at, Code::MessageBoundary)
                    .detail("An empty text says nothing and would be a message of its own.");
                lose_text(text, cx);
            }
        }
    }
    silent
}

/// Whether nothing of some content reaches the target. If so, the losses are
/// reported, because no message is written that would report them.
pub(super) fn is_lost(content: &[Item<'_>], role: PartRole, cx: &mut EncodeContext<'_>) -> bool {
    let lost = !content.iter().any(|item| crosses(item, role, cx));
    if lost {
        let mut nowhere = Vec::new();
        for item in content {
            write_part(item, role, &mut Array::new(&mut nowhere), cx);
        }
    }
    lost
}

/// Writes one part.
pub(super) fn write_part(
    item: &Item<'_>,
    role: PartRole,
    parts: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    match item {
        Item::Text(text) => write_text(text, role, parts, cx),
        Item::Image(image) => write_image(image, role, parts, cx),
        Item::Document(document) => write_document(document, role, parts, cx),
        Item::Audio(audio) => write_audio(audio, role, parts, cx),
        Item::SearchResult(result) => {
            let text = search_text(result, cx);
            write_plain(&text, role, parts);
        }
        Item::Refusal(refusal) if role == PartRole::Input => {
            let mut part = parts.object();
            part.put("type", role.text_type());
            part.put("text", refusal_text(refusal, cx.ledger));
        }
        Item::Refusal(refusal) => {
            let Refusal { at: _, text, extra } = refusal;
            let mut part = parts.object();
            part.put("type", "refusal");
            part.put("refusal", text);
            cx.ledger.only(extra);
        }
        Item::ToolReference(At { pos, value: name }) => {
            write_plain(&reference_text(*pos, name, None, cx), role, parts);
        }
        Item::Json(raw) => write_plain(raw.text(), role, parts),
        Item::Opaque(opaque) => match blocks::reference(&opaque.raw) {
            Some((name, cache)) => {
                let at = opaque.raw.pos();
                write_plain(&reference_text(at, &name, cache.as_ref(), cx), role, parts);
            }
            None => {
                cx.ledger.dropped(opaque.raw.pos(), opaque.code());
            }
        },
        Item::Tools(tools) => {
            for tool in tools {
                let text = reference_text(tool.at, &tool.name, None, cx);
                write_plain(&text, role, parts);
            }
        }
        // These are items of a conversation and have no place inside a result.
        Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) => {
            cx.ledger.misplaced(item);
        }
    }
}

/// The text of a refusal that is not the model's. Responses has no such part.
pub(super) fn refusal_text<'r, 'a>(refusal: &'r Refusal<'a>, ledger: &mut Ledger) -> &'r Str<'a> {
    let Refusal { at, text, extra } = refusal;
    let note = ledger.emulated(*at, Code::StopReason);
    note.detail("The target has no refusal at this place; it crosses as text.");
    ledger.only(extra);
    text
}

/// A search result as text. Responses has no such part.
pub(super) fn search_text(result: &SearchResult<'_>, cx: &mut EncodeContext<'_>) -> String {
    let SearchResult { at, source: _, title: _, content, citations, cache, extra } = result;
    cx.ledger.degraded(*at, Code::Citations);
    cx.ledger.lost(citations, Code::Citations);
    lose_cache(cache.as_ref(), cx);
    cx.ledger.only(extra);
    let mut text = result.heading();
    for item in content {
        if let Item::Text(part) = item {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&part.text.decode());
            lose_text(part, cx);
        } else {
            cx.ledger.misplaced(item);
        }
    }
    text
}

/// Reports what a text has besides its words, for places where only words cross.
pub(super) fn lose_text(text: &Text<'_>, cx: &mut EncodeContext<'_>) {
    let Text { at: _, text: _, citations, logprobs, cache, extra } = text;
    if let Some(citations) = citations.as_ref().filter(|list| !list.is_empty()) {
        cx.ledger.dropped(citations.pos(), Code::Citations);
    }
    if let Some(logprobs) = logprobs.as_ref().filter(|list| !list.is_empty()) {
        cx.ledger.dropped(logprobs.pos(), Code::Logprobs);
    }
    lose_cache(cache.as_ref(), cx);
    cx.ledger.only(extra);
}

/// A reference to a tool as text. Responses has no such part.
pub(super) fn reference_text(
    at: Pos,
    name: &Str<'_>,
    cache: Option<&Cache<'_>>,
    cx: &mut EncodeContext<'_>,
) -> String {
    cx.ledger
        .degraded(at, Code::ToolSearch)
        .detail("Responses has no reference to a tool in a result; the model is told its name.");
    lose_cache(cache, cx);
    format!("[tool found: {}]", name.decode())
}

/// Writes text that toolwire made.
pub(super) fn write_plain(text: &str, role: PartRole, parts: &mut Array<'_>) {
    let mut part = parts.object();
    part.put("type", role.text_type());
    part.put("text", text);
    role.complete(&mut part, None, None);
}

impl PartRole {
    /// Whether Responses accepts nothing but text here.
    pub(super) fn is_text_only(self) -> bool {
        self != Self::Input
    }

    fn text_type(self) -> &'static str {
        match self {
            Self::Input => "input_text",
            Self::History | Self::Answer => "output_text",
        }
    }

    /// Writes the lists that the published type of an answer's text requires.
    fn complete(self, part: &mut Object<'_>, notes: Option<&Raw<'_>>, logprobs: Option<&Raw<'_>>) {
        match self {
            Self::Input | Self::History => {
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

fn write_text(text: &Text<'_>, role: PartRole, parts: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
    let Text { at: _, text, citations, logprobs, cache, extra } = text;
    let notes = match citations {
        Some(citations) if citations.is_empty() => None,
        Some(citations) if role == PartRole::Input => {
            cx.ledger.dropped(citations.pos(), Code::Citations);
            None
        }
        Some(citations) => annotations(citations, text, cx.ledger),
        None => None,
    };
    let mut part = parts.object();
    part.put("type", role.text_type());
    part.put("text", text);
    role.complete(&mut part, notes.as_ref(), logprobs.as_ref());
    write_cache(cache.as_ref(), &mut part, role, cx);
    cx.ledger.only(extra);
}
