//! Results: writing them.

use std::borrow::Cow;

use super::content_out::{self, has_part, text_of};
use super::documents_out::{document_parts, reads_as_text};
use super::reasoning_out;
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::{Audio, Call, Image, Item, ResultKind, ToolResult};
use crate::native;
use crate::thread::Thread;
use crate::wire::{Array, Pos, write_escaped};

/// Writes the results of one step, followed by the media that Chat does not
/// take in results.
pub(super) fn write_results(
    messages: &mut Array<'_>,
    order: &[usize],
    thread: &Thread<'_, '_>,
    cx: &mut EncodeContext<'_>,
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
                    cx.ledger.renamed(id.pos(), Code::CallId);
                }
                write_result(result, Some(paired.call), out, &mut media, cx);
            }
            None => {
                write_escaped(cx.profile.error_prefix, out);
                out.extend_from_slice(b"no result supplied");
            }
        }
        out.push(b'"');
    }
    if !media.is_empty() {
        let mut object = messages.object();
        object.put("role", "user");
        let mut parts = object.array("content");
        for item in &media {
            content_out::write_part(&mut parts, item, cx);
        }
    }
}

/// Writes a result as the inside of a string literal, and adds to `media` what
/// Chat does not take in a result.
fn write_result<'r>(
    result: &'r ToolResult<'r>,
    call: Option<&Call<'_>>,
    out: &mut Vec<u8>,
    media: &mut Vec<Cow<'r, Item<'r>>>,
    cx: &mut EncodeContext<'_>,
) {
    let ToolResult { at, call_id: _, name, namespace, kind, content, is_error, cache, extra } =
        result;
    let own = call.map_or([None, None], |call| [Some(&call.name), call.namespace.as_ref()]);
    for (repeated, own) in [name, namespace].into_iter().zip(own) {
        match repeated {
            Some(repeated) if own == Some(repeated) => {
                let note = cx.ledger.emulated(repeated.pos(), Code::ResultName);
                note.detail("The call that the result answers has the name.");
            }
            Some(repeated) => {
                cx.ledger.dropped(repeated.pos(), Code::ResultName).info();
            }
            None => {}
        }
    }
    cx.ledger.lost_info(cache, Code::CacheBreakpoint);
    cx.ledger.only(extra);
    if let Some(failed) = is_error {
        if failed.value {
            write_escaped(cx.profile.error_prefix, out);
        }
        cx.ledger.degraded(failed.pos, Code::IsError).info();
    }
    let native = match kind {
        ResultKind::Native(_) => native::result_text(result),
        ResultKind::Function | ResultKind::Freeform => None,
    };
    let start = out.len();
    if let Some(text) = &native {
        cx.ledger.emulated(*at, Code::NativeToolWrapped);
        write_escaped(text, out);
    }
    let mut text = ResultText { start, has_text: native.is_some(), out, media };
    for item in content {
        text.add(Cow::Borrowed(item), cx);
    }
}

/// The items of a result, each on lines of its own.
struct ResultText<'o, 'r> {
    /// Where the first line starts.
    start: usize,
    /// Whether the text of the result has been written in another form.
    has_text: bool,
    out: &'o mut Vec<u8>,
    media: &'o mut Vec<Cow<'r, Item<'r>>>,
}

impl<'r> ResultText<'_, 'r> {
    fn add(&mut self, item: Cow<'r, Item<'r>>, cx: &mut EncodeContext<'_>) {
        if let Cow::Borrowed(Item::Document(document)) = item
            && reads_as_text(document)
        {
            if has_part(&item, cx) {
                for part in document_parts(document, cx) {
                    self.add(Cow::Owned(part), cx);
                }
            }
            return;
        }
        let mark = self.out.len();
        if mark > self.start {
            self.out.extend_from_slice(b"\\n");
        }
        let begin = self.out.len();
        let text = matches!(*item, Item::Text(_));
        self.write(item, cx);
        // An item that wrote nothing takes no line, but an empty text does.
        if self.out.len() == begin && !text {
            self.out.truncate(mark);
        }
    }

    fn write(&mut self, item: Cow<'r, Item<'r>>, cx: &mut EncodeContext<'_>) {
        match item.as_ref() {
            Item::Text(text) => {
                if !self.has_text {
                    text.text.write_inside(self.out);
                }
                cx.ledger.lost_info(&text.cache, Code::CacheBreakpoint);
                content_out::report_text_losses(text, cx);
            }
            Item::Json(raw) => {
                if !self.has_text {
                    write_escaped(raw.text(), self.out);
                }
            }
            Item::Image(Image { at, source: _, detail: _, cache: _, extra: _ }) => {
                let at = *at;
                if has_part(&item, cx) {
                    self.attach("image", at, item, cx);
                }
            }
            Item::Audio(Audio { at, data: _, format: _, cache: _, extra: _ }) => {
                let at = *at;
                self.attach("audio", at, item, cx);
            }
            Item::Document(document) => {
                let at = document.at;
                if has_part(&item, cx) {
                    self.attach("document", at, item, cx);
                }
            }
            Item::SearchResult(_) | Item::ToolReference(_) | Item::Opaque(_) => {
                if has_part(&item, cx) {
                    let (text, cache) = text_of(&item, cx);
                    write_escaped(&text, self.out);
                    cx.ledger.lost_info(&cache, Code::CacheBreakpoint);
                }
            }
            Item::Tools(tools) => {
                let names: Vec<_> = tools.iter().map(|tool| tool.name.decode()).collect();
                write_escaped(&format!("Loaded tools: {}", names.join(", ")), self.out);
            }
            Item::Refusal(refusal) => {
                content_out::refusal_text(refusal, cx).write_inside(self.out);
            }
            Item::Reasoning(reasoning) => reasoning_out::report_lost(reasoning, cx.ledger),
            Item::Hosted(_) | Item::Call(_) | Item::Result(_) => {
                cx.ledger.misplaced(&item);
            }
        }
    }

    /// Leaves a note in the result and sends the item after all results.
    fn attach(&mut self, word: &str, at: Pos, item: Cow<'r, Item<'r>>, cx: &mut EncodeContext<'_>) {
        self.media.push(item);
        cx.ledger.moved(at, Code::ResultMediaMoved);
        write_escaped(&format!("[{word} {} attached below]", self.media.len()), self.out);
    }
}

/// Writes a result that answers no call as text, followed by its media.
pub(super) fn write_orphan(
    parts: &mut Array<'_>,
    result: &ToolResult<'_>,
    cx: &mut EncodeContext<'_>,
) {
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
        write_result(result, None, out, &mut media, cx);
        out.push(b'"');
    }
    for item in &media {
        content_out::write_part(parts, item, cx);
    }
}
