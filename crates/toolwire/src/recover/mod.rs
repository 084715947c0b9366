//! Tool calls that a model wrote as text.
//!
//! Models without native tool calling, or behind servers that do not parse it,
//! write their calls into their answers: between tags, as JSON, in Python's
//! syntax. A [`Detector`] reads such an answer as it arrives and tells calls from
//! text. It needs no hint which dialect a model writes.
//!
//! ```
//! use toolwire::recover::{Detector, Event, Tools};
//!
//! let mut tools = Tools::default();
//! tools.add("read_file", "Reads a file", Some(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#));
//!
//! let mut detector = Detector::new(tools);
//! let (mut text, mut call, mut arguments) = (String::new(), String::new(), String::new());
//! let mut sink = |event: Event<'_>| match event {
//!     Event::Text(piece) => text.push_str(piece),
//!     Event::CallStart { name, .. } => call.push_str(name),
//!     Event::Arguments(piece) => arguments.push_str(piece),
//!     _ => {}
//! };
//! for piece in ["One moment. <tool_", "call>{\"name\": \"read_file\", \"arguments\"", ": {\"path\": \"a.txt\"}}</tool_call>"] {
//!     detector.push(piece, &mut sink);
//! }
//! detector.finish(&mut sink);
//! assert_eq!((text.as_str(), call.as_str()), ("One moment. ", "read_file"));
//! assert_eq!(arguments, r#"{"path":"a.txt"}"#);
//! ```
//!
//! Four rules keep it safe. Only declared tools are called. A call that is cut off
//! is never completed. Code, quotations, examples and reasoning are text. And
//! however the text is cut into pieces, the events say the same.

mod ahead;
mod align;
mod arguments;
mod block;
mod broken_item;
mod call;
mod escape;
mod examples;
mod fences;
mod harmony;
pub mod intent;
mod json_item;
mod lexer;
mod line_item;
mod markers;
mod named_item;
mod nested;
mod raw_end;
mod raw_value;
mod scan;
mod scan_line;
mod schema;
mod special;
mod tagged_item;
mod tags;
mod text;
mod tools;
mod value;

#[cfg(test)]
mod tests;

pub use tools::Tools;

/// Whether a text begins with what marks a call, a part of one, or reasoning.
pub(crate) fn is_marker(text: &str) -> bool {
    markers::tag(text, true) != markers::Tag::Other
}

use self::block::{Block, BlockKind, Unit};
use self::call::{Output, Verdict};
use self::scan::{Found, Scanner};
use self::text::{from, may_become, upto};

/// What a detector finds, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'e> {
    /// Ordinary text.
    Text(&'e str),
    /// The model thinks.
    Reasoning(&'e str),
    /// A call of a declared tool begins.
    CallStart {
        /// The tool, as the request declares it.
        name: &'e str,
        /// The dialect that the call is written in.
        dialect: &'static str,
    },
    /// Part of its arguments, as strict JSON.
    Arguments(&'e str),
    /// The call is complete.
    CallEnd {
        /// Whether what the model wrote had to be repaired.
        repaired: bool,
        /// Whether the arguments have the types that the tool declares, and all
        /// that it requires.
        valid: bool,
    },
    /// A call broke off. If it has begun, this is its end.
    Incomplete {
        /// The tool, if it was named.
        name: Option<&'e str>,
        /// What could not be handed on.
        raw: &'e str,
    },
}

/// Where a detector hands its events to.
pub trait Sink {
    /// Takes the next event.
    fn event(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Sink for F {
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// Finds the calls in a model's answer.
#[derive(Debug)]
pub struct Detector {
    tools: Tools,
    state: State,
    scanner: Scanner,
    /// Text that has arrived and is not decided.
    held: String,
    /// What was read of the block.
    raw: String,
    verdict: Verdict,
    recorder: Recorder,
}

#[derive(Debug)]
enum State {
    Text,
    Block(Box<Block>),
    Reasoning(&'static str),
}

/// How a machine stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It needs more text.
    More,
    /// It has ended.
    Done,
    /// The text goes on with something else.
    Stop,
}

impl Detector {
    /// A detector for the answer to a request with these tools.
    pub fn new(tools: Tools) -> Self {
        Self {
            tools,
            state: State::Text,
            scanner: Scanner::default(),
            held: String::new(),
            raw: String::new(),
            verdict: Verdict::Open,
            recorder: Recorder::default(),
        }
    }

    /// Takes the next piece of the answer.
    pub fn push(&mut self, text: &str, sink: &mut dyn Sink) {
        if self.tools.is_empty() {
            return emit_text(text, sink);
        }
        self.take(text, false, sink);
    }

    /// The answer has ended.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        self.take("", true, sink);
    }

    fn take(&mut self, text: &str, end: bool, sink: &mut dyn Sink) {
        if self.held.is_empty() {
            if matches!(self.state, State::Text) && !end && self.scanner.passes(text) {
                return emit_text(text, sink);
            }
            let passed = if end { 0 } else { self.pass_on(text, sink) };
            if passed < text.len() || end {
                let text = from(text, passed);
                let taken = self.run(text, end, sink);
                self.held.push_str(from(text, taken));
            }
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(text);
        let taken = self.run(&held, end, sink);
        held.drain(..taken);
        self.held = held;
    }

    /// Hands on the bytes that the text begins with, if they are the middle of an
    /// argument. How many there are.
    // Inlined, it makes ordinary text slower.
    #[inline(never)]
    fn pass_on(&mut self, text: &str, sink: &mut dyn Sink) -> usize {
        match &mut self.state {
            State::Block(block) if self.verdict == Verdict::Calls && !block.is_quoted => {
                block.pass_on(text, sink)
            }
            State::Text | State::Block(_) | State::Reasoning(_) => 0,
        }
    }

    /// Reads as much of the text as can be decided.
    fn run(&mut self, text: &str, end: bool, sink: &mut dyn Sink) -> usize {
        let mut at = 0;
        loop {
            let rest = from(text, at);
            let (taken, goes_on) = match &mut self.state {
                State::Text => self.text(rest, end, sink),
                State::Block(_) => self.block(rest, end, sink),
                State::Reasoning(close) => {
                    let close = *close;
                    self.reasoning(close, rest, end, sink)
                }
            };
            at += taken;
            if !goes_on {
                return at;
            }
        }
    }

    fn text(&mut self, text: &str, end: bool, sink: &mut dyn Sink) -> (usize, bool) {
        let (plain, found) = self.scanner.scan(text, end, &self.tools);
        emit_text(upto(text, plain), sink);
        match found {
            Found::More => {
                if end {
                    emit_text(from(text, plain), sink);
                    return (text.len(), false);
                }
                (plain, false)
            }
            Found::Frame { skip } => {
                self.scanner.behind_frame();
                (plain + skip, true)
            }
            Found::Reasoning { skip, close } => {
                self.state = State::Reasoning(close);
                (plain + skip, true)
            }
            Found::Block { skip, kind, dialect } => {
                self.verdict = Verdict::Open;
                self.raw.clear();
                self.raw.push_str(text.get(plain..plain + skip).unwrap_or_default());
                self.state = State::Block(Box::new(Block::new(kind, dialect)));
                (plain + skip, true)
            }
            Found::Quotation { kind } => {
                self.verdict = Verdict::Open;
                self.raw.clear();
                self.state = State::Block(Box::new(Block::quoted(kind)));
                (plain, true)
            }
            Found::Call { skip, name, dialect, is_quoted } => {
                self.raw.clear();
                self.verdict = Verdict::Open;
                if is_quoted {
                    emit_text(text.get(plain..plain + skip).unwrap_or_default(), sink);
                }
                let mut out = Output {
                    tools: &self.tools,
                    sink: if is_quoted { &mut self.recorder } else { &mut *sink },
                    verdict: &mut self.verdict,
                    soft: false,
                    dialect,
                };
                let mut block = Block::of_call(&name, dialect, &mut out);
                block.is_quoted = is_quoted;
                self.state = State::Block(Box::new(block));
                (plain + skip, true)
            }
        }
    }

    fn block(&mut self, text: &str, end: bool, sink: &mut dyn Sink) -> (usize, bool) {
        let State::Block(block) = &mut self.state else { return (0, false) };
        if block.is_quoted {
            return self.quotation(text, end, sink);
        }
        let passed = self.pass_on(text, sink);
        if passed > 0 {
            return (passed, end || passed < text.len());
        }
        let State::Block(block) = &mut self.state else { return (0, false) };
        let (kind, was) = (block.kind, self.verdict);
        let soft = kind.is_soft();
        let mut out = Output {
            tools: &self.tools,
            sink: if soft { &mut self.recorder } else { &mut *sink },
            verdict: &mut self.verdict,
            soft,
            dialect: block.dialect,
        };
        let (taken, unit) = block.step(text, end, &mut out);
        let read = upto(text, taken);
        // Soft calls count when the block has ended.
        let verdict =
            if soft && self.verdict == Verdict::Calls { Verdict::Open } else { self.verdict };
        block.has_calls |= !soft && verdict == Verdict::Calls;
        let has_calls = block.has_calls;
        match verdict {
            Verdict::Calls => self.raw.clear(),
            Verdict::Open => self.raw.push_str(read),
            Verdict::Text => {
                if was != Verdict::Text {
                    self.release(sink);
                }
                emit_text(read, sink);
                self.scanner.passed(read);
            }
        }
        match unit {
            Unit::More if !end => return (taken, false),
            Unit::Part => return (taken, true),
            // Each call of a block stands for itself: what is behind it may be text.
            Unit::Closing | Unit::Call => {
                if has_calls {
                    self.verdict = Verdict::Open;
                    self.raw.clear();
                }
                return (taken, true);
            }
            Unit::More | Unit::Done => {}
        }
        let State::Block(block) = std::mem::replace(&mut self.state, State::Text) else {
            return (taken, false);
        };
        let accepted = match soft {
            true => block.found > 0 && block.is_closed && verdict != Verdict::Text,
            false => has_calls,
        };
        match (accepted, verdict) {
            (_, Verdict::Text) => {}
            (true, _) => {
                self.recorder.replay(sink);
                if block.is_cut {
                    sink.event(Event::Incomplete { name: None, raw: &self.raw });
                }
                self.raw.clear();
                self.scanner.behind_block();
            }
            (false, Verdict::Open | Verdict::Calls) => self.release(sink),
        }
        if let (false, false, BlockKind::Fence(ticks)) = (accepted, block.is_closed, kind) {
            self.scanner.open_fence(ticks);
        }
        self.recorder.clear();
        // At the end nothing may be left over.
        let stuck = taken == 0 && text.is_empty();
        (taken, !stuck)
    }

    /// A block that is only quoted is text to its end.
    fn quotation(&mut self, text: &str, end: bool, sink: &mut dyn Sink) -> (usize, bool) {
        let State::Block(block) = &mut self.state else { return (0, false) };
        let mut out = Output {
            tools: &self.tools,
            sink: &mut self.recorder,
            verdict: &mut self.verdict,
            soft: block.kind.is_soft(),
            dialect: block.dialect,
        };
        let (taken, unit) = block.step(text, end, &mut out);
        self.recorder.clear();
        let read = upto(text, taken);
        emit_text(read, sink);
        self.scanner.passed(read);
        match unit {
            Unit::More if !end => return (taken, false),
            Unit::Closing | Unit::Call => {
                self.verdict = Verdict::Open;
                return (taken, true);
            }
            Unit::Part => return (taken, true),
            Unit::More | Unit::Done => {}
        }
        self.state = State::Text;
        (taken, taken > 0 || !text.is_empty())
    }

    /// Passes on what was held back of a block that is text.
    fn release(&mut self, sink: &mut dyn Sink) {
        emit_text(&self.raw, sink);
        self.scanner.passed(&self.raw);
        self.raw.clear();
    }

    fn reasoning(
        &mut self,
        close: &'static str,
        text: &str,
        end: bool,
        sink: &mut dyn Sink,
    ) -> (usize, bool) {
        if let Some(at) = memchr::memmem::find(text.as_bytes(), close.as_bytes()) {
            emit_reasoning(upto(text, at), sink);
            self.state = State::Text;
            self.scanner.behind_reasoning();
            return (at + close.len(), true);
        }
        let mut keep = text.len();
        if !end {
            let least = text.len().saturating_sub(close.len());
            let start = memchr::memchr_iter(
                close.as_bytes().first().copied().unwrap_or(b'<'),
                text.as_bytes(),
            );
            let partial =
                start.filter(|at| *at >= least).find(|at| may_become(from(text, *at), close));
            keep = partial.unwrap_or(text.len());
        }
        emit_reasoning(upto(text, keep), sink);
        (keep, false)
    }
}

fn emit_text(text: &str, sink: &mut dyn Sink) {
    if !text.is_empty() {
        sink.event(Event::Text(text));
    }
}

fn emit_reasoning(text: &str, sink: &mut dyn Sink) {
    if !text.is_empty() {
        sink.event(Event::Reasoning(text));
    }
}

/// Keeps events until it is known that they count.
#[derive(Debug, Default)]
struct Recorder {
    events: Vec<Recorded>,
}

#[derive(Debug)]
enum Recorded {
    Start(String, &'static str),
    Arguments(String),
    End { repaired: bool, valid: bool },
}

impl Recorder {
    fn clear(&mut self) {
        self.events.clear();
    }

    fn replay(&mut self, sink: &mut dyn Sink) {
        for event in self.events.drain(..) {
            sink.event(match &event {
                Recorded::Start(name, dialect) => Event::CallStart { name, dialect },
                Recorded::Arguments(text) => Event::Arguments(text),
                Recorded::End { repaired, valid } => {
                    Event::CallEnd { repaired: *repaired, valid: *valid }
                }
            });
        }
    }
}

impl Sink for Recorder {
    fn event(&mut self, event: Event<'_>) {
        let event = match event {
            Event::CallStart { name, dialect } => Recorded::Start(name.to_owned(), dialect),
            Event::Arguments(text) => {
                if let Some(Recorded::Arguments(last)) = self.events.last_mut() {
                    return last.push_str(text);
                }
                Recorded::Arguments(text.to_owned())
            }
            Event::CallEnd { repaired, valid } => Recorded::End { repaired, valid },
            Event::Text(_) | Event::Reasoning(_) | Event::Incomplete { .. } => return,
        };
        self.events.push(event);
    }
}
