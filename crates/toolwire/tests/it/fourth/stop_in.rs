//! Why the model stopped: from the protocol into the model.

use toolwire::model::Stop;
use toolwire::wire::{At, Extra, Pos, Str};

use super::wire::Detail;

/// Reads `because` and `detail`. An answer without a reason is not finished.
pub(super) fn decode<'a>(
    at: Pos,
    because: Option<Str<'a>>,
    detail: Option<Detail<'a>>,
    calls: bool,
    rest: &mut Vec<Extra<'a>>,
) -> At<Stop<'a>> {
    let Some(because) = because else { return At::new(at, Stop::Running) };
    let (mut sequence, mut category, mut explanation) = (None, None, None);
    if let Some(Detail { at: _, stop, kind, why, extra }) = detail {
        (sequence, category, explanation) = (stop, kind, why);
        rest.extend(extra);
    }
    let stop = match because.decode().as_ref() {
        "done" | "tools" if calls => Stop::ToolCalls,
        "done" | "tools" => Stop::EndTurn,
        "limit" => Stop::MaxTokens,
        "window" => Stop::ContextWindow,
        "stopped" => Stop::StopSequence(sequence),
        "filtered" => Stop::ContentFilter,
        "declined" => Stop::Refusal { category, explanation },
        "paused" => Stop::Paused,
        "cancelled" => Stop::Cancelled,
        _other => Stop::Other(because.clone()),
    };
    At::new(because.pos(), stop)
}
