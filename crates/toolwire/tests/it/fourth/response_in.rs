//! An answer: from the protocol into the model.

use toolwire::model::{Candidate, Item, Response, Role, Turn};
use toolwire::wire::{Raw, Read, ReadError, Reader};

use super::wire::Answer;
use super::{FOURTH, content_in, stop_in, usage_in};

/// Reads an answer.
pub(super) fn decode(body: &str) -> Result<Response<'_>, ReadError> {
    let mut reader = Reader::new(body);
    let Answer { at, reference, by, when, reply, because, detail, spent, extra } =
        Answer::read(&mut reader)?;
    reader.finish()?;
    let reply_at = reply.as_ref().map_or(at, Raw::pos);
    let items = reply.map(content_in::decode).transpose()?.unwrap_or_default();
    let calls = items.iter().any(|item| matches!(item, Item::Call(_)));
    let mut stop_extra = Vec::new();
    let candidate = Candidate {
        at,
        turns: vec![Turn::new(reply_at, Role::Assistant, items)],
        stop: stop_in::decode(at, because, detail, calls, &mut stop_extra),
        logprobs: None,
        extra: stop_extra,
    };
    Ok(Response {
        origin: FOURTH,
        id: reference,
        model: by,
        created: when,
        candidates: vec![candidate],
        usage: spent.map(usage_in::decode),
        tier: None,
        extra,
    })
}
