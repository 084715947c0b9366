//! What a server that remembers writes of requests and items.

use super::response_out::{response_id, write_response};
use super::stateful_in::STORE;
use super::stop_out::ResponseEnd;
use super::{echo_out, error_out, request_in};
use crate::codec::context::EncodeContext;
use crate::ledger::Ledger;
use crate::model::{KeptState, Protocol, Response};
use crate::profile::Profile;
use crate::stateful::{Progress, StatefulRequest};
use crate::wire::names::Names;
use crate::wire::sse::write_event;
use crate::wire::{Kind, Object, Raw, ReadError, Reader, Str, read_fields};

/// Writes a request with these items as its whole conversation.
pub(super) fn write_request(
    request: &StatefulRequest<'_>,
    items: &mut dyn Iterator<Item = &[u8]>,
    out: &mut Vec<u8>,
) {
    let mut object = Object::new(out);
    object.extra(&request.others);
    object.put(STORE, &false);
    let mut list = object.array("input");
    for item in items {
        list.item().extend_from_slice(item);
    }
}

/// Writes an item as lists show it.
pub(super) fn write_item(id: &str, item: &str, out: &mut Vec<u8>) {
    let fields = read_fields(&mut Reader::new(item)).unwrap_or_default();
    let find = |key: &str| fields.iter().find(|field| field.key == key).map(|field| &field.value);
    let kind = find("type").filter(|kind| kind.kind() == Kind::String);
    let kind = kind.and_then(|kind| kind.reader().string().ok().map(Str::into_owned));
    let kind = kind.unwrap_or_else(|| Str::plain("message"));
    let is_message = kind == "message";
    let is_models = find("role").is_some_and(|role| role.text() == "\"assistant\"");
    let mut object = Object::new(out);
    object.put("id", id);
    object.put("type", &kind);
    if is_message && find("status").is_none() {
        object.put("status", "completed");
    }
    for field in &fields {
        if field.key == "id" || field.key == "type" {
            continue;
        }
        if is_message && field.key == "content" && field.value.kind() == Kind::String {
            let mut parts = object.array("content");
            let mut part = parts.object();
            part.put("type", if is_models { "output_text" } else { "input_text" });
            part.put("text", &field.value);
            if is_models {
                part.array("annotations");
            }
            continue;
        }
        object.extra(std::slice::from_ref(field));
    }
}

/// Writes the answer to a request of which nothing is there yet.
pub(super) fn write_pending(
    request: &str,
    kept: &KeptState,
    out: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let mut request = request_in::decode(Reader::new(request))?;
    kept.put_into(&mut request.state);
    let mut context = echo_out::response_context(&request);
    context.keep(Some(kept));
    let response = Response {
        origin: Protocol::Responses,
        id: None,
        model: None,
        created: None,
        candidates: Vec::new(),
        usage: None,
        tier: None,
        extra: Vec::new(),
    };
    let (profile, names) = (Profile::of(Protocol::Responses), Names::default());
    let mut nothing_lost = Ledger::default();
    let cx = &mut EncodeContext::new(response.origin, &profile, &names, &mut nothing_lost);
    let id = response_id(Protocol::Responses, None, Some(&context));
    let ended = ResponseEnd::new("in_progress", None);
    write_response(&response, &id, &ended, Some(&context), out, cx, |_no_items, _cx| {});
    Ok(())
}

/// Writes an answer with another status.
pub(super) fn write_progress(
    answer: &str,
    progress: Progress<'_>,
    out: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let (status, failure) = match progress {
        Progress::Queued => ("queued", None),
        Progress::InProgress => ("in_progress", None),
        Progress::Cancelled => ("cancelled", None),
        Progress::Failed(error) => ("failed", Some(error)),
    };
    let fields = read_fields(&mut Reader::new(answer))?;
    let mut object = Object::new(out);
    for field in &fields {
        match (field.key.decode().as_ref(), failure) {
            ("status", _) => object.put("status", status),
            ("error", Some(failure)) => {
                let mut detail = object.object("error");
                detail.put("code", error_out::failure_code(failure));
                detail.put("message", &failure.message);
            }
            (_other, _) => object.extra(std::slice::from_ref(field)),
        }
    }
    Ok(())
}

/// Writes the event with which the stream of a failed answer ends.
pub(super) fn write_failed_event(answer: &str, number: u64, out: &mut Vec<u8>) {
    write_event(Some(FAILED), out, |out| {
        let mut event = Object::new(out);
        event.put("type", FAILED);
        event.put("sequence_number", &number);
        event.put("response", &Raw::made(answer));
    });
}

const FAILED: &str = "response.failed";
