//! The grammar of events, checked in debug builds.

use crate::model::Event;
#[cfg(debug_assertions)]
use crate::model::{Head, Piece};

/// Where a stream is in its grammar.
#[derive(Debug, Default)]
pub(crate) struct EventGrammar {
    #[cfg(debug_assertions)]
    state: StreamPhase,
    /// The kind of each block, and whether it is open.
    #[cfg(debug_assertions)]
    blocks: Vec<(BlockKind, bool)>,
}

#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StreamPhase {
    #[default]
    Before,
    Answering,
    Stopped,
    Over,
}

#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Text,
    Refusal,
    Reasoning,
    Call,
}

impl EventGrammar {
    /// Holds the next event to the grammar. A violation is a mistake in a
    /// codec, never in the input, so it stops a debug build and nothing else.
    #[cfg(not(debug_assertions))]
    pub(crate) fn check(&mut self, _event: &Event<'_>) {}

    /// Holds the next event to the grammar. A violation is a mistake in a
    /// codec, never in the input, so it stops a debug build and nothing else.
    #[cfg(debug_assertions)]
    pub(crate) fn check(&mut self, event: &Event<'_>) {
        let wrong = self.step(event);
        debug_assert!(wrong.is_none(), "{}: {event:?}", wrong.unwrap_or_default());
    }

    #[cfg(debug_assertions)]
    fn step(&mut self, event: &Event<'_>) -> Option<&'static str> {
        if self.state == StreamPhase::Over {
            return Some("an event after the last");
        }
        if let Event::Error(_) = event {
            self.state = StreamPhase::Over;
            return None;
        }
        match (self.state, event) {
            (StreamPhase::Before, Event::Start(_)) => {
                self.state = StreamPhase::Answering;
                None
            }
            (StreamPhase::Before, _) => Some("an event before the start"),
            (_, Event::Start(_)) => Some("a second start"),
            (_, Event::About { tier: _, extra: _ } | Event::Usage(_)) => None,
            (StreamPhase::Stopped, Event::End) => {
                self.state = StreamPhase::Over;
                None
            }
            (StreamPhase::Stopped, _) => Some("an event after the stop"),
            (_, Event::End) => Some("an end without a stop"),
            (_, Event::Stop { stop: _, extra: _ }) => {
                self.state = StreamPhase::Stopped;
                let open = self.blocks.iter().any(|(_, open)| *open);
                open.then_some("a stop while a block is open")
            }
            (_, Event::Whole(_)) => None,
            (_, Event::Open { block, head }) => {
                let expected = self.blocks.len();
                self.blocks.push((BlockKind::of(head), true));
                (*block != expected).then_some("a block out of number")
            }
            (_, Event::Delta { block, piece }) => match self.blocks.get(*block) {
                Some((kind, true)) if kind.grows_by(piece) => None,
                Some((_, true)) => Some("a piece of another kind"),
                Some((_, false)) | None => Some("a piece of no open block"),
            },
            (_, Event::Close { block, tail: _ }) => match self.blocks.get_mut(*block) {
                Some((_, open @ true)) => {
                    *open = false;
                    None
                }
                Some((_, false)) | None => Some("a close of no open block"),
            },
            (_, Event::Error(_)) => None,
        }
    }
}

#[cfg(debug_assertions)]
impl BlockKind {
    fn of(head: &Head<'_>) -> Self {
        match head {
            Head::Text(_) => Self::Text,
            Head::Refusal(_) => Self::Refusal,
            Head::Reasoning { id: _ } => Self::Reasoning,
            Head::Call(_) => Self::Call,
        }
    }

    fn grows_by(self, piece: &Piece<'_>) -> bool {
        match piece {
            Piece::Text { text: _, logprobs: _ } => self == Self::Text || self == Self::Refusal,
            Piece::Citation(_) => self == Self::Text,
            Piece::Summary { part: _, text: _ } | Piece::Reasoning { part: _, text: _ } => {
                self == Self::Reasoning
            }
            Piece::Arguments(_) => self == Self::Call,
        }
    }
}
