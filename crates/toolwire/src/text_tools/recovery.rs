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
/// White space around calls separates them from text and from each other. It is
/// no text of its own: some protocols refuse a text that is blank.
#[derive(Debug)]
pub(crate) struct Segmenter {
    detector: Detector,
    state: State,
}

#[derive(Debug, Default)]
struct State {
    /// White space that becomes text if text follows.
    blank: String,
    in_text: bool,
    in_call: bool,
    calls: usize,
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
        let State { blank, in_text: _, in_call, calls } = &mut self.state;
        if std::mem::take(in_call) {
            sink.cut_call();
        }
        if *calls == 0 && !blank.is_empty() {
            sink.text(blank);
        }
        blank.clear();
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
            Event::Text(text) => {
                if !state.in_text && text.trim().is_empty() {
                    state.blank.push_str(text);
                    return;
                }
                if !state.blank.is_empty() {
                    sink.text(&std::mem::take(&mut state.blank));
                }
                state.in_text = true;
                sink.text(text);
            }
            Event::Reasoning(text) => {
                state.in_text = false;
                sink.reasoning(text);
            }
            Event::CallStart { name, dialect } => {
                state.blank.clear();
                state.in_text = false;
                state.in_call = true;
                state.calls += 1;
                sink.open_call(name, dialect);
            }
            Event::Arguments(json) => sink.arguments(json),
            Event::CallEnd { repaired, valid } => {
                state.in_call = false;
                sink.close_call(repaired, valid);
            }
            Event::Incomplete { name: _, raw } => {
                // A call that had not begun is text.
                if std::mem::take(&mut state.in_call) {
                    sink.cut_call();
                } else {
                    state.in_text = true;
                    sink.text(raw);
                }
            }
        }
    }
}
