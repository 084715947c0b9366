//! Observes a stream that passes between two sides that both speak Responses.

use super::text_delta;
use crate::codec::openai::error_in::ErrorDetail;
use crate::codec::responses::wire::Usage;
use crate::codec::responses::{error_in, response_in, stop_in, usage_in};
use crate::codec::{EventOutcome, StreamObserver};
use crate::model::{ApiError, Own, Protocol, ResponseSummary, Start, Stop};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{At, Kind, Raw, Read, ReadError, Reader, Str};

/// A stream being observed.
#[derive(Debug, Default)]
pub(crate) struct ResponsesStreamObserver {
    /// How the last event was written, if it only added text.
    last: Stencil<()>,
    start: Option<Start<'static>>,
    /// The number of the next event.
    next: u64,
    /// How many calls have begun, and how many are done.
    begun: usize,
    done: usize,
    /// Whether the model refuses.
    refused: bool,
}

impl StreamObserver for ResponsesStreamObserver {
    fn frame(
        &mut self,
        frame: &Frame<'_>,
        summary: &mut ResponseSummary,
    ) -> Result<EventOutcome, ReadError> {
        if self.last.fit(frame).is_some() {
            self.next += 1;
            return Ok(EventOutcome::GoesOn);
        }
        let repeats = self.last.forget();
        // The marker ends nothing here, but clients stop reading at it, so the
        // error that ends a cut stream must come first.
        // vectors/streams/responses-cut-but-done-marker.
        if frame.data.trim() == "[DONE]" {
            return Ok(EventOutcome::Cut);
        }
        let mut reader = Reader::new(frame.data);
        let named = || Str::plain(frame.name.unwrap_or_default());
        let kind = reader.tag("type")?.unwrap_or_else(named);
        self.next += 1;
        let outcome = match kind.decode().as_ref() {
            "response.created" => {
                let ObservedEvent { number, response, item: _ } = ObservedEvent::read(reader)?;
                if let Some(number) = number.and_then(|raw| At::<u64>::read(&mut raw.reader()).ok())
                {
                    self.next = number.value.saturating_add(1);
                }
                self.start = response.map(ObservedResponse::start).or(self.start.take());
                return Ok(EventOutcome::GoesOn);
            }
            "response.output_item.added" => {
                let ObservedEvent { number: _, response: _, item } = ObservedEvent::read(reader)?;
                let is_call = item.as_ref().and_then(string).is_some_and(is_call);
                self.begun += usize::from(is_call);
                summary.calls = self.begun.max(self.done);
                return Ok(EventOutcome::GoesOn);
            }
            "response.output_item.done" => {
                let ObservedEvent { number: _, response: _, item } = ObservedEvent::read(reader)?;
                let is_call = item.as_ref().and_then(string).is_some_and(is_call);
                self.done += usize::from(is_call);
                summary.calls = self.begun.max(self.done);
                return Ok(EventOutcome::GoesOn);
            }
            "response.completed" | "response.incomplete" | "response.cancelled" => {
                EventOutcome::End
            }
            "response.failed" => EventOutcome::Failed,
            // `response.failed` follows, if the upstream gets that far.
            "error" => {
                let mut failure = error_in::decode(None, frame.data)?;
                // This is the name of the event and not a kind of error.
                failure.vendor_type = failure.vendor_type.filter(|kind| kind != "error");
                summary.error = Some(failure);
                return Ok(EventOutcome::GoesOn);
            }
            "" if super::is_error(frame.data)? => {
                summary.error = Some(error_in::decode(None, frame.data)?);
                return Ok(EventOutcome::GoesOn);
            }
            other => {
                self.refused |= other == "response.refusal.done";
                reader.skip()?;
                reader.finish()?;
                if repeats {
                    self.last
                        .cut(frame, |data, holes| text_delta::find(data, holes).map(|_place| ()));
                }
                return Ok(EventOutcome::GoesOn);
            }
        };
        let ObservedEvent { number: _, response, item: _ } = ObservedEvent::read(reader)?;
        if let Some(response) = response {
            // Servers that send no events about the items send them here.
            if let Some(OutputSummary { items: 1.., calls, refused }) = response.output() {
                summary.calls = calls;
                self.refused |= refused;
            }
            let stop = response.stop(&kind.decode(), summary.calls > 0, self.refused);
            summary.stop = Some(stop.as_str());
            summary.error = response.failure().or(summary.error.take());
            let counts = response
                .usage
                .map(|raw| Usage::read(&mut raw.reader()).map(usage_in::decode).ok().into_owned());
            summary.usage = counts.flatten();
        }
        Ok(outcome)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn begun(&self) -> Option<(Start<'_>, u64)> {
        self.start.as_ref().map(|start| (start.clone(), self.next))
    }
}

/// The members of an event that are observed. None of them is checked, because
/// the event passes as it is.
struct ObservedEvent<'a> {
    number: Option<Raw<'a>>,
    response: Option<ObservedResponse<'a>>,
    /// The type of the item.
    item: Option<Raw<'a>>,
}

struct ObservedResponse<'a> {
    id: Option<Raw<'a>>,
    model: Option<Raw<'a>>,
    created: Option<Raw<'a>>,
    status: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    incomplete: Option<Raw<'a>>,
    usage: Option<Raw<'a>>,
    output: Option<Raw<'a>>,
}

/// What the items of an answer say.
#[derive(Default)]
struct OutputSummary {
    items: usize,
    /// How many calls have no result in the answer.
    calls: usize,
    refused: bool,
}

impl<'a> ObservedEvent<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self, ReadError> {
        let mut observed = Self { number: None, response: None, item: None };
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            match key.decode().as_ref() {
                "sequence_number" => observed.number = reader.nullable()?,
                "response" => {
                    let [id, model, created, status, error, incomplete, usage, output] =
                        reader.pick(RESPONSE_MEMBERS)?;
                    observed.response = Some(ObservedResponse {
                        id,
                        model,
                        created,
                        status,
                        error,
                        incomplete,
                        usage,
                        output,
                    });
                }
                "item" => [observed.item] = reader.pick(["type"])?,
                _other => reader.skip()?,
            }
        }
        reader.finish()?;
        Ok(observed)
    }
}

impl ObservedResponse<'_> {
    fn start(self) -> Start<'static> {
        let text = |raw: Option<Raw<'_>>| raw.as_ref().and_then(string).into_owned();
        Start {
            origin: Protocol::Responses,
            id: text(self.id),
            model: text(self.model),
            created: self.created.as_ref().and_then(response_in::seconds),
        }
    }

    /// What the items say, as far as they can be read.
    fn output(&self) -> Option<OutputSummary> {
        let mut reader = self.output.as_ref()?.reader();
        let mut items = reader.array().ok()?;
        let mut found = OutputSummary::default();
        let mut results = 0;
        while items.more(&mut reader).ok()? {
            let [kind, content] = reader.pick(["type", "content"]).ok()?;
            let kind = kind.as_ref().and_then(string);
            found.items += 1;
            results += usize::from(kind.as_ref().is_some_and(|kind| *kind == "shell_call_output"));
            match kind {
                Some(kind) if kind == "message" => {
                    found.refused |= content.as_ref().is_some_and(has_refusal);
                }
                Some(kind) => found.calls += usize::from(is_call(kind)),
                None => {}
            }
        }
        found.calls = found.calls.saturating_sub(results);
        Some(found)
    }

    /// Why the answer ended with this event.
    fn stop(&self, event: &str, has_calls: bool, refused: bool) -> Stop<'_> {
        match event {
            "response.incomplete" => {
                let details = self.incomplete.as_ref();
                stop_in::incomplete(details.and_then(|raw| Read::read(&mut raw.reader()).ok()))
            }
            "response.cancelled" => Stop::Cancelled,
            "response.failed" => Stop::Failed(Box::new(error_in::unexplained())),
            _completed if has_calls => Stop::ToolCalls,
            _completed if refused => Stop::Refusal { category: None, explanation: None },
            _completed => Stop::EndTurn,
        }
    }

    /// How the answer failed, if it did.
    fn failure(&self) -> Option<ApiError> {
        let status = self.status.as_ref().and_then(string);
        let detail = self.error.as_ref().map(|raw| ErrorDetail::read(&mut raw.reader()));
        let detail = detail.and_then(Result::ok).map(error_in::of_detail);
        match status.as_ref().map(Str::decode).as_deref() {
            Some("failed") => Some(detail.unwrap_or_else(error_in::unexplained)),
            Some(_other) => None,
            None => detail,
        }
    }
}

const RESPONSE_MEMBERS: [&str; 8] =
    ["id", "model", "created_at", "status", "error", "incomplete_details", "usage", "output"];

/// Whether a part of a message is a refusal.
fn has_refusal(content: &Raw<'_>) -> bool {
    let parts = content.elements().unwrap_or_default();
    parts
        .iter()
        .any(|part| matches!(part.reader().tag("type"), Ok(Some(kind)) if kind == "refusal"))
}

fn string<'r>(raw: &'r Raw<'_>) -> Option<Str<'r>> {
    if raw.kind() == Kind::String { raw.reader().string().ok() } else { None }
}

fn is_call(kind: Str<'_>) -> bool {
    matches!(
        kind.decode().as_ref(),
        "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "shell_call"
            | "apply_patch_call"
    )
}

/// Whether an event may come before the model says anything.
pub(crate) fn opens_stream(frame: &Frame<'_>) -> bool {
    let tag = Reader::new(frame.data).tag("type").ok().flatten();
    let kind = tag.as_ref().map(Str::decode);
    match kind.as_deref().or(frame.name) {
        Some("response.created" | "response.in_progress" | "response.queued") => true,
        Some(other) => super::is_idle(other),
        None => false,
    }
}
