//! The conversation: model to wire.

use super::cache_out::{lose_cache, takes_markers};
use super::calls_out::{ItemHeader, write_call};
use super::content_out::{PartRole, bare_text, is_lost, is_silent, lose_text, write_part};
use super::items_out::groups;
use super::reasoning_out;
use super::results_out::{write_orphan, write_result};
use super::tools_out::write_inline;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{
    Arguments, Call, HostedItem, Item, ResultKind, Role, Slot, Text, Tool, ToolResult, Turn,
};
use crate::thread::{ResultMatch, Thread};
use crate::wire::{Array, Object, Str};

/// Writes `instructions` and `input`.
pub(super) fn write_input(turns: &[Turn<'_>], object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let turns = match instructions(turns, cx) {
        Some((turn, text, rest)) => {
            lose_turn(turn, cx.ledger);
            lose_cache(text.cache.as_ref(), cx);
            object.put("instructions", &text.text);
            rest
        }
        None => turns,
    };
    let thread = Thread::new(turns, cx.origin, cx.profile.ids, cx.ledger);
    let mut writer = InputWriter { thread, calls: 0, results: 0, unanswered: Vec::new() };
    let mut items = object.array("input");
    for run in turns.chunk_by(|a, b| (a.role == Role::Assistant) == (b.role == Role::Assistant)) {
        for turn in run {
            writer.turn(turn, &mut items, cx);
        }
        // After a run of the model's turns, results that are still missing will
        // not come.
        writer.answer_missing(&mut items, cx);
    }
    if let Some(turn) = turns.last()
        && !cx.profile.prefill
        && turn.role == Role::Assistant
        && matches!(turn.items.last(), Some(Item::Text(_)))
    {
        cx.ledger.degraded(turn.at, Code::Prefill);
    }
}

/// The first turn, if it can be `instructions`, and the other turns.
///
/// It can if it is one text and the next turn holds no instructions: several
/// such turns keep their order among the items.
fn instructions<'r, 'a>(
    turns: &'r [Turn<'a>],
    cx: &EncodeContext<'_>,
) -> Option<(&'r Turn<'a>, &'r Text<'a>, &'r [Turn<'a>])> {
    let (turn, rest) = turns.split_first()?;
    let [Item::Text(text)] = turn.items.as_slice() else { return None };
    let Text { at: _, text: _, citations, logprobs, cache, extra } = text;
    let plain = citations.is_none() && logprobs.is_none() && extra.is_empty();
    let marked = cache.is_some() && takes_markers(cx);
    let more = rest.first().is_some_and(|next| matches!(next.role, Role::System | Role::Developer));
    // A request needs input, so instructions alone are the input.
    let alone = rest.is_empty();
    let fits = turn.role == Role::System && plain && !marked && !more && !alone;
    fits.then_some((turn, text, rest))
}

struct InputWriter<'r, 'a> {
    thread: Thread<'r, 'a>,
    /// How many calls have been written.
    calls: usize,
    /// How many results have been seen.
    results: usize,
    /// The calls of this run without a result.
    unanswered: Vec<usize>,
}

impl InputWriter<'_, '_> {
    fn turn(&mut self, turn: &Turn<'_>, items: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
        lose_turn(turn, cx.ledger);
        if turn.items.is_empty() {
            write_message(turn, &[], items, cx);
        }
        for group in groups(turn) {
            match group {
                [Item::Reasoning(found)] => {
                    reasoning_out::write_history(found, items, cx.ledger);
                }
                [Item::Call(call)] => self.call(call, items, cx),
                [Item::Result(result)] => self.result(result, items, cx),
                [Item::Tools(tools)] => write_additional(tools, None, items, cx),
                [Item::Hosted(hosted)] => lose_hosted(hosted, cx.ledger),
                content => write_message(turn, content, items, cx),
            }
        }
    }

    fn call(&mut self, call: &Call<'_>, items: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
        let index = self.calls;
        self.calls += 1;
        let paired = self.thread.calls.get(index);
        if paired.is_some_and(|paired| paired.result.is_none()) {
            self.unanswered.push(index);
        }
        let header = ItemHeader {
            id: None,
            call_id: paired.map(|paired| Str::plain(paired.id.as_ref())),
            status: None,
        };
        write_call(call, &header, items, cx);
    }

    fn result(
        &mut self,
        result: &ToolResult<'_>,
        items: &mut Array<'_>,
        cx: &mut EncodeContext<'_>,
    ) {
        let order = self.results;
        self.results += 1;
        match self.thread.fates.get(order) {
            Some(ResultMatch::Answers(call)) => {
                let Some(paired) = self.thread.calls.get(*call) else { return };
                let call_id = Some(Str::plain(paired.id.as_ref()));
                let kind = result_kind(&paired.call.arguments, cx);
                let header = ItemHeader { id: None, call_id, status: None };
                write_result(result, kind, &header, items, cx);
            }
            Some(ResultMatch::Superseded) => {}
            Some(ResultMatch::Orphan) | None => write_orphan(result, items, cx),
        }
    }

    /// Answers calls without a result, which OpenAI refuses with status 400.
    fn answer_missing(&mut self, items: &mut Array<'_>, cx: &EncodeContext<'_>) {
        for index in std::mem::take(&mut self.unanswered) {
            let Some(paired) = self.thread.calls.get(index) else { continue };
            let mut item = items.object();
            item.put(
                "type",
                match result_kind(&paired.call.arguments, cx) {
                    ResultKind::Freeform => "custom_tool_call_output",
                    ResultKind::Function | ResultKind::Native(_) => "function_call_output",
                },
            );
            item.put("call_id", &paired.id);
            item.put("output", &format!("{}no result supplied", cx.profile.error_prefix));
        }
    }
}

/// The kind of a result, by the call it answers.
fn result_kind(arguments: &Arguments<'_>, cx: &EncodeContext<'_>) -> ResultKind {
    match arguments {
        Arguments::Freeform(_) if cx.profile.freeform_tools => ResultKind::Freeform,
        Arguments::Text(_) | Arguments::Json(_) | Arguments::Freeform(_) => ResultKind::Function,
        Arguments::Native(kind, _) => ResultKind::Native(*kind),
    }
}

fn write_message(
    turn: &Turn<'_>,
    content: &[Item<'_>],
    items: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let role = if turn.role == Role::Assistant { PartRole::History } else { PartRole::Input };
    if content.len() < turn.items.len() && is_silent(content, cx) {
        return;
    }
    if !content.is_empty() && is_lost(content, role, cx) {
        return;
    }
    let text = match content {
        // The published types allow a list from the model only with the API's own
        // ids, and compatible servers check that.
        [Item::Text(text)] if role == PartRole::History && is_words(text) => {
            lose_text(text, cx);
            Some(&text.text)
        }
        _parts => bare_text(content),
    };
    let mut item = items.object();
    if text.is_none() {
        item.put("type", "message");
    }
    item.put("role", role_name(turn));
    match text {
        Some(text) => item.put("content", text),
        None if content.is_empty() => item.put("content", ""),
        None => {
            let mut parts = item.array("content");
            for part in content {
                write_part(part, role, &mut parts, cx);
            }
        }
    }
}

/// Whether a text is only words. A cache marker does not matter.
fn is_words(text: &Text<'_>) -> bool {
    let Text { at: _, text: _, citations, logprobs, cache: _, extra: _ } = text;
    citations.is_none() && logprobs.is_none()
}

fn role_name(turn: &Turn<'_>) -> &'static str {
    match &turn.role {
        // Instructions beside the conversation outrank those inside it.
        Role::System if turn.slot == Slot::Top => "developer",
        Role::System => "system",
        Role::Developer => "developer",
        Role::User | Role::Other(_) => "user",
        Role::Assistant => "assistant",
    }
}

/// Writes tools that become known in the middle of a conversation.
pub(super) fn write_additional(
    tools: &[Tool<'_>],
    id: Option<&Str<'_>>,
    items: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let mut item = items.object();
    item.put("type", "additional_tools");
    item.maybe("id", id);
    item.put("role", "developer");
    write_inline(tools, &mut item.array("tools"), cx);
}

/// Reports what a vendor's own tool did, which no other vendor accepts.
pub(super) fn lose_hosted(hosted: &HostedItem<'_>, ledger: &mut Ledger) {
    let HostedItem { class: _, raw } = hosted;
    ledger.dropped(raw.pos(), Code::HostedHistory);
}

/// Reports what a turn has besides its content.
pub(super) fn lose_turn(turn: &Turn<'_>, ledger: &mut Ledger) {
    let Turn { at: _, role, slot: _, items: _, id, name, status, phase, extra } = turn;
    ledger.lost_info(name, Code::MessageName);
    if let Role::Other(name) = role {
        ledger.degraded(name.pos(), Code::Role);
    }
    ledger.lost_info(id, Code::ItemId);
    ledger.lost_info(status, Code::Status);
    ledger.lost(phase, Code::Phase);
    ledger.only(extra);
}
