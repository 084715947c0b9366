//! Results: writing them.

use super::content_in::Toward;
use super::content_out::{self, as_text, crosses, reads_as_text, write_content};
use super::wire::replay;
use crate::ledger::Code;
use crate::model::{Item, Reasoning, ResultKind, ToolResult};
use crate::native;
use crate::thread::Thread;
use crate::wire::{Array, write_escaped};

pub(super) fn replay_result(
    messages: &mut Array<'_>,
    result: &ToolResult<'_>,
    toward: &mut Toward<'_>,
) {
    let ToolResult {
        at: _,
        call_id,
        name,
        namespace: _,
        kind: _,
        content,
        is_error: _,
        cache: _,
        extra,
    } = result;
    let mut object = messages.object();
    object.put("role", if call_id.is_some() { "tool" } else { "function" });
    object.maybe("tool_call_id", call_id.as_ref());
    object.maybe("name", name.as_ref());
    if !content.is_empty() {
        let items: Vec<&Item<'_>> = content.iter().collect();
        write_content(&mut object, &items, toward);
    }
    replay(&mut object, extra, "", &[]);
}

/// Writes the results of one step, and behind all of them the media that Chat
/// does not take in results.
pub(super) fn results(
    messages: &mut Array<'_>,
    order: &[usize],
    thread: &Thread<'_, '_>,
    toward: &mut Toward<'_>,
) {
    let mut media = Vec::new();
    for paired in order.iter().filter_map(|&call| thread.calls.get(call)) {
        let mut object = messages.object();
        object.put("role", "tool");
        object.put("tool_call_id", &paired.id);
        let out = object.key("content");
        out.push(b'"');
        match paired.result {
            Some(result) => {
                if let Some(id) = &result.call_id
                    && *id != *paired.id
                {
                    toward.ledger.renamed(id.pos(), Code::CallId);
                }
                write_result(result, out, &mut media, toward);
            }
            None => {
                write_escaped(toward.profile.error_prefix, out);
                out.extend_from_slice(b"no result supplied");
            }
        }
        out.push(b'"');
    }
    if !media.is_empty() {
        let mut object = messages.object();
        object.put("role", "user");
        let mut parts = object.array("content");
        for item in media {
            content_out::write_part(&mut parts, item, toward);
        }
    }
}

/// Writes a result as the inside of a string literal.
fn write_result<'r, 'a>(
    result: &'r ToolResult<'a>,
    out: &mut Vec<u8>,
    media: &mut Vec<&'r Item<'a>>,
    toward: &mut Toward<'_>,
) {
    let ToolResult { at, call_id: _, name, namespace, kind, content, is_error, cache, extra } =
        result;
    for repeated in [name, namespace].into_iter().flatten() {
        toward.ledger.dropped(repeated.pos(), Code::ResultName).info();
    }
    toward.drop_marker(cache.as_ref());
    toward.ledger.only(extra);
    if let Some(failed) = is_error {
        if failed.value {
            write_escaped(toward.profile.error_prefix, out);
        }
        toward.ledger.degraded(failed.pos, Code::IsError).info();
    }
    let native = match kind {
        ResultKind::Native(_) => native::result_text(result),
        ResultKind::Function | ResultKind::Freeform => None,
    };
    let start = out.len();
    if let Some(text) = &native {
        toward.ledger.emulated(*at, Code::NativeToolWrapped);
        write_escaped(text, out);
    }
    for item in content {
        let mark = out.len();
        if mark > start {
            out.extend_from_slice(b"\\n");
        }
        let begin = out.len();
        write_result_item(item, native.is_some(), out, media, toward);
        // An item that left nothing takes no line, but an empty text does.
        if out.len() == begin && !matches!(item, Item::Text(_)) {
            out.truncate(mark);
        }
    }
}

fn write_result_item<'r, 'a>(
    item: &'r Item<'a>,
    said: bool,
    out: &mut Vec<u8>,
    media: &mut Vec<&'r Item<'a>>,
    toward: &mut Toward<'_>,
) {
    let mut attach = |word: &str, at, out: &mut Vec<u8>, toward: &mut Toward<'_>| {
        media.push(item);
        toward.ledger.moved(at, Code::ResultMediaMoved);
        write_escaped(&format!("[{word} {} attached below]", media.len()), out);
    };
    match item {
        Item::Text(text) => {
            if !said {
                text.text.write_inside(out);
            }
            if toward.takes(text.cache.as_ref()) {
                toward.drop_marker(text.cache.as_ref());
            }
            content_out::text_losses(text, toward);
        }
        Item::Json(raw) => {
            if !said {
                write_escaped(raw.text(), out);
            }
        }
        Item::Image(image) => {
            if crosses(item, toward) {
                attach("image", image.at, out, toward);
            }
        }
        Item::Audio(audio) => attach("audio", audio.at, out, toward),
        Item::Document(document) if !reads_as_text(document, toward) => {
            if crosses(item, toward) {
                attach("document", document.at, out, toward);
            }
        }
        Item::Document(_) | Item::SearchResult(_) | Item::ToolReference(_) => {
            if crosses(item, toward) {
                write_escaped(&as_text(item, toward), out);
            }
        }
        Item::Tools(tools) => {
            let names: Vec<_> = tools.iter().map(|tool| tool.name.decode()).collect();
            write_escaped(&format!("Loaded tools: {}", names.join(", ")), out);
        }
        Item::Refusal(refusal) => refusal.text.write_inside(out),
        Item::Hosted(_) | Item::Opaque(_) => {
            crosses(item, toward);
        }
        Item::Reasoning(Reasoning {
            at,
            summary: _,
            content: _,
            sealed: _,
            place: _,
            extra: _,
        }) => {
            toward.ledger.dropped(*at, Code::UnknownItem);
        }
        Item::Call(call) => {
            toward.ledger.dropped(call.at, Code::UnknownItem);
        }
        Item::Result(result) => {
            toward.ledger.dropped(result.at, Code::UnknownItem);
        }
    }
}

/// Writes a result that answers no call as text, with its media behind it.
pub(super) fn orphan(parts: &mut Array<'_>, result: &ToolResult<'_>, toward: &mut Toward<'_>) {
    let mut media = Vec::new();
    {
        let mut part = parts.object();
        part.put("type", "text");
        let out = part.key("text");
        out.push(b'"');
        out.extend_from_slice(b"[result of call ");
        if let Some(id) = result.call_id.as_ref().or(result.name.as_ref()) {
            id.write_inside(out);
        }
        out.extend_from_slice(b"] ");
        write_result(result, out, &mut media, toward);
        out.push(b'"');
    }
    for item in media {
        content_out::write_part(parts, item, toward);
    }
}
