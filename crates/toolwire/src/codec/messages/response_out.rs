//! An answer out of the model, for a client that speaks Messages.

use super::blocks::Blocks;
use super::calls_out::write_input;
use super::content_out::{Pen, Wrote};
use super::reasoning;
use super::turns_out::turn_losses;
use crate::ledger::{Code, Ledger};
use crate::model::{
    Arguments, Call, Candidate, Item, Protocol, Response, ResponseContext, Stop, Turn, Usage,
};
use crate::wire::ids::{self, IdRule};
use crate::wire::{At, Extra, Kind, Object, Pos, Raw, Reader, Str, Write, hash};

/// Writes an answer.
pub(super) fn encode(
    response: &Response<'_>,
    asked: Option<&ResponseContext>,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let Response { origin, id, model, created, candidates, usage, tier, extra } = response;
    debug_assert_ne!(*origin, Protocol::Messages, "the bytes of one protocol pass");
    let mut pen = Pen::new(ledger);
    let mut object = Object::new(out);
    let id = match id {
        Some(id) => Str::plain(message_id(&id.decode())),
        None => Str::plain(message_id("")),
    };
    object.put("id", &id);
    object.put("type", "message");
    object.put("role", "assistant");
    let wanted = asked.and_then(|asked| asked.model.as_deref()).map(Str::from);
    object.maybe("model", model.as_ref().or(wanted.as_ref()));
    if let Some(created) = created {
        let name = origin.conventions().created_member;
        pen.ledger.dropped(created.pos, Code::Only(name.to_owned())).info();
    }
    match candidates.split_first() {
        Some((first, others)) => {
            for other in others {
                pen.ledger.dropped(other.at, Code::MultipleAnswers);
            }
            candidate(first, &id.decode(), &mut object, &mut pen);
        }
        None => {
            object.array("content");
            object.put("stop_reason", &());
            object.put("stop_sequence", &());
        }
    }
    counts(usage.as_ref(), tier.as_ref(), &mut object, &mut pen);
    pen.ledger.only(extra);
}

/// The id of an answer that had another protocol's.
pub(super) fn message_id(id: &str) -> String {
    format!("msg_{}", hash::base62(&[id.as_bytes()], 24))
}

fn candidate(answer: &Candidate<'_>, scope: &str, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Candidate { at: _, turns, stop, logprobs, extra } = answer;
    let cut = matches!(stop.value, Stop::MaxTokens | Stop::ContextWindow);
    let said = content(turns, scope, cut, object.key("content"), pen);
    if let Some(logprobs) = logprobs {
        pen.ledger.dropped(logprobs.pos(), Code::Logprobs).info();
    }
    encode_stop(stop, &said, object, pen);
    pen.ledger.only(extra);
}

/// What was found among the content that bears on the stop reason.
#[derive(Default)]
pub(super) struct Said<'r> {
    pub(super) calls: usize,
    pub(super) refusal: Option<&'r Str<'r>>,
}

fn content<'r>(
    turns: &'r [Turn<'r>],
    scope: &str,
    cut: bool,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) -> Said<'r> {
    let mut said = Said::default();
    let mut blocks = Blocks::default();
    let total = turns.iter().flat_map(|turn| &turn.items).filter(|item| is_call(item)).count();
    for turn in turns {
        turn_losses(turn, pen);
        for item in &turn.items {
            match item {
                Item::Call(made) => {
                    let last = said.calls + 1 == total;
                    let minted = ids::mint(scope, said.calls);
                    blocks.add(|out| call(made, &minted, cut && last, out, pen));
                    said.calls += 1;
                }
                Item::Reasoning(item) => blocks.add(|out| reasoning::encode(item, pen, out)),
                Item::Refusal(refusal) => {
                    said.refusal = Some(&refusal.text);
                    blocks.add(|out| pen.part(item, out));
                }
                Item::Text(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => blocks.add(|out| pen.part(item, out)),
            }
        }
    }
    blocks.write_list(out);
    said
}

fn is_call(item: &Item<'_>) -> bool {
    matches!(item, Item::Call(_))
}

fn call(call: &Call<'_>, minted: &str, cut: bool, out: &mut Vec<u8>, pen: &mut Pen<'_>) -> Wrote {
    let Call { at, id, name, namespace, arguments, caller, cache: _, extra } = call;
    let mut block = Object::new(out);
    call_head(*at, id.as_ref(), minted, name, namespace.as_ref(), &mut block, pen);
    let input = block.key("input");
    match arguments {
        Arguments::Text(text) if cut => write_cut(text, input, pen),
        Arguments::Text(_)
        | Arguments::Json(_)
        | Arguments::Freeform(_)
        | Arguments::Native(_, _) => write_input(arguments, *at, input, pen),
    }
    if let Some(caller) = caller {
        pen.ledger.dropped(caller.pos(), Code::ProgrammaticCallers).info();
    }
    pen.ledger.only(extra);
    Wrote::Block
}

/// Writes what comes before the arguments of a call. `minted` is its id if its
/// maker gave none.
pub(super) fn call_head(
    at: Pos,
    id: Option<&Str<'_>>,
    minted: &str,
    name: &Str<'_>,
    namespace: Option<&Str<'_>>,
    block: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    block.put("type", "tool_use");
    match id.filter(|id| !id.is_empty()) {
        Some(id) => {
            let own = id.decode();
            let wire = IdRule::MESSAGES.render(&own, 0);
            if wire != own {
                pen.ledger.renamed(id.pos(), Code::CallId);
            }
            block.put("id", &wire);
        }
        None => block.put("id", minted),
    }
    match namespace {
        Some(namespace) => {
            pen.ledger.emulated(at, Code::NamespaceFlattened);
            let full = crate::wire::names::full_name(Some(&namespace.decode()), &name.decode())
                .into_owned();
            block.put("name", &full);
        }
        None => block.put("name", name),
    }
}

/// Writes arguments that stop in the middle, without the member that is not
/// complete.
fn write_cut(text: &Str<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let decoded = text.decode();
    if let Ok(value) = Raw::parse(&decoded)
        && value.kind() == Kind::Object
    {
        value.write(out);
        return;
    }
    pen.ledger.degraded(text.pos(), Code::ArgumentsTruncated);
    let mut object = Object::new(out);
    let mut reader = Reader::new(&decoded);
    let Ok(mut members) = reader.object() else { return };
    while let Ok(Some(key)) = members.next(&mut reader) {
        let Ok(value) = reader.raw() else { return };
        // A number at the very end may lack digits.
        if value.kind() == Kind::Number && reader.peek() == Kind::End {
            return;
        }
        object.extra(&[Extra { key, value }]);
    }
}

/// Writes why the model stopped.
pub(super) fn encode_stop(
    stop: &At<Stop<'_>>,
    said: &Said<'_>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let At { pos, value } = stop;
    let reason = match value {
        Stop::EndTurn if said.calls > 0 => "tool_use",
        Stop::EndTurn | Stop::ToolCalls if said.refusal.is_some() && said.calls == 0 => "refusal",
        Stop::EndTurn => "end_turn",
        Stop::ToolCalls => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::ContextWindow => "model_context_window_exceeded",
        Stop::StopSequence(_) => "stop_sequence",
        Stop::ContentFilter | Stop::Refusal { category: _, explanation: _ } => "refusal",
        Stop::Paused => "pause_turn",
        Stop::Compaction => "compaction",
        Stop::Cancelled | Stop::Steered => {
            pen.ledger.degraded(*pos, Code::StopReason);
            "max_tokens"
        }
        Stop::Running => {
            let note = pen.ledger.refused(*pos, Code::Background);
            note.detail("The model has not finished, and the target cannot say so.");
            "max_tokens"
        }
        Stop::Failed(error) => {
            let note = pen.ledger.refused(*pos, Code::StopReason);
            note.detail(format!("The model failed: {}", error.message));
            "max_tokens"
        }
        Stop::Other(_) => {
            pen.ledger.degraded(*pos, Code::StopReason);
            if said.calls > 0 { "tool_use" } else { "end_turn" }
        }
    };
    object.put("stop_reason", reason);
    let sequence = match value {
        Stop::StopSequence(text) => text.as_ref(),
        Stop::EndTurn
        | Stop::ToolCalls
        | Stop::MaxTokens
        | Stop::ContextWindow
        | Stop::ContentFilter
        | Stop::Refusal { category: _, explanation: _ }
        | Stop::Paused
        | Stop::Compaction
        | Stop::Cancelled
        | Stop::Steered
        | Stop::Running
        | Stop::Failed(_)
        | Stop::Other(_) => None,
    };
    object.put("stop_sequence", &sequence);
    if reason == "refusal" {
        details(value, said, object);
    }
}

fn details(stop: &Stop<'_>, said: &Said<'_>, object: &mut Object<'_>) {
    let (category, explanation) = match stop {
        Stop::Refusal { category, explanation } => (category.as_ref(), explanation.as_ref()),
        Stop::EndTurn
        | Stop::ToolCalls
        | Stop::MaxTokens
        | Stop::ContextWindow
        | Stop::StopSequence(_)
        | Stop::ContentFilter
        | Stop::Paused
        | Stop::Compaction
        | Stop::Cancelled
        | Stop::Steered
        | Stop::Running
        | Stop::Failed(_)
        | Stop::Other(_) => (None, None),
    };
    let explanation = explanation.or(said.refusal);
    let mut details = object.object("stop_details");
    details.put("type", "refusal");
    details.put("category", &category);
    details.put("explanation", &explanation);
}

fn counts(
    usage: Option<&Usage<'_>>,
    tier: Option<&Str<'_>>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let Some(usage) = usage else {
        pen.ledger.degraded(Pos::START, Code::UsageMissing).key("usage");
        let mut counts = object.object("usage");
        counts.put("input_tokens", &0u64);
        counts.put("output_tokens", &0u64);
        return;
    };
    let mut counts = object.object("usage");
    encode_usage(usage, &mut counts, pen);
    if let Some(tier) = tier {
        encode_tier(tier, &mut counts, pen);
    }
}

/// Writes token counts.
pub(super) fn encode_usage(usage: &Usage<'_>, counts: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Usage { at: _, input, cache_read, cache_write, output, reasoning, extra } = usage;
    // Messages counts cached tokens beside `input_tokens`; the model inside.
    let fresh = input
        .saturating_sub(cache_read.unwrap_or_default())
        .saturating_sub(cache_write.unwrap_or_default());
    counts.put("input_tokens", &fresh);
    counts.maybe("cache_creation_input_tokens", cache_write.as_ref());
    counts.maybe("cache_read_input_tokens", cache_read.as_ref());
    counts.put("output_tokens", output);
    if let Some(reasoning) = reasoning {
        counts.object("output_tokens_details").put("thinking_tokens", reasoning);
    }
    for field in extra {
        pen.ledger.dropped(field.value.pos(), Code::UsageDetail).info();
    }
}

/// Writes the tier, which stands among the counts.
pub(super) fn encode_tier(tier: &Str<'_>, counts: &mut Object<'_>, pen: &mut Pen<'_>) {
    match tier.decode().as_ref() {
        "default" => counts.put("service_tier", "standard"),
        "priority" => counts.put("service_tier", "priority"),
        _other => {
            pen.ledger.dropped(tier.pos(), Code::Tier).info();
        }
    }
}
