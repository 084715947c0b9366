//! Calls in the text of an answer, as parts of the answer.

use super::Dialect;
use crate::recover::{Detector, Event, Sink, Tools};
use crate::wire::ids;

/// How the calls of the answer to one request are found.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    pub(crate) tools: Tools,
    /// The dialect that the model was asked to write.
    pub(crate) dialect: Dialect,
    /// Whether an announcement in plain words counts as a call.
    pub(crate) reads_intent: bool,
    /// How many calls the conversation has had. It makes the ids of this
    /// answer's different from theirs.
    pub(crate) calls_before: usize,
}

impl Recovery {
    /// The id of a call of an answer.
    pub(crate) fn call_id(&self, answer_id: &str, number: usize) -> String {
        ids::mint(&format!("{answer_id} {}", self.calls_before), number)
    }
}

/// Where the parts of a text go.
pub(crate) trait SegmentSink {
    /// More text.
    fn text(&mut self, text: &str);
    /// More reasoning.
    fn reasoning(&mut self, text: &str);
    /// A call begins.
    fn open_call(&mut self, name: &str, dialect: &'static str);
    /// More of its arguments.
    fn arguments(&mut self, json: &str);
    /// The call is complete.
    fn close_call(&mut self, repaired: bool, valid: bool);
    /// The call was cut off.
    fn cut_call(&mut self);
}

/// Tells the parts of one text apart.
///
/// White space beside calls and reasoning separates them from text. It is kept
/// only where it separates two texts, which some protocols join to one.
#[derive(Debug)]
pub(crate) struct Segmenter {
    detector: Detector,
    state: State,
}

#[derive(Debug, Default)]
struct State {
    segment: SegmentKind,
    /// Whether something of the part was handed on.
    has_begun: bool,
    /// White space that counts if more of the part follows.
    blank: String,
    /// Whether there was text before.
    has_text: bool,
    in_call: bool,
}

/// The part that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SegmentKind {
    /// Text with nothing before it.
    #[default]
    Start,
    Text,
    Reasoning,
    Call,
}

impl Segmenter {
    pub(crate) fn new(tools: Tools) -> Self {
        Self { detector: Detector::new(tools), state: State::default() }
    }

    /// Takes the next piece of the text.
    pub(crate) fn push(&mut self, text: &str, sink: &mut dyn SegmentSink) {
        self.detector.push(text, &mut Segments { state: &mut self.state, sink });
    }

    /// The text has ended.
    pub(crate) fn finish(&mut self, sink: &mut dyn SegmentSink) {
        self.detector.finish(&mut Segments { state: &mut self.state, sink });
        let State { segment, has_begun, blank, has_text: _, in_call } = &mut self.state;
        if std::mem::take(in_call) {
            sink.cut_call();
        }
        let ends_text =
            *segment == SegmentKind::Start || (*segment == SegmentKind::Text && *has_begun);
        if ends_text && !blank.is_empty() {
            sink.text(blank);
        }
        blank.clear();
    }
}

impl State {
    /// Goes on with a part. What separates it from the one before is dropped.
    fn enter(&mut self, segment: SegmentKind) {
        if self.segment != segment {
            self.segment = segment;
            self.has_begun = false;
            self.blank.clear();
        }
    }

    fn text(&mut self, text: &str, sink: &mut dyn SegmentSink) {
        if self.segment != SegmentKind::Start {
            self.enter(SegmentKind::Text);
        }
        let is_first = self.segment == SegmentKind::Text && !self.has_text;
        let text = if is_first { text.trim_start() } else { text };
        let (said, blank) = text.split_at(text.trim_end().len());
        if !said.is_empty() {
            if !self.blank.is_empty() {
                sink.text(&std::mem::take(&mut self.blank));
            }
            sink.text(said);
            self.has_begun = true;
            self.has_text = true;
        }
        self.blank.push_str(blank);
    }

    fn reasoning(&mut self, text: &str, sink: &mut dyn SegmentSink) {
        self.enter(SegmentKind::Reasoning);
        let text = if self.has_begun { text } else { text.trim_start() };
        let (thought, blank) = text.split_at(text.trim_end().len());
        if !thought.is_empty() {
            if !self.blank.is_empty() {
                sink.reasoning(&std::mem::take(&mut self.blank));
            }
            sink.reasoning(thought);
            self.has_begun = true;
        }
        self.blank.push_str(blank);
    }
}

struct Segments<'s> {
    state: &'s mut State,
    sink: &'s mut dyn SegmentSink,
}

impl Sink for Segments<'_> {
    fn event(&mut self, event: Event<'_>) {
        let Self { state, sink } = self;
        match event {
            Event::Text(text) => state.text(text, *sink),
            Event::Reasoning(text) => state.reasoning(text, *sink),
            Event::CallStart { name, dialect } => {
                state.enter(SegmentKind::Call);
                state.in_call = true;
                sink.open_call(name, dialect);
            }
            Event::Arguments(json) => sink.arguments(json),
            Event::CallEnd { repaired, valid } => {
                state.in_call = false;
                sink.close_call(repaired, valid);
            }
            Event::Incomplete { name, raw } => {
                // A call that had not begun is text, unless it broke off before its name.
                let is_unnamed = name.is_none() && !raw.is_empty();
                if std::mem::take(&mut state.in_call) || is_unnamed {
                    sink.cut_call();
                } else {
                    state.text(raw, *sink);
                }
            }
        }
    }
}
