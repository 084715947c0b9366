//! A stream: from Responses into events.
//!
//! Deltas are passed on as they come. Every text comes again as a whole when its
//! part is done, when its item is done and when the answer ends. Some servers
//! send no deltas, or nothing but the end, so whatever has not come as a delta
//! is passed on from there.

pub(super) mod accumulator;
mod held_call;
mod item_events;
mod items;
pub(super) mod observer;
mod text_delta;
mod whole_items;

use std::collections::BTreeSet;

use crate::codec::responses::wire::{OutputItemEvent, ResponseEvent};
use crate::codec::responses::{error_in, response_in};
use crate::codec::{EventPlace, EventSink, StreamReader};
use crate::ledger::Code;
use crate::model::{ApiError, Candidate, ErrorKind, Event, Protocol, Response, Start, Stop};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{At, Kind, Raw, ReadError, Reader};
use held_call::HeldCall;
use item_events::ItemEvent;
use items::{ItemState, StreamItems};
use text_delta::ItemTextDelta;

/// A stream being read.
#[derive(Debug, Default)]
pub(super) struct ResponsesStreamReader {
    started: bool,
    /// How the last event was written, if it only added text.
    last: Stencil<ItemTextDelta>,
    ended: bool,
    items: StreamItems,
    /// How many blocks have been opened.
    blocks: usize,
    /// How many messages have begun.
    messages: usize,
    /// Whether the answer calls a tool that the client runs.
    called: bool,
    /// Whether the answer holds a refusal.
    refused: bool,
    /// A call that has not been passed on.
    held: Option<HeldCall>,
    /// The unknown types of events that have been reported.
    reported: BTreeSet<String>,
}

impl StreamReader for ResponsesStreamReader {
    fn read(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        // Open Responses ends its streams with this marker, but only a terminal
        // event says how the answer ended.
        if self.ended || frame.data.trim_ascii() == "[DONE]" {
            return Ok(());
        }
        if let Some((delta, text)) = self.last.fit(frame) {
            self.push_text_delta(delta, text, sink);
            return Ok(());
        }
        let repeats = self.last.forget();
        let mut reader = Reader::new(frame.data);
        let tag = reader.tag("type")?;
        let kind = match &tag {
            Some(tag) => tag.decode(),
            None => frame.name.unwrap_or_default().into(),
        };
        let failure = kind == "error" || frame.name == Some("error");
        if failure || (kind.is_empty() && is_error(frame.data)?) {
            let mut failure = error_in::decode(None, frame.data)?;
            // This is the name of the event and not a kind of error.
            failure.vendor_type = failure.vendor_type.filter(|kind| kind != "error");
            self.fail(failure, sink);
            return Ok(());
        }
        self.read_event(&kind, reader, sink)?;
        if repeats && !self.ended {
            let items = &self.items;
            self.last.cut(frame, |data, holes| {
                let place = text_delta::find(data, holes)?;
                let item = items.find_or_last(place.key())?;
                let (kind, number) = (place.kind, place.number);
                let fits = items.kind(item) == Some(kind.item_kind());
                fits.then_some(ItemTextDelta { kind, item, number })
            });
        }
        Ok(())
    }

    fn finish(&mut self, _sink: &mut dyn EventSink) {}
}

impl ResponsesStreamReader {
    fn read_event(
        &mut self,
        kind: &str,
        reader: Reader<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let Some(event) = ItemEvent::of(kind) else { return self.lifecycle(kind, reader, sink) };
        let body: OutputItemEvent<'_> = reader.document()?;
        self.start(None, sink);
        self.item_event(event, body, sink)
    }

    /// Reads events about the answer as a whole, and those that say nothing.
    fn lifecycle(
        &mut self,
        kind: &str,
        mut reader: Reader<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        match kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                let ResponseEvent { at: _, kind: _, sequence_number: _, response, extra } =
                    reader.document()?;
                sink.ledger().only(&extra);
                self.start(response, sink);
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let ResponseEvent { at, kind: _, sequence_number: _, response, extra } =
                    reader.document()?;
                sink.ledger().only(&extra);
                let response = response.ok_or(ReadError::missing(at, "response"))?;
                self.terminal(kind, &response, sink)?;
            }
            noise if is_noise(noise) => {
                reader.skip()?;
                reader.finish()?;
            }
            unknown => {
                if self.reported.insert(unknown.to_owned()) {
                    let detail = format!("Events of the unknown kind {unknown:?} are passed over.");
                    sink.ledger().dropped(reader.here(), Code::UnknownItem).info().detail(detail);
                }
                reader.skip()?;
                reader.finish()?;
            }
        }
        Ok(())
    }

    /// Passes on the beginning, once.
    fn start(&mut self, response: Option<Raw<'_>>, sink: &mut dyn EventSink) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let text = |key| {
            let response = response.as_ref()?;
            response.reader().tag(key).ok().flatten()
        };
        let (id, model) = (text("id"), text("model"));
        let created = response.as_ref().and_then(|response| {
            let [created] = response.reader().pick(["created_at"]).ok()?;
            response_in::seconds(&created?)
        });
        sink.event(Event::Start(Start { origin: Protocol::Responses, id, model, created }));
    }

    fn fail(&mut self, failure: ApiError, sink: &mut dyn EventSink) {
        self.release_before(None, sink);
        self.ended = true;
        sink.event(Event::Error(failure));
    }

    /// Reads the end, which repeats the whole answer.
    fn terminal(
        &mut self,
        kind: &str,
        response: &Raw<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let mut reader = response.reader();
        let Response { origin: _, id: _, model: _, created: _, candidates, usage, tier, extra } =
            response_in::read(&mut reader)?;
        let Some(Candidate { at: _, turns, stop, logprobs: _, extra: _ }) =
            candidates.into_iter().next()
        else {
            return Ok(());
        };
        self.start(Some(response.borrowed()), sink);
        let At { pos, value: stop } = stop;
        let stop = match (kind, stop) {
            (_kind, Stop::Failed(failure)) => {
                self.fail(*failure, sink);
                return Ok(());
            }
            ("response.failed", _stop) => {
                self.fail(error_in::unexplained(), sink);
                return Ok(());
            }
            // The status may not have been updated, but the event is right.
            ("response.cancelled", _stop) => Stop::Cancelled,
            ("response.incomplete", Stop::EndTurn | Stop::ToolCalls | Stop::Running) => {
                Stop::MaxTokens
            }
            (_kind, Stop::Running) => Stop::EndTurn,
            (_kind, stop) => stop,
        };
        self.release_last(&turns, sink);
        self.push_rest(turns, sink);
        let complete = matches!(
            stop,
            Stop::EndTurn | Stop::ToolCalls | Stop::Refusal { category: _, explanation: _ }
        );
        if complete && let Some(failure) = self.missing() {
            self.fail(failure, sink);
            return Ok(());
        }
        self.close_all(sink);
        sink.event(Event::About { tier, extra });
        if let Some(usage) = usage {
            sink.event(Event::Usage(usage));
        }
        let stop = self.stop(stop);
        sink.event(Event::Stop { stop: At::new(pos, stop), extra: Vec::new() });
        sink.event(Event::End);
        self.ended = true;
        Ok(())
    }

    /// What is missing of an answer that claims to be complete. A call that was
    /// cut off is not complete, even if the end marker came.
    fn missing(&self) -> Option<ApiError> {
        let cut = self.items.iter().filter(|item| !item.done).any(|item| match &item.state {
            ItemState::Call(call) => !call.whole,
            ItemState::Unnamed => true,
            ItemState::Reasoning(_) | ItemState::Message(_) | ItemState::Whole => false,
        });
        cut.then(|| {
            let message = "The upstream ended its answer in the middle of a tool call.";
            ApiError::new(ErrorKind::Truncated, message)
        })
    }

    /// The reason to stop by the items that came. `completed` does not say
    /// whether the model waits for results, and some servers leave the items out.
    fn stop<'s>(&self, stop: Stop<'s>) -> Stop<'s> {
        let refusal = Stop::Refusal { category: None, explanation: None };
        if stop != Stop::EndTurn && stop != refusal {
            return stop;
        }
        match (self.called, self.refused) {
            (true, _) => Stop::ToolCalls,
            (false, true) => refusal,
            (false, false) => stop,
        }
    }
}

/// Whether an event without a type is an error body, which some relays send.
fn is_error(data: &str) -> Result<bool, ReadError> {
    let mut reader = Reader::new(data);
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if key == "error" {
            return Ok(true);
        }
        reader.skip()?;
    }
    Ok(false)
}

/// Whether an event only reports the progress of a hosted tool, or keeps the
/// connection alive. The items of such tools come whole when they are done.
fn is_noise(kind: &str) -> bool {
    is_idle(kind)
        || matches!(
            subject(kind),
            Some(
                "web_search_call"
                    | "file_search_call"
                    | "code_interpreter_call"
                    | "code_interpreter_call_code"
                    | "image_generation_call"
                    | "mcp_call"
                    | "mcp_call_arguments"
                    | "mcp_list_tools"
                    | "shell_call_command"
                    | "shell_call_output_content"
                    | "apply_patch_call_operation_diff"
                    | "compaction"
            )
        )
}

/// Whether an event only keeps the connection alive.
fn is_idle(kind: &str) -> bool {
    matches!(kind, "keepalive" | "ping")
        || matches!(subject(kind), Some("keepalive" | "heartbeat" | "metadata"))
}

/// What an event is about, if its name says so.
fn subject(kind: &str) -> Option<&str> {
    let own = kind.strip_prefix("response.")?;
    Some(own.split_once('.').map_or(own, |(subject, _)| subject))
}

/// Which part of the answer an event is about.
pub(super) fn event_place(data: &str) -> EventPlace {
    let keys = ["output_index", "content_index", "summary_index", "annotation_index"];
    EventPlace::of(data, keys)
}

/// The whole answer, which the last event repeats. The event was read or written before, so
/// nothing is checked for the second time.
pub(super) fn answer_in_event(data: &str) -> Option<String> {
    let mut reader = Reader::new(data);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        let is_answer = key == *"response" && reader.peek() == Kind::Object;
        let start = reader.clone();
        reader.skip_known().ok()?;
        if is_answer {
            return Some(reader.raw_since(&start).into_text().into_owned());
        }
    }
    None
}
