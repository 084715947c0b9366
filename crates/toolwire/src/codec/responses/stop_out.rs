//! Why an answer stopped: model to wire.

use super::error_out;
use super::items_out::ItemProgress;
use crate::ledger::{Code, Ledger};
use crate::model::{ApiError, Candidate, Item, Stop};
use crate::wire::{At, Str};

/// How an answer ended, in the words of Responses.
#[derive(Clone, Debug)]
pub(super) struct ResponseEnd<'r> {
    pub(super) status: &'static str,
    pub(super) reason: Option<Str<'r>>,
    /// What another vendor says about a refusal.
    pub(super) explanation: Option<Str<'r>>,
    /// Why it failed.
    pub(super) failure: Option<&'r ApiError>,
}

impl<'r> ResponseEnd<'r> {
    pub(super) fn new(status: &'static str, reason: Option<&'static str>) -> Self {
        Self { status, reason: reason.map(Str::plain), explanation: None, failure: None }
    }

    /// How an answer ended. `authored` says whether the model itself refused.
    pub(super) fn of(stop: &'r At<Stop<'_>>, authored: bool, ledger: &mut Ledger) -> Self {
        let with = Self::new;
        let pos = stop.pos;
        match &stop.value {
            Stop::EndTurn | Stop::ToolCalls => with("completed", None),
            Stop::StopSequence(text) => {
                let pos = text.as_ref().map_or(pos, Str::pos);
                ledger.degraded(pos, Code::StopReason).info();
                with("completed", None)
            }
            Stop::MaxTokens => with("incomplete", Some("max_output_tokens")),
            Stop::ContextWindow => {
                ledger.degraded(pos, Code::StopReason);
                with("incomplete", Some("max_output_tokens"))
            }
            Stop::ContentFilter => with("incomplete", Some("content_filter")),
            // A refusal in the model's own words is part of its answer.
            Stop::Refusal { category: _, explanation: _ } if authored => with("completed", None),
            Stop::Refusal { category, explanation } => {
                ledger.lost(category, Code::StopReason);
                let mut ended = with("incomplete", Some("content_filter"));
                ended.explanation = explanation.as_ref().map(Str::borrowed);
                ended
            }
            Stop::Paused => {
                ledger.degraded(pos, Code::Paused);
                with("incomplete", None)
            }
            Stop::Compaction => {
                ledger.degraded(pos, Code::StopReason);
                with("completed", None)
            }
            Stop::Cancelled => with("cancelled", None),
            Stop::Steered => with("incomplete", Some("steered")),
            Stop::Running => with("in_progress", None),
            Stop::Failed(failure) => {
                if error_out::failure_loses(failure) {
                    let note = ledger.degraded(pos, Code::StopReason).info();
                    note.detail("A failed answer says only a code and a message.");
                }
                let mut ended = with("failed", None);
                ended.failure = Some(failure);
                ended
            }
            Stop::Other(_) => {
                ledger.degraded(pos, Code::StopReason);
                with("completed", None)
            }
        }
    }
}

impl ResponseEnd<'_> {
    /// The progress of the last item.
    pub(super) fn last(&self) -> ItemProgress {
        let cut = matches!(self.status, "incomplete" | "in_progress" | "failed");
        if cut { ItemProgress::Cut } else { ItemProgress::Whole }
    }
}

/// Whether the model itself refuses.
pub(super) fn authored(candidate: &Candidate<'_>) -> bool {
    let mut items = candidate.turns.iter().flat_map(|turn| &turn.items);
    items.any(|item| matches!(item, Item::Refusal(_)))
}
