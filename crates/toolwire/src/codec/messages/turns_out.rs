//! The conversation out of the model, in the order that Messages wants.

use std::collections::BTreeSet;

use super::content::{Pen, Wrote};
use super::reasoning;
use super::tools;
use crate::ledger::Code;
use crate::model::{
    Arguments, Call, Item, Reasoning, Request, ResultKind, Role, Slot, Text, ToolResult, Turn,
};
use crate::native;
use crate::profile::Profile;
use crate::thread::{Fate, Paired, Step, Thread};
use crate::toolset::Toolset;
use crate::wire::{Array, Kind, Object, Pos, Raw, Str, Write, write_str};

/// Writes `system` and `messages` as they came from Messages.
pub(super) fn encode_own(turns: &[Turn<'_>], object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let (top, talk): (Vec<_>, Vec<_>) = turns.iter().partition(|turn| turn.slot == Slot::Top);
    for turn in top {
        own_content(&turn.items, object.key("system"), pen);
    }
    let mut messages = object.array("messages");
    for turn in talk {
        let Turn { at: _, role, slot: _, items, id: _, name: _, status: _, phase: _, extra } = turn;
        let mut message = messages.object();
        match role {
            Role::System | Role::Developer => message.put("role", "system"),
            Role::User => message.put("role", "user"),
            Role::Assistant => message.put("role", "assistant"),
            Role::Other(role) => message.put("role", role),
        }
        own_content(items, message.key("content"), pen);
        message.extra(extra);
    }
}

/// Writes content as it came from Messages: a string where it was one.
pub(super) fn own_content(items: &[Item<'_>], out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    if let [Item::Text(text)] = items
        && text.is_bare()
        && text.at == text.text.pos()
    {
        text.text.write(out);
        return;
    }
    let mut blocks = Array::new(out);
    for item in items {
        own_item(item, blocks.item(), pen);
    }
}

fn own_item(item: &Item<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    match item {
        Item::Call(call) => {
            let Call { at: _, id, name, namespace: _, arguments, caller, cache, extra } = call;
            let mut block = Object::new(out);
            block.put("type", "tool_use");
            block.maybe("id", id.as_ref());
            block.put("name", name);
            write_input(arguments, Pos::NONE, block.key("input"), pen);
            block.maybe("caller", caller.as_ref());
            pen.cache(&mut block, cache.as_ref());
            block.extra(extra);
        }
        Item::Result(result) => {
            let ToolResult {
                at: _,
                call_id,
                name: _,
                namespace: _,
                kind: _,
                content,
                is_error,
                cache,
                extra,
            } = result;
            let mut block = Object::new(out);
            block.put("type", "tool_result");
            block.maybe("tool_use_id", call_id.as_ref());
            if !content.is_empty() {
                own_content(content, block.key("content"), pen);
            }
            block.maybe("is_error", is_error.as_ref());
            pen.cache(&mut block, cache.as_ref());
            block.extra(extra);
        }
        Item::Reasoning(item) => {
            reasoning::encode(item, pen, out);
        }
        Item::Tools(list) => {
            let mut array = Listed { out, first: true };
            for tool in list {
                let mut block = Object::new(array.next());
                block.put("type", "tool_addition");
                let mut added = block.object("tool");
                added.put("type", "tool_definition");
                tools::encode_own(tool, added.key("definition"), pen);
            }
        }
        Item::Text(_)
        | Item::Image(_)
        | Item::Document(_)
        | Item::Audio(_)
        | Item::SearchResult(_)
        | Item::Refusal(_)
        | Item::Hosted(_)
        | Item::ToolReference(_)
        | Item::Json(_)
        | Item::Opaque(_) => {
            pen.part(item, out);
        }
    }
}

/// Elements of an array that is already open.
struct Listed<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl Listed<'_> {
    fn next(&mut self) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(b',');
        }
        self.out
    }
}

/// Writes `system` and `messages` of another protocol's conversation.
pub(super) fn encode(
    request: &Request<'_>,
    profile: &Profile,
    toolset: &Toolset<'_, '_>,
    wrapped: &BTreeSet<String>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let thread = Thread::new(&request.turns, profile.ids, pen.ledger);
    let steps = thread.steps(&request.turns, pen.ledger);
    let lead = steps.iter().take_while(|step| matches!(step, Step::System(_))).count();
    let (lead, steps) = steps.split_at(lead);
    system(lead, object, pen);
    let legal = system_places(steps, profile);
    let mut talk = Talk::new(object.key("messages"), &thread, toolset, wrapped);
    let last = steps.len().saturating_sub(1);
    for (index, step) in steps.iter().enumerate() {
        let end = index == last;
        match step {
            Step::System(turn) => {
                let in_place = legal.get(index).copied().unwrap_or_default();
                talk.system(turn, in_place, pen);
            }
            Step::Assistant { turns, calls } => {
                if end && !profile.prefill {
                    for turn in turns {
                        pen.ledger.dropped(turn.at, Code::Prefill);
                    }
                    continue;
                }
                talk.assistant(turns, calls.start, end, pen);
            }
            Step::Results(order) => talk.results(order, pen),
            Step::User { turn, fates } => {
                let fates = thread.fates.get(fates.clone()).unwrap_or_default();
                talk.user(turn, fates, pen);
            }
        }
    }
    talk.finish(pen);
}

/// Where a system turn may stand: behind a user's message, and last or before
/// the model's.
fn system_places(steps: &[Step<'_, '_>], profile: &Profile) -> Vec<bool> {
    let mut legal = vec![false; steps.len()];
    if !profile.mid_system {
        return legal;
    }
    let mut before_model = true;
    for (step, slot) in steps.iter().zip(&mut legal).rev() {
        match step {
            Step::System(_) => *slot = before_model,
            Step::Assistant { turns: _, calls: _ } => before_model = true,
            Step::Results(_) | Step::User { turn: _, fates: _ } => before_model = false,
        }
    }
    legal
}

/// Writes the instructions that lead the conversation.
fn system(lead: &[Step<'_, '_>], object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let mut texts: Vec<&Text<'_>> = Vec::new();
    for (index, step) in lead.iter().enumerate() {
        let Step::System(turn) = step else { continue };
        turn_losses(turn, pen);
        if index > 0 {
            pen.ledger.degraded(turn.at, Code::SystemMerged).info();
        }
        for item in &turn.items {
            match item {
                Item::Text(text) => texts.push(text),
                Item::Tools(_) => {}
                Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Reasoning(_)
                | Item::Call(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => {
                    let note = pen.ledger.dropped(turn.at, Code::UnknownItem);
                    note.detail("The target takes only text in its instructions.");
                }
            }
        }
    }
    let mut blocks = Blocks::default();
    for text in texts {
        blocks.add(|out| pen.text(text, out));
    }
    if blocks.count > 0 {
        blocks.write(object.key("system"));
    }
}

/// What a turn has beside its content and Messages has no room for.
pub(super) fn turn_losses(turn: &Turn<'_>, pen: &mut Pen<'_>) {
    let Turn { at, role, slot: _, items: _, id, name, status, phase, extra } = turn;
    match role {
        Role::Developer => {
            pen.ledger.degraded(*at, Code::DeveloperRole).info();
        }
        Role::Other(role) => {
            pen.ledger.degraded(role.pos(), Code::Role);
        }
        Role::System | Role::User | Role::Assistant => {}
    }
    if let Some(id) = id {
        pen.ledger.dropped(id.pos(), Code::ItemId).info();
    }
    if let Some(name) = name {
        pen.ledger.dropped(name.pos(), Code::MessageName).info();
    }
    if let Some(status) = status {
        pen.ledger.dropped(status.pos(), Code::Status).info();
    }
    if let Some(phase) = phase {
        pen.ledger.dropped(phase.pos(), Code::Phase).info();
    }
    pen.ledger.only(extra);
}

/// Blocks that may turn out to be one bare text.
#[derive(Default)]
struct Blocks {
    bytes: Vec<u8>,
    count: usize,
    bare: bool,
}

impl Blocks {
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        let (count, bare) = (&mut self.count, &mut self.bare);
        add_block(&mut self.bytes, count, bare, write);
    }

    /// Puts the blocks behind others.
    fn append(&self, out: &mut Vec<u8>) -> Wrote {
        out.extend_from_slice(&self.bytes);
        if self.count == 1 && self.bare { Wrote::BareText } else { Wrote::Block }
    }

    fn write(&self, out: &mut Vec<u8>) {
        if let Some(literal) = lone_text(&self.bytes, self.count, self.bare) {
            out.extend_from_slice(literal);
            return;
        }
        out.push(b'[');
        out.extend_from_slice(&self.bytes);
        out.push(b']');
    }
}

fn add_block(
    bytes: &mut Vec<u8>,
    count: &mut usize,
    bare: &mut bool,
    write: impl FnOnce(&mut Vec<u8>) -> Wrote,
) {
    let mark = bytes.len();
    if *count > 0 {
        bytes.push(b',');
    }
    match write(bytes) {
        Wrote::Nothing => bytes.truncate(mark),
        wrote @ (Wrote::BareText | Wrote::Block) => {
            *bare = *count == 0 && wrote == Wrote::BareText;
            *count += 1;
        }
    }
}

/// The literal of the only block, if it is a text with nothing attached.
fn lone_text(bytes: &[u8], count: usize, bare: bool) -> Option<&[u8]> {
    if count != 1 || !bare {
        return None;
    }
    bytes.strip_prefix(BARE_TEXT)?.strip_suffix(b"}")
}

const BARE_TEXT: &[u8] = b"{\"type\":\"text\",\"text\":";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    System,
}

/// Messages being written: neighbours of one speaker become one message.
struct Talk<'o, 't, 'r, 'a> {
    out: &'o mut Vec<u8>,
    thread: &'t Thread<'r, 'a>,
    toolset: &'t Toolset<'t, 't>,
    wrapped: &'t BTreeSet<String>,
    speaker: Option<Speaker>,
    /// Where the open message starts, and where its blocks do.
    start: usize,
    blocks: usize,
    count: usize,
    bare: bool,
    /// How many messages are complete.
    complete: usize,
    /// Where the turn stood that the open message began with.
    at: Pos,
}

impl<'o, 't, 'r, 'a> Talk<'o, 't, 'r, 'a> {
    fn new(
        out: &'o mut Vec<u8>,
        thread: &'t Thread<'r, 'a>,
        toolset: &'t Toolset<'t, 't>,
        wrapped: &'t BTreeSet<String>,
    ) -> Self {
        out.push(b'[');
        Self {
            out,
            thread,
            toolset,
            wrapped,
            speaker: None,
            start: 0,
            blocks: 0,
            count: 0,
            bare: false,
            complete: 0,
            at: Pos::START,
        }
    }

    fn finish(mut self, pen: &mut Pen<'_>) {
        self.close(pen);
        if self.complete == 0 {
            self.open(Speaker::User, Pos::START);
            self.close(pen);
        }
        self.out.push(b']');
    }

    fn turn(&mut self, speaker: Speaker, at: Pos, pen: &mut Pen<'_>) {
        if self.speaker == Some(speaker) {
            return;
        }
        self.close(pen);
        if self.complete == 0 && speaker != Speaker::User && self.speaker.is_none() {
            // The first message must be the user's.
            self.open(Speaker::User, at);
            self.close(pen);
        }
        self.open(speaker, at);
    }

    fn open(&mut self, speaker: Speaker, at: Pos) {
        self.start = self.out.len();
        if self.complete > 0 {
            self.out.push(b',');
        }
        self.out.extend_from_slice(match speaker {
            Speaker::User => br#"{"role":"user","content":["#,
            Speaker::Assistant => br#"{"role":"assistant","content":["#,
            Speaker::System => br#"{"role":"system","content":["#,
        });
        self.blocks = self.out.len();
        (self.count, self.bare, self.speaker, self.at) = (0, false, Some(speaker), at);
    }

    fn close(&mut self, pen: &mut Pen<'_>) {
        let Some(speaker) = self.speaker.take() else { return };
        if self.count == 0 {
            match speaker {
                Speaker::User => {
                    pen.ledger.degraded(self.at, Code::Placeholder);
                    let text = Text::new(Str::plain(PLACEHOLDER));
                    self.add(|out| pen.text(&text, out));
                }
                Speaker::Assistant | Speaker::System => {
                    self.out.truncate(self.start);
                    return;
                }
            }
        }
        let body = self.out.get(self.blocks..).unwrap_or_default();
        match lone_text(body, self.count, self.bare).map(<[u8]>::len) {
            Some(length) => {
                // The string takes the place of the list around the block.
                let open = self.blocks - 1;
                let literal = self.blocks + BARE_TEXT.len();
                self.out.truncate(literal + length);
                self.out.drain(open..literal);
                self.out.push(b'}');
            }
            None => self.out.extend_from_slice(b"]}"),
        }
        self.complete += 1;
    }

    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        add_block(self.out, &mut self.count, &mut self.bare, write);
    }

    /// Writes instructions in the middle of the conversation: where they stand
    /// if that is allowed, else as a reminder among the user's words.
    fn system(&mut self, turn: &Turn<'_>, in_place: bool, pen: &mut Pen<'_>) {
        turn_losses(turn, pen);
        let follows = matches!(self.speaker, Some(Speaker::User | Speaker::System));
        let in_place = in_place && follows;
        if in_place {
            self.turn(Speaker::System, turn.at, pen);
        } else {
            pen.ledger.moved(turn.at, Code::SystemPosition);
            self.turn(Speaker::User, turn.at, pen);
        }
        for item in &turn.items {
            match item {
                Item::Text(text) if in_place => self.add(|out| pen.text(text, out)),
                Item::Text(text) if !text.text.is_blank() => {
                    self.add(|out| reminder(text, out, pen));
                }
                Item::Text(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Reasoning(_)
                | Item::Call(_)
                | Item::Result(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => self.add(|out| pen.part(item, out)),
            }
        }
    }

    fn user(&mut self, turn: &Turn<'_>, fates: &[Fate], pen: &mut Pen<'_>) {
        turn_losses(turn, pen);
        self.turn(Speaker::User, turn.at, pen);
        let mut fates = fates.iter();
        for item in &turn.items {
            match item {
                Item::Result(result) => {
                    if fates.next() == Some(&Fate::Orphan) {
                        self.orphan(result, pen);
                    }
                }
                Item::Reasoning(reasoning) => {
                    pen.ledger.dropped(reasoning.at, Code::ReasoningUnsigned);
                }
                Item::Text(_)
                | Item::Image(_)
                | Item::Document(_)
                | Item::Audio(_)
                | Item::SearchResult(_)
                | Item::Refusal(_)
                | Item::Call(_)
                | Item::Hosted(_)
                | Item::Tools(_)
                | Item::ToolReference(_)
                | Item::Json(_)
                | Item::Opaque(_) => self.add(|out| pen.part(item, out)),
            }
        }
    }

    /// A result that answers no call is told to the model as the user's words.
    fn orphan(&mut self, result: &ToolResult<'_>, pen: &mut Pen<'_>) {
        let id = result.call_id.as_ref().or(result.name.as_ref());
        let id = id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let head = Text::new(Str::plain(format!("[result of call {id}]")));
        self.add(|out| pen.text(&head, out));
        for item in &result.content {
            self.add(|out| pen.part(item, out));
        }
        pen.ledger.only(&result.extra);
    }

    fn results(&mut self, order: &[usize], pen: &mut Pen<'_>) {
        self.turn(Speaker::User, Pos::START, pen);
        for &index in order {
            let Some(paired) = self.thread.calls.get(index) else { continue };
            self.add(|out| {
                result(paired, out, pen);
                Wrote::Block
            });
        }
    }

    /// Writes all that the model said and called until somebody else spoke.
    /// Text behind a call goes before it: the API takes calls as the end of
    /// what the model says.
    fn assistant(&mut self, turns: &[&Turn<'_>], calls: usize, end: bool, pen: &mut Pen<'_>) {
        let at = turns.first().map_or(Pos::START, |turn| turn.at);
        let mut blocks = Blocks::default();
        let mut pieces: Vec<Piece<'_, '_>> = Vec::new();
        let mut next = calls;
        for turn in turns {
            turn_losses(turn, pen);
            for item in placed(&turn.items) {
                if matches!(item, Item::Call(_)) {
                    pieces.push(Piece::Call(next));
                    next += 1;
                } else {
                    pieces.push(Piece::Item(item));
                }
            }
        }
        let is_call = |piece: &Piece<'_, '_>| matches!(piece, Piece::Call(_));
        let first = pieces.iter().position(is_call).unwrap_or(pieces.len());
        let (before, behind) = pieces.split_at(first);
        let said = |piece: &&Piece<'_, '_>| matches!(piece, Piece::Item(item) if !matches!(item, Item::Reasoning(_)));
        let last = before.len().saturating_sub(1);
        for (index, piece) in before.iter().enumerate() {
            let prefill = end && behind.is_empty() && index == last;
            self.piece(piece, prefill, &mut blocks, pen);
        }
        for piece in behind.iter().filter(said) {
            if let Piece::Item(Item::Text(text)) = piece
                && !text.text.is_blank()
            {
                pen.ledger.moved(text.at, Code::Interleaving);
            }
            self.piece(piece, false, &mut blocks, pen);
        }
        for piece in behind.iter().filter(|piece| !said(piece)) {
            self.piece(piece, false, &mut blocks, pen);
        }
        if blocks.count == 0 {
            let note = pen.ledger.dropped(at, Code::Placeholder);
            note.detail("The target refuses an empty message; it is left out.").info();
            return;
        }
        self.turn(Speaker::Assistant, at, pen);
        self.add(|out| blocks.append(out));
    }

    fn piece(&self, piece: &Piece<'_, '_>, prefill: bool, blocks: &mut Blocks, pen: &mut Pen<'_>) {
        match piece {
            Piece::Call(index) => {
                let Some(paired) = self.thread.calls.get(*index) else { return };
                blocks.add(|out| {
                    call(paired, self.toolset, self.wrapped, out, pen);
                    Wrote::Block
                });
            }
            Piece::Item(Item::Reasoning(reasoning)) => {
                blocks.add(|out| reasoning::encode_history(reasoning, pen, out));
            }
            Piece::Item(Item::Text(text)) if prefill => blocks.add(|out| begun(text, out, pen)),
            Piece::Item(item) => blocks.add(|out| pen.part(item, out)),
        }
    }
}

enum Piece<'r, 'a> {
    Item(&'r Item<'a>),
    Call(usize),
}

/// The items of a turn with reasoning at the place it had with its vendor.
fn placed<'r, 'a>(items: &'r [Item<'a>]) -> Vec<&'r Item<'a>> {
    let place = |item: &Item<'_>| match item {
        Item::Reasoning(Reasoning {
            at: _,
            summary: _,
            content: _,
            sealed: _,
            place,
            extra: _,
        }) => *place,
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
        | Item::Opaque(_) => None,
    };
    let (mut wanting, rest): (Vec<&Item<'_>>, Vec<&Item<'_>>) =
        items.iter().partition(|item| place(item).is_some());
    if wanting.is_empty() {
        return rest;
    }
    wanting.sort_by_key(|item| place(item));
    let mut wanting = wanting.into_iter().peekable();
    let mut order = Vec::with_capacity(items.len());
    for item in rest {
        while let Some(next) =
            wanting.next_if(|next| place(next).is_some_and(|place| place <= order.len() as u64))
        {
            order.push(next);
        }
        order.push(item);
    }
    order.extend(wanting);
    order
}

/// A begun answer must not end in whitespace.
fn begun(text: &Text<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) -> Wrote {
    let words = text.text.decode();
    let kept = words.trim_end();
    if kept.len() == words.len() || kept.is_empty() {
        return pen.text(text, out);
    }
    let note = pen.ledger.degraded(text.at, Code::Prefill);
    note.detail("The target refuses a begun answer that ends in spaces; they are left out.").info();
    let mut trimmed = text.clone();
    trimmed.text = Str::plain(kept).at(text.text.pos());
    pen.text(&trimmed, out)
}

fn reminder(text: &Text<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) -> Wrote {
    let Text { at: _, text: words, citations: _, logprobs: _, cache, extra } = text;
    let mut block = Object::new(out);
    block.put("type", "text");
    let literal = block.key("text");
    literal.extend_from_slice(b"\"<system-reminder>\\n");
    words.write_inside(literal);
    literal.extend_from_slice(b"\\n</system-reminder>\"");
    pen.cache(&mut block, cache.as_ref());
    pen.ledger.only(extra);
    if cache.is_none() { Wrote::BareText } else { Wrote::Block }
}

fn call(
    paired: &Paired<'_, '_>,
    toolset: &Toolset<'_, '_>,
    wrapped: &BTreeSet<String>,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) {
    let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = paired.call;
    let own = name.decode();
    let wire = match namespace {
        Some(namespace) => toolset.wire_name(Some(&namespace.decode()), &own),
        None => toolset.wire_name(None, &own),
    };
    if namespace.is_some() {
        pen.ledger.emulated(*at, Code::NamespaceFlattened);
    } else if wire != own {
        pen.ledger.renamed(name.pos(), Code::ToolName);
    }
    let mut block = Object::new(out);
    block.put("type", "tool_use");
    block.put("id", &paired.id);
    block.put("name", &wire);
    let input = block.key("input");
    if !wrapped.is_empty() && wrapped.contains(wire.as_ref()) {
        write_wrapped(arguments, *at, input, pen);
    } else {
        write_input(arguments, *at, input, pen);
    }
    if let Some(caller) = caller {
        let note = pen.ledger.dropped(caller.pos(), Code::ProgrammaticCallers);
        if caller.reader().tag("type").is_ok_and(|kind| kind.is_some_and(|kind| kind == *"direct"))
        {
            note.info();
        }
    }
    pen.cache(&mut block, cache.as_ref());
    pen.ledger.only(extra);
}

/// Arguments of a tool whose schema crossed as the property `value`.
fn write_wrapped(arguments: &Arguments<'_>, at: Pos, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    if let Arguments::Text(text) = arguments
        && let Ok(value) = Raw::parse(&text.decode())
    {
        Object::new(out).put("value", &value);
    } else if let Arguments::Json(value) = arguments {
        Object::new(out).put("value", value);
    } else {
        write_input(arguments, at, out, pen);
    }
}

/// Writes arguments as the object that Messages wants.
pub(super) fn write_input(
    arguments: &Arguments<'_>,
    at: Pos,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) {
    match arguments {
        Arguments::Json(value) if value.kind() == Kind::Object || pen.same => value.write(out),
        Arguments::Json(value) => write_text_input(value.text(), value.pos(), out, pen),
        Arguments::Text(text) => {
            let decoded = text.decode();
            match Raw::parse(&decoded) {
                Ok(value) if value.kind() == Kind::Object => value.write(out),
                Ok(_) | Err(_) if decoded.trim().is_empty() => out.extend_from_slice(b"{}"),
                Ok(_) | Err(_) => write_text_input(&decoded, text.pos(), out, pen),
            }
        }
        Arguments::Freeform(text) => {
            pen.ledger.emulated(at, Code::FreeformWrapped);
            Object::new(out).put("input", text);
        }
        Arguments::Native(kind, action) => {
            pen.ledger.emulated(at, Code::NativeToolWrapped);
            native::arguments(*kind, action).write(out);
        }
    }
}

/// Arguments that are no object, as the text of one member. The way back takes
/// them out again.
fn write_text_input(text: &str, at: Pos, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    if !pen.same {
        pen.ledger.degraded(at, Code::ArgumentsNotObject);
    }
    let mut object = Object::new(out);
    write_str(text, object.key("__toolwire_raw"));
}

/// Writes the result of a call, or one that says there is none.
fn result(paired: &Paired<'_, '_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let mut block = Object::new(out);
    block.put("type", "tool_result");
    block.put("tool_use_id", &paired.id);
    let Some(result) = paired.result else {
        block.put("content", "no result supplied");
        block.put("is_error", &true);
        return;
    };
    let ToolResult { at: _, call_id, name, namespace, kind, content, is_error, cache, extra } =
        result;
    if call_id.is_some() {
        for label in [name, namespace].into_iter().flatten() {
            pen.ledger.dropped(label.pos(), Code::ResultName).info();
        }
    }
    let rendered = match kind {
        ResultKind::Native(_) => native::result_text(result),
        ResultKind::Function | ResultKind::Freeform => None,
    };
    match rendered {
        Some(text) => {
            pen.ledger.emulated(result.at, Code::NativeToolWrapped);
            block.put("content", &text);
        }
        None => result_content(content, &mut block, pen),
    }
    block.maybe("is_error", is_error.as_ref());
    pen.cache(&mut block, cache.as_ref());
    pen.ledger.only(extra);
}

fn result_content(content: &[Item<'_>], block: &mut Object<'_>, pen: &mut Pen<'_>) {
    if let [Item::Text(text)] = content
        && text.is_bare()
    {
        if !text.text.is_empty() {
            block.put("content", &text.text);
        }
        return;
    }
    let mut blocks = Blocks::default();
    for item in content {
        match item {
            Item::Tools(tools) => {
                let mut told = String::from("Loaded tools:");
                for tool in tools {
                    told.push(' ');
                    told.push_str(&tool.name.decode());
                }
                let text = Text::new(Str::plain(told));
                blocks.add(|out| pen.text(&text, out));
            }
            Item::Text(_)
            | Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Refusal(_)
            | Item::Reasoning(_)
            | Item::Call(_)
            | Item::Result(_)
            | Item::Hosted(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_) => blocks.add(|out| pen.part(item, out)),
        }
    }
    if blocks.count > 0 {
        blocks.write(block.key("content"));
    }
}

/// What the user is taken to say where the API demands words and there are
/// none.
const PLACEHOLDER: &str = "(empty message)";
