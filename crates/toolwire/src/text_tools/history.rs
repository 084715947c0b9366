//! A conversation with its calls and results as text.

use std::borrow::Cow;

use super::Dialect;
use super::dialect::quoted;
use super::escape::escape_text;
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call, Item, Role, Text, ToolResult, Turn};
use crate::native;
use crate::profile::Profile;
use crate::restore::{ArgumentShape, Restore, unwrap_raw};
use crate::thread::{ResultMatch, Step, Thread};
use crate::wire::names::Names;
use crate::wire::{Pos, Raw, Str};

/// Writes the calls and results of a conversation.
pub(super) struct HistoryWriter<'h> {
    pub(super) dialect: Dialect,
    pub(super) names: &'h Names,
    pub(super) restore: &'h Restore,
    pub(super) profile: &'h Profile,
}

impl HistoryWriter<'_> {
    /// The turns of a conversation, without calls and results.
    pub(super) fn rewrite<'a>(
        &self,
        turns: &[Turn<'a>],
        ledger: &mut Ledger,
        thread: &Thread<'_, 'a>,
    ) -> Vec<Turn<'a>> {
        let mut written: Vec<Turn<'a>> = Vec::with_capacity(turns.len());
        // Results that wait for what the user says beside them, so that nobody
        // speaks twice in a row.
        let mut results: Vec<Item<'a>> = Vec::new();
        for step in thread.steps(turns, ledger) {
            if !matches!(step, Step::User { .. }) && !results.is_empty() {
                written.push(Turn::new(Pos::NONE, Role::User, std::mem::take(&mut results)));
            }
            match step {
                Step::System(turn) => written.push(turn.clone()),
                Step::Assistant { turns, calls: _ } => {
                    let mut turns = turns.into_iter();
                    let Some(first) = turns.next() else { continue };
                    let mut turn = Turn { role: Role::Assistant, ..first.clone() };
                    turn.items.extend(turns.flat_map(|turn| turn.items.iter().cloned()));
                    turn.items = self.without_calls(turn.items, ledger);
                    written.push(turn);
                }
                Step::Results(order) => {
                    for paired in order.iter().filter_map(|&index| thread.calls.get(index)) {
                        self.push_result(paired.call, paired.result, &mut results, ledger);
                    }
                }
                Step::User { turn, fates } if results.is_empty() && fates.is_empty() => {
                    written.push(turn.clone());
                }
                Step::User { turn, fates } => {
                    let mut fates = thread.fates.get(fates).unwrap_or_default().iter();
                    let mut turn = turn.clone();
                    let items = std::mem::take(&mut results);
                    let own = std::mem::replace(&mut turn.items, items);
                    for item in own {
                        let Item::Result(result) = &item else {
                            push(&mut turn.items, item);
                            continue;
                        };
                        if fates.next() == Some(&ResultMatch::Orphan) {
                            ledger.degraded(result.at, Code::OrphanResult);
                            self.push_orphan(result, &mut turn.items, ledger);
                        }
                    }
                    written.push(turn);
                }
            }
        }
        if !results.is_empty() {
            written.push(Turn::new(Pos::NONE, Role::User, results));
        }
        written
    }

    /// The items of a model's turn, with neighbouring calls as one text.
    fn without_calls<'a>(&self, items: Vec<Item<'a>>, ledger: &mut Ledger) -> Vec<Item<'a>> {
        let mut kept = Vec::with_capacity(items.len());
        let mut calls: Vec<(String, String)> = Vec::new();
        for item in items {
            if let Item::Call(call) = &item {
                calls.push(self.call(call, ledger));
                continue;
            }
            self.push_calls(&mut calls, &mut kept);
            push(&mut kept, item);
        }
        self.push_calls(&mut calls, &mut kept);
        kept
    }

    fn push_calls(&self, calls: &mut Vec<(String, String)>, items: &mut Vec<Item<'_>>) {
        if calls.is_empty() {
            return;
        }
        let mut text = String::new();
        let pairs = calls.iter().map(|(name, arguments)| (name.as_str(), arguments.as_str()));
        self.dialect.write_calls(pairs, &mut text);
        calls.clear();
        push(items, Item::Text(Text::new(Str::plain(text))));
    }

    /// A call's name and arguments as the model knows them.
    fn call(&self, call: &Call<'_>, ledger: &mut Ledger) -> (String, String) {
        let Call { at, id: _, name, namespace, arguments, caller, cache, extra } = call;
        let own = name.decode();
        let space = namespace.as_ref().map(Str::decode);
        let wire = self.names.wire(space.as_deref(), &own).into_owned();
        ledger.lost(caller, Code::ProgrammaticCallers);
        ledger.lost_info(cache, Code::CacheBreakpoint);
        ledger.only(extra);
        let json = match arguments {
            Arguments::Text(_) | Arguments::Json(_) => {
                let unwrapped = unwrap_raw(arguments);
                let text = unwrapped.unwrap_or_else(|| arguments.clone().into_text());
                match text.decode().as_ref() {
                    // No text at all stands for an empty object.
                    blank if blank.trim().is_empty() => "{}".to_owned(),
                    text => as_json(text).into_owned(),
                }
            }
            Arguments::Freeform(text) => format!("{{\"input\": {}}}", quoted(&text.decode())),
            Arguments::Native(kind, action) => {
                native::arguments(*kind, action).into_text().into_owned()
            }
        };
        let is_wrapped = self
            .restore
            .original(&wire)
            .is_some_and(|original| original.shape == ArgumentShape::Wrapped);
        if is_wrapped {
            ledger.emulated(*at, Code::SchemaRootWrapped);
            return (wire, format!("{{\"value\": {json}}}"));
        }
        (wire, json)
    }

    fn push_result<'a>(
        &self,
        call: &Call<'_>,
        result: Option<&ToolResult<'a>>,
        items: &mut Vec<Item<'a>>,
        ledger: &mut Ledger,
    ) {
        let space = call.namespace.as_ref().map(Str::decode);
        let own = call.name.decode();
        let name = self.names.wire(space.as_deref(), &own);
        let mut media = Vec::new();
        let content = match result {
            Some(result) => self.result_text(result, &mut media, ledger),
            None => format!("{}no result supplied", self.profile.error_prefix),
        };
        let mut text = String::new();
        self.dialect.write_result(&name, &as_json(&content), &mut text);
        push(items, Item::Text(Text::new(Str::plain(text))));
        for item in media {
            push(items, item);
        }
    }

    /// A result that answers no call is something that the user says.
    fn push_orphan<'a>(
        &self,
        result: &ToolResult<'a>,
        items: &mut Vec<Item<'a>>,
        ledger: &mut Ledger,
    ) {
        let mut media = Vec::new();
        let content = self.result_text(result, &mut media, ledger);
        let id = result.call_id.as_ref().or(result.name.as_ref()).map(Str::decode);
        let text = format!("[result of call {}] {content}", id.unwrap_or_default());
        push(items, Item::Text(Text::new(Str::plain(escape_text(&text).into_owned()))));
        for item in media {
            push(items, item);
        }
    }

    /// What a result says, and what of it is no text.
    fn result_text<'a>(
        &self,
        result: &ToolResult<'a>,
        media: &mut Vec<Item<'a>>,
        ledger: &mut Ledger,
    ) -> String {
        let ToolResult {
            at: _,
            call_id: _,
            name: _,
            namespace: _,
            kind: _,
            content,
            is_error,
            cache,
            extra,
        } = result;
        ledger.lost_info(cache, Code::CacheBreakpoint);
        ledger.only(extra);
        let mut text = String::new();
        if let Some(failed) = is_error {
            if failed.value {
                text.push_str(self.profile.error_prefix);
            }
            ledger.degraded(failed.pos, Code::IsError).info();
        }
        if let Some(native) = native::result_text(result) {
            text.push_str(&native);
            return text;
        }
        let start = text.len();
        for item in content {
            if text.len() > start {
                text.push('\n');
            }
            self.item_text(item, &mut text, media, ledger);
        }
        text
    }

    fn item_text<'a>(
        &self,
        item: &Item<'a>,
        text: &mut String,
        media: &mut Vec<Item<'a>>,
        ledger: &mut Ledger,
    ) {
        match item {
            Item::Text(part) => {
                text.push_str(&part.text.decode());
                ledger.lost_info(&part.cache, Code::CacheBreakpoint);
                ledger.lost(&part.citations, Code::Citations);
                ledger.only(&part.extra);
            }
            Item::Json(raw) => text.push_str(raw.text()),
            Item::Refusal(refusal) => text.push_str(&refusal.text.decode()),
            Item::SearchResult(found) => {
                text.push_str(&found.heading());
                for item in &found.content {
                    text.push('\n');
                    self.item_text(item, text, media, ledger);
                }
                ledger.lost_info(&found.cache, Code::CacheBreakpoint);
                ledger.lost(&found.citations, Code::Citations);
                ledger.only(&found.extra);
            }
            Item::Tools(tools) => {
                let names: Vec<_> = tools.iter().map(|tool| tool.name.decode()).collect();
                text.push_str(&format!("Loaded tools: {}", names.join(", ")));
            }
            Item::ToolReference(name) => {
                text.push_str(&format!("Loaded tools: {}", name.value.decode()));
            }
            Item::Image(_) | Item::Document(_) | Item::Audio(_) => {
                let (at, _) = item.loss();
                media.push(item.clone());
                ledger.moved(at, Code::ResultMediaMoved);
                text.push_str(&format!("[attachment {} below]", media.len()));
            }
            Item::Reasoning(_)
            | Item::Hosted(_)
            | Item::Call(_)
            | Item::Result(_)
            | Item::Opaque(_) => {
                ledger.misplaced(item);
            }
        }
    }
}

/// Adds an item. Text that is made here joins its neighbour, because many servers
/// take a message as one string only.
pub(super) fn push<'a>(items: &mut Vec<Item<'a>>, item: Item<'a>) {
    if let (Some(Item::Text(last)), Item::Text(next)) = (items.last_mut(), &item)
        && last.is_bare()
        && next.is_bare()
        && (last.at == Pos::NONE || next.at == Pos::NONE)
    {
        let pos = last.text.pos();
        let mut joined =
            std::mem::replace(&mut last.text, Str::plain("")).into_decoded().into_owned();
        if !joined.is_empty() && !joined.ends_with('\n') {
            joined.push('\n');
        }
        joined.push_str(&next.text.decode());
        last.text = Str::plain(joined).at(pos);
        return;
    }
    items.push(item);
}

/// The text itself if it is a JSON object or list, and a JSON string otherwise.
fn as_json(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let is_json = trimmed.starts_with(['{', '[']) && Raw::parse(trimmed).is_ok();
    if is_json { Cow::Borrowed(trimmed) } else { Cow::Owned(quoted(text)) }
}
