//! Calls and results: writing them.

use super::content::Toward;
use super::content_out::{self, as_text, crosses, reads_as_text, write_content};
use super::tools_out::Shipment;
use super::wire::replay;
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call, Item, Reasoning, ResultKind, ToolResult, Turn};
use crate::native;
use crate::thread::Thread;
use crate::wire::{Array, Extra, Object, Raw, Read, Str, Write, write_escaped};

pub(super) fn replay_calls(object: &mut Object<'_>, calls: &[&Call<'_>], turn: &Turn<'_>) {
    let unknown = || turn.extra.iter().filter(|field| field.key == "tool_calls");
    if calls.iter().any(|call| call.id.is_some()) || unknown().next().is_some() {
        let mut array = object.array("tool_calls");
        for call in calls.iter().filter(|call| call.id.is_some()) {
            replay_call(&mut array.object(), call);
        }
        for field in unknown() {
            array.push(&field.value);
        }
    }
    for call in calls.iter().filter(|call| call.id.is_none()) {
        let mut function = object.object("function_call");
        function.put("name", &call.name);
        put_arguments(&mut function, &call.arguments, false);
        replay(&mut function, &call.extra, "function", &[]);
    }
}

fn replay_call(object: &mut Object<'_>, call: &Call<'_>) {
    object.maybe("id", call.id.as_ref());
    let freeform = matches!(call.arguments, Arguments::Freeform(_));
    put_call(object, &call.name, &call.arguments, freeform, false, &call.extra);
    replay(object, &call.extra, "", &["function", "custom"]);
}

/// Writes `type` and the nested object of a call, with those members of `extra`
/// that belong into it.
pub(super) fn put_call(
    object: &mut Object<'_>,
    name: &(impl Write + ?Sized),
    arguments: &Arguments<'_>,
    freeform: bool,
    wrapped: bool,
    extra: &[Extra<'_>],
) {
    let under = if freeform { "custom" } else { "function" };
    object.put("type", under);
    let mut inner = object.object(under);
    inner.put("name", name);
    match arguments {
        Arguments::Freeform(text) if freeform => inner.put("input", text),
        Arguments::Freeform(_)
        | Arguments::Text(_)
        | Arguments::Json(_)
        | Arguments::Native(_, _) => put_arguments(&mut inner, arguments, wrapped),
    }
    if !extra.is_empty() {
        replay(&mut inner, extra, under, &[]);
    }
}

/// Writes arguments as the text that Chat has them in. The bytes of the JSON
/// inside are never changed.
pub(super) fn put_arguments(object: &mut Object<'_>, arguments: &Arguments<'_>, wrapped: bool) {
    let out = object.key("arguments");
    out.push(b'"');
    if wrapped {
        write_escaped(r#"{"value":"#, out);
    }
    match arguments {
        Arguments::Text(text) => text.write_inside(out),
        Arguments::Json(raw) => match unparsed(raw) {
            Some(text) => text.write_inside(out),
            None => write_escaped(raw.text(), out),
        },
        Arguments::Freeform(text) => {
            let mut input = Vec::with_capacity(text.size_hint() + 2);
            text.write(&mut input);
            write_escaped(r#"{"input":"#, out);
            write_escaped(std::str::from_utf8(&input).unwrap_or_default(), out);
            out.push(b'}');
        }
        Arguments::Native(kind, action) => {
            write_escaped(native::arguments(*kind, action).text(), out);
        }
    }
    if wrapped {
        out.push(b'}');
    }
    out.push(b'"');
}

/// The arguments that Messages could only have as text, because they are no
/// JSON object.
fn unparsed<'r>(raw: &'r Raw<'_>) -> Option<Str<'r>> {
    let inside = raw.text().strip_prefix('{')?.trim_start();
    if !inside.starts_with("\"__toolwire_raw\"") {
        return None;
    }
    let Unparsed { at: _, text, extra } = Unparsed::read(&mut raw.reader()).ok()?;
    text.filter(|_| extra.is_empty())
}

wire! {
    struct Unparsed<'a> {
        text: Str<'a> = "__toolwire_raw",
    }
}

pub(super) fn write_call(
    object: &mut Object<'_>,
    call: &Call<'_>,
    id: &str,
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) {
    let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = call;
    object.put("id", id);
    let freeform = matches!(arguments, Arguments::Freeform(_)) && toward.profile.freeform_tools;
    let own = name.decode();
    let space = namespace.as_ref().map(Str::decode);
    let wire = shipment.toolset.wire_name(space.as_deref(), &own);
    let wrapped = !shipment.wrapped.is_empty() && shipment.wrapped.contains(wire.as_ref());
    put_call(object, &wire, arguments, freeform, wrapped, &[]);
    if namespace.is_some() {
        toward.ledger.emulated(*at, Code::NamespaceFlattened);
    } else if wire != own {
        toward.ledger.renamed(name.pos(), Code::ToolName);
    }
    match arguments {
        Arguments::Freeform(_) if !freeform => {
            toward.ledger.emulated(*at, Code::FreeformWrapped);
        }
        Arguments::Native(_, _) => {
            toward.ledger.emulated(*at, Code::NativeToolWrapped);
        }
        Arguments::Freeform(_) | Arguments::Text(_) | Arguments::Json(_) => {}
    }
    if wrapped {
        toward.ledger.emulated(*at, Code::SchemaRootWrapped);
    }
    if let Some(caller) = caller {
        caller_loss(caller, toward.ledger);
    }
    toward.drop_marker(cache.as_ref());
    toward.ledger.only(extra);
}

/// Reports who made a call. That the model itself did is what Chat means by a
/// call anyway.
pub(super) fn caller_loss(caller: &Raw<'_>, ledger: &mut Ledger) {
    let direct = matches!(caller.reader().tag("type"), Ok(Some(kind)) if kind == "direct");
    let note = ledger.dropped(caller.pos(), Code::ProgrammaticCallers);
    if direct {
        note.info();
    }
}

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
        // What the text says already takes no line of its own.
        if native.is_some() && matches!(item, Item::Text(_) | Item::Json(_)) {
            continue;
        }
        let mark = out.len();
        if mark > start {
            out.extend_from_slice(b"\\n");
        }
        let begin = out.len();
        write_result_item(item, out, media, toward);
        // An item that left nothing takes no line, but an empty text does.
        if out.len() == begin && !matches!(item, Item::Text(_)) {
            out.truncate(mark);
        }
    }
}

fn write_result_item<'r, 'a>(
    item: &'r Item<'a>,
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
            text.text.write_inside(out);
            if toward.takes(text.cache.as_ref()) {
                toward.drop_marker(text.cache.as_ref());
            }
            content_out::text_losses(text, toward);
        }
        Item::Json(raw) => write_escaped(raw.text(), out),
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
