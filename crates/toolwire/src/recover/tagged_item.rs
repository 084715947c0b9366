//! Calls whose arguments stand between tags, as raw text:
//!
//! ```text
//! <function=NAME><parameter=KEY>VALUE</parameter></function>
//! <invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>
//! NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>
//! ```
//!
//! Nothing in a value is escaped, so what ends it is told apart from the same
//! characters in the text by what follows.

use super::arguments::Arguments;
use super::call::{Call, Ending, Output};
use super::markers::LEAD;
use super::named_item::NamedItem;
use super::nested::nested;
use super::raw_end::{EndFinder, Found, LONGEST_GAP, LONGEST_KEY, gap};
use super::raw_value::{RawValue, Strips};
use super::tags::{OpenTag, Style, open_tag};
use super::text::{beginning, from, may_become, upto};
use super::{Event, Sink, Step};

/// Reads the arguments of one call.
#[derive(Clone, Debug)]
pub(super) struct TaggedItem {
    style: Style,
    call: Call,
    arguments: Arguments,
    /// What closes the call. Empty if the block does.
    closing: String,
    state: TaggedState,
    /// Arguments that are JSON after all.
    json: Option<NamedItem>,
    is_closed: bool,
    /// Whether the block around it was closed.
    is_ended: bool,
    /// Whether the text ended inside a tag that begins a member.
    is_cut: bool,
}

#[derive(Clone, Debug)]
enum TaggedState {
    /// Between the members.
    Between,
    /// In the key of a member; what closes it.
    Key(String),
    /// Before the value whose key was read.
    BeforeValue,
    Value(RawValue),
}

impl TaggedItem {
    /// A call that begins with a tag.
    pub(super) fn new(style: Style, tag: &OpenTag, out: &mut Output<'_>) -> Self {
        let closing = format!("{}{}{}", style.close, tag.word, style.end);
        let item = Self::with(style, tag.name.as_deref().unwrap_or_default(), closing, out);
        Self { is_closed: tag.is_empty, ..item }
    }

    /// A call that begins with its bare name.
    pub(super) fn bare(name: &str, out: &mut Output<'_>) -> Self {
        Self::with(Style::plain(), name, String::new(), out)
    }

    fn with(style: Style, name: &str, closing: String, out: &mut Output<'_>) -> Self {
        let mut call = Call::default();
        call.set_name(name, out);
        Self {
            style,
            call,
            arguments: Arguments::members(),
            closing,
            state: TaggedState::Between,
            json: None,
            is_closed: false,
            is_ended: false,
            is_cut: false,
        }
    }

    pub(super) fn step(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Step) {
        let mut at = 0;
        let step = loop {
            let (length, step) = self.advance(from(text, at), end, out);
            at += length;
            if let Some(step) = step {
                break step;
            }
        };
        self.call.flush(out);
        (at, step)
    }

    /// Hands on the bytes that the text begins with, if they are the middle of a value.
    /// How many there are.
    pub(super) fn pass_on(&mut self, text: &str, sink: &mut dyn Sink) -> usize {
        let Self { style, call, arguments, closing, state, json, .. } = self;
        if let Some(json) = json {
            let strict = json.strict_run(text);
            if strict > 0 {
                sink.event(Event::Arguments(upto(text, strict)));
            }
            return strict;
        }
        let TaggedState::Value(value) = state else { return 0 };
        if !(value.passes() && call.passes() && arguments.passes_raw()) {
            return 0;
        }
        let finder = EndFinder { style, closing, arguments };
        if text.len() <= SHORT && finder.is_plain(value, text) {
            sink.event(Event::Arguments(text));
            return text.len();
        }
        let (Found::End(length, _) | Found::More(length)) =
            finder.pass_on(value, text, false, &mut call.pending);
        call.hand_on(sink);
        length
    }

    /// The call has been closed, or the text has ended.
    pub(super) fn finish(mut self, out: &mut Output<'_>) -> bool {
        if let Some(json) = self.json {
            return json.finish(out);
        }
        let ending = match (self.is_closed, &self.state) {
            (true, _) => Ending::Closed,
            (false, _) if self.is_cut => Ending::Cut,
            // A name alone may be followed by anything.
            (false, TaggedState::Between) if self.arguments.is_empty() && !self.is_ended => {
                Ending::Cut
            }
            (false, TaggedState::Between) => Ending::Open,
            (false, TaggedState::Key(_) | TaggedState::BeforeValue | TaggedState::Value(_)) => {
                Ending::Cut
            }
        };
        self.call.flush(out);
        self.call.end(Some(self.arguments), ending, out)
    }

    /// One step. `None` if it can go on at once.
    fn advance(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Option<Step>) {
        if let Some(json) = &mut self.json {
            let (length, step) = json.step(text, end, out);
            return (length, Some(step));
        }
        if self.is_closed {
            return (0, Some(Step::Done));
        }
        match &mut self.state {
            TaggedState::Between => self.between(text, end, out),
            TaggedState::Key(closing) => {
                match beginning(text, LONGEST_KEY).find(closing.as_str()) {
                    Some(at) => {
                        let length = at + closing.len();
                        self.state = TaggedState::BeforeValue;
                        self.arguments.set_raw_key(upto(text, at).trim());
                        (length, None)
                    }
                    None => (0, Some(wait(text, LONGEST_KEY, end))),
                }
            }
            TaggedState::BeforeValue => self.before_value(text, end, out),
            TaggedState::Value(_) => self.value(text, end, out),
        }
    }

    fn between(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Option<Step>) {
        let skip = gap(text);
        let rest = from(text, skip);
        // White space behind the last member is the call's only if it goes on.
        if rest.is_empty() || rest == "\\" || skip >= LONGEST_GAP {
            return (0, Some(wait(text, LONGEST_GAP, end)));
        }
        if !self.closing.is_empty() && rest.starts_with(&self.closing) {
            self.is_closed = true;
            return (skip + self.closing.len(), Some(Step::Done));
        }
        if self.arguments.is_empty() && rest.starts_with('{') {
            self.json = Some(NamedItem::of(std::mem::take(&mut self.call)));
            return (skip, None);
        }
        if !end && may_become(rest, &self.closing) {
            return (0, Some(Step::More));
        }
        if rest.starts_with(&self.style.close) {
            // Closed by the block around it. A call that has a tag of its own
            // has forgotten it.
            self.is_closed = self.closing.is_empty();
            self.is_ended = true;
            let is_escaped = upto(text, skip).contains('\\');
            return (if is_escaped { skip } else { 0 }, Some(Step::Done));
        }
        let more =
            !end && (may_become(rest, &self.style.open) || may_become(rest, &self.style.close));
        if more {
            return (0, Some(Step::More));
        }
        self.is_cut = may_become(rest, &self.style.open);
        match open_tag(&self.style, beginning(rest, LONGEST_KEY)) {
            Ok(Some(tag)) if tag.word.starts_with("arg_key") => {
                let closing = format!("{}{}{}", self.style.close, tag.word, self.style.end);
                self.state = TaggedState::Key(closing);
                (skip + tag.length, None)
            }
            Ok(Some(tag)) => match self.member(&tag, out) {
                Some(key) => {
                    let is_text = tag.is_text;
                    self.open_value(&key, &tag.word, is_text, out);
                    (skip + tag.length, None)
                }
                None => (0, Some(Step::Stop)),
            },
            Ok(None) => (0, Some(Step::Stop)),
            Err(()) => {
                self.is_cut = end;
                (0, Some(wait(rest, LONGEST_KEY, end)))
            }
        }
    }

    /// The name of the member that a tag begins.
    fn member(&self, tag: &OpenTag, out: &Output<'_>) -> Option<String> {
        match &*tag.word {
            // One that has no name is meant for the only one that lacks a value.
            "parameter" | "param" | "argument" | "arg" => tag.name.clone().or_else(|| {
                let schema = self.call.schema(out.tools)?;
                self.arguments.only_missing(schema).map(str::to_owned)
            }),
            // MiniMax's tags are the names themselves.
            word if self.style.open.starts_with(LEAD) => Some(word.to_owned()),
            _ => None,
        }
    }

    fn before_value(
        &mut self,
        text: &str,
        end: bool,
        out: &mut Output<'_>,
    ) -> (usize, Option<Step>) {
        let skip = gap(text);
        let rest = from(text, skip);
        if rest.is_empty() || rest == "\\" || skip >= LONGEST_GAP {
            return (0, Some(wait(text, LONGEST_GAP, end)));
        }
        if !end && may_become(rest, "<arg_value") {
            return (0, Some(Step::More));
        }
        match open_tag(&self.style, beginning(rest, LONGEST_KEY)) {
            Ok(Some(tag)) if tag.word.starts_with("arg_value") => {
                let key = self.arguments.raw_key().to_owned();
                self.open_value(&key, &tag.word, None, out);
                (skip + tag.length, None)
            }
            // A key without a value.
            Ok(Some(tag)) if tag.word.starts_with("arg_key") => self.drop_key(),
            Ok(None) if rest.starts_with(&self.style.close) => self.drop_key(),
            Err(()) => (0, Some(wait(rest, LONGEST_KEY, end))),
            Ok(_) => (0, Some(Step::Stop)),
        }
    }

    fn drop_key(&mut self) -> (usize, Option<Step>) {
        self.call.repaired = true;
        self.state = TaggedState::Between;
        (0, None)
    }

    fn open_value(&mut self, key: &str, word: &str, is_text: Option<bool>, out: &mut Output<'_>) {
        let Some(schema) = self.call.schema(out.tools) else { return };
        let streams = self.arguments.open_raw(key, schema, &mut self.call.pending);
        let closing = format!("{}{word}{}", self.style.close, self.style.end);
        let strips = match self.closing.ends_with("function>") {
            true if out.dialect == "seed_oss" => Strips::Pairs,
            true => Strips::Both,
            false => Strips::Nothing,
        };
        self.state = TaggedState::Value(RawValue::new(closing, streams, is_text, strips));
    }

    fn value(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Option<Step>) {
        let Self { style, call, arguments, closing, state, .. } = self;
        let TaggedState::Value(value) = state else { return (0, Some(Step::Stop)) };
        let Some(start) = value.skip_start(text, end) else { return (0, Some(Step::More)) };
        if !value.has_begun() {
            return (start, Some(Step::More));
        }
        let rest = from(text, start);
        let finder = EndFinder { style, closing, arguments };
        let passes = value.passes() && arguments.passes_raw();
        let found = match passes {
            true => finder.pass_on(value, rest, end, &mut call.pending),
            false => finder.keep(value, rest, end, &mut call.pending),
        };
        let (length, closing) = match found {
            Found::End(at, closing) => (at, Some(closing)),
            Found::More(at) => (at, None),
        };
        let Some(closing) = closing else { return (start + length, Some(Step::More)) };
        if let Some(schema) = call.schema(out.tools) {
            match value.streams {
                true => arguments.close_raw(&mut call.pending),
                false => {
                    let text = structured(style, &value.kept);
                    arguments.put_raw(&text, value.is_text, schema, &mut call.pending);
                }
            }
        }
        self.state = TaggedState::Between;
        (start + length + closing, None)
    }
}

/// The text of a value, whose own tags, if it has any, are members.
fn structured(style: &Style, text: &str) -> String {
    match style.open.starts_with(LEAD) && text.trim_start().starts_with(&style.open) {
        true => nested(style, text, 0),
        false => text.to_owned(),
    }
}

/// Waits for more text, up to a length.
fn wait(text: &str, longest: usize, end: bool) -> Step {
    if end || text.len() >= longest { Step::Stop } else { Step::More }
}
/// A text of this length is tested for being passed on as it is.
const SHORT: usize = 24;
