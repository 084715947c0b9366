//! The results of calls: model to wire.

use super::cache_out::lose_cache;
use super::calls_out::ItemHeader;
use super::content_out::{
    PartRole, bare_text, crosses, is_lost, lose_text, reference_text, refusal_text, search_text,
    write_part, write_plain,
};
use super::media_out::lose_document;
use super::tools_out::write_inline;
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::media::blocks;
use crate::model::{Item, NativeKind, ResultKind, ToolResult};
use crate::wire::{Array, At, Object, write_escaped};

/// Writes a result as an item. `kind` is that of the call it answers.
pub(super) fn write_result(
    result: &ToolResult<'_>,
    kind: ResultKind,
    header: &ItemHeader<'_>,
    items: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let ToolResult { at: _, call_id, name, namespace, kind: _, content, is_error, cache, extra } =
        result;
    let mut item = items.object();
    match kind {
        ResultKind::Native(NativeKind::LocalShell) => {
            item.put("type", "local_shell_call_output");
            // Its id is that of the call it answers.
            item.maybe("id", header.call_id.as_ref());
            item.maybe("status", header.status.as_ref());
            write_output(content, is_error.as_ref(), &mut item, cx);
        }
        ResultKind::Native(NativeKind::Shell) => {
            item.put("type", "shell_call_output");
            header.write(&mut item);
            write_shell(result, &mut item);
        }
        ResultKind::Native(NativeKind::ApplyPatch) => {
            item.put("type", "apply_patch_call_output");
            header.write(&mut item);
            if header.status.is_none() {
                let failed = is_error.is_some_and(|failed| failed.value);
                item.put("status", if failed { "failed" } else { "completed" });
            }
            if !content.is_empty() {
                write_output(content, None, &mut item, cx);
            }
        }
        ResultKind::Native(NativeKind::ToolSearch) => {
            item.put("type", "tool_search_output");
            header.write(&mut item);
            item.put("execution", "client");
            let mut list = item.array("tools");
            for part in content {
                if let Item::Tools(tools) = part {
                    write_inline(tools, &mut list, cx);
                }
            }
        }
        ResultKind::Freeform => {
            item.put("type", "custom_tool_call_output");
            header.write(&mut item);
            write_output(content, is_error.as_ref(), &mut item, cx);
        }
        ResultKind::Function
        | ResultKind::Native(
            NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory | NativeKind::Computer,
        ) => {
            item.put("type", "function_call_output");
            header.write(&mut item);
            write_output(content, is_error.as_ref(), &mut item, cx);
        }
    }
    match (name, call_id) {
        // Older versions of the API refuse the name, and the call has it anyway.
        (Some(name), Some(_)) => {
            cx.ledger.dropped(name.pos(), Code::ResultName).info();
        }
        (Some(name), None) => {
            cx.ledger
                .emulated(name.pos(), Code::ResultName)
                .detail("Deprecated results go by their name, which found the call.");
        }
        (None, _) => {}
    }
    item.maybe("namespace", namespace.as_ref());
    lose_cache(cache.as_ref(), cx);
    cx.ledger.only(extra);
}

/// Writes what a shell printed: OpenAI's own list, or a list with one text.
fn write_shell(result: &ToolResult<'_>, item: &mut Object<'_>) {
    if let [Item::Json(raw)] = result.content.as_slice() {
        item.put("output", raw);
        return;
    }
    let mut stdout = String::new();
    for part in &result.content {
        if let Item::Text(text) = part {
            stdout.push_str(&text.text.decode());
        }
    }
    let failed = result.is_error.is_some_and(|failed| failed.value);
    let mut list = item.array("output");
    let mut entry = list.object();
    entry.put("stdout", &stdout);
    entry.put("stderr", "");
    let mut outcome = entry.object("outcome");
    outcome.put("type", "exit");
    outcome.put("exit_code", &u64::from(failed));
}

/// Writes a result that answers no call as a message of the user.
pub(super) fn write_orphan(
    result: &ToolResult<'_>,
    items: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let ToolResult { at: _, call_id, name, namespace: _, kind: _, content, is_error, cache, extra } =
        result;
    let id = call_id.as_ref().or(name.as_ref()).map(|id| id.decode()).unwrap_or_default();
    let prefix = error_prefix(is_error.as_ref(), cx);
    let head = format!("[result of call {id}] {prefix}");
    let mut item = items.object();
    item.put("type", "message");
    item.put("role", "user");
    {
        let mut parts = item.array("content");
        write_plain(head.trim_end(), PartRole::Input, &mut parts);
        for part in content {
            write_part(part, PartRole::Input, &mut parts, cx);
        }
    }
    lose_cache(cache.as_ref(), cx);
    cx.ledger.only(extra);
}

/// The prefix of the text of a failed result. Responses has no flag for it.
fn error_prefix<'p>(is_error: Option<&At<bool>>, cx: &mut EncodeContext<'_>) -> &'p str {
    match is_error {
        Some(At { pos, value: true }) => {
            cx.ledger.degraded(*pos, Code::IsError).info();
            cx.profile.error_prefix
        }
        Some(At { pos: _, value: false }) | None => "",
    }
}

/// Writes what a tool returned. It is a string unless it contains media, because
/// strict compatible servers refuse lists of texts and all servers empty lists.
fn write_output(
    content: &[Item<'_>],
    is_error: Option<&At<bool>>,
    item: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let prefix = error_prefix(is_error, cx);
    if let Some(text) = bare_text(content)
        && prefix.is_empty()
    {
        item.put("output", text);
        return;
    }
    if !content.iter().any(|part| has_media(part, cx)) {
        let out = item.key("output");
        out.push(b'"');
        write_escaped(if content.is_empty() { prefix.trim_end() } else { prefix }, out);
        let mut joined = JoinedText { out, first: true };
        content.iter().for_each(|part| joined.item(part, cx));
        out.push(b'"');
        return;
    }
    let mut parts = item.array("output");
    if !prefix.is_empty() {
        write_plain(prefix.trim_end(), PartRole::Input, &mut parts);
    }
    for part in content {
        write_part(part, PartRole::Input, &mut parts, cx);
    }
}

/// Whether an item contains anything that only a list of parts can carry.
fn has_media(item: &Item<'_>, cx: &EncodeContext<'_>) -> bool {
    if let Item::Document(document) = item
        && let Some(parts) = blocks::parts(document)
    {
        return parts.iter().any(|part| has_media(part, cx));
    }
    matches!(item, Item::Image(_) | Item::Audio(_) | Item::Document(_))
        && crosses(item, PartRole::Input, cx)
}

/// The texts of a result in one string, separated by line ends.
struct JoinedText<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl JoinedText<'_> {
    fn next(&mut self) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.first, false) {
            self.out.extend_from_slice(b"\\n");
        }
        self.out
    }

    /// Reports a part that does not cross.
    fn lost(&self, item: &Item<'_>, cx: &mut EncodeContext<'_>) {
        is_lost(std::slice::from_ref(item), PartRole::Input, cx);
    }

    fn item(&mut self, item: &Item<'_>, cx: &mut EncodeContext<'_>) {
        match item {
            Item::Text(text) => {
                text.text.write_inside(self.next());
                lose_text(text, cx);
            }
            Item::SearchResult(result) => {
                write_escaped(&search_text(result, cx), self.next());
            }
            Item::Document(document) => match blocks::parts(document) {
                Some(parts) => {
                    lose_document(document, cx.ledger);
                    parts.iter().for_each(|part| self.item(part, cx));
                }
                None => self.lost(item, cx),
            },
            Item::ToolReference(At { pos, value: name }) => {
                write_escaped(&reference_text(*pos, name, None, cx), self.next());
            }
            Item::Opaque(opaque) => match blocks::reference(&opaque.raw) {
                Some((name, cache)) => {
                    let at = opaque.raw.pos();
                    let text = reference_text(at, &name, cache.as_ref(), cx);
                    write_escaped(&text, self.next());
                }
                None => self.lost(item, cx),
            },
            Item::Json(raw) => write_escaped(raw.text(), self.next()),
            Item::Image(_) | Item::Audio(_) => self.lost(item, cx),
            Item::Refusal(refusal) => refusal_text(refusal, cx.ledger).write_inside(self.next()),
            Item::Tools(tools) => {
                for tool in tools {
                    let text = reference_text(tool.at, &tool.name, None, cx);
                    write_escaped(&text, self.next());
                }
            }
            Item::Reasoning(_) | Item::Call(_) | Item::Result(_) | Item::Hosted(_) => {
                self.lost(item, cx);
            }
        }
    }
}
