//! The conversation: writing it.

use super::calls_out::write_call;
use super::content_out::{self, has_part, write_content};
use super::results_out::{write_orphan, write_results};
use super::tools_out::ChatTools;
use super::{documents_out, reasoning_out};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Audio, Call, Image, Item, Reasoning, Refusal, Role, Slot, ToolResult, Turn};
use crate::thread::{Paired, ResultMatch, Step, Thread};
use crate::wire::{Array, Object};

/// Writes the conversation.
pub(super) fn write(
    messages: &mut Array<'_>,
    turns: &[Turn<'_>],
    tools: &ChatTools<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    for turn in turns {
        report_turn_losses(turn, cx);
    }
    let thread = Thread::new(turns, cx.origin, cx.profile.ids, cx.ledger);
    let steps = thread.steps(turns, cx.ledger);
    for step in &steps {
        match step {
            Step::System(turn) => write_system(messages, turn, cx),
            Step::Assistant { turns, calls } => {
                let paired_calls = thread.calls.get(calls.clone()).unwrap_or_default();
                write_assistant(messages, turns, paired_calls, tools, cx);
            }
            Step::Results(order) => write_results(messages, order, &thread, cx),
            Step::User { turn, fates } => {
                let fates = thread.fates.get(fates.clone()).unwrap_or_default();
                write_user(messages, turn, fates, cx);
            }
        }
    }
    if let Some(Step::Assistant { turns, calls }) = steps.last()
        && calls.is_empty()
        && !cx.profile.prefill
        && let Some(turn) = turns.last()
    {
        cx.ledger.degraded(turn.at, Code::Prefill);
    }
}

/// Reports what a turn of another protocol has beside its items.
fn report_turn_losses(turn: &Turn<'_>, cx: &mut EncodeContext<'_>) {
    let Turn { at: _, role, slot: _, items: _, id: _, name: _, status: _, phase, extra: _ } = turn;
    if let Role::Other(word) = role {
        cx.ledger.degraded(word.pos(), Code::Role);
    }
    report_member_losses(turn, cx.ledger);
    cx.ledger.lost_info(phase, Code::Phase);
}

/// Reports the members of a turn that no caller relies on, and the unknown ones.
pub(super) fn report_member_losses(turn: &Turn<'_>, ledger: &mut Ledger) {
    let Turn { at: _, role: _, slot: _, items: _, id, name, status, phase: _, extra } = turn;
    ledger.lost_info(id, Code::ItemId);
    ledger.lost_info(name, Code::MessageName);
    ledger.lost_info(status, Code::Status);
    ledger.only(extra);
}

fn write_system(messages: &mut Array<'_>, turn: &Turn<'_>, cx: &mut EncodeContext<'_>) {
    let message = MessageParts::collect(std::iter::once(turn), cx);
    for reasoning in &message.reasoning {
        reasoning_out::report_lost(reasoning, cx.ledger);
    }
    if message.parts.is_empty() {
        return;
    }
    let developer = cx.profile.developer_role;
    let role = match (&turn.role, turn.slot) {
        (_, Slot::Top) => {
            if developer {
                "developer"
            } else {
                "system"
            }
        }
        (Role::Developer, Slot::Inline) if !developer => {
            cx.ledger.degraded(turn.at, Code::DeveloperRole).info();
            "system"
        }
        (Role::Developer, Slot::Inline) => "developer",
        (Role::System | Role::User | Role::Assistant | Role::Other(_), Slot::Inline) => "system",
    };
    let mut object = messages.object();
    object.put("role", role);
    write_content(&mut object, &message.parts, cx);
}

fn write_assistant(
    messages: &mut Array<'_>,
    turns: &[&Turn<'_>],
    paired_calls: &[Paired<'_, '_>],
    tools: &ChatTools<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    let MessageParts { parts, refusal, audio, calls, reasoning } =
        MessageParts::collect(turns.iter().copied(), cx);
    let mut spoke = false;
    for turn in turns {
        let speaks = turn.items.iter().any(|item| matches!(item, Item::Text(_)));
        if speaks && spoke {
            cx.ledger.degraded(turn.at, Code::MessageBoundary).info();
        }
        spoke |= speaks;
    }
    if let Some(audio) = audio {
        cx.ledger.dropped(audio.at, Code::Audio);
    }
    if parts.is_empty() && calls.is_empty() && refusal.is_none() {
        // Reasoning alone makes no message. Write it to nowhere, so that the
        // ledger still says what was lost.
        let mut nowhere = Vec::new();
        return reasoning_out::write_upstream(&mut Object::new(&mut nowhere), &reasoning, cx);
    }
    let mut object = messages.object();
    object.put("role", "assistant");
    if parts.is_empty() {
        object.put("content", &());
    } else {
        write_content(&mut object, &parts, cx);
    }
    if let Some(Refusal { at: _, text, extra }) = refusal {
        object.put("refusal", text);
        cx.ledger.only(extra);
    }
    reasoning_out::write_upstream(&mut object, &reasoning, cx);
    if !calls.is_empty() {
        let mut array = object.array("tool_calls");
        for Paired { call, id, result: _ } in paired_calls {
            write_call(&mut array.object(), call, id, tools, cx);
        }
    }
}

fn write_user(
    messages: &mut Array<'_>,
    turn: &Turn<'_>,
    fates: &[ResultMatch],
    cx: &mut EncodeContext<'_>,
) {
    let mut fates = fates.iter();
    let mut user_parts = Vec::with_capacity(turn.items.len());
    let mut only_tools = !turn.items.is_empty();
    for item in &turn.items {
        if let Item::Result(result) = item {
            if fates.next() == Some(&ResultMatch::Orphan) {
                user_parts.push(UserPart::Orphan(result));
            }
            continue;
        }
        only_tools &= matches!(item, Item::Tools(_));
        if let Item::Reasoning(reasoning) = item {
            reasoning_out::report_lost(reasoning, cx.ledger);
        } else if !has_part(item, cx) {
            continue;
        } else if let Item::Document(document) = item
            && documents_out::reads_as_text(document)
        {
            for part in documents_out::document_parts(document, cx) {
                if has_part(&part, cx) {
                    user_parts.push(UserPart::Made(Box::new(part)));
                }
            }
        } else {
            user_parts.push(UserPart::Item(item));
        }
    }
    if user_parts.is_empty() && only_tools {
        return;
    }
    let mut object = messages.object();
    object.put("role", "user");
    if user_parts.is_empty() {
        if !turn.items.is_empty() {
            cx.ledger.degraded(turn.at, Code::Placeholder).info();
        }
        return object.put("content", "");
    }
    match user_parts.as_slice() {
        [UserPart::Item(item)] => return write_content(&mut object, &[item], cx),
        [UserPart::Made(item)] => return write_content(&mut object, &[item], cx),
        [UserPart::Orphan(_)] | [] | [_, _, ..] => {}
    }
    let mut parts = object.array("content");
    for part in &user_parts {
        match part {
            UserPart::Item(item) => content_out::write_part(&mut parts, item, cx),
            UserPart::Made(item) => content_out::write_part(&mut parts, item, cx),
            UserPart::Orphan(result) => write_orphan(&mut parts, result, cx),
        }
    }
}

/// The items of a message, sorted by the members that Chat has for them.
#[derive(Default)]
struct MessageParts<'r, 'a> {
    /// Everything that becomes a content part.
    parts: Vec<&'r Item<'a>>,
    refusal: Option<&'r Refusal<'a>>,
    audio: Option<&'r Audio<'a>>,
    calls: Vec<&'r Call<'a>>,
    reasoning: Vec<&'r Reasoning<'a>>,
}

impl<'r, 'a> MessageParts<'r, 'a> {
    fn collect(turns: impl Iterator<Item = &'r Turn<'a>>, cx: &mut EncodeContext<'_>) -> Self {
        let mut message = Self::default();
        for turn in turns {
            for item in &turn.items {
                message.sort(item, &turn.role, cx);
            }
        }
        message
    }

    fn sort(&mut self, item: &'r Item<'a>, role: &Role<'_>, cx: &mut EncodeContext<'_>) {
        match item {
            Item::Reasoning(reasoning) => self.reasoning.push(reasoning),
            Item::Call(call) => self.calls.push(call),
            Item::Refusal(refusal) if self.refusal.is_none() && *role == Role::Assistant => {
                self.refusal = Some(refusal);
            }
            Item::Audio(audio) if self.audio.is_none() && *role == Role::Assistant => {
                self.audio = Some(audio);
            }
            Item::Text(text) => {
                if !self.calls.is_empty() {
                    cx.ledger.moved(text.at, Code::Interleaving);
                }
                self.parts.push(item);
            }
            Item::Image(Image { at, source: _, detail: _, cache: _, extra: _ })
            | Item::Audio(Audio { at, data: _, format: _, cache: _, extra: _ }) => {
                cx.ledger.dropped(*at, Code::MediaType);
            }
            Item::Document(document) if !documents_out::reads_as_text(document) => {
                cx.ledger.dropped(document.at, Code::MediaType);
            }
            Item::Refusal(_)
            | Item::Document(_)
            | Item::SearchResult(_)
            | Item::Hosted(_)
            | Item::Tools(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_)
            | Item::Result(_) => {
                if has_part(item, cx) {
                    self.parts.push(item);
                }
            }
        }
    }
}

/// A part of a user message.
enum UserPart<'r> {
    Item(&'r Item<'r>),
    /// A part made from a document that Chat has no part for.
    Made(Box<Item<'r>>),
    /// A result that answers no call.
    Orphan(&'r ToolResult<'r>),
}
