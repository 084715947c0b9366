//! The stream: observing it as it passes from Chat to Chat.

use super::chunk::Groq;
use super::failure::truncated;
use super::text_delta::{self, DeltaText};
use crate::codec::chat::lenient_in::Index;
use crate::codec::chat::stop_in::Said;
use crate::codec::chat::wire::{Usage, reread};
use crate::codec::chat::{stop_in, usage_in};
use crate::codec::openai::base_resp_in::{self, BASE_RESP};
use crate::codec::{EventOutcome, StreamObserver, openai};
use crate::model::{Own, ResponseSummary, Start, Stop};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{Extra, Kind, Raw, Read, ReadError, Reader, Str, read_fields};

/// Observes a stream that passes.
#[derive(Debug, Default)]
pub(crate) struct ChatStreamObserver {
    /// The bytes around the text of the last chunk, if it had nothing else.
    last: Stencil<DeltaText>,
    calls: CallCounter,
    /// Whether there was a `finish_reason`.
    finished: bool,
    /// Whether the first choice had one. The others are other answers.
    has_first_finish: bool,
    /// Whether the first choice said anything.
    has_said: bool,
    has_other_choices: bool,
    /// Whether there was a refusal.
    refused: bool,
}

impl StreamObserver for ChatStreamObserver {
    fn frame(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<EventOutcome, ReadError> {
        if let Some((_kind, text)) = self.last.fit(frame) {
            self.has_said |= !text.is_empty();
            return Ok(EventOutcome::GoesOn);
        }
        let repeats = self.last.forget();
        if frame.data.trim() == "[DONE]" {
            self.read_done(summary);
            return Ok(EventOutcome::End);
        }
        let mut reader = Reader::new(frame.data);
        let (mut failed, mut has_choices, mut reported) = (false, false, None);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            let name = key.decode();
            if name == "choices" && reader.peek() == Kind::Array {
                has_choices = self.read_choices(&mut reader, summary)?;
            } else if name == "usage" && reader.peek() == Kind::Object {
                read_usage(&mut reader, summary)?;
            } else if name == "x_groq" && reader.peek() == Kind::Object {
                failed |= read_groq(&reader.raw()?, summary);
            } else if name == BASE_RESP {
                reported = base_resp_in::error(&reader.raw()?);
            } else {
                failed |= name == "error" && reader.peek() != Kind::Null;
                reader.skip()?;
            }
        }
        reader.finish()?;
        if failed {
            // A choice of the same chunk may have failed too, as OpenRouter's do.
            // vectors/streams/chat-openrouter-error-first
            summary.passes_failure = false;
            summary.error = openai::error_in::decode(None, frame.data).ok();
            return Ok(EventOutcome::Failed);
        }
        if let Some(error) = reported.filter(|_error| !has_choices) {
            // No client has to know this member, so the end is still to come.
            summary.error = Some(error);
            summary.passes_failure = true;
        }
        if repeats {
            self.last.cut(frame, text_delta::find);
        }
        Ok(EventOutcome::GoesOn)
    }

    fn is_complete(&self) -> bool {
        self.finished
    }

    fn begun(&self) -> Option<(Start<'_>, u64)> {
        None
    }
}

impl ChatStreamObserver {
    /// What there is so far. The arguments of calls are not looked at.
    fn said(&self, summary: &ResponseSummary) -> Said {
        Said { calls: summary.calls > 0, cut: false, refused: self.refused }
    }

    /// Reads the end, which some vendors send without a `finish_reason`. The bytes pass, but
    /// whoever reads the log is told if the answer is none. Whether a call is cut is not known.
    fn read_done(&self, summary: &mut ResponseSummary) {
        let missing = match (self.has_first_finish, self.has_said, self.has_other_choices) {
            (true, _, _) | (false, true, false) => None,
            (false, false, _) => Some("The upstream ended its stream without an answer."),
            (false, true, true) => {
                Some("The upstream ended its stream without an end of its first answer.")
            }
        };
        if let Some(message) = missing {
            summary.error.get_or_insert_with(|| truncated(message));
            summary.passes_failure = true;
        } else {
            let ended = || stop_in::of_word(None, self.said(summary)).as_str();
            summary.stop = Some(summary.stop.unwrap_or_else(ended));
        }
    }

    /// Reads the choices, and says whether there is one.
    fn read_choices(
        &mut self,
        reader: &mut Reader<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<bool, ReadError> {
        let mut choices = reader.array()?;
        let mut position = 0;
        while choices.more(reader)? {
            let place = position;
            position += 1;
            if reader.peek() != Kind::Object {
                reader.skip()?;
                continue;
            }
            let (mut word, mut error, mut number, mut says) = (None, None, None, false);
            let mut members = reader.object()?;
            while let Some(key) = members.next(reader)? {
                match (key.decode().as_ref(), reader.peek()) {
                    ("index", _kind) => Index(number) = Index::read(reader)?,
                    ("delta", Kind::Object) => says |= self.read_delta(reader, summary)?,
                    ("message", Kind::Object) => says |= says_anything(&reader.raw()?)?,
                    ("usage", Kind::Object) => read_usage(reader, summary)?,
                    ("finish_reason", Kind::String) => word = Some(reader.string()?),
                    ("error", _kind) => error = openai::error_in::of_member(&reader.raw()?),
                    (_key, _kind) => reader.skip()?,
                }
            }
            let is_first = number.unwrap_or(place) == 0;
            self.has_said |= is_first && says;
            self.has_other_choices |= !is_first;
            let mut failure = error;
            if let Some(word) = word.filter(|word| !word.is_empty()) {
                self.finished = true;
                self.has_first_finish |= is_first;
                let stop = stop_in::of_word(Some(word), self.said(summary));
                if is_first {
                    summary.stop = Some(stop.as_str());
                }
                if let Stop::Failed(error) = stop {
                    failure.get_or_insert(*error);
                }
            }
            // The bytes pass, but whoever reads the log is told.
            if failure.is_some() {
                summary.error = failure;
                summary.passes_failure = true;
            }
        }
        Ok(position > 0)
    }

    /// Reads what is new in a message, and says whether it says anything.
    fn read_delta(
        &mut self,
        reader: &mut Reader<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<bool, ReadError> {
        let mut says = false;
        let mut members = reader.object()?;
        while let Some(key) = members.next(reader)? {
            match (key.decode().as_ref(), reader.peek()) {
                ("tool_calls", Kind::Array) => {
                    let mut calls = reader.array()?;
                    while calls.more(reader)? {
                        let call = CallPiece::read(reader)?;
                        summary.calls += usize::from(self.calls.begins(&call));
                        says = true;
                    }
                }
                ("function_call", Kind::Object) => {
                    let call = CallPiece::read(reader)?;
                    summary.calls += usize::from(self.calls.begins_legacy(&call));
                    says = true;
                }
                ("refusal", Kind::String) => {
                    let refuses = !reader.string()?.is_empty();
                    self.refused |= refuses;
                    says |= refuses;
                }
                (key, _kind) if SAYING.contains(&key) => says |= !reader.raw()?.says_nothing(),
                (_key, _kind) => reader.skip()?,
            }
        }
        Ok(says)
    }
}

/// The members of a message that say something, besides refusals and calls.
const SAYING: [&str; 6] =
    ["content", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "audio"];

/// Whether a message that came without a delta says anything.
fn says_anything(message: &Raw<'_>) -> Result<bool, ReadError> {
    let says = |field: &Extra<'_>| field.key != "role" && !field.value.says_nothing();
    Ok(read_fields(&mut message.reader())?.iter().any(says))
}

fn read_usage(reader: &mut Reader<'_>, summary: &mut ResponseSummary) -> Result<(), ReadError> {
    let counts = Usage::read(reader)?;
    summary.usage = Some(usage_in::read(counts).into_owned());
    Ok(())
}

/// Reads the token counts in Groq's own member, and says whether it is an error.
fn read_groq(own: &Raw<'_>, summary: &mut ResponseSummary) -> bool {
    let Some(Ok(Groq { at: _, usage, error, extra: _ })) = reread(own) else { return false };
    if let Some(counts) = usage {
        summary.usage = Some(usage_in::read(*counts).into_owned());
    }
    error.is_some()
}

/// What tells one call from another, of a piece of it.
#[derive(Default)]
struct CallPiece<'a> {
    index: Option<u64>,
    id: Option<Str<'a>>,
    is_named: bool,
    has_arguments: bool,
}

impl<'a> Read<'a> for CallPiece<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let mut piece = Self::default();
        if reader.peek() == Kind::Object {
            piece.read_members(reader)?;
        } else {
            reader.skip()?;
        }
        Ok(piece)
    }
}

impl<'a> CallPiece<'a> {
    fn read_members(&mut self, reader: &mut Reader<'a>) -> Result<(), ReadError> {
        let mut members = reader.object()?;
        while let Some(key) = members.next(reader)? {
            match (key.decode().as_ref(), reader.peek()) {
                ("function" | "custom", Kind::Object) => self.read_members(reader)?,
                ("index", Kind::Number) => self.index = reader.raw()?.text().parse().ok(),
                ("id", Kind::String) => {
                    self.id = Some(reader.string()?).filter(|id| !id.is_empty())
                }
                ("name", Kind::String) => self.is_named |= !reader.string()?.is_empty(),
                ("arguments" | "input", Kind::String) => {
                    self.has_arguments |= !reader.string()?.is_empty();
                }
                // Some vendors send them as an object.
                ("arguments", Kind::Object) => {
                    self.has_arguments = true;
                    reader.skip()?;
                }
                (_key, _kind) => reader.skip()?,
            }
        }
        Ok(())
    }
}

/// Counts the calls, of which each has one name. A name may come in pieces or again
/// until the arguments begin, which the bytes of a stream alone do not tell.
#[derive(Debug, Default)]
struct CallCounter {
    /// The last call that began.
    last: Option<CountedCall>,
    /// Whether there was a call of the deprecated kind.
    has_legacy: bool,
}

#[derive(Debug)]
struct CountedCall {
    index: Option<u64>,
    id: Option<String>,
    has_arguments: bool,
}

impl CallCounter {
    /// Whether a piece begins another call.
    fn begins(&mut self, piece: &CallPiece<'_>) -> bool {
        let CallPiece { index, id, is_named, has_arguments } = piece;
        if let Some(last) = &mut self.last {
            let is_same = last.index == *index
                && match (id, &last.id) {
                    (Some(id), Some(own)) => *id == **own,
                    (Some(_), None) | (None, _) => !last.has_arguments,
                };
            if is_same || !is_named {
                last.has_arguments |= has_arguments;
                return false;
            }
        }
        if !is_named {
            return false;
        }
        let id = id.as_ref().map(|id| id.decode().into_owned());
        self.last = Some(CountedCall { index: *index, id, has_arguments: *has_arguments });
        true
    }

    /// Whether a piece of a deprecated function call is the first.
    fn begins_legacy(&mut self, piece: &CallPiece<'_>) -> bool {
        piece.is_named && !std::mem::replace(&mut self.has_legacy, true)
    }
}

/// Whether a chunk says nothing yet: its deltas have nothing but a role.
pub(crate) fn opens_stream(frame: &Frame<'_>) -> bool {
    is_silent(frame.data).unwrap_or_default()
}

/// Whether the reason why a choice is over is that it failed.
fn is_failure(word: &Raw<'_>) -> bool {
    let Ok(word) = word.reader().string() else { return false };
    let said = Said { calls: false, cut: false, refused: false };
    matches!(stop_in::of_word(Some(word), said), Stop::Failed(_))
}

fn is_silent(data: &str) -> Option<bool> {
    let [choices, error] = Reader::new(data).pick(["choices", "error"]).ok()?;
    for choice in choices?.elements().ok()? {
        let [delta, word] = choice.reader().pick(["delta", "finish_reason"]).ok()?;
        if word.is_some_and(|word| !word.says_nothing() && !is_failure(&word)) {
            return Some(false);
        }
        let members =
            delta.as_ref().map(|delta| read_fields(&mut delta.reader())).transpose().ok()?;
        let says = |field: &Extra<'_>| field.key != "role" && !field.value.says_nothing();
        if members.iter().flatten().any(says) {
            return Some(false);
        }
    }
    Some(error.is_none())
}
