//! A stream: from events to Responses.
//!
//! Responses repeats itself: a text is sent in pieces, and then whole when its
//! part is done, when its item is done and when the answer is done. The fold
//! keeps one copy, and the code that writes a whole answer also writes the items
//! of a stream.
//!
//! A loss is reported when its event is written, because its position is known
//! then. What is repeated later is not reported again.

mod blocks;
mod event_writer;
pub(super) mod from_response;
mod items;
mod reasoning;

use std::ops::Range;

use crate::codec::StreamWriter;
use crate::codec::context::EncodeContext;
use crate::codec::losses_out::report_usage_details;
use crate::codec::responses::error_out;
use crate::codec::responses::items_out::ItemProgress;
use crate::codec::responses::response_out::{
    WrittenParts, lose_members, response_id, write_response, write_tier,
};
use crate::codec::responses::stop_out::ResponseEnd;
use crate::fold::Fold;
use crate::ledger::Ledger;
use crate::model::{
    ApiError, Event, Head, Own, Part, Piece, Protocol, ResponseContext, Start, Stop, Tail,
};
use crate::profile::Profile;
use crate::stateful::{WrittenAnswer, WrittenEnding};
use crate::wire::names::Names;
use crate::wire::{Array, At, Object, Str};
use blocks::StreamBlock;
use event_writer::EventWriter;
use items::ItemGroup;

/// A stream being written.
#[derive(Debug)]
pub(super) struct ResponsesStreamWriter {
    context: ResponseContext,
    settings: EncodeSettings,
    fold: Fold,
    /// The answer's id.
    id: String,
    events: EventWriter,
    /// The items, including those that do not cross.
    groups: Vec<ItemGroup>,
    /// How many items the client has been told about.
    placed: u64,
    blocks: Vec<StreamBlock>,
    /// Whether the model itself refuses.
    refused: bool,
    /// How the answer ended: its status and the reason.
    ended: Option<(&'static str, Option<Str<'static>>)>,
    /// The item that is done while the event that says so is still to be sent.
    pending_item: Option<usize>,
    finished: bool,
}

/// What an [`EncodeContext`] is made of, for as long as the stream lasts.
#[derive(Debug)]
struct EncodeSettings {
    origin: Protocol,
    profile: Profile,
    names: Names,
}

impl EncodeSettings {
    fn context<'c>(&'c self, ledger: &'c mut Ledger) -> EncodeContext<'c> {
        let Self { origin, profile, names } = self;
        EncodeContext::new(*origin, profile, names, ledger)
    }
}

impl StreamWriter for ResponsesStreamWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        if self.finished {
            return;
        }
        // All there is to say at the end is in the last event. What is pending
        // is sent before it, and not with it.
        if let Event::End = event {
            return;
        }
        self.flush_pending(out);
        self.fold.event(event);
        match event {
            Event::Start(start) => {
                self.begin(start);
                out.reserve(2 * (self.context.echo.len() + OUTLINE));
                self.lifecycle("response.created", &ResponseEnd::new("in_progress", None), out);
                self.lifecycle("response.in_progress", &ResponseEnd::new("in_progress", None), out);
            }
            Event::Open { block: _, head } => self.open(head, out, ledger),
            Event::Delta { block, piece } => self.delta(*block, piece, out, ledger),
            Event::Close { block, tail } => self.close(*block, tail, out, ledger),
            Event::Whole(turn) => self.whole(turn, out, ledger),
            Event::About { tier, extra } => {
                lose_members(extra, ledger);
                if tier.is_some() {
                    let mut nowhere = Vec::new();
                    let object = &mut Object::members_only(&mut nowhere);
                    write_tier(tier.as_ref(), None, object, &mut self.settings.context(ledger));
                }
            }
            Event::Usage(usage) => report_usage_details(usage, ledger),
            Event::Stop { stop, extra } => {
                ledger.only(extra);
                self.stop(stop, out, ledger);
            }
            Event::End => {}
            Event::Error(failure) => self.fail(failure, out),
        }
    }

    fn write_end(&mut self, out: &mut Vec<u8>) -> Option<WrittenEnding> {
        self.flush_pending(out);
        if self.finished {
            return None;
        }
        let (status, reason) = self.ended.take().unwrap_or(("completed", None));
        let ended = ResponseEnd { status, reason, explanation: None, failure: None };
        let (place, WrittenParts { output, repeats }) = self.terminal(&ended, out);
        if status != "failed" {
            out.extend_from_slice(b"data: [DONE]\n\n");
        }
        let answer = WrittenAnswer { id: self.id.clone(), status, output, repeats };
        Some(WrittenEnding { place, answer })
    }

    fn retract_end(&mut self) {
        self.events.retract();
        self.finished = false;
    }

    fn has_pending(&self) -> bool {
        self.pending_item.is_some()
    }

    fn flush_pending(&mut self, out: &mut Vec<u8>) {
        if let Some(item) = self.pending_item.take() {
            self.write_done(item, out);
        }
    }

    fn resume(&mut self, start: &Start<'_>, events: u64) {
        self.fold.event(&Event::Start(start.clone()));
        // The client knows the answer by the upstream's own id.
        let own = start.id.as_ref().map(|id| id.decode().into_owned());
        self.id =
            own.unwrap_or_else(|| response_id(self.settings.origin, None, Some(&self.context)));
        self.events = EventWriter::after(events);
    }
}

impl ResponsesStreamWriter {
    /// A stream for a client that sent the request of this context.
    pub(super) fn new(context: ResponseContext) -> Self {
        // Calls have been restored already, so the names are the client's own.
        // Nothing that is written before the answer begins depends on its origin.
        let settings = EncodeSettings {
            origin: Protocol::Responses,
            profile: Profile::of(Protocol::Responses),
            names: Names::default(),
        };
        Self {
            context,
            settings,
            fold: Fold::default(),
            id: String::new(),
            events: EventWriter::default(),
            groups: Vec::new(),
            placed: 0,
            blocks: Vec::new(),
            refused: false,
            ended: None,
            pending_item: None,
            finished: false,
        }
    }

    fn begin(&mut self, start: &Start<'_>) {
        self.settings.origin = start.origin;
        self.id = response_id(start.origin, start.id.as_ref(), Some(&self.context));
    }

    /// Writes an event that holds the answer as far as it has come. Returns where the
    /// answer is, and its parts.
    fn lifecycle(
        &mut self,
        kind: &str,
        ended: &ResponseEnd<'_>,
        out: &mut Vec<u8>,
    ) -> (Range<usize>, WrittenParts) {
        let (fold, groups) = (&self.fold, &self.groups);
        let items: usize = groups.iter().map(|group| group.size(fold)).sum();
        let size = items + self.context.echo.len();
        EventWriter::make_room(size, out);
        out.reserve(size + OUTLINE + groups.len() * ITEM_OUTLINE);
        self.events.begin(kind, out);
        out.extend_from_slice(b",\"response\":");
        let outline = fold.outline();
        let mut unreported = Ledger::default();
        let cx = &mut self.settings.context(&mut unreported);
        let context = Some(&self.context);
        let write_items = |items: &mut Array<'_>, cx: &mut EncodeContext<'_>| {
            let groups = groups.iter().filter(|group| group.done && group.place.is_some());
            let write = |group: &ItemGroup| {
                items.place_of(|items| {
                    let item = Array::elements_only(items.item());
                    group.write(&self.id, fold, item, cx);
                })
            };
            groups.filter_map(write).collect()
        };
        let start = out.len();
        let parts = write_response(&outline, &self.id, ended, context, out, cx, write_items);
        let place = start..out.len();
        EventWriter::end(out);
        (place, parts)
    }

    fn terminal(
        &mut self,
        ended: &ResponseEnd<'_>,
        out: &mut Vec<u8>,
    ) -> (Range<usize>, WrittenParts) {
        let kind = match ended.status {
            "completed" => "response.completed",
            "failed" => "response.failed",
            "cancelled" => "response.cancelled",
            _incomplete => "response.incomplete",
        };
        self.finished = true;
        self.lifecycle(kind, ended, out)
    }

    /// The model has stopped, so it is known whether the last item is complete.
    fn stop(&mut self, stop: &At<Stop<'_>>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let ended = ResponseEnd::of(stop, self.refused, ledger);
        if let Some(last) = self.groups.len().checked_sub(1)
            && self.mark_done(last, ended.last(), out, ledger)
        {
            let size = self.groups.get(last).map_or(0, |group| group.size(&self.fold));
            if size >= event_writer::LONG {
                self.pending_item = Some(last);
            } else {
                self.write_done(last, out);
            }
        }
        if let Some(explanation) = &ended.explanation {
            // It is an item of its own, because Codex drops a whole message if
            // it does not know one of its parts.
            let block = self.blocks.len();
            let head = Head::Refusal(Part { message: usize::MAX, phase: None, extra: Vec::new() });
            let text = explanation.borrowed();
            let piece = Piece::Text { text, logprobs: None };
            for event in [
                Event::Open { block, head },
                Event::Delta { block, piece },
                Event::Close { block, tail: Tail::default() },
            ] {
                self.write(&event, out, ledger);
            }
            self.finish_group(
                self.groups.len().saturating_sub(1),
                ItemProgress::Whole,
                out,
                ledger,
            );
        }
        self.ended = Some((ended.status, ended.reason.into_owned()));
    }

    /// The stream ends in an error. What is open stays open.
    fn fail(&mut self, failure: &ApiError, out: &mut Vec<u8>) {
        if self.id.is_empty() {
            // The SDK's helpers expect a beginning before an error.
            self.id = response_id(self.settings.origin, None, Some(&self.context));
            self.lifecycle("response.created", &ResponseEnd::new("in_progress", None), out);
        }
        self.events.write("error", b"", out, |event| error_out::write_event(failure, event));
        let mut ended = ResponseEnd::new("failed", None);
        ended.failure = Some(failure);
        self.terminal(&ended, out);
    }
}

/// About how many bytes an event with the answer takes besides its items and the client's
/// settings.
const OUTLINE: usize = 512;

/// About how many bytes an item takes besides its texts.
const ITEM_OUTLINE: usize = 256;
