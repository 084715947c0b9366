//! The stream: from events to Responses.
//!
//! Responses repeats itself: a text goes out in pieces, and whole when its part
//! is done, when its item is and when the answer is. The fold keeps it once,
//! and what writes a whole answer writes the items of a stream as well.
//!
//! What is lost is reported when it comes by, where its place is known; what is
//! written again later is not reported again.

mod blocks;
mod event;
pub(super) mod from_response;
mod items;
mod reasoning;

use crate::codec::StreamWriter;
use crate::codec::context::EncodeContext;
use crate::codec::responses::error_out;
use crate::codec::responses::items_out::Progress;
use crate::codec::responses::response_out::{response_id, write_response, write_tier};
use crate::codec::responses::stop_out::Ended;
use crate::fold::Fold;
use crate::ledger::{Code, Ledger};
use crate::model::{
    ApiError, Event, Head, Own, Part, Piece, Protocol, ResponseContext, Start, Stop, Tail, Usage,
};
use crate::profile::Profile;
use crate::wire::names::Names;
use crate::wire::{Array, At, Object, Str, Write};
use blocks::Block;
use event::Pen;
use items::Group;

/// A stream being written.
#[derive(Debug)]
pub(super) struct Writing {
    asked: ResponseContext,
    scene: Scene,
    fold: Fold,
    /// The answer's id.
    id: String,
    pen: Pen,
    /// The items, those that do not cross included.
    groups: Vec<Group>,
    /// How many items the client knows of.
    places: u64,
    blocks: Vec<Block>,
    /// Whether the model itself refuses.
    refused: bool,
    /// How the answer ended: its status and the reason.
    ended: Option<(&'static str, Option<Str<'static>>)>,
    /// The item that is done and of which the client does not know it yet.
    owed: Option<usize>,
    /// Whether the answer has ended, and the client is told behind that.
    owes_end: bool,
    over: bool,
}

/// What the writers of items want to know.
#[derive(Debug)]
struct Scene {
    origin: Protocol,
    profile: Profile,
    names: Names,
}

impl Scene {
    fn context<'c>(&'c self, ledger: &'c mut Ledger) -> EncodeContext<'c> {
        let Self { origin, profile, names } = self;
        EncodeContext::new(*origin, profile, names, ledger)
    }
}

impl StreamWriter for Writing {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        if self.over {
            return;
        }
        if let Event::End = event
            && self.has_pending()
        {
            self.owes_end = true;
            return;
        }
        self.flush_pending(out);
        self.fold.event(event);
        match event {
            Event::Start(start) => {
                self.begin(start);
                self.lifecycle("response.created", &Ended::new("in_progress", None), out);
                self.lifecycle("response.in_progress", &Ended::new("in_progress", None), out);
            }
            Event::Open { block: _, head } => self.open(head, out, ledger),
            Event::Delta { block, piece } => self.delta(*block, piece, out, ledger),
            Event::Close { block, tail } => self.close(*block, tail, out, ledger),
            Event::Whole(turn) => self.whole(turn, out, ledger),
            Event::About { tier, extra } => {
                ledger.only(extra);
                if tier.is_some() {
                    let mut nowhere = Vec::new();
                    let object = &mut Object::members_only(&mut nowhere);
                    write_tier(tier.as_ref(), None, object, &mut self.scene.context(ledger));
                }
            }
            Event::Usage(usage) => lose_usage(usage, ledger),
            Event::Stop { stop, extra } => {
                ledger.only(extra);
                self.stop(stop, out, ledger);
            }
            Event::End => self.end(out),
            Event::Error(failure) => self.fail(failure, out),
        }
    }

    fn has_pending(&self) -> bool {
        self.owed.is_some() || self.owes_end
    }

    fn flush_pending(&mut self, out: &mut Vec<u8>) {
        if let Some(item) = self.owed.take() {
            self.say_done(item, out);
        } else if std::mem::take(&mut self.owes_end) {
            self.end(out);
        }
    }

    fn resume(&mut self, start: &Start<'_>, events: u64) {
        self.fold.event(&Event::Start(start.clone()));
        // The client knows the answer by the upstream's own id.
        self.id = start.id.as_ref().map(|id| id.decode().into_owned()).unwrap_or_default();
        self.pen = Pen::after(events);
    }
}

impl Writing {
    /// A stream for a client who asked for it so.
    pub(super) fn new(asked: ResponseContext) -> Self {
        // Calls were restored before, so names are the client's own. Nothing
        // that is written before the answer begins depends on its origin.
        let scene = Scene {
            origin: Protocol::Responses,
            profile: Profile::of(Protocol::Responses),
            names: Names::default(),
        };
        Self {
            asked,
            scene,
            fold: Fold::default(),
            id: String::new(),
            pen: Pen::default(),
            groups: Vec::new(),
            places: 0,
            blocks: Vec::new(),
            refused: false,
            ended: None,
            owed: None,
            owes_end: false,
            over: false,
        }
    }

    fn begin(&mut self, start: &Start<'_>) {
        self.scene.origin = start.origin;
        self.id = response_id(start.id.as_ref());
    }

    /// Writes an event with the whole answer as it is.
    fn lifecycle(&mut self, kind: &str, ended: &Ended<'_>, out: &mut Vec<u8>) {
        let (fold, groups) = (&self.fold, &self.groups);
        let items: usize = groups.iter().map(|group| group.size(fold)).sum();
        Pen::make_room(items, out);
        self.pen.begin(kind, out);
        out.extend_from_slice(b",\"response\":");
        let outline = fold.outline();
        let mut said = Ledger::default();
        let cx = &mut self.scene.context(&mut said);
        let asked = Some(&self.asked);
        let write_items = |items: &mut Array<'_>, cx: &mut EncodeContext<'_>| {
            for group in groups {
                if group.done && group.place.is_some() {
                    let item = Array::elements_only(items.item());
                    group.write(&self.id, fold, item, cx);
                }
            }
        };
        write_response(&outline, &self.id, ended, asked, out, cx, write_items);
        Pen::end(out);
    }

    /// The answer is complete.
    fn end(&mut self, out: &mut Vec<u8>) {
        let (status, reason) = self.ended.take().unwrap_or(("completed", None));
        let ended = Ended { status, reason, explanation: None, failure: None };
        self.terminal(&ended, out);
        if status != "failed" {
            out.extend_from_slice(b"data: [DONE]\n\n");
        }
    }

    fn terminal(&mut self, ended: &Ended<'_>, out: &mut Vec<u8>) {
        let kind = match ended.status {
            "completed" => "response.completed",
            "failed" => "response.failed",
            "cancelled" => "response.cancelled",
            _incomplete => "response.incomplete",
        };
        self.lifecycle(kind, ended, out);
        self.over = true;
    }

    /// The model has stopped, so what the last item is worth is known.
    fn stop(&mut self, stop: &At<Stop<'_>>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        let ended = Ended::of(stop, self.refused, ledger);
        if let Some(last) = self.groups.len().checked_sub(1)
            && self.is_done_now(last, ended.last(), out, ledger)
        {
            let size = self.groups.get(last).map_or(0, |group| group.size(&self.fold));
            if size >= event::LONG {
                self.owed = Some(last);
            } else {
                self.say_done(last, out);
            }
        }
        if let Some(explanation) = &ended.explanation {
            // An item of its own: Codex drops a message whole that holds a
            // part it does not know.
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
            self.settle(self.groups.len().saturating_sub(1), Progress::Whole, out, ledger);
        }
        self.ended = Some((ended.status, ended.reason.into_owned()));
    }

    /// The stream ends in an error. What is open stays open.
    fn fail(&mut self, failure: &ApiError, out: &mut Vec<u8>) {
        if self.id.is_empty() {
            // The SDK's helpers want a beginning before they tell the error.
            self.id = response_id(None);
            self.lifecycle("response.created", &Ended::new("in_progress", None), out);
        }
        self.pen.begin("error", out);
        out.extend_from_slice(b",\"code\":");
        error_out::code(failure).write(out);
        out.extend_from_slice(b",\"message\":");
        failure.message.write(out);
        out.extend_from_slice(b",\"param\":");
        failure.param.write(out);
        // The reference has the members above. OpenAI itself nests them, the
        // SDKs raise for nothing else, and Open Responses asks for it.
        out.extend_from_slice(b",\"error\":");
        error_out::detail(failure, Object::new(out));
        Pen::end(out);
        let mut ended = Ended::new("failed", None);
        ended.failure = Some(failure);
        self.terminal(&ended, out);
    }
}

fn lose_usage(usage: &Usage<'_>, ledger: &mut Ledger) {
    for field in &usage.extra {
        ledger.dropped(field.value.pos(), Code::UsageDetail).info();
    }
}
