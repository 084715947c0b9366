//! Calls that a model writes as text, while it writes them.
//!
//! Each text of the upstream becomes as many blocks as it has parts: text,
//! reasoning, calls. Everything else passes.

use crate::codec::EventSink;
use crate::ledger::Code;
use crate::model::{CallForm, CallHead, Event, Head, Own, Part, Piece, Stop, Tail};
use crate::recover::intent;
use crate::text_tools::{INTENT, Recovery, SegmentSink, Segmenter, changed_stop, report_call};
use crate::wire::{At, Pos, Str};

/// The way from text to calls for one stream.
#[derive(Debug)]
pub(super) struct CallRecovery {
    recovery: Recovery,
    /// What becomes of each block that the reader opened.
    blocks: Vec<Block>,
    progress: Progress,
}

/// What is known of the stream so far.
#[derive(Debug, Default)]
struct Progress {
    /// How many blocks have been opened.
    written: usize,
    /// How many calls were found.
    calls: usize,
    /// Whether the upstream made a call of its own.
    has_native_call: bool,
    was_cut: bool,
    dialect: Option<&'static str>,
    answer_id: String,
    /// All text without reasoning, if announcements count.
    said: Option<String>,
}

#[derive(Debug)]
enum Block {
    /// Passes as it is, under this number.
    Pass(usize),
    /// A text, which is taken apart.
    Text {
        part: Part<'static>,
        segmenter: Box<Segmenter>,
        open: Option<(usize, Kind)>,
        is_blank: bool,
    },
}

/// What is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    Call,
}

impl CallRecovery {
    pub(super) fn new(recovery: Recovery, fallback_id: Option<&str>) -> Self {
        let said = recovery.reads_intent.then(String::new);
        let answer_id = fallback_id.unwrap_or_default().to_owned();
        let progress = Progress { answer_id, said, ..Progress::default() };
        Self { recovery, blocks: Vec::new(), progress }
    }

    /// The dialect of the first call, if one was found.
    pub(super) fn dialect(&self) -> Option<&'static str> {
        self.progress.dialect
    }

    /// The dialect of the first call or, until there is one, the one that the
    /// model was asked to write.
    pub(super) fn expected_dialect(&self) -> &'static str {
        self.dialect().unwrap_or(self.recovery.dialect.name())
    }

    /// Hands an event on with the calls that are in its text.
    pub(super) fn event(&mut self, event: Event<'_>, sink: &mut dyn EventSink) {
        match event {
            Event::Start(start) => {
                if let Some(id) = start.id.as_ref().filter(|id| !id.is_empty()) {
                    self.progress.answer_id = id.decode().into_owned();
                }
                sink.event(Event::Start(start));
            }
            Event::Open { block: _, head: Head::Text(part) } => {
                let segmenter = Box::new(Segmenter::new(self.recovery.tools.clone()));
                let part = part.into_owned();
                self.blocks.push(Block::Text { part, segmenter, open: None, is_blank: true });
            }
            Event::Open { block: _, head } => {
                self.progress.has_native_call |= matches!(head, Head::Call(_));
                let number = self.progress.number();
                self.blocks.push(Block::Pass(number));
                sink.event(Event::Open { block: number, head });
            }
            Event::Delta { block, piece } => self.delta(block, piece, sink),
            Event::Close { block, tail } => self.close(block, tail, sink),
            Event::Stop { stop, extra } => {
                let At { value, pos } = stop;
                if matches!(value, Stop::EndTurn) {
                    self.announced(sink);
                }
                let Progress { dialect, was_cut, .. } = self.progress;
                let changed = changed_stop(&value, dialect.is_some(), was_cut);
                let stop = At { value: changed.unwrap_or(value), pos };
                sink.event(Event::Stop { stop, extra });
            }
            other @ (Event::Whole(_)
            | Event::About { tier: _, extra: _ }
            | Event::Usage(_)
            | Event::End
            | Event::Error(_)) => sink.event(other),
        }
    }

    fn delta(&mut self, block: usize, piece: Piece<'_>, sink: &mut dyn EventSink) {
        let Some(state) = self.blocks.get_mut(block) else { return };
        let (part, segmenter, open, is_blank) = match state {
            Block::Pass(number) => return sink.event(Event::Delta { block: *number, piece }),
            Block::Text { part, segmenter, open, is_blank } => (part, segmenter, open, is_blank),
        };
        match piece {
            Piece::Text { text, logprobs } => {
                if let Some(logprobs) = &logprobs {
                    sink.ledger().dropped(logprobs.pos(), Code::Logprobs);
                }
                let at = text.pos();
                let text = text.decode();
                let mut blocks = BlockSink {
                    recovery: &self.recovery,
                    progress: &mut self.progress,
                    part,
                    open,
                    is_blank,
                    at,
                    sink,
                };
                segmenter.push(&text, &mut blocks);
            }
            Piece::Citation(citation) => match open {
                Some((number, Kind::Text)) => {
                    sink.event(Event::Delta { block: *number, piece: Piece::Citation(citation) });
                }
                Some((_, Kind::Reasoning | Kind::Call)) | None => {
                    sink.ledger().dropped(citation.pos(), Code::Citations);
                }
            },
            Piece::Summary { .. } | Piece::Reasoning { .. } | Piece::Arguments(_) => {}
        }
    }

    fn close(&mut self, block: usize, tail: Tail<'_>, sink: &mut dyn EventSink) {
        let Some(state) = self.blocks.get_mut(block) else { return };
        let (part, segmenter, open, is_blank) = match state {
            Block::Pass(number) => return sink.event(Event::Close { block: *number, tail }),
            Block::Text { part, segmenter, open, is_blank } => (part, segmenter, open, is_blank),
        };
        let mut blocks = BlockSink {
            recovery: &self.recovery,
            progress: &mut self.progress,
            part,
            open,
            is_blank,
            at: Pos::START,
            sink,
        };
        segmenter.finish(&mut blocks);
        if *blocks.is_blank {
            // A text that says nothing is still there.
            blocks.enter(Kind::Text);
        }
        match blocks.open.take() {
            Some((number, Kind::Text)) => blocks.sink.event(Event::Close { block: number, tail }),
            Some((number, Kind::Reasoning | Kind::Call)) => {
                blocks.sink.event(Event::Close { block: number, tail: Tail::default() });
                blocks.sink.ledger().only(&tail.extra);
            }
            None => blocks.sink.ledger().only(&tail.extra),
        }
    }

    /// Makes calls of what the model announced, if it made none.
    fn announced(&mut self, sink: &mut dyn EventSink) {
        let Progress { said, calls, has_native_call, .. } = &mut self.progress;
        let Some(said) = said.take() else { return };
        if *calls > 0 || *has_native_call {
            return;
        }
        for call in intent::detect(&said, &self.recovery.tools).calls {
            let head = self.progress.call_head(&self.recovery, &call.name, INTENT, Pos::START);
            let block = self.progress.number();
            sink.event(Event::Open { block, head: Head::Call(head) });
            let piece = Piece::Arguments(Str::plain(call.arguments));
            sink.event(Event::Delta { block, piece });
            sink.event(Event::Close { block, tail: Tail::default() });
        }
    }
}

impl Progress {
    fn number(&mut self) -> usize {
        self.written += 1;
        self.written - 1
    }

    fn call_head(
        &mut self,
        recovery: &Recovery,
        name: &str,
        dialect: &'static str,
        at: Pos,
    ) -> CallHead<'static> {
        let id = recovery.call_id(&self.answer_id, self.calls);
        self.calls += 1;
        self.dialect = self.dialect.or(Some(dialect));
        CallHead {
            id: Some(Str::plain(id).at(at)),
            name: Str::plain(name.to_owned()).at(at),
            namespace: None,
            form: CallForm::Json,
            caller: None,
            extra: Vec::new(),
        }
    }
}

/// Writes the parts of one text as blocks.
struct BlockSink<'s> {
    recovery: &'s Recovery,
    progress: &'s mut Progress,
    part: &'s mut Part<'static>,
    open: &'s mut Option<(usize, Kind)>,
    is_blank: &'s mut bool,
    at: Pos,
    sink: &'s mut dyn EventSink,
}

impl BlockSink<'_> {
    /// The block for text or reasoning.
    fn enter(&mut self, kind: Kind) -> usize {
        if let Some((number, open)) = *self.open
            && open == kind
        {
            return number;
        }
        self.leave();
        let head = match kind {
            // Only the first part of a text has its members.
            Kind::Text => {
                let part = self.part.clone();
                self.part.extra.clear();
                Head::Text(part)
            }
            Kind::Reasoning | Kind::Call => Head::Reasoning { id: None },
        };
        self.begin(kind, head)
    }

    fn begin(&mut self, kind: Kind, head: Head<'_>) -> usize {
        let number = self.progress.number();
        *self.open = Some((number, kind));
        *self.is_blank = false;
        self.sink.event(Event::Open { block: number, head });
        number
    }

    fn leave(&mut self) {
        if let Some((block, _)) = self.open.take() {
            self.sink.event(Event::Close { block, tail: Tail::default() });
        }
    }
}

impl SegmentSink for BlockSink<'_> {
    fn text(&mut self, text: &str) {
        if let Some(said) = &mut self.progress.said {
            said.push_str(text);
        }
        let block = self.enter(Kind::Text);
        let piece = Piece::Text { text: Str::plain(text).at(self.at), logprobs: None };
        self.sink.event(Event::Delta { block, piece });
    }

    fn reasoning(&mut self, text: &str) {
        let block = self.enter(Kind::Reasoning);
        let piece = Piece::Reasoning { part: 0, text: Str::plain(text).at(self.at) };
        self.sink.event(Event::Delta { block, piece });
    }

    fn open_call(&mut self, name: &str, dialect: &'static str) {
        self.leave();
        let head = self.progress.call_head(self.recovery, name, dialect, self.at);
        self.begin(Kind::Call, Head::Call(head));
    }

    fn arguments(&mut self, json: &str) {
        if let Some((block, Kind::Call)) = *self.open {
            let piece = Piece::Arguments(Str::plain(json).at(self.at));
            self.sink.event(Event::Delta { block, piece });
        }
    }

    fn close_call(&mut self, repaired: bool, valid: bool) {
        report_call(repaired, valid, self.at, self.sink.ledger());
        self.leave();
    }

    fn cut_call(&mut self) {
        self.progress.was_cut = true;
        self.sink.ledger().degraded(self.at, Code::ArgumentsTruncated);
        self.leave();
    }
}
