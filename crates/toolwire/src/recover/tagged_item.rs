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
use super::lexer::white;
use super::markers::LEAD;
use super::named_item::NamedItem;
use super::tags::{OpenTag, Style, open_tag};
use super::text::{beginning, from, length_without, may_become, upto};
use super::{Step, align};

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
    Value(Value),
}

/// A value that is being read.
#[derive(Clone, Debug)]
struct Value {
    /// The tag that closes it.
    closing: String,
    /// Whether the text goes on as it comes. Else it is kept.
    streams: bool,
    is_text: Option<bool>,
    kept: String,
    /// Whether nothing of it has been read.
    at_start: bool,
    /// Whether what was read of it ends with a line break.
    ends_line: bool,
    /// Line breaks that end the text so far. The last may belong to the tag.
    line_break: &'static str,
    /// Whether one line break on each side belongs to the tags.
    strips: bool,
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
        Self::with(style, tag.name.as_deref().unwrap_or_default(), closing, out)
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
                let passes = self.call.passes() && self.arguments.passes_raw();
                if passes { length_without(NEED_CARE, text) } else { 0 }
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
        let skip = white(text);
        let rest = from(text, skip);
        // White space behind the last member is the call's only if it goes on.
        if rest.is_empty() || skip >= LONGEST_GAP {
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
            return (0, Some(Step::Done));
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
            Ok(Some(tag)) => match self.member(&tag) {
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
    fn member(&self, tag: &OpenTag) -> Option<String> {
        match &*tag.word {
            "parameter" | "param" | "argument" | "arg" => tag.name.clone(),
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
        let skip = white(text);
        let rest = from(text, skip);
        if rest.is_empty() || skip >= LONGEST_GAP {
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
            Err(()) => (0, Some(wait(rest, LONGEST_KEY, end))),
            Ok(_) => (0, Some(Step::Stop)),
        }
    }

    fn open_value(&mut self, key: &str, word: &str, is_text: Option<bool>, out: &mut Output<'_>) {
        let Some(schema) = self.call.schema(out.tools) else { return };
        let streams = self.arguments.open_raw(key, schema, &mut self.call.pending);
        self.place = Place::Value(Value {
            closing: format!("{}{word}{}", self.style.close, self.style.end),
            streams,
            is_text,
            kept: String::new(),
            at_start: true,
            ends_line: false,
            line_break: "",
            strips: self.closing.ends_with("function>"),
        });
    }

    fn value(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Option<Step>) {
        let Place::Value(mut value) = std::mem::replace(&mut self.place, Place::Between) else {
            return (0, Some(Step::Stop));
        };
        let start = match value.skip_start(text, end) {
            Some(length) => length,
            None => {
                self.place = Place::Value(value);
                return (0, Some(Step::More));
            }
        };
        let rest = from(text, start);
        let (length, closing) = match self.find_end(&value, rest, end) {
            Found::End(at, closing) => (at, Some(closing)),
            Found::More(at) => (at, None),
        };
        if length > 0 {
            value.ends_line = upto(rest, length).ends_with('\n');
        }
        let piece = value.piece(upto(rest, length), closing.is_some());
        for part in piece {
            if value.streams {
                self.arguments.raw_piece(part, &mut self.call.pending);
            } else {
                value.kept.push_str(part);
            }
        }
        let Some(closing) = closing else {
            self.place = Place::Value(value);
            return (start + length, Some(Step::More));
        };
        if let Some(schema) = self.call.schema(out.tools) {
            match value.streams {
                true => self.arguments.close_raw(&mut self.call.pending),
                false => {
                    let text = self.structured(&value);
                    self.arguments.put_raw(&text, value.is_text, schema, &mut self.call.pending);
                }
            }
        }
        (start + length + closing, None)
    }

    /// The text of a value, whose own tags, if it has any, are members.
    fn structured(&self, value: &Value) -> String {
        if self.style.open.starts_with(LEAD)
            && value.kept.trim_start().starts_with(&self.style.open)
        {
            return nested(&self.style, &value.kept, 0);
        }
        value.kept.clone()
    }

    /// Where the value ends in the text.
    fn find_end(&self, value: &Value, text: &str, end: bool) -> Found {
        let first = self.style.open.as_bytes().first().copied().unwrap_or(b'<');
        for at in memchr::memchr_iter(first, text.as_bytes()) {
            let rest = from(text, at);
            if rest.starts_with(&value.closing) {
                match self.goes_on(from(rest, value.closing.len()), end) {
                    Some(true) => return Found::End(at, value.closing.len()),
                    Some(false) => continue,
                    None => return Found::More(at),
                }
            }
            if !self.closing.is_empty() && rest.starts_with(&self.closing) {
                match self.goes_on(from(rest, self.closing.len()), end) {
                    Some(true) => return Found::End(at, 0),
                    Some(false) => continue,
                    None => return Found::More(at),
                }
            }
            let line = upto(text, at).ends_with('\n') || (at == 0 && value.ends_line);
            if line && rest.starts_with(&self.style.open) {
                match open_tag(&self.style, beginning(rest, LONGEST_KEY)) {
                    Ok(Some(tag)) if self.is_next_member(&tag) => return Found::End(at, 0),
                    Err(()) if !end && rest.len() < LONGEST_KEY => return Found::More(at),
                    Ok(_) | Err(()) => continue,
                }
            }
            let more = !end
                && (may_become(rest, &value.closing)
                    || may_become(rest, &self.closing)
                    || (line && may_become(rest, &self.style.open)));
            if more {
                return Found::More(at);
            }
        }
        Found::More(text.len())
    }

    /// Whether a member that has not been given begins with the tag.
    fn is_next_member(&self, tag: &OpenTag) -> bool {
        matches!(&*tag.word, "parameter" | "param")
            && tag.name.as_deref().is_some_and(|name| self.arguments.lacks(name))
    }

    /// Whether the text behind a closing tag is what may follow it: another tag or
    /// the end.
    fn goes_on(&self, text: &str, end: bool) -> Option<bool> {
        let rest = text.trim_start();
        if text.len() - rest.len() >= LONGEST_GAP {
            return Some(true);
        }
        if rest.is_empty() {
            return end.then_some(true);
        }
        let follows = ["<", LEAD, "```"];
        if follows.iter().any(|mark| rest.starts_with(mark)) {
            return Some(true);
        }
        (end || !follows.iter().any(|mark| may_become(rest, mark))).then_some(false)
    }
}

impl Value {
    /// Whether the next bytes can be passed on.
    fn passes(&self) -> bool {
        self.streams && !self.at_start && !self.ends_line
    }

    /// Skips the line break behind the opening tag. `None` if the text is needed
    /// to tell.
    fn skip_start(&mut self, text: &str, end: bool) -> Option<usize> {
        if !self.at_start || !self.strips {
            self.at_start = false;
            return Some(0);
        }
        if text.is_empty() || (text == "\r" && !end) {
            return None;
        }
        self.at_start = false;
        Some(if text.starts_with("\r\n") { 2 } else { usize::from(text.starts_with('\n')) })
    }

    /// What of a piece belongs to the value. One line break at the end is kept
    /// back, since it may belong to the closing tag.
    fn piece<'p>(&mut self, piece: &'p str, is_last: bool) -> [&'p str; 2] {
        if !self.strips {
            return ["", piece];
        }
        if piece.is_empty() {
            if is_last {
                self.line_break = "";
            }
            return ["", ""];
        }
        let before = std::mem::take(&mut self.line_break);
        let (body, line_break) = match piece {
            piece if piece.ends_with("\r\n") => (upto(piece, piece.len() - 2), "\r\n"),
            piece if piece.ends_with('\n') => (upto(piece, piece.len() - 1), "\n"),
            piece => (piece, ""),
        };
        if !is_last {
            self.line_break = line_break;
        }
        [before, body]
    }
}

/// Waits for more text, up to a length.
fn wait(text: &str, longest: usize, end: bool) -> Step {
    if end || text.len() >= longest { Step::Stop } else { Step::More }
}

/// Members written as tags, as an object; several of the same name, or `item`s,
/// as a list.
fn nested(style: &Style, text: &str, depth: usize) -> String {
    let mut members: Vec<(String, String)> = Vec::new();
    let mut rest = text.trim();
    while let Ok(Some(tag)) = open_tag(style, rest) {
        let inside = from(rest, tag.length);
        let closing = format!("{}{}{}", style.close, tag.word, style.end);
        let Some(stop) = inside.find(&closing) else { break };
        let value = upto(inside, stop);
        let json = match value.trim_start().starts_with(&style.open) && depth < DEEPEST {
            true => nested(style, value, depth + 1),
            false => align::raw_text(None, value).unwrap_or_default(),
        };
        members.push((tag.word, json));
        rest = from(inside, stop + closing.len()).trim_start();
    }
    let list = members.iter().all(|(word, _)| word == "item") && !members.is_empty();
    let parts = members.iter().map(|(word, json)| match list {
        true => json.clone(),
        false => format!("{}:{json}", align::quoted(word)),
    });
    let parts: Vec<String> = parts.collect();
    let parts = parts.join(",");
    if list { format!("[{parts}]") } else { format!("{{{parts}}}") }
}

/// What must be escaped in a raw value, or may begin a tag.
const NEED_CARE: [u8; 4] = [b'"', b'\\', b'<', b']'];
const LONGEST_KEY: usize = 512;
const LONGEST_GAP: usize = 256;
const DEEPEST: usize = 16;
