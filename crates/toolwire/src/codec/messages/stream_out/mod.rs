//! A stream: from events to Messages.
//!
//! The API opens one block at a time, so a block that opens while another is
//! incomplete waits for it. Clients take an answer for complete when they see
//! `message_delta`, so it is written at the very end.

mod block;
mod blocks;
mod call;
mod events;
pub(super) mod from_response;
mod text;
mod thinking;

use self::blocks::BlockQueue;
use self::events::{MESSAGE_DELTA, MESSAGE_START, MESSAGE_STOP, write_message_event};
use super::error_out;
use super::response_out::message_id;
use super::stop_out::{AnswerSummary, write_stop};
use super::usage_out::{write_counts, write_tier};
use crate::codec::StreamWriter;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{ApiError, ErrorKind, Event, Head, Piece, Protocol, ResponseContext, Start};
use crate::profile::Profile;
use crate::stateful::WrittenEnding;
use crate::wire::names::Names;
use crate::wire::{Object, Pos, Str, TextBuffer, sse};

/// A stream of Messages while it is written.
#[derive(Debug)]
pub(super) struct MessagesStreamWriter {
    context: ResponseContext,
    phase: WritePhase,
    /// The protocol of the stream that is translated, once it has begun.
    origin: Option<Protocol>,
    blocks: BlockQueue,
    refusal: Option<StreamedRefusal>,
    /// Members of `usage`, if there was any.
    usage: Option<Vec<u8>>,
    /// The member of `usage` that names the tier.
    tier: Vec<u8>,
    /// Members that say why the model stopped.
    stop: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WritePhase {
    Before,
    Begun,
    /// The model has stopped.
    Stopped,
    /// Everything is said but that it is the end.
    Ended,
    /// The end was taken back, so only an error can follow.
    Retracted,
    Over,
}

/// What the model said when it refused, and in which block. What came in one
/// piece has no block that grows.
#[derive(Debug)]
struct StreamedRefusal {
    block: Option<usize>,
    text: TextBuffer,
}

impl MessagesStreamWriter {
    pub(super) fn new(context: ResponseContext) -> Self {
        Self {
            context,
            phase: WritePhase::Before,
            origin: None,
            blocks: BlockQueue::default(),
            refusal: None,
            usage: None,
            tier: Vec::new(),
            stop: Vec::new(),
        }
    }
}

impl StreamWriter for MessagesStreamWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        match (self.phase, event) {
            (WritePhase::Ended | WritePhase::Over, _) => return,
            (WritePhase::Retracted, Event::Error(_)) => {}
            (WritePhase::Retracted, _) => return,
            (WritePhase::Before | WritePhase::Begun | WritePhase::Stopped, _) => {}
        }
        match event {
            Event::Delta { block, piece } => {
                if let (Piece::Text { text, logprobs: _ }, Some(refusal)) =
                    (piece, &mut self.refusal)
                    && refusal.block == Some(*block)
                {
                    refusal.text.push(text);
                }
                self.blocks.delta(*block, piece, out, ledger);
            }
            Event::Start(start) => self.start(start, out, ledger),
            Event::Open { block, head } => {
                if let Head::Refusal(_) = head {
                    let text = TextBuffer::default();
                    self.refusal = Some(StreamedRefusal { block: Some(*block), text });
                }
                self.blocks.open(*block, head, out, ledger);
            }
            Event::Close { block, tail } => self.blocks.close(*block, tail, out, ledger),
            Event::Whole(turn) => {
                // Every stream starts before it has content.
                let Some(origin) = self.origin else { return };
                let (profile, names) = (Profile::of(Protocol::Messages), Names::default());
                let mut cx = EncodeContext::new(origin, &profile, &names, ledger);
                if let Some(refused) = self.blocks.whole(turn, out, &mut cx) {
                    let mut text = TextBuffer::default();
                    text.push(refused);
                    self.refusal = Some(StreamedRefusal { block: None, text });
                }
            }
            Event::About { tier, extra } => {
                if let Some(tier) = tier {
                    self.tier.clear();
                    write_tier(tier, &mut Object::members_only(&mut self.tier), ledger);
                }
                ledger.only(extra);
            }
            Event::Usage(usage) => {
                let members = self.usage.get_or_insert_default();
                members.clear();
                write_counts(usage, &mut Object::members_only(members), ledger);
            }
            Event::Stop { stop, extra } => {
                self.blocks.finish(out, ledger);
                self.phase = WritePhase::Stopped;
                let refusal = self.refusal.as_ref().map(|refusal| refusal.text.text());
                let calls = self.blocks.calls();
                let summary = AnswerSummary { calls, refusal: refusal.as_ref() };
                self.stop.clear();
                write_stop(stop, &summary, &mut Object::members_only(&mut self.stop), ledger);
                ledger.only(extra);
            }
            Event::End => self.end(out, ledger),
            Event::Error(error) => self.fail(error, out),
        }
    }

    fn write_end(&mut self, out: &mut Vec<u8>) -> Option<WrittenEnding> {
        match self.phase {
            WritePhase::Ended => {
                self.phase = WritePhase::Over;
                write_message_event(MESSAGE_STOP, out, |_event| {});
            }
            // A stop reason must come from the upstream, never from toolwire.
            WritePhase::Before | WritePhase::Begun | WritePhase::Stopped => {
                let cut = "The upstream's answer ended without saying why.";
                self.fail(&ApiError::new(ErrorKind::Truncated, cut), out);
            }
            WritePhase::Retracted | WritePhase::Over => {}
        }
        None
    }

    fn retract_end(&mut self) {
        self.phase = WritePhase::Retracted;
    }
}

impl MessagesStreamWriter {
    fn start(&mut self, start: &Start<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let Start { origin, id, model, created } = start;
        if self.phase != WritePhase::Before {
            return;
        }
        self.phase = WritePhase::Begun;
        self.origin = Some(*origin);
        let id = message_id(*origin, id.as_ref());
        if let Some(created) = created {
            let name = origin.conventions().created_member;
            ledger.dropped(created.pos, Code::Only(name.to_owned())).info();
        }
        let requested = self.context.model.as_deref().map(Str::from);
        write_message_event(MESSAGE_START, out, |event| {
            let mut message = event.object("message");
            message.put("id", &id);
            message.put("type", "message");
            message.put("role", "assistant");
            message.maybe("model", model.as_ref().or(requested.as_ref()));
            message.array("content");
            message.put("stop_reason", &());
            message.put("stop_sequence", &());
            // Clients want numbers here. The real ones come at the end.
            let mut usage = message.object("usage");
            usage.put("input_tokens", &self.context.input_estimate.unwrap_or_default());
            usage.put("output_tokens", &0u64);
        });
        self.blocks.set_message_id(id);
    }

    fn end(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        if self.phase != WritePhase::Stopped {
            return;
        }
        self.phase = WritePhase::Ended;
        write_message_event(MESSAGE_DELTA, out, |event| {
            event.object("delta").members(&self.stop);
            let mut usage = event.object("usage");
            match &self.usage {
                Some(members) => {
                    usage.members(members);
                    usage.members(&self.tier);
                }
                None => {
                    ledger.degraded(Pos::START, Code::UsageMissing).key("usage");
                    usage.put("input_tokens", &self.context.input_estimate.unwrap_or_default());
                    usage.put("output_tokens", &0u64);
                }
            }
        });
    }

    fn fail(&mut self, error: &ApiError, out: &mut Vec<u8>) {
        self.phase = WritePhase::Over;
        sse::write_event(Some("error"), out, |out| {
            error_out::encode(error, out);
        });
    }
}
