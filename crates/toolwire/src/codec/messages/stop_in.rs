//! Why the model stopped: from Messages into the model.

use super::wire::StopDetails;
use crate::model::Stop;
use crate::wire::{At, Extra, Kind, Pos, Raw, Read, ReadError, Str};

/// Why the model stopped. `has_calls` says that it called tools. Members that do
/// not belong to the reason are added to `extra`.
pub(super) fn stop<'a>(
    at: Pos,
    reason: Option<Str<'a>>,
    sequence: Option<Str<'a>>,
    details: Option<Raw<'a>>,
    has_calls: bool,
    extra: &mut Vec<Extra<'a>>,
) -> Result<At<Stop<'a>>, ReadError> {
    let word = reason.as_ref().map(|reason| reason.decode());
    let ended = if has_calls { Stop::ToolCalls } else { Stop::EndTurn };
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
            let (category, explanation) = read_refusal(&mut details)?;
            Stop::Refusal { category, explanation }
        }
        Some(_) => Stop::Other(reason.clone().unwrap_or(Str::plain(""))),
    };
    if let Some(sequence) = sequence {
        extra.push(Extra { key: Str::plain("stop_sequence"), value: Raw::literal(&sequence) });
    }
    if let Some(value) = details {
        extra.push(Extra { key: Str::plain("stop_details"), value });
    }
    Ok(At::new(pos, stop))
}

type CategoryAndExplanation<'a> = (Option<Str<'a>>, Option<Str<'a>>);

/// Reads the details of a refusal, and removes them unless they hold more.
fn read_refusal<'a>(
    details: &mut Option<Raw<'a>>,
) -> Result<CategoryAndExplanation<'a>, ReadError> {
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
