//! What a server that remembers writes of requests and items.

use super::response_out::{response_id, write_response};
use super::stateful_in::STORE;
use super::stop_out::ResponseEnd;
use super::{echo_out, error_out, request_in};
use crate::codec::context::EncodeContext;
use crate::ledger::Ledger;
use crate::model::{KeptState, Protocol, Response};
use crate::profile::Profile;
use crate::stateful::{KeptMember, Progress, StatefulRequest};
use crate::wire::names::Names;
use crate::wire::{
    Array, Extra, Kind, Object, Raw, ReadError, Reader, Str, Write, read_fields, written,
};

/// Writes a request with these items as its whole conversation.
pub(super) fn write_request(
    request: &StatefulRequest<'_>,
    items: &mut dyn Iterator<Item = &[u8]>,
    out: &mut Vec<u8>,
) {
    let mut object = Object::new(out);
    let others =
        request.others.iter().filter(|field| !(request.wants_sealed && field.key == INCLUDE));
    others.for_each(|field| object.extra(std::slice::from_ref(field)));
    if request.wants_sealed {
        write_include(request, &mut object);
    }
    if !request.omits_store {
        object.put(STORE, &false);
    }
    let mut list = object.array("input");
    for item in items {
        list.item().extend_from_slice(item);
    }
}

/// What the client wants to be included, and sealed reasoning.
fn write_include(request: &StatefulRequest<'_>, object: &mut Object<'_>) {
    let wanted = request.others.iter().find(|field| field.key == INCLUDE);
    let wanted = wanted.and_then(|field| field.value.elements().ok()).unwrap_or_default();
    let is_sealed = |word: &Raw<'_>| word.reader().string().is_ok_and(|word| word == SEALED);
    let mut list = object.array(INCLUDE);
    for word in wanted.iter().filter(|word| !is_sealed(word)) {
        list.item().extend_from_slice(word.text().as_bytes());
    }
    list.push(SEALED);
}

/// Writes an item as lists show it. The published types of the items in a list require
/// members that a client may leave out of the items it sends.
pub(super) fn write_item(id: &str, item: &str, out: &mut Vec<u8>) {
    let fields = read_fields(&mut Reader::new(item)).unwrap_or_default();
    let find = |key: &str| fields.iter().find(|field| field.key == key).map(|field| &field.value);
    let kind = find("type").and_then(word).unwrap_or_else(|| Str::plain("message"));
    let name = kind.decode();
    let is_message = name == "message";
    let is_models = find("role").is_some_and(|role| role.text() == "\"assistant\"");
    let has_status = is_message || name.ends_with("_call") || name.ends_with("_output");
    let mut object = Object::new(out);
    object.put("id", id);
    object.put("type", &kind);
    if has_status && find("status").is_none_or(|status| status.kind() == Kind::Null) {
        object.put("status", "completed");
    }
    for field in &fields {
        let Extra { key, value } = field;
        match (key.decode().as_ref(), value.kind()) {
            ("id" | "type", _) => {}
            ("status", Kind::Null) if has_status => {}
            ("content", Kind::String) if is_message => {
                let mut parts = object.array("content");
                let mut part = parts.object();
                part.put("type", if is_models { "output_text" } else { "input_text" });
                part.put("text", value);
                if is_models {
                    part.array("annotations");
                }
            }
            (name @ ("content" | "output"), Kind::Array) => {
                write_parts(value, &mut object.array(name));
            }
            (_other, _) => object.extra(std::slice::from_ref(field)),
        }
    }
}

/// Writes the parts of a message or of a result.
fn write_parts(list: &Raw<'_>, parts: &mut Array<'_>) {
    for part in list.elements().unwrap_or_default() {
        let [kind, detail, annotations] =
            part.reader().pick(["type", "detail", "annotations"]).unwrap_or_default();
        let kind = kind.as_ref().and_then(word);
        let is = |name: &str| kind.as_ref().is_some_and(|kind| *kind == *name);
        let (key, value) = if is("input_image") && detail.is_none() {
            ("detail", "\"auto\"")
        } else if is("output_text") && annotations.is_none() {
            ("annotations", "[]")
        } else {
            parts.push(&part);
            continue;
        };
        let mut fields = read_fields(&mut part.reader()).unwrap_or_default();
        fields.retain(|field| field.key != key);
        let mut object = parts.object();
        object.extra(&fields);
        object.put(key, &Raw::made(value));
    }
}

/// The text of a string.
fn word<'r>(raw: &'r Raw<'_>) -> Option<Str<'r>> {
    raw.reader().string().ok()
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
    write_response(&response, &id, &ended, Some(&context), out, cx, |_no_items, _cx| Vec::new());
    Ok(())
}

/// What an answer says about what is kept of it, where another server has written the
/// answer.
pub(super) fn kept_members(kept: &KeptState) -> Vec<KeptMember> {
    let KeptState { id, created, store, previous, conversation, background } = kept;
    let member = |name, write: &dyn Fn(&mut Vec<u8>)| KeptMember::new(name, written(write));
    let mut members = Vec::new();
    if let Some(id) = id {
        members.push(member("id", &|out| id.write(out)));
        // Its client may have seen it before the upstream was asked.
        members.extend(created.map(|created| member("created_at", &|out| created.write(out))));
    }
    members.push(member("background", &|out| background.write(out)));
    members.push(member("previous_response_id", &|out| previous.as_ref().write(out)));
    members.push(member(STORE, &|out| store.write(out)));
    members.push(match conversation {
        Some(id) => member("conversation", &|out| Object::new(out).put("id", id)),
        // An answer outside of conversations lacks the member.
        None => KeptMember::optional("conversation", "null".to_owned()),
    });
    members
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
                error_out::write_failure(failure, object.object("error"));
            }
            (_other, _) => object.extra(std::slice::from_ref(field)),
        }
    }
    Ok(())
}

const INCLUDE: &str = "include";
const SEALED: &str = "reasoning.encrypted_content";
