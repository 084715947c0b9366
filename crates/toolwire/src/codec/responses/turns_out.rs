//! Model to conversation.

use super::cache_out::lose_cache;
use super::calls_out::{Frame, write_call, write_orphan, write_result};
use super::content_out::{Voice, bare_text, is_content, is_lost, is_silent, lose_text, write_part};
use super::tools_out::write_tools;
use super::{Out, reasoning};
use crate::ledger::{Code, Ledger};
use crate::model::{
    Arguments, Call, HostedItem, Item, Opaque, ResultKind, Role, Slot, Text, Tool, ToolResult, Turn,
};
use crate::thread::{ResultMatch, Thread};
use crate::wire::{Array, Object, Pos, Str};

/// Writes `instructions` and `input`.
pub(super) fn write_input(
    turns: &[Turn<'_>],
    object: &mut Object<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let stripped;
    let turns = if cx.same() && turns.iter().any(reasoning::is_foreign) {
        stripped = without_ids(turns, ledger);
        stripped.as_slice()
    } else {
        turns
    };
    let turns = match instructions(turns, cx) {
        Some((turn, text, rest)) => {
            lose_turn(turn, cx, ledger);
            if !cx.same() {
                lose_cache(text.cache.as_ref(), cx, ledger);
            }
            object.put("instructions", &text.text);
            rest
        }
        None => turns,
    };
    if cx.same()
        && let [turn] = turns
        && let Some(text) = short_input(turn)
    {
        object.put("input", text);
        return;
    }
    if cx.same() && turns.is_empty() {
        return;
    }
    // The client's own order and pairs are replayed as they are: an earlier
    // answer that the server keeps may hold the other half of a pair.
    let thread = (!cx.same()).then(|| Thread::new(turns, cx.profile.ids, ledger));
    let mut writer = Writer { thread, calls: 0, fates: 0, unanswered: Vec::new() };
    let mut items = object.array("input");
    for run in turns.chunk_by(|a, b| (a.role == Role::Assistant) == (b.role == Role::Assistant)) {
        for turn in run {
            writer.turn(turn, &mut items, cx, ledger);
        }
        // A run of the model's turns is behind us, so results that are still
        // missing will not come.
        writer.answer_missing(&mut items, cx);
    }
    if let Some(turn) = turns.last()
        && !cx.same()
        && !cx.profile.prefill
        && turn.role == Role::Assistant
        && matches!(turn.items.last(), Some(Item::Text(_)))
    {
        ledger.degraded(turn.at, Code::Prefill);
    }
}

/// The turns without their items' ids. Reasoning that another vendor sealed is
/// left out, and an item that still bore the id of the same answer would ask
/// for it.
fn without_ids<'a>(turns: &[Turn<'a>], ledger: &mut Ledger) -> Vec<Turn<'a>> {
    let mut turns = turns.to_vec();
    for turn in turns.iter_mut().filter(|turn| !reasoning::is_foreign(turn)) {
        if let Some(id) = turn.id.take() {
            ledger.dropped(id.pos(), Code::ItemId).info();
        }
    }
    turns
}

/// The first turn, if it can be `instructions`, and the turns behind it.
///
/// Instructions of another protocol can if they are one text with nothing
/// behind it that is instructions too: those keep their order among the items.
fn instructions<'r, 'a>(
    turns: &'r [Turn<'a>],
    cx: &Out<'_>,
) -> Option<(&'r Turn<'a>, &'r Text<'a>, &'r [Turn<'a>])> {
    let (turn, rest) = turns.split_first()?;
    let [Item::Text(text)] = turn.items.as_slice() else { return None };
    if cx.same() {
        return (turn.slot == Slot::Top).then_some((turn, text, rest));
    }
    let Text { at: _, text: _, citations, logprobs, cache, extra } = text;
    let plain = citations.is_none() && logprobs.is_none() && extra.is_empty();
    let marked = cache.is_some() && cx.takes_markers();
    let more = rest.first().is_some_and(|next| matches!(next.role, Role::System | Role::Developer));
    // Instructions alone are no request: then they are the input.
    let alone = rest.is_empty();
    let fits = turn.role == Role::System && plain && !marked && !more && !alone;
    fits.then_some((turn, text, rest))
}

/// The text of `input` when it was no list.
fn short_input<'r, 'a>(turn: &'r Turn<'a>) -> Option<&'r Str<'a>> {
    bare_text(&turn.items).filter(|text| text.pos() == turn.at && turn.at != Pos::NONE)
}

struct Writer<'r, 'a> {
    thread: Option<Thread<'r, 'a>>,
    /// How many calls have been written.
    calls: usize,
    /// How many results have been seen.
    fates: usize,
    /// The calls of this run that nobody answers.
    unanswered: Vec<usize>,
}

impl Writer<'_, '_> {
    fn turn(&mut self, turn: &Turn<'_>, items: &mut Array<'_>, cx: &Out<'_>, ledger: &mut Ledger) {
        lose_turn(turn, cx, ledger);
        if turn.items.is_empty() {
            write_message(turn, &[], items, cx, ledger);
        }
        for group in
            turn.items.chunk_by(|a, b| is_content(a, turn.at, cx) && is_content(b, turn.at, cx))
        {
            match group {
                [Item::Reasoning(found)] => {
                    reasoning::write_history(found, turn, items, cx, ledger);
                }
                [Item::Call(call)] => self.call(call, turn, items, cx, ledger),
                [Item::Result(result)] if !cx.same() || result.at == turn.at => {
                    self.result(result, turn, items, cx, ledger)
                }
                [Item::Tools(tools)] => {
                    let id = item_id(turn, cx);
                    write_additional(tools, id.as_ref(), turn, items, cx, ledger);
                }
                [Item::Hosted(hosted)] => write_hosted(hosted, items, cx, ledger),
                [Item::Opaque(Opaque { kind: _, raw })] if raw.pos() == turn.at && cx.same() => {
                    items.push(raw);
                }
                content => write_message(turn, content, items, cx, ledger),
            }
        }
    }

    fn call(
        &mut self,
        call: &Call<'_>,
        turn: &Turn<'_>,
        items: &mut Array<'_>,
        cx: &Out<'_>,
        ledger: &mut Ledger,
    ) {
        let index = self.calls;
        self.calls += 1;
        let paired = self.thread.as_ref().and_then(|thread| thread.calls.get(index));
        if paired.is_some_and(|paired| paired.result.is_none()) {
            self.unanswered.push(index);
        }
        let frame = Frame {
            id: item_id(turn, cx),
            call_id: match paired {
                Some(paired) => Some(Str::plain(paired.id.as_ref())),
                None => call.id.as_ref().map(Str::borrowed),
            },
            status: item_status(turn, cx),
        };
        write_call(call, &frame, items, cx, ledger);
    }

    fn result(
        &mut self,
        result: &ToolResult<'_>,
        turn: &Turn<'_>,
        items: &mut Array<'_>,
        cx: &Out<'_>,
        ledger: &mut Ledger,
    ) {
        let order = self.fates;
        self.fates += 1;
        let (id, status) = (item_id(turn, cx), item_status(turn, cx));
        let Some(thread) = &self.thread else {
            let call_id = result.call_id.as_ref().map(Str::borrowed);
            let frame = Frame { id, call_id, status };
            write_result(result, result.kind, turn, &frame, items, cx, ledger);
            return;
        };
        match thread.fates.get(order) {
            Some(ResultMatch::Answers(call)) => {
                let Some(paired) = thread.calls.get(*call) else { return };
                let call_id = Some(Str::plain(paired.id.as_ref()));
                let kind = result_kind(&paired.call.arguments, cx);
                let frame = Frame { id, call_id, status };
                write_result(result, kind, turn, &frame, items, cx, ledger);
            }
            Some(ResultMatch::Superseded) => {}
            Some(ResultMatch::Orphan) | None => write_orphan(result, items, cx, ledger),
        }
    }

    /// OpenAI answers 400 to a call without a result.
    fn answer_missing(&mut self, items: &mut Array<'_>, cx: &Out<'_>) {
        for index in std::mem::take(&mut self.unanswered) {
            let paired = self.thread.as_ref().and_then(|thread| thread.calls.get(index));
            let Some(paired) = paired else { continue };
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

/// What a result is called, by the call it answers.
fn result_kind(arguments: &Arguments<'_>, cx: &Out<'_>) -> ResultKind {
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
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let voice = if turn.role == Role::Assistant { Voice::Model } else { Voice::Input };
    if content.len() < turn.items.len() && is_silent(content, cx, ledger) {
        return;
    }
    if !content.is_empty() && is_lost(content, voice, cx, ledger) {
        return;
    }
    let id = item_id(turn, cx);
    let text = match content {
        // The published types take a list from the model only with the ids that
        // the API gave, and compatible servers go by them.
        [Item::Text(text)] if voice == Voice::Model && !cx.same() && is_words(text) => {
            lose_text(text, cx, ledger);
            Some(&text.text)
        }
        _parts => bare_text(content),
    };
    let mut item = items.object();
    // Who writes the results of Messages here leaves the type out too.
    let foreign = content.iter().any(|part| matches!(part, Item::Result(_)));
    if (text.is_none() && !foreign) || id.is_some() {
        item.put("type", "message");
    }
    item.maybe("id", id.as_ref());
    write_role(turn, &mut item, cx);
    match text {
        Some(text) => item.put("content", text),
        None if content.is_empty() && !cx.same() => item.put("content", ""),
        None => {
            let mut parts = item.array("content");
            for part in content {
                write_part(part, voice, &mut parts, cx, ledger);
            }
        }
    }
    if cx.same() {
        item.maybe("status", turn.status.as_ref());
        item.maybe("phase", turn.phase.as_ref());
        item.extra(&turn.extra);
    }
}

/// Whether a text says nothing but its words, whatever stands behind it.
fn is_words(text: &Text<'_>) -> bool {
    let Text { at: _, text: _, citations, logprobs, cache: _, extra: _ } = text;
    citations.is_none() && logprobs.is_none()
}

fn write_role(turn: &Turn<'_>, item: &mut Object<'_>, cx: &Out<'_>) {
    match &turn.role {
        // What stood beside the conversation outranks what stands in it.
        Role::System if turn.slot == Slot::Top => item.put("role", "developer"),
        Role::System => item.put("role", "system"),
        Role::Developer => item.put("role", "developer"),
        Role::User => item.put("role", "user"),
        Role::Assistant => item.put("role", "assistant"),
        Role::Other(name) if cx.same() => item.put("role", name),
        Role::Other(_) => item.put("role", "user"),
    }
}

/// Writes tools that become known in the middle of a conversation.
pub(super) fn write_additional(
    tools: &[Tool<'_>],
    id: Option<&Str<'_>>,
    turn: &Turn<'_>,
    items: &mut Array<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let mut item = items.object();
    item.put("type", "additional_tools");
    item.maybe("id", id);
    if cx.same() {
        write_role(turn, &mut item, cx);
        item.extra(&turn.extra);
    } else {
        item.put("role", "developer");
    }
    write_tools(tools, &mut item.array("tools"), cx, ledger);
}

/// Writes what a vendor's own tool did, which no other vendor takes.
pub(super) fn write_hosted(
    hosted: &HostedItem<'_>,
    items: &mut Array<'_>,
    cx: &Out<'_>,
    ledger: &mut Ledger,
) {
    let HostedItem { class: _, raw } = hosted;
    if cx.same() {
        items.push(raw);
    } else {
        ledger.dropped(raw.pos(), Code::HostedHistory);
    }
}

/// An item's own id, which only this vendor's items have.
fn item_id<'r>(turn: &'r Turn<'_>, cx: &Out<'_>) -> Option<Str<'r>> {
    turn.id.as_ref().filter(|_| cx.same()).map(Str::borrowed)
}

fn item_status<'r>(turn: &'r Turn<'_>, cx: &Out<'_>) -> Option<Str<'r>> {
    turn.status.as_ref().filter(|_| cx.same()).map(Str::borrowed)
}

/// What a turn of another protocol has beside its content.
pub(super) fn lose_turn(turn: &Turn<'_>, cx: &Out<'_>, ledger: &mut Ledger) {
    let Turn { at: _, role, slot: _, items: _, id, name, status, phase, extra } = turn;
    if let Some(name) = name {
        ledger.dropped(name.pos(), Code::MessageName).info();
    }
    if cx.same() {
        return;
    }
    if let Role::Other(name) = role {
        ledger.degraded(name.pos(), Code::Role);
    }
    if let Some(id) = id {
        ledger.dropped(id.pos(), Code::ItemId).info();
    }
    if let Some(status) = status {
        ledger.dropped(status.pos(), Code::Status).info();
    }
    if let Some(phase) = phase {
        ledger.dropped(phase.pos(), Code::Phase);
    }
    ledger.only(extra);
}
