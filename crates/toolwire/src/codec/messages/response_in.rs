//! An answer: from Messages into the model.

use super::turns_in::MessageContent;
use super::wire::ResponseMessage;
use super::{stop_in, usage_in};
use crate::model::{Candidate, Item, Protocol, Response, Role, Turn};
use crate::wire::{ReadError, Reader, keep_meaningful};

/// Reads an answer.
pub(super) fn decode(body: &str) -> Result<Response<'_>, ReadError> {
    let ResponseMessage {
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
        mut extra,
    } = Reader::new(body).document()?;
    keep_meaningful(&mut extra);
    // A document of another protocol has none, and must not look like an answer in
    // which the model said nothing.
    let MessageContent { at: content_at, items } =
        content.ok_or_else(|| ReadError::missing(at, "content"))?;
    let has_calls = items.iter().any(|item| matches!(item, Item::Call(_)));
    let mut stop_extra = Vec::new();
    let stop =
        stop_in::stop(at, stop_reason, stop_sequence, stop_details, has_calls, &mut stop_extra)?;
    let turn = Turn::new(content_at, Role::Assistant, items);
    let (usage, tier) = match usage {
        Some(usage) => {
            let (counts, tier) = usage_in::counts(usage)?;
            (Some(counts), tier)
        }
        None => (None, None),
    };
    let candidate = Candidate { at, turns: vec![turn], stop, logprobs: None, extra: stop_extra };
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
