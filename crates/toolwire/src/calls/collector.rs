//! The calls of a stream, each as soon as it is whole.

use std::collections::BTreeMap;

use super::{ToolCall, tool_call};
use crate::model::{CallForm, CallHead, Event, Head, Item, Own, Piece};
use crate::wire::{Kind, Pos, Raw, TextBuffer};

/// Finds the calls in the events of a stream.
///
/// A call whose arguments are a complete JSON object is whole when it closes.
/// Of others that is not known before the answer has ended: a limit on the
/// output may have cut them, and some protocols say so only then.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct CallCollector {
    /// The calls that are not whole yet, by their blocks.
    open: BTreeMap<usize, OpenCall>,
    seen: usize,
    whole: Vec<ToolCall>,
}

/// A call whose arguments are arriving.
#[derive(Debug)]
struct OpenCall {
    ordinal: usize,
    head: CallHead<'static>,
    arguments: TextBuffer,
}

impl CallCollector {
    /// Takes the next event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Open { block, head: Head::Call(head) } => {
                let call = OpenCall {
                    ordinal: self.seen,
                    head: head.clone().into_owned(),
                    arguments: TextBuffer::default(),
                };
                self.seen += 1;
                self.open.insert(*block, call);
            }
            Event::Delta { block, piece: Piece::Arguments(text) } => {
                if let Some(call) = self.open.get_mut(block) {
                    call.arguments.push(text);
                }
            }
            Event::Close { block, tail: _ } => {
                if self.open.get(block).is_some_and(OpenCall::is_whole)
                    && let Some(call) = self.open.remove(block)
                {
                    self.whole.push(call.finish());
                }
            }
            Event::Whole(turn) => {
                for item in &turn.items {
                    if let Item::Call(call) = item {
                        self.whole.push(tool_call(call, self.seen));
                        self.seen += 1;
                    }
                }
            }
            Event::Stop { stop: _, extra: _ } => {
                let rest = std::mem::take(&mut self.open);
                self.whole.extend(rest.into_values().map(OpenCall::finish));
            }
            Event::Start(_)
            | Event::Open { block: _, head: Head::Text(_) | Head::Refusal(_) }
            | Event::Open { block: _, head: Head::Reasoning { id: _ } }
            | Event::Delta {
                block: _,
                piece:
                    Piece::Text { text: _, logprobs: _ }
                    | Piece::Citation(_)
                    | Piece::Summary { part: _, text: _ }
                    | Piece::Reasoning { part: _, text: _ },
            }
            | Event::About { tier: _, extra: _ }
            | Event::Usage(_)
            | Event::End
            | Event::Error(_) => {}
        }
    }

    /// The calls that have become whole since they were last taken.
    pub fn take(&mut self) -> Vec<ToolCall> {
        std::mem::take(&mut self.whole)
    }
}

impl OpenCall {
    fn is_whole(&self) -> bool {
        let arguments = self.arguments.text();
        match self.head.form {
            CallForm::Json => {
                Raw::parse(&arguments.decode()).is_ok_and(|json| json.kind() == Kind::Object)
            }
            CallForm::Freeform => false,
        }
    }

    fn finish(self) -> ToolCall {
        let arguments = self.head.arguments(self.arguments.text());
        tool_call(&self.head.into_call(Pos::NONE, arguments), self.ordinal)
    }
}
