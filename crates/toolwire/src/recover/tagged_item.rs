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

use super::Step;
use super::arguments::Arguments;
use super::call::{Call, Ending, Output};
use super::lexer::white;
use super::markers::LEAD;
use super::named_item::NamedItem;
use super::nested::nested;
use super::raw_value::{RawValue, Strips};
use super::tags::{OpenTag, Style, open_tag};
use super::text::{beginning, from, length_without, may_become, push_escaped, upto};

/// Reads the arguments of one call.
#[derive(Clone, Debug)]
pub(super) struct TaggedItem {
    style: Style,
    call: Call,
    arguments: Arguments,
    /// What closes the call. Empty if the block does.
    closing: String,
    place: Place,
    /// Arguments that are JSON after all.
    json: Option<NamedItem>,
    is_closed: bool,
    /// Whether the block around it was closed.
    is_ended: bool,
}

#[derive(Clone, Debug)]
enum Place {
    /// Between the members.
    Between,
    /// In the key of a member; what closes it.
    Key(String),
    /// Before the value whose key was read.
    BeforeValue,
    Value(RawValue),
}

/// Where a value ends.
enum Found {
    /// At this byte; the closing tag is this long.
    End(usize, usize),
    /// Not before this byte, from which on more text is needed.
    More(usize),
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
            place: Place::Between,
            json: None,
            is_closed: false,
            is_ended: false,
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

    /// How many bytes the text begins with that are arguments as they are.
    pub(super) fn strict_run(&self, text: &str) -> usize {
        match (&self.json, &self.place) {
            (Some(json), _) => json.strict_run(text),
            (None, Place::Value(value)) if value.passes() => {
                // What needs care is read together with what is around it, and some of
                // a long text does.
                let passes =
                    text.len() <= SHORT && self.call.passes() && self.arguments.passes_raw();
                let first = self.style.first();
                let all = passes && length_without([b'"', b'\\', first], text) == text.len();
                if all { text.len() } else { 0 }
            }
            (None, _) => 0,
        }
    }

    /// The call has been closed, or the text has ended.
    pub(super) fn finish(mut self, out: &mut Output<'_>) -> bool {
        if let Some(json) = self.json {
            return json.finish(out);
        }
        let ending = match (self.is_closed, &self.place) {
            (true, _) => Ending::Closed,
            // A name alone may be followed by anything.
            (false, Place::Between) if self.arguments.is_empty() && !self.is_ended => Ending::Cut,
            (false, Place::Between) => Ending::Open,
            (false, Place::Key(_) | Place::BeforeValue | Place::Value(_)) => Ending::Cut,
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
        match &mut self.place {
            Place::Between => self.between(text, end, out),
            Place::Key(closing) => match beginning(text, LONGEST_KEY).find(closing.as_str()) {
                Some(at) => {
                    let length = at + closing.len();
                    self.place = Place::BeforeValue;
                    self.arguments.set_raw_key(upto(text, at).trim());
                    (length, None)
                }
                None => (0, Some(wait(text, LONGEST_KEY, end))),
            },
            Place::BeforeValue => self.before_value(text, end, out),
            Place::Value(_) => self.value(text, end, out),
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
        match open_tag(&self.style, beginning(rest, LONGEST_KEY)) {
            Ok(Some(tag)) if tag.word.starts_with("arg_key") => {
                let closing = format!("{}{}{}", self.style.close, tag.word, self.style.end);
                self.place = Place::Key(closing);
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
            Err(()) => (0, Some(wait(rest, LONGEST_KEY, end))),
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
        self.place = Place::Between;
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
        self.place = Place::Value(RawValue::new(closing, streams, is_text, strips));
    }

    fn value(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Option<Step>) {
        let Self { style, call, arguments, closing, place, .. } = self;
        let Place::Value(value) = place else { return (0, Some(Step::Stop)) };
        let Some(start) = value.skip_start(text, end) else { return (0, Some(Step::More)) };
        if !value.has_begun() {
            return (start, Some(Step::More));
        }
        let rest = from(text, start);
        let ends = Ends { style, closing, arguments };
        // A long text is searched for its end first, which is faster.
        let passes = value.streams && !value.is_cdata && arguments.passes_raw();
        let found = match passes && rest.len() <= SHORT {
            true => ends.pass_on(value, rest, end, &mut call.pending),
            false => ends.keep(value, rest, end, &mut call.pending),
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
        self.place = Place::Between;
        (start + length + closing, None)
    }
}

/// Whether a value ends.
enum Check {
    /// It does; the closing tag is this long.
    End(usize),
    Text,
    More,
}

/// What ends a value.
struct Ends<'i> {
    style: &'i Style,
    /// What closes the call.
    closing: &'i str,
    arguments: &'i Arguments,
}

impl Ends<'_> {
    /// Passes a text on, up to its end.
    fn pass_on(&self, value: &mut RawValue, text: &str, end: bool, pending: &mut String) -> Found {
        let first = self.style.first();
        let mut at = 0;
        loop {
            let plain = length_without([b'"', b'\\', first], from(text, at));
            if plain > 0 {
                value.end_line_break(pending);
                pending.push_str(text.get(at..at + plain).unwrap_or_default());
                at += plain;
            }
            let Some(byte) = text.as_bytes().get(at) else { return Found::More(at) };
            if *byte == first {
                match self.check(value, from(text, at), value.ends_line, end) {
                    Check::End(closing) => return Found::End(at, closing),
                    Check::More => return Found::More(at),
                    Check::Text => {}
                }
            }
            match value.line_break(from(text, at), end) {
                Some(0) => return Found::More(at),
                Some(length) => {
                    value.begin_line_break(upto(from(text, at), length), pending);
                    at += length;
                }
                None => {
                    value.end_line_break(pending);
                    push_escaped(char::from(*byte), pending);
                    at += 1;
                }
            }
        }
    }

    /// Passes a text on or keeps a value, up to its end. One that came before is left
    /// out.
    fn keep(&self, value: &mut RawValue, text: &str, end: bool, pending: &mut String) -> Found {
        let found = self.find(value, text, end);
        let (length, is_last) = match found {
            Found::End(at, _) => (at, true),
            Found::More(at) => (at, false),
        };
        let text = upto(text, length);
        if !text.is_empty() {
            value.ends_line = text.ends_with('\n');
        }
        for part in value.piece(text, is_last) {
            match value.streams {
                true => self.arguments.raw_piece(part, pending),
                false => value.kept.push_str(part),
            }
        }
        found
    }

    /// Where the value ends in the text.
    fn find(&self, value: &RawValue, text: &str, end: bool) -> Found {
        if value.is_cdata {
            return match value.cdata_end(text, end) {
                Ok((at, closing)) => Found::End(at, closing),
                Err(at) => Found::More(at),
            };
        }
        for at in memchr::memchr_iter(self.style.first(), text.as_bytes()) {
            let line = match at.checked_sub(1) {
                Some(before) => text.as_bytes().get(before) == Some(&b'\n'),
                None => value.ends_line,
            };
            match self.check(value, from(text, at), line, end) {
                Check::End(closing) => return Found::End(at, closing),
                Check::More => return Found::More(at),
                Check::Text => {}
            }
        }
        // The line break before a closing tag may not be whole.
        let half = !end && text.ends_with('\r');
        Found::More(text.len() - usize::from(half))
    }

    /// Whether the value ends where the text begins. `line` says that a line begins
    /// there.
    fn check(&self, value: &RawValue, text: &str, line: bool, end: bool) -> Check {
        let second = text.as_bytes().get(1);
        if !line && second.is_some() && second != self.style.close.as_bytes().get(1) {
            return Check::Text;
        }
        let closings = [(value.closing.as_str(), value.closing.len()), (self.closing, 0)];
        for (closing, length) in closings {
            if !closing.is_empty() && text.starts_with(closing) {
                return match self.goes_on(from(text, closing.len()), end) {
                    Some(true) => Check::End(length),
                    Some(false) => Check::Text,
                    None => Check::More,
                };
            }
        }
        if line && text.starts_with(&self.style.open) {
            match open_tag(self.style, beginning(text, LONGEST_KEY)) {
                Ok(Some(tag)) if self.is_next_member(&tag) => return Check::End(0),
                Err(()) if !end && text.len() < LONGEST_KEY => return Check::More,
                Ok(_) | Err(()) => return Check::Text,
            }
        }
        let more = !end
            && (may_become(text, &value.closing)
                || may_become(text, self.closing)
                || (line && may_become(text, &self.style.open)));
        if more { Check::More } else { Check::Text }
    }

    /// Whether a member that has not been given begins with the tag.
    fn is_next_member(&self, tag: &OpenTag) -> bool {
        matches!(&*tag.word, "parameter" | "param")
            && tag.name.as_deref().is_some_and(|name| self.arguments.lacks(name))
    }

    /// Whether the text behind a closing tag is what may follow it: another tag or
    /// the end.
    fn goes_on(&self, text: &str, end: bool) -> Option<bool> {
        let rest = from(text, gap(text));
        if text.len() - rest.len() >= LONGEST_GAP {
            return Some(true);
        }
        if rest.is_empty() || (rest == "\\" && !end) {
            return end.then_some(true);
        }
        let follows = ["<", LEAD, "```"];
        if follows.iter().any(|mark| rest.starts_with(mark)) {
            return Some(true);
        }
        (end || !follows.iter().any(|mark| may_become(rest, mark))).then_some(false)
    }
}

/// The text of a value, whose own tags, if it has any, are members.
fn structured(style: &Style, text: &str) -> String {
    match style.open.starts_with(LEAD) && text.trim_start().starts_with(&style.open) {
        true => nested(style, text, 0),
        false => text.to_owned(),
    }
}

/// How much white space the text begins with. Some templates escape their line
/// breaks.
fn gap(text: &str) -> usize {
    let mut at = white(text);
    while from(text, at).starts_with("\\n") {
        at += 2;
        at += white(from(text, at));
    }
    at
}

/// Waits for more text, up to a length.
fn wait(text: &str, longest: usize, end: bool) -> Step {
    if end || text.len() >= longest { Step::Stop } else { Step::More }
}

const SHORT: usize = 24;
const LONGEST_KEY: usize = 512;
const LONGEST_GAP: usize = 256;
