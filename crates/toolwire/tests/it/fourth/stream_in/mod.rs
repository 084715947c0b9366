//! A stream: from the protocol into events.

pub(super) mod accumulator;
pub(super) mod observer;

use toolwire::Code;
use toolwire::codec::{EventSink, StreamReader};
use toolwire::model::{
    ApiError, Arguments, Call, CallForm, CallHead, ErrorKind, Event, Head, Item, Own, Part, Piece,
    Reasoning, Refusal, Role, Sealed, Start, Tail, Text, Turn,
};
use toolwire::wire::sse::Frame;
use toolwire::wire::{Extra, Pos, Raw, Read, ReadError, Reader, Str};

use super::wire::{Answer, Because, Began, Ended, Grew, Spent};
use super::{FOURTH, content_in, error_in, reasoning_in, stop_in, usage_in};

/// A stream being read.
#[derive(Debug, Default)]
pub(super) struct FourthStreamReader {
    phase: Phase,
    blocks: Vec<Block>,
    has_calls: bool,
}

/// How far the answer has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Before,
    Answering,
    Stopped,
    Over,
}

/// A block that has begun. Its index is the number of the block in the events.
#[derive(Debug)]
struct Block {
    /// The vendor's number, while the block is open.
    n: Option<u64>,
    kind: BlockKind,
    sealed: Option<Sealed<'static>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Text,
    Refusal,
    Reasoning,
    Call(CallForm),
}

impl StreamReader for FourthStreamReader {
    fn read(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        if self.phase == Phase::Over || frame.data.is_empty() {
            return Ok(());
        }
        match frame.name.unwrap_or_default() {
            "opened" => self.open(whole(frame.data)?, sink),
            "began" => {
                let event: Began<'_> = whole(frame.data)?;
                self.begin(sink);
                if self.goes_on(sink) {
                    self.begin_piece(event, sink)?;
                }
            }
            "grew" => {
                let event: Grew<'_> = whole(frame.data)?;
                self.begin(sink);
                if self.goes_on(sink) {
                    self.grow(event, sink);
                }
            }
            "ended" => {
                let event: Ended<'_> = whole(frame.data)?;
                self.begin(sink);
                if self.goes_on(sink) {
                    self.end(event, sink);
                }
            }
            "spent" => {
                let spent: Spent<'_> = whole(frame.data)?;
                self.begin(sink);
                sink.event(Event::Usage(usage_in::decode(spent)));
            }
            "because" => {
                let event: Because<'_> = whole(frame.data)?;
                self.begin(sink);
                if self.goes_on(sink) {
                    self.stop(event, sink);
                }
            }
            "closed" => {
                whole::<Raw<'_>>(frame.data)?;
                self.close(sink);
            }
            "fault" => self.fail(error_in::decode(None, frame.data)?, sink),
            _other => {
                whole::<Raw<'_>>(frame.data)?;
                sink.ledger().dropped(Pos::START, Code::UnknownItem);
            }
        }
        Ok(())
    }

    /// Only `closed` ends a stream well, and it has been read then.
    fn finish(&mut self, _sink: &mut dyn EventSink) {}
}

impl FourthStreamReader {
    fn open(&mut self, answer: Answer<'_>, sink: &mut dyn EventSink) {
        // What an answer has besides these is not known when it begins.
        let Answer { at, reference, by, when, reply: _, because: _, detail: _, spent: _, extra } =
            answer;
        if self.phase != Phase::Before {
            sink.ledger().dropped(at, Code::UnknownItem);
            return;
        }
        self.phase = Phase::Answering;
        let start = Start { origin: FOURTH, id: reference, model: by, created: when };
        sink.event(Event::Start(start));
        if !extra.is_empty() {
            sink.event(Event::About { tier: None, extra });
        }
    }

    /// Begins an answer that the upstream did not open.
    fn begin(&mut self, sink: &mut dyn EventSink) {
        if self.phase == Phase::Before {
            self.phase = Phase::Answering;
            let start = Start { origin: FOURTH, id: None, model: None, created: None };
            sink.event(Event::Start(start));
        }
    }

    /// Whether content may still come.
    fn goes_on(&self, sink: &mut dyn EventSink) -> bool {
        if self.phase == Phase::Stopped {
            let note = sink.ledger().dropped(Pos::START, Code::UnknownItem);
            note.detail("The upstream sent content behind the reason why the model stopped.");
        }
        self.phase == Phase::Answering
    }

    /// Reads a piece that grows, or one without a number, which is whole.
    fn begin_piece(&mut self, event: Began<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        let Began { at, n, piece, extra } = event;
        sink.ledger().only(&extra);
        let piece = piece.ok_or_else(|| ReadError::missing(at, "piece"))?;
        let n = n.map(|n| n.value);
        if n.is_some() && self.find(n).is_some() {
            let note = sink.ledger().dropped(at, Code::UnknownItem);
            note.detail("The upstream began a piece with the number of another.");
            return Ok(());
        }
        let block = self.blocks.len();
        let (kind, sealed) = match content_in::decode_piece(piece)? {
            Item::Text(Text { at: _, text, citations: _, logprobs: _, cache: _, extra }) => {
                open(block, Head::Text(part(extra)), sink);
                grow(block, Piece::Text { text, logprobs: None }, sink);
                (BlockKind::Text, None)
            }
            Item::Refusal(Refusal { at: _, text, extra }) => {
                open(block, Head::Refusal(part(extra)), sink);
                grow(block, Piece::Text { text, logprobs: None }, sink);
                (BlockKind::Refusal, None)
            }
            Item::Reasoning(reasoning) => {
                let sealed = open_reasoning(block, reasoning, sink);
                (BlockKind::Reasoning, sealed.into_owned())
            }
            Item::Call(call) => {
                self.has_calls = true;
                (BlockKind::Call(open_call(block, call, sink)), None)
            }
            item @ (Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Result(_)
            | Item::Hosted(_)
            | Item::Tools(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_)) => {
                let turn = Turn::new(Pos::START, Role::Assistant, vec![item]);
                sink.event(Event::Whole(turn));
                return Ok(());
            }
        };
        self.blocks.push(Block { n, kind, sealed });
        if n.is_none() {
            self.close_block(block, None, Vec::new(), sink);
        }
        Ok(())
    }

    fn grow(&mut self, event: Grew<'_>, sink: &mut dyn EventSink) {
        let Grew { at, n, part, say, decline, think, gist, with, write, extra } = event;
        sink.ledger().only(&extra);
        let Some(block) = self.find(n.map(|n| n.value)) else {
            let note = sink.ledger().dropped(at, Code::UnknownItem);
            note.detail("The upstream continued a piece that is not open.");
            return;
        };
        let kind = self.blocks.get(block).map(|block| block.kind);
        let part = part.map(|part| part.value as usize).unwrap_or_default();
        let text = |text| Piece::Text { text, logprobs: None };
        let pieces = [
            (BlockKind::Text, say.map(text)),
            (BlockKind::Refusal, decline.map(text)),
            (BlockKind::Reasoning, think.map(|text| Piece::Reasoning { part, text })),
            (BlockKind::Reasoning, gist.map(|text| Piece::Summary { part, text })),
            (BlockKind::Call(CallForm::Json), with.map(Piece::Arguments)),
            (BlockKind::Call(CallForm::Freeform), write.map(Piece::Arguments)),
        ];
        for (of, piece) in pieces {
            match piece {
                Some(piece) if Some(of) == kind => {
                    sink.event(Event::Delta { block, piece });
                }
                Some(_) => {
                    sink.ledger().dropped(at, Code::UnknownItem);
                }
                None => {}
            }
        }
    }

    fn end(&mut self, event: Ended<'_>, sink: &mut dyn EventSink) {
        let Ended { at, n, seal, extra } = event;
        match self.find(n.map(|n| n.value)) {
            Some(block) => {
                let sealed = seal.and_then(|seal| reasoning_in::decode_seal(seal).0);
                self.close_block(block, sealed, extra, sink);
            }
            None => {
                sink.ledger().dropped(at, Code::UnknownItem);
            }
        }
    }

    fn close_block(
        &mut self,
        block: usize,
        sealed: Option<Sealed<'_>>,
        extra: Vec<Extra<'_>>,
        sink: &mut dyn EventSink,
    ) {
        let Some(Block { n, kind: _, sealed: before }) = self.blocks.get_mut(block) else { return };
        *n = None;
        let sealed = sealed.or(before.take());
        sink.event(Event::Close { block, tail: Tail { sealed, extra } });
    }

    fn stop(&mut self, event: Because<'_>, sink: &mut dyn EventSink) {
        let Because { at, because, detail, mut extra } = event;
        if because.is_none() {
            sink.ledger().only(&extra);
            return;
        }
        let open: Vec<usize> =
            (0..self.blocks.len()).filter(|block| self.blocks[*block].n.is_some()).collect();
        for block in open {
            self.close_block(block, None, Vec::new(), sink);
        }
        self.phase = Phase::Stopped;
        let stop = stop_in::decode(at, because, detail, self.has_calls, &mut extra);
        sink.event(Event::Stop { stop, extra });
    }

    fn close(&mut self, sink: &mut dyn EventSink) {
        if self.phase == Phase::Stopped {
            self.phase = Phase::Over;
            sink.event(Event::End);
        } else {
            let cut = "The upstream ended its stream without saying why the model stopped.";
            self.fail(ApiError::new(ErrorKind::Truncated, cut), sink);
        }
    }

    fn fail(&mut self, error: ApiError, sink: &mut dyn EventSink) {
        self.phase = Phase::Over;
        sink.event(Event::Error(error));
    }

    /// The open block with the vendor's number.
    fn find(&self, n: Option<u64>) -> Option<usize> {
        let n = n?;
        self.blocks.iter().position(|block| block.n == Some(n))
    }
}

fn open(block: usize, head: Head<'_>, sink: &mut dyn EventSink) {
    sink.event(Event::Open { block, head });
}

/// What is there from the start is what a piece has grown by first.
fn grow(block: usize, piece: Piece<'_>, sink: &mut dyn EventSink) {
    let empty = match &piece {
        Piece::Text { text, logprobs: _ } | Piece::Arguments(text) => text.is_empty(),
        Piece::Summary { part: _, text: _ }
        | Piece::Reasoning { part: _, text: _ }
        | Piece::Citation(_) => false,
    };
    if !empty {
        sink.event(Event::Delta { block, piece });
    }
}

fn open_reasoning<'a>(
    block: usize,
    reasoning: Reasoning<'a>,
    sink: &mut dyn EventSink,
) -> Option<Sealed<'a>> {
    let Reasoning { at: _, summary, content, sealed, place: _, extra } = reasoning;
    sink.ledger().only(&extra);
    open(block, Head::Reasoning { id: None }, sink);
    for (part, text) in summary.into_iter().enumerate() {
        sink.event(Event::Delta { block, piece: Piece::Summary { part, text } });
    }
    for (part, text) in content.into_iter().enumerate() {
        sink.event(Event::Delta { block, piece: Piece::Reasoning { part, text } });
    }
    sealed
}

fn open_call(block: usize, call: Call<'_>, sink: &mut dyn EventSink) -> CallForm {
    let Call { at: _, id, name, namespace, arguments, caller, cache: _, extra } = call;
    let (form, text) = match arguments {
        Arguments::Text(text) => (CallForm::Json, text),
        Arguments::Freeform(text) => (CallForm::Freeform, text),
        Arguments::Json(raw) | Arguments::Native(_, raw) => {
            (CallForm::Json, Str::plain(raw.into_text()))
        }
    };
    open(block, Head::Call(CallHead { id, name, namespace, form, caller, extra }), sink);
    grow(block, Piece::Arguments(text), sink);
    form
}

fn part(extra: Vec<Extra<'_>>) -> Part<'_> {
    Part { message: 0, phase: None, extra }
}

/// Reads an event to its end.
fn whole<'e, T: Read<'e>>(data: &'e str) -> Result<T, ReadError> {
    let mut reader = Reader::new(data);
    let event = T::read(&mut reader)?;
    reader.finish()?;
    Ok(event)
}
