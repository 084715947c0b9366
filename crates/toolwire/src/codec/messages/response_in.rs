//! An answer out of Messages, into the model.

use super::turns_in::Content;
use super::wire::{Answer, OutputDetails, StopDetails, Usage};
use crate::model::{Candidate, Item, Protocol, Response, Role, Stop, Turn, Usage as Counts};
use crate::wire::{At, Extra, Kind, Pos, Raw, Read, ReadError, Reader, Str, Write};

/// Reads an answer.
pub(super) fn decode(body: &str) -> Result<Response<'_>, ReadError> {
    let mut reader = Reader::new(body);
    let Answer {
        at,
        kind: _,
        role: _,
        id,
        model,
        content,
        stop_reason,
        stop_sequence,
        stop_details,
        usage,
        extra,
    } = Answer::read(&mut reader)?;
    reader.finish()?;
    let (content_at, items) = match content {
        Some(Content { at, items }) => (at, items),
        None => (at, Vec::new()),
    };
    let calls = items.iter().any(|item| matches!(item, Item::Call(_)));
    let mut rest = Vec::new();
    let stop = stop(at, stop_reason, stop_sequence, stop_details, calls, &mut rest)?;
    let turn = Turn::new(content_at, Role::Assistant, items);
    let (usage, tier) = match usage {
        Some(usage) => counts(usage)?,
        None => (None, None),
    };
    let candidate = Candidate { at, turns: vec![turn], stop, logprobs: None, extra: rest };
    Ok(Response {
        origin: Protocol::Messages,
        id,
        model,
        created: None,
        candidates: vec![candidate],
        usage,
        tier,
        extra,
    })
}

/// Why the model stopped. What the reason has no room for goes to `rest`.
pub(super) fn stop<'a>(
    at: Pos,
    reason: Option<Str<'a>>,
    sequence: Option<Str<'a>>,
    details: Option<Raw<'a>>,
    calls: bool,
    rest: &mut Vec<Extra<'a>>,
) -> Result<At<Stop<'a>>, ReadError> {
    let word = reason.as_ref().map(|reason| reason.decode());
    let ended = if calls { Stop::ToolCalls } else { Stop::EndTurn };
    let pos = reason.as_ref().map_or(at, Str::pos);
    let (mut sequence, mut details) = (sequence, details);
    let stop = match word.as_deref() {
        Some("end_turn") | None => ended,
        Some("tool_use") => Stop::ToolCalls,
        Some("max_tokens") => Stop::MaxTokens,
        Some("stop_sequence") => Stop::StopSequence(sequence.take()),
        Some("pause_turn") => Stop::Paused,
        Some("compaction") => Stop::Compaction,
        Some("model_context_window_exceeded") => Stop::ContextWindow,
        Some("refusal") => {
            let (category, explanation) = refusal(&mut details)?;
            Stop::Refusal { category, explanation }
        }
        Some(_) => Stop::Other(reason.clone().unwrap_or(Str::plain(""))),
    };
    if let Some(sequence) = sequence {
        let mut literal = Vec::new();
        sequence.write(&mut literal);
        let text = String::from_utf8(literal).unwrap_or_default();
        let value = Raw::made(text).at(sequence.pos());
        rest.push(Extra { key: Str::plain("stop_sequence"), value });
    }
    if let Some(value) = details {
        rest.push(Extra { key: Str::plain("stop_details"), value });
    }
    Ok(At::new(pos, stop))
}

type Words<'a> = (Option<Str<'a>>, Option<Str<'a>>);

/// Takes the details of a refusal apart, unless they hold more than a refusal
/// has.
fn refusal<'a>(details: &mut Option<Raw<'a>>) -> Result<Words<'a>, ReadError> {
    let Some(raw) = details.as_ref().filter(|raw| raw.kind() == Kind::Object) else {
        return Ok((None, None));
    };
    let Some(mut reader) = raw.source_reader() else { return Ok((None, None)) };
    let StopDetails { at: _, kind, category, explanation, extra } = StopDetails::read(&mut reader)?;
    if extra.is_empty() && kind.is_some_and(|kind| kind == *"refusal") {
        *details = None;
    }
    Ok((category, explanation))
}

pub(super) type Counted<'a> = (Option<Counts<'a>>, Option<Str<'a>>);

/// The token counts and the tier that stands among them.
pub(super) fn counts(usage: Usage<'_>) -> Result<Counted<'_>, ReadError> {
    let Usage {
        at,
        input_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        output_tokens,
        output_tokens_details,
        service_tier,
        mut extra,
    } = usage;
    let count = |field: Option<At<u64>>| field.map(|field| field.value);
    let cache_read = count(cache_read_input_tokens);
    let cache_write = count(cache_creation_input_tokens);
    let fresh = count(input_tokens).unwrap_or_default();
    // Messages counts cached tokens beside `input_tokens`; the model inside.
    let input = fresh
        .saturating_add(cache_read.unwrap_or_default())
        .saturating_add(cache_write.unwrap_or_default());
    let mut reasoning = None;
    if let Some(raw) = output_tokens_details {
        let mut reader = raw.reader();
        let OutputDetails { at: _, thinking_tokens, extra: more } =
            OutputDetails::read(&mut reader)?;
        reasoning = count(thinking_tokens);
        if !more.is_empty() {
            extra.push(Extra { key: Str::plain("output_tokens_details"), value: raw.clone() });
        }
    }
    let output = count(output_tokens).unwrap_or_default();
    let counts = Counts { at, input, cache_read, cache_write, output, reasoning, extra };
    Ok((Some(counts), service_tier))
}
