//! Reasoning: writing it, and the envelope.
//!
//! Reasoning from another protocol is shown in the member that most clients
//! know, `reasoning_content`, and kept whole in an envelope inside
//! `reasoning_details`, which clients return untouched.

use super::wire::{REASONING_CONTENT, REASONING_DETAILS};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Issuer, Reasoning, Sealed};
use crate::wire::envelope::Envelope;
use crate::wire::{Kind, Object, Raw, Str, Write};

/// Writes reasoning for an upstream if its vendor wants it back.
pub(super) fn write_upstream(
    object: &mut Object<'_>,
    list: &[&Reasoning<'_>],
    cx: &mut EncodeContext<'_>,
) {
    let mut text = Vec::new();
    let mut details = Vec::new();
    for reasoning in list {
        let Reasoning { at: _, summary: _, content: _, sealed, place: _, extra } = reasoning;
        let foreign = match sealed.as_ref().map(|seal| &seal.issuer) {
            Some(Issuer::Anthropic | Issuer::OpenAi) => true,
            Some(Issuer::Vendor(_)) | None => false,
        };
        if foreign || cx.profile.reasoning_field.is_none() {
            report_lost(reasoning, cx.ledger);
            continue;
        }
        text.extend(shown_texts(reasoning));
        details.extend(seal_blob(reasoning));
        cx.ledger.only(extra);
    }
    if let Some(field) = cx.profile.reasoning_field {
        put_texts(object, field, &text);
    }
    write_details(object, &[], &details);
}

/// Reports reasoning that does not go to an upstream.
pub(super) fn report_lost(reasoning: &Reasoning<'_>, ledger: &mut Ledger) {
    let sealed = reasoning.sealed.is_some();
    let code = if sealed { Code::ReasoningForeign } else { Code::ReasoningUnsigned };
    ledger.dropped(reasoning.at, code).detail(NOT_TAKEN_BACK);
}

/// Writes reasoning for a client, each with its place in the turn.
pub(super) fn write_client(
    object: &mut Object<'_>,
    list: &[(u64, &Reasoning<'_>)],
    ledger: &mut Ledger,
) {
    let text: Vec<_> = list.iter().flat_map(|(_, reasoning)| shown_texts(reasoning)).collect();
    put_texts(object, REASONING_CONTENT, &text);
    write_envelopes(object, list, ledger);
}

/// Writes the envelopes that a client sends back, for reasoning whose text it
/// has already.
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
        // The envelope holds what the seal covers, not the reasoning itself.
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

fn shown_texts<'r, 'a>(reasoning: &'r Reasoning<'a>) -> impl Iterator<Item = &'r Str<'a>> {
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

/// The inside of the list of a vendor's own `reasoning_details`. It may come
/// from a client, so it is checked to be JSON before it is written.
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
    let mut array = object.array(REASONING_DETAILS);
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
    let unsealed = || Sealed::new(Issuer::Vendor(REASONING_CONTENT.to_owned()), None);
    let envelope = match &reasoning.sealed {
        Some(sealed) => Envelope::of(sealed),
        None => Envelope::of(&unsealed()),
    };
    let text = reasoning.summary.iter().map(|text| text.decode().into_owned()).collect();
    let text = (!envelope.redacted).then_some(text);
    envelope.with_text(text).with_place(Some(place))
}

/// What the ledger says about reasoning that does not go to an upstream.
pub(super) const NOT_TAKEN_BACK: &str = "The target takes no reasoning back.";
