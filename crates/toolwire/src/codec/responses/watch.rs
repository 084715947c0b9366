//! The stream as it passes between two that both speak Responses.

use super::wire::Usage;
use super::{alike, error, usage};
use crate::codec::openai_error::ErrorDetail;
use crate::codec::{Watch, Watched};
use crate::model::{ApiError, Own, Protocol, Seen, Start};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{At, Kind, Raw, Read, ReadError, Reader, Str};

/// A stream being watched.
#[derive(Debug, Default)]
pub(super) struct Watching {
    /// How the last event was spelled, if all it had was a text.
    last: Stencil<()>,
    start: Option<Start<'static>>,
    /// The number that the next event has.
    next: u64,
}

impl Watch for Watching {
    fn frame(&mut self, frame: &Frame<'_>, seen: &mut Seen) -> Result<Watched, ReadError> {
        if self.last.fit(frame).is_some() {
            self.next += 1;
            return Ok(Watched::GoesOn);
        }
        let repeats = self.last.forget();
        // It ends nothing here, but clients stop reading at it: the error that
        // ends a cut stream must come first. vectors/streams/responses-cut-but-done-marker.
        if frame.data.trim() == "[DONE]" {
            return Ok(Watched::Cut);
        }
        let mut reader = Reader::new(frame.data);
        let named = || Str::plain(frame.name.unwrap_or_default());
        let kind = reader.tag("type")?.unwrap_or_else(named);
        self.next += 1;
        let watched = match kind.decode().as_ref() {
            "response.created" => {
                self.start(reader)?;
                return Ok(Watched::GoesOn);
            }
            "response.output_item.added" => {
                let Event { at: _, sequence_number: _, response: _, item, extra: _ } =
                    Event::read(&mut reader)?;
                let kind = item.and_then(|item| item.kind);
                seen.calls += usize::from(kind.is_some_and(is_call));
                return reader.finish().map(|()| Watched::GoesOn);
            }
            "response.completed" | "response.incomplete" | "response.cancelled" => Watched::End,
            "response.failed" => Watched::Failed,
            // `response.failed` follows, if the upstream gets that far.
            "error" => {
                let mut failure = error::decode(None, frame.data)?;
                // The event's own name, which is no kind of error.
                failure.vendor_type = failure.vendor_type.filter(|kind| kind != "error");
                seen.error = Some(failure);
                return Ok(Watched::GoesOn);
            }
            _other => {
                reader.skip()?;
                reader.finish()?;
                if repeats {
                    self.last.cut(frame, |data, holes| alike::find(data, holes).map(|_place| ()));
                }
                return Ok(Watched::GoesOn);
            }
        };
        let Event { at: _, sequence_number: _, response, item: _, extra: _ } =
            Event::read(&mut reader)?;
        reader.finish()?;
        if let Some(raw) = response
            && let Ok(answer) = Answer::read(&mut raw.reader())
        {
            let found = answer.failure();
            seen.error = found.or(seen.error.take());
            let counts = answer.usage.as_ref().map(|counts| Usage::read(&mut counts.reader()));
            seen.usage =
                counts.and_then(Result::ok).map(|counts| usage::decode(counts).into_owned());
        }
        Ok(watched)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn begun(&self) -> Option<(Start<'_>, u64)> {
        self.start.as_ref().map(|start| (start.clone(), self.next))
    }
}

impl Watching {
    fn start(&mut self, mut reader: Reader<'_>) -> Result<(), ReadError> {
        let Event { at: _, sequence_number, response, item: _, extra: _ } =
            Event::read(&mut reader)?;
        reader.finish()?;
        if let Some(number) = sequence_number {
            self.next = number.value.saturating_add(1);
        }
        if let Some(raw) = response {
            let answer = Answer::read(&mut raw.reader())?;
            self.start = Some(Start {
                origin: Protocol::Responses,
                id: answer.id.as_ref().and_then(string).into_owned(),
                model: answer.model.as_ref().and_then(string).into_owned(),
                created: answer.created_at.and_then(|raw| At::read(&mut raw.reader()).ok()),
            });
        }
        Ok(())
    }
}

impl Answer<'_> {
    /// How the answer failed, if it did.
    fn failure(&self) -> Option<ApiError> {
        let status = self.status.as_ref().and_then(string);
        let detail = self.error.as_ref().map(|raw| ErrorDetail::read(&mut raw.reader()));
        let detail = detail.and_then(Result::ok).map(error::of_detail);
        match status.as_ref().map(Str::decode).as_deref() {
            Some("failed") => Some(detail.unwrap_or_else(error::unexplained)),
            Some(_other) => None,
            None => detail,
        }
    }
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

wire! {
    /// What there is to watch of an event.
    struct Event<'a> {
        sequence_number: At<u64> = "sequence_number",
        response: Raw<'a> = "response",
        item: Item<'a> = "item",
    }

    /// What there is to watch of an answer. Nothing of it is held to a shape,
    /// since it passes as it is.
    struct Answer<'a> {
        id: Raw<'a> = "id",
        model: Raw<'a> = "model",
        created_at: Raw<'a> = "created_at",
        status: Raw<'a> = "status",
        error: Raw<'a> = "error",
        usage: Raw<'a> = "usage",
    }

    struct Item<'a> {
        kind: Str<'a> = "type",
    }
}
