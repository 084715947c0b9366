//! The conversation: from turns to messages.

use std::borrow::Cow;

use super::content::{self, Toward, as_text, crosses, reads_as_text, write_content};
use super::reasoning;
use super::tools::Shipment;
use super::wire::replay;
use crate::ledger::{Code, Ledger};
use crate::model::{
    Arguments, Audio, Call, Item, Reasoning, Refusal, ResultKind, Role, Slot, Text, ToolResult,
    Turn,
};
use crate::native;
use crate::thread::{Fate, Step, Thread};
use crate::wire::{Array, Extra, Object, Raw, Read, Str, Write, write_escaped};

/// Writes turns that were read from Chat, message by message.
pub(super) fn replay_turns(messages: &mut Array<'_>, turns: &[Turn<'_>], toward: &mut Toward<'_>) {
    for turn in turns {
        if let [Item::Result(result)] = turn.items.as_slice() {
            replay_result(messages, result, toward);
            continue;
        }
        let mut object = messages.object();
        object.put("role", &role(&turn.role));
        let spoken = Spoken::of(std::iter::once(turn), toward);
        spoken.replay(&mut object, turn, toward);
    }
}

/// Writes the message of an answer that was read from Chat.
pub(super) fn replay_message(object: &mut Object<'_>, turn: &Turn<'_>, toward: &mut Toward<'_>) {
    object.put("role", &role(&turn.role));
    Spoken::of(std::iter::once(turn), toward).replay(object, turn, toward);
}

fn role<'r>(role: &'r Role<'_>) -> Cow<'r, str> {
    match role {
        Role::System => "system".into(),
        Role::Developer => "developer".into(),
        Role::User => "user".into(),
        Role::Assistant => "assistant".into(),
        Role::Other(word) => word.decode(),
    }
}

fn replay_result(messages: &mut Array<'_>, result: &ToolResult<'_>, toward: &mut Toward<'_>) {
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

/// What a message says, sorted by the members that Chat has for it.
struct Spoken<'r, 'a> {
    /// Text, refusals and whatever else is a content part.
    parts: Vec<&'r Item<'a>>,
    refusal: Option<&'r Refusal<'a>>,
    audio: Option<&'r Audio<'a>>,
    calls: Vec<&'r Call<'a>>,
    reasoning: Vec<&'r Reasoning<'a>>,
}

impl<'r, 'a> Spoken<'r, 'a> {
    fn of(turns: impl Iterator<Item = &'r Turn<'a>>, toward: &mut Toward<'_>) -> Self {
        let mut spoken = Self {
            parts: Vec::new(),
            refusal: None,
            audio: None,
            calls: Vec::new(),
            reasoning: Vec::new(),
        };
        for turn in turns {
            for item in &turn.items {
                spoken.sort(item, &turn.role, toward);
            }
        }
        spoken
    }

    fn sort(&mut self, item: &'r Item<'a>, role: &Role<'_>, toward: &mut Toward<'_>) {
        match item {
            Item::Reasoning(reasoning) => self.reasoning.push(reasoning),
            Item::Call(call) => self.calls.push(call),
            // In Chat the member `refusal` is a string of its own; a content
            // part stands elsewhere than its text.
            Item::Refusal(refusal)
                if self.refusal.is_none()
                    && (!toward.same() || refusal.at == refusal.text.pos()) =>
            {
                self.refusal = Some(refusal);
            }
            Item::Audio(audio) if *role == Role::Assistant && self.audio.is_none() => {
                self.audio = Some(audio);
            }
            Item::Text(text) => {
                if !self.calls.is_empty() && !toward.same() {
                    toward.ledger.moved(text.at, Code::Interleaving);
                }
                self.parts.push(item);
            }
            Item::Image(_) | Item::Audio(_) | Item::Document(_)
                if !toward.same() && !content::is_texty(item, toward) =>
            {
                toward.ledger.dropped(content::position(item), Code::MediaType);
            }
            Item::Refusal(_)
            | Item::Audio(_)
            | Item::Image(_)
            | Item::Document(_)
            | Item::SearchResult(_)
            | Item::Hosted(_)
            | Item::Tools(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_)
            | Item::Result(_) => {
                if crosses(item, toward) {
                    self.parts.push(item);
                }
            }
        }
    }

    /// Writes the message back to Chat. The role is written already.
    fn replay(self, object: &mut Object<'_>, turn: &Turn<'_>, toward: &mut Toward<'_>) {
        let Self { parts, refusal, audio, calls, reasoning } = self;
        let Turn { at: _, role: _, slot: _, items: _, id: _, name, status: _, phase: _, extra } =
            turn;
        object.maybe("name", name.as_ref());
        if !parts.is_empty() {
            write_content(object, &parts, toward);
        } else if turn.role == Role::Assistant {
            object.put("content", &());
        }
        if let Some(Refusal { at: _, text, extra: _ }) = refusal {
            object.put("refusal", text);
        }
        for item in &parts {
            if let Item::Text(Text {
                at: _,
                text: _,
                citations: Some(list),
                logprobs: _,
                cache: _,
                extra: _,
            }) = item
            {
                object.put("annotations", list);
            }
        }
        if let Some(Audio { at: _, data, format: _, cache: _, extra }) = audio {
            let mut sound = object.object("audio");
            sound.maybe("data", data.as_ref());
            sound.extra(extra);
        }
        reasoning::replay(object, &reasoning);
        replay_calls(object, &calls, turn);
        for field in extra.iter().filter(|field| field.key != "tool_calls") {
            field.value.write(object.foreign_key(&field.key));
        }
    }
}

fn replay_calls(object: &mut Object<'_>, calls: &[&Call<'_>], turn: &Turn<'_>) {
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

/// Writes the conversation of another protocol.
pub(super) fn write(
    messages: &mut Array<'_>,
    turns: &[Turn<'_>],
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) {
    let thread = Thread::new(turns, toward.profile.ids, toward.ledger);
    let steps = thread.steps(turns, toward.ledger);
    for step in &steps {
        match step {
            Step::System(turn) => system(messages, turn, toward),
            Step::Assistant { turns, calls } => {
                let ids = thread.calls.get(calls.clone()).unwrap_or_default();
                let ids: Vec<&str> = ids.iter().map(|paired| paired.id.as_ref()).collect();
                assistant(messages, turns, &ids, shipment, toward);
            }
            Step::Results(order) => results(messages, order, &thread, toward),
            Step::User { turn, fates } => {
                let fates = thread.fates.get(fates.clone()).unwrap_or_default();
                user(messages, turn, fates, toward);
            }
        }
    }
    if let Some(Step::Assistant { turns, calls }) = steps.last()
        && calls.is_empty()
        && !toward.profile.prefill
        && let Some(turn) = turns.last()
    {
        toward.ledger.degraded(turn.at, Code::Prefill);
    }
}

/// Reports what a turn of another protocol has beside its items.
fn turn_losses(turn: &Turn<'_>, toward: &mut Toward<'_>) {
    let Turn { at: _, role: _, slot: _, items: _, id, name, status, phase, extra } = turn;
    let members = [
        (id, Code::ItemId),
        (name, Code::MessageName),
        (status, Code::Status),
        (phase, Code::Phase),
    ];
    for (member, code) in members {
        if let Some(member) = member {
            toward.ledger.dropped(member.pos(), code).info();
        }
    }
    toward.ledger.only(extra);
}

fn system(messages: &mut Array<'_>, turn: &Turn<'_>, toward: &mut Toward<'_>) {
    let spoken = Spoken::of(std::iter::once(turn), toward);
    turn_losses(turn, toward);
    if spoken.parts.is_empty() {
        return;
    }
    let developer = toward.profile.developer_role;
    let role = match (&turn.role, turn.slot) {
        (_, Slot::Top) => {
            if developer {
                "developer"
            } else {
                "system"
            }
        }
        (Role::Developer, Slot::Inline) if !developer => {
            toward.ledger.degraded(turn.at, Code::DeveloperRole).info();
            "system"
        }
        (Role::Developer, Slot::Inline) => "developer",
        (Role::System | Role::User | Role::Assistant | Role::Other(_), Slot::Inline) => "system",
    };
    let mut object = messages.object();
    object.put("role", role);
    write_content(&mut object, &spoken.parts, toward);
}

fn assistant(
    messages: &mut Array<'_>,
    turns: &[&Turn<'_>],
    ids: &[&str],
    shipment: &Shipment<'_, '_, '_>,
    toward: &mut Toward<'_>,
) {
    let Spoken { parts, refusal, audio, calls, reasoning } =
        Spoken::of(turns.iter().copied(), toward);
    let mut spoke = false;
    for turn in turns {
        turn_losses(turn, toward);
        let speaks = turn.items.iter().any(|item| matches!(item, Item::Text(_)));
        if speaks && spoke {
            toward.ledger.degraded(turn.at, Code::MessageBoundary).info();
        }
        spoke |= speaks;
    }
    if let Some(audio) = audio {
        toward.ledger.dropped(audio.at, Code::Audio);
    }
    if parts.is_empty() && calls.is_empty() && refusal.is_none() {
        // Reasoning alone is no message; what becomes of it is reported.
        let mut nowhere = Vec::new();
        return reasoning::write_upstream(&mut Object::new(&mut nowhere), &reasoning, toward);
    }
    let mut object = messages.object();
    object.put("role", "assistant");
    if parts.is_empty() {
        object.put("content", &());
    } else {
        write_content(&mut object, &parts, toward);
    }
    if let Some(Refusal { at: _, text, extra }) = refusal {
        object.put("refusal", text);
        toward.ledger.only(extra);
    }
    reasoning::write_upstream(&mut object, &reasoning, toward);
    if !calls.is_empty() {
        let mut array = object.array("tool_calls");
        for (call, id) in calls.iter().zip(ids) {
            write_call(&mut array.object(), call, id, shipment, toward);
        }
    }
}

fn write_call(
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

/// Writes the results of one step, and behind all of them the media that Chat
/// does not take in results. vectors/result-image
fn results(
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
            Some(result) => write_result(result, out, &mut media, toward),
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
            content::write_part(&mut parts, item, toward);
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
    let ToolResult { at: _, call_id: _, name, namespace, kind, content, is_error, cache, extra } =
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
            content::text_losses(text, toward);
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

fn user(messages: &mut Array<'_>, turn: &Turn<'_>, fates: &[Fate], toward: &mut Toward<'_>) {
    turn_losses(turn, toward);
    if let Role::Other(word) = &turn.role {
        toward.ledger.degraded(word.pos(), Code::Role);
    }
    let mut fates = fates.iter();
    let mut pieces = Vec::with_capacity(turn.items.len());
    let mut silent = !turn.items.is_empty();
    for item in &turn.items {
        if let Item::Result(result) = item {
            if fates.next() == Some(&Fate::Orphan) {
                pieces.push(Piece::Orphan(result));
            }
            continue;
        }
        silent &= matches!(item, Item::Tools(_));
        match item {
            Item::Reasoning(reasoning) => {
                toward.ledger.dropped(reasoning.at, Code::UnknownItem);
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
                if crosses(item, toward) {
                    pieces.push(Piece::Item(item));
                }
            }
        }
    }
    if pieces.is_empty() && silent {
        return;
    }
    let mut object = messages.object();
    object.put("role", "user");
    if pieces.is_empty() {
        if !turn.items.is_empty() {
            toward.ledger.degraded(turn.at, Code::Placeholder).info();
        }
        return object.put("content", "");
    }
    if let [Piece::Item(item)] = pieces.as_slice() {
        return write_content(&mut object, &[item], toward);
    }
    let mut parts = object.array("content");
    for piece in &pieces {
        match piece {
            Piece::Item(item) => content::write_part(&mut parts, item, toward),
            Piece::Orphan(result) => orphan(&mut parts, result, toward),
        }
    }
}

/// A piece of what the user said.
enum Piece<'r, 'a> {
    Item(&'r Item<'a>),
    /// A result that answers no call.
    Orphan(&'r ToolResult<'a>),
}

/// Writes a result that answers no call as text, with its media behind it.
fn orphan(parts: &mut Array<'_>, result: &ToolResult<'_>, toward: &mut Toward<'_>) {
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
        content::write_part(parts, item, toward);
    }
}
