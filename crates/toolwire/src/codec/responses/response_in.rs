//! The answer: wire to model.

use super::output_in::drop_bookkeeping;
use super::stop_in::{finished, incomplete};
use super::{error_in, usage_in, wire};
use crate::model::{Candidate, Protocol, Response, Stop};
use crate::wire::{At, Kind, Raw, Read, ReadError, Reader, Str, keep_meaningful};

/// Reads an answer.
pub(super) fn decode(body: &str) -> Result<Response<'_>, ReadError> {
    let mut reader = Reader::new(body);
    let mut response = read(&mut reader)?;
    reader.finish()?;
    require_output(body, &response)?;
    let turns = response.candidates.iter_mut().flat_map(|candidate| &mut candidate.turns);
    turns.for_each(drop_bookkeeping);
    Ok(response)
}

/// Refuses an answer without `output`, unless it says that the model has not finished or
/// has failed. A document of another protocol has none, and must not look like an answer
/// in which the model said nothing.
fn require_output(body: &str, response: &Response<'_>) -> Result<(), ReadError> {
    let needs_none =
        |stop: &Stop<'_>| matches!(stop, Stop::Running | Stop::Cancelled | Stop::Failed(_));
    if !response.is_empty() || response.candidates.iter().any(|own| needs_none(&own.stop.value)) {
        return Ok(());
    }
    let mut reader = Reader::new(body);
    let at = reader.here();
    let [output] = reader.pick(["output"])?;
    output.map(|_| ()).ok_or_else(|| ReadError::missing(at, "output"))
}

/// Reads an answer that is part of something else.
pub(super) fn read<'a>(reader: &mut Reader<'a>) -> Result<Response<'a>, ReadError> {
    let wire::Response {
        at,
        id,
        model,
        created_at,
        status,
        error,
        incomplete_details,
        output,
        usage: tokens,
        service_tier,
        mut extra,
    } = wire::Response::read(reader)?;
    extra.retain(|field| !ECHO.contains(&field.key.decode().as_ref()));
    keep_meaningful(&mut extra);
    let turns = output.map(|output| output.0).unwrap_or_default();
    let failure = error.map(error_in::of_detail);
    let reason = incomplete_details.as_ref().and_then(|details| details.reason.as_ref());
    let pos = reason.or(status.as_ref()).map_or(at, Str::pos);
    let stop = match (status.as_ref().map(Str::decode).as_deref(), failure) {
        (Some("failed") | None, Some(failure)) => Stop::Failed(Box::new(failure)),
        (Some("failed"), None) => Stop::Failed(Box::new(error_in::unexplained())),
        (Some("cancelled"), _) => Stop::Cancelled,
        (Some("queued" | "in_progress"), _) => Stop::Running,
        (Some("incomplete"), _) => incomplete(incomplete_details),
        (Some("completed") | None, _) => finished(&turns),
        (Some(_), _) => status.clone().map_or(Stop::EndTurn, Stop::Other),
    };
    let candidate =
        Candidate { at, turns, stop: At::new(pos, stop), logprobs: None, extra: Vec::new() };
    Ok(Response {
        origin: Protocol::Responses,
        id,
        model,
        created: created_at.as_ref().and_then(seconds),
        candidates: vec![candidate],
        usage: tokens.map(usage_in::decode),
        tier: service_tier,
        extra,
    })
}

/// A time in whole seconds. The published type has fractions, which some servers
/// send and which no other protocol has room for.
pub(super) fn seconds(time: &Raw<'_>) -> Option<At<u64>> {
    if time.kind() != Kind::Number {
        return None;
    }
    let whole = time.text().parse::<u64>().ok();
    // The conversion saturates at the bounds of the integer.
    let value = whole.or_else(|| Some(time.text().parse::<f64>().ok()?.floor() as u64))?;
    Some(At::new(time.pos(), value))
}

/// Members that repeat the request's settings, or say what every answer says.
/// The client has them from its request, so it is no loss that answers in other
/// protocols do not have them.
pub(super) const ECHO: [&str; 32] = [
    "access_programs",
    "background",
    "billing",
    "completed_at",
    "conversation",
    "frequency_penalty",
    "image",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "object",
    "output_text",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
    "context_management",
];
