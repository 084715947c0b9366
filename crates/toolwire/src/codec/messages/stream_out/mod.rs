//! The stream: from events to Messages.
//!
//! The API opens one block at a time, so a block that opens while another is
//! unfinished waits for it. Clients take an answer for complete when they see
//! `message_delta`, so it is written at the very end.

mod blocks;
mod call;
mod events;
mod from_response;
mod text;
mod thinking;

use self::blocks::Line;
pub(super) use self::from_response::unroll;
use super::content_out::Pen;
use super::error_out;
use super::response_out::message_id;
use super::stop_out::{self, Said};
use super::usage_out::{encode_tier, encode_usage};
use crate::codec::StreamWriter;
use crate::ledger::{Code, Ledger};
use crate::model::{ApiError, ErrorKind, Event, Head, Piece, Protocol, ResponseContext, Start};
use crate::wire::{Object, Pos, Str, TextBuffer};

/// A stream being written.
#[derive(Debug)]
pub(super) struct Writing {
    asked: ResponseContext,
    phase: Phase,
    line: Line,
    /// What the model said when it declined, and in which block.
    refusal: Option<(usize, TextBuffer)>,
    /// Members of `usage`, if there was any.
    usage: Option<Vec<u8>>,
    /// The member of `usage` that names the tier.
    tier: Vec<u8>,
    /// Members that say why the model stopped.
    stop: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Before,
    Begun,
    Stopped,
    Over,
}

impl Writing {
    /// A stream for a client who asked for it so.
    pub(super) fn new(asked: ResponseContext) -> Self {
        Self {
            asked,
            phase: Phase::Before,
            line: Line::default(),
            refusal: None,
            usage: None,
            tier: Vec::new(),
            stop: Vec::new(),
        }
    }
}

impl StreamWriter for Writing {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        if self.phase == Phase::Over {
            return;
        }
        let mut pen = Pen::new(ledger);
        match event {
            Event::Delta { block, piece } => {
                if let (Piece::Text { text, logprobs: _ }, Some((refusing, told))) =
                    (piece, &mut self.refusal)
                    && refusing == block
                {
                    told.push(text);
                }
                self.line.delta(*block, piece, out, &mut pen);
            }
            Event::Start(start) => self.start(start, out, ledger),
            Event::Open { block, head } => {
                if let Head::Refusal(_) = head {
                    self.refusal = Some((*block, TextBuffer::default()));
                }
                self.line.open(*block, head, out, &mut pen);
            }
            Event::Close { block, tail } => self.line.close(*block, tail, out, &mut pen),
            Event::Whole(turn) => {
                if let Some(text) = self.line.whole(turn, out, &mut pen) {
                    let mut told = TextBuffer::default();
                    told.push(text);
                    self.refusal = Some((usize::MAX, told));
                }
            }
            Event::About { tier, extra } => {
                if let Some(tier) = tier {
                    self.tier.clear();
                    encode_tier(tier, &mut Object::members_only(&mut self.tier), &mut pen);
                }
                ledger.only(extra);
            }
            Event::Usage(usage) => {
                let members = self.usage.get_or_insert_default();
                members.clear();
                encode_usage(usage, &mut Object::members_only(members), &mut pen);
            }
            Event::Stop { stop, extra } => {
                self.line.finish(out, &mut pen);
                self.phase = Phase::Stopped;
                let told = self.refusal.as_ref().map(|(_, told)| told.text());
                let said = Said { calls: self.line.calls(), refusal: told.as_ref() };
                self.stop.clear();
                let mut members = Object::members_only(&mut self.stop);
                stop_out::encode(stop, &said, &mut members, &mut pen);
                pen.ledger.only(extra);
            }
            Event::End => self.end(out, ledger),
            Event::Error(error) => self.fail(error, out),
        }
    }
}

impl Writing {
    fn start(&mut self, start: &Start<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let Start { origin, id, model, created } = start;
        if self.phase != Phase::Before {
            return;
        }
        self.phase = Phase::Begun;
        debug_assert_ne!(*origin, Protocol::Messages, "the bytes of one protocol pass");
        let id = match id {
            Some(id) => Str::plain(message_id(&id.decode())),
            None => Str::plain(message_id("")),
        };
        if let Some(created) = created {
            let name = origin.conventions().created_member;
            ledger.dropped(created.pos, Code::Only(name.to_owned())).info();
        }
        let asked = self.asked.model.as_deref().map(Str::from);
        events::write(events::MESSAGE_START, out, |event| {
            let mut message = event.object("message");
            message.put("id", &id);
            message.put("type", "message");
            message.put("role", "assistant");
            message.maybe("model", model.as_ref().or(asked.as_ref()));
            message.array("content");
            message.put("stop_reason", &());
            message.put("stop_sequence", &());
            // The truth comes at the end; clients want numbers here.
            let mut usage = message.object("usage");
            usage.put("input_tokens", &self.asked.input_estimate.unwrap_or_default());
            usage.put("output_tokens", &0u64);
        });
        self.line.scope(id.into_decoded().into_owned());
    }

    fn end(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) {
        // An end without a reason would be one that toolwire made up.
        if self.phase != Phase::Stopped {
            let cut = "The upstream's answer ended without saying why.";
            return self.fail(&ApiError::new(ErrorKind::Truncated, cut), out);
        }
        self.phase = Phase::Over;
        events::write(events::MESSAGE_DELTA, out, |event| {
            event.object("delta").members(&self.stop);
            let mut usage = event.object("usage");
            match &self.usage {
                Some(members) => {
                    usage.members(members);
                    usage.members(&self.tier);
                }
                None => {
                    ledger.degraded(Pos::START, Code::UsageMissing).key("usage");
                    usage.put("input_tokens", &self.asked.input_estimate.unwrap_or_default());
                    usage.put("output_tokens", &0u64);
                }
            }
        });
        events::write(events::MESSAGE_STOP, out, |_event| {});
    }

    fn fail(&mut self, error: &ApiError, out: &mut Vec<u8>) {
        self.phase = Phase::Over;
        crate::wire::sse::write_event(Some("error"), out, |out| {
            error_out::encode(error, out);
        });
    }
}
