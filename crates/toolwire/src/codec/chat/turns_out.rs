//! The conversation: from turns to messages.

use super::calls_out::write_call;
use super::content_out::{self, crosses, write_content};
use super::reasoning_out;
use super::results_out::{orphan, results};
use super::tools_out::Shipment;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Audio, Call, Image, Item, Reasoning, Refusal, Role, Slot, ToolResult, Turn};
use crate::thread::{Paired, ResultMatch, Step, Thread};
use crate::wire::{Array, Object};

/// What a message says, sorted by the members that Chat has for it.
struct MessageParts<'r, 'a> {
    /// Text, refusals and whatever else is a content part.
    parts: Vec<&'r Item<'a>>,
    refusal: Option<&'r Refusal<'a>>,
    audio: Option<&'r Audio<'a>>,
    calls: Vec<&'r Call<'a>>,
    reasoning: Vec<&'r Reasoning<'a>>,
}

impl<'r, 'a> MessageParts<'r, 'a> {
    fn of(turns: impl Iterator<Item = &'r Turn<'a>>, cx: &mut EncodeContext<'_>) -> Self {
        let mut message = Self {
            parts: Vec::new(),
            refusal: None,
            audio: None,
            calls: Vec::new(),
            reasoning: Vec::new(),
        };
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
            Item::Document(document) if !content_out::reads_as_text(document) => {
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
                if crosses(item, cx) {
                    self.parts.push(item);
                }
            }
        }
    }
}

/// Writes the conversation of another protocol.
pub(super) fn write(
    messages: &mut Array<'_>,
    turns: &[Turn<'_>],
    shipment: &Shipment<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    for turn in turns {
        turn_losses(turn, cx);
    }
    let thread = Thread::new(turns, cx.profile.ids, cx.ledger);
    let steps = thread.steps(turns, cx.ledger);
    for step in &steps {
        match step {
            Step::System(turn) => system(messages, turn, cx),
            Step::Assistant { turns, calls } => {
                let made = thread.calls.get(calls.clone()).unwrap_or_default();
                assistant(messages, turns, made, shipment, cx);
            }
            Step::Results(order) => results(messages, order, &thread, cx),
            Step::User { turn, fates } => {
                let fates = thread.fates.get(fates.clone()).unwrap_or_default();
                user(messages, turn, fates, cx);
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
fn turn_losses(turn: &Turn<'_>, cx: &mut EncodeContext<'_>) {
    let Turn { at: _, role, slot: _, items: _, id: _, name: _, status: _, phase, extra: _ } = turn;
    if let Role::Other(word) = role {
        cx.ledger.degraded(word.pos(), Code::Role);
    }
    member_losses(turn, cx.ledger);
    if let Some(phase) = phase {
        cx.ledger.dropped(phase.pos(), Code::Phase).info();
    }
}

/// Reports the members of a turn that nobody relies on, and the unknown ones.
pub(super) fn member_losses(turn: &Turn<'_>, ledger: &mut Ledger) {
    let Turn { at: _, role: _, slot: _, items: _, id, name, status, phase: _, extra } = turn;
    let members = [(id, Code::ItemId), (name, Code::MessageName), (status, Code::Status)];
    for (member, code) in members {
        if let Some(member) = member {
            ledger.dropped(member.pos(), code).info();
        }
    }
    ledger.only(extra);
}

fn system(messages: &mut Array<'_>, turn: &Turn<'_>, cx: &mut EncodeContext<'_>) {
    let message = MessageParts::of(std::iter::once(turn), cx);
    for reasoning in &message.reasoning {
        reasoning_out::lose(reasoning, cx.ledger);
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

fn assistant(
    messages: &mut Array<'_>,
    turns: &[&Turn<'_>],
    made: &[Paired<'_, '_>],
    shipment: &Shipment<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) {
    let MessageParts { parts, refusal, audio, calls, reasoning } =
        MessageParts::of(turns.iter().copied(), cx);
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
        // Reasoning alone is no message; what becomes of it is reported.
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
        for Paired { call, id, result: _ } in made {
            write_call(&mut array.object(), call, id, shipment, cx);
        }
    }
}

fn user(
    messages: &mut Array<'_>,
    turn: &Turn<'_>,
    fates: &[ResultMatch],
    cx: &mut EncodeContext<'_>,
) {
    let mut fates = fates.iter();
    let mut parts_of_user = Vec::with_capacity(turn.items.len());
    let mut silent = !turn.items.is_empty();
    for item in &turn.items {
        if let Item::Result(result) = item {
            if fates.next() == Some(&ResultMatch::Orphan) {
                parts_of_user.push(UserPart::Orphan(result));
            }
            continue;
        }
        silent &= matches!(item, Item::Tools(_));
        match item {
            Item::Reasoning(reasoning) => reasoning_out::lose(reasoning, cx.ledger),
            Item::Document(document) if content_out::reads_as_text(document) => {
                if crosses(item, cx) {
                    for part in content_out::document_parts(document, cx) {
                        if crosses(&part, cx) {
                            parts_of_user.push(UserPart::Made(Box::new(part)));
                        }
                    }
                }
            }
            Item::Text(_)
            | Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Refusal(_)
            | Item::Call(_)
            | Item::Result(_)
            | Item::Hosted(_)
            | Item::Tools(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_) => {
                if crosses(item, cx) {
                    parts_of_user.push(UserPart::Item(item));
                }
            }
        }
    }
    if parts_of_user.is_empty() && silent {
        return;
    }
    let mut object = messages.object();
    object.put("role", "user");
    if parts_of_user.is_empty() {
        if !turn.items.is_empty() {
            cx.ledger.degraded(turn.at, Code::Placeholder).info();
        }
        return object.put("content", "");
    }
    match parts_of_user.as_slice() {
        [UserPart::Item(item)] => return write_content(&mut object, &[item], cx),
        [UserPart::Made(item)] => return write_content(&mut object, &[item], cx),
        [UserPart::Orphan(_)] | [] | [_, _, ..] => {}
    }
    let mut parts = object.array("content");
    for part in &parts_of_user {
        match part {
            UserPart::Item(item) => content_out::write_part(&mut parts, item, cx),
            UserPart::Made(item) => content_out::write_part(&mut parts, item, cx),
            UserPart::Orphan(result) => orphan(&mut parts, result, cx),
        }
    }
}

/// A piece of what the user said.
enum UserPart<'r> {
    Item(&'r Item<'r>),
    /// A part of a document that is no part itself.
    Made(Box<Item<'r>>),
    /// A result that answers no call.
    Orphan(&'r ToolResult<'r>),
}
