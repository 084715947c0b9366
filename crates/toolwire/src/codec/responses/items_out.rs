//! The items of an answer: model to wire.

use std::ops::Range;

use super::calls_out::{ItemHeader, call_type, write_call};
use super::content_out::{PartRole, is_content, is_lost, is_silent, write_part};
use super::reasoning_out;
use super::response_out::ID_LENGTH;
use super::results_out::write_result;
use super::stop_out::ResponseEnd;
use super::turns_out::{lose_hosted, lose_turn, write_additional};
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Call, Candidate, Issuer, Item, Refusal, Turn};
use crate::wire::ids::{self, IdRule};
use crate::wire::{Array, Pos, Raw, Read, Str, hash};

/// Writes the items of an answer, each with an id of its own. Returns where they are in the
/// buffer.
pub(super) fn write_items(
    candidate: &Candidate<'_>,
    id: &str,
    ended: &ResponseEnd<'_>,
    items: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) -> Vec<Range<usize>> {
    let Candidate { at: _, turns, stop: _, logprobs, extra } = candidate;
    cx.ledger.only(extra);
    let mut left: usize = turns.iter().map(|turn| groups(turn).count()).sum();
    let mut places = Vec::with_capacity(left + usize::from(ended.explanation.is_some()));
    let mut writer = ItemWriter::new(id, 0);
    writer.logprobs = logprobs.as_ref().and_then(|logprobs| text_logprobs(logprobs, cx.ledger));
    for turn in turns {
        lose_turn(turn, cx.ledger);
        for group in groups(turn) {
            left = left.saturating_sub(1);
            // Only the last item can be cut off.
            writer.progress = if left == 0 { ended.last() } else { ItemProgress::Whole };
            places.extend(items.place_of(|items| writer.write(group, items, cx)));
            writer.index += 1;
        }
    }
    if let Some(explanation) = &ended.explanation {
        // It is an item of its own, because Codex drops a whole message if it
        // does not know one of its parts.
        let refusal = Refusal { at: Pos::NONE, text: explanation.borrowed(), extra: Vec::new() };
        writer.progress = ItemProgress::Whole;
        let write = |items: &mut Array<'_>| writer.message(&[Item::Refusal(refusal)], items, cx);
        places.extend(items.place_of(write));
    }
    places
}

/// The runs of items of a turn that become one item each.
pub(super) fn groups<'t, 'a>(turn: &'t Turn<'a>) -> impl Iterator<Item = &'t [Item<'a>]> {
    turn.items.chunk_by(|a, b| is_content(a, turn.at) && is_content(b, turn.at))
}

/// Chat keeps the log probabilities of all texts beside them. Here they belong
/// to the text.
fn text_logprobs<'r>(logprobs: &'r Raw<'_>, ledger: &mut Ledger) -> Option<Raw<'r>> {
    let parsed = CandidateLogprobs::read(&mut logprobs.reader()).ok();
    let Some(CandidateLogprobs { at: _, content, refusal, extra }) = parsed else {
        ledger.dropped(logprobs.pos(), Code::Logprobs);
        return None;
    };
    ledger.lost(&refusal, Code::Logprobs);
    ledger.only(&extra);
    content
}

wire! {
    struct CandidateLogprobs<'a> {
        content: Raw<'a> = "content",
        refusal: Raw<'a> = "refusal",
    }
}

/// How far an item has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemProgress {
    /// It grows.
    Running,
    /// It was cut off.
    Cut,
    /// It is whole.
    Whole,
}

/// Writes one item of an answer, the same way each time it is written.
pub(super) struct ItemWriter<'r> {
    /// The answer's id.
    response: &'r str,
    /// How many items are before it, including those that do not cross.
    pub(super) index: u64,
    pub(super) progress: ItemProgress,
    /// The id of reasoning that got one before its seal was known.
    pub(super) reasoning_id: Option<&'r str>,
    /// Log probabilities for the first text that has none.
    logprobs: Option<Raw<'r>>,
}

impl<'r> ItemWriter<'r> {
    pub(super) fn new(response: &'r str, index: u64) -> Self {
        Self { response, index, progress: ItemProgress::Whole, reasoning_id: None, logprobs: None }
    }

    /// Writes a group as one item, or nothing if it does not cross.
    pub(super) fn write(
        &mut self,
        group: &[Item<'_>],
        items: &mut Array<'_>,
        cx: &mut EncodeContext<'_>,
    ) {
        match group {
            [Item::Reasoning(found)] => {
                let bound = found.sealed.as_ref().filter(|sealed| sealed.issuer == Issuer::OpenAi);
                let id = match (self.reasoning_id, bound.and_then(|sealed| sealed.item_id.as_ref()))
                {
                    (Some(id), _) => Str::plain(id),
                    (None, Some(id)) => id.borrowed(),
                    (None, None) => Str::plain(self.id("rs")),
                };
                reasoning_out::write_item(found, &id, items, cx.ledger);
            }
            [Item::Call(call)] => self.call(call, items, cx),
            [Item::Result(result)] => {
                let call_id = result.call_id.as_ref().map(Str::borrowed);
                let header = ItemHeader { id: None, call_id, status: None };
                write_result(result, result.kind, &header, items, cx);
            }
            [Item::Tools(tools)] => {
                let id = Str::plain(self.id("at"));
                write_additional(tools, Some(&id), items, cx);
            }
            [Item::Hosted(hosted)] => lose_hosted(hosted, cx.ledger),
            content => self.message(content, items, cx),
        }
    }

    fn call(&self, call: &Call<'_>, items: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
        let (_, prefix) = call_type(&call.arguments, cx.profile);
        let minted;
        let known = call.id.as_ref().filter(|id| !id.is_empty());
        let call_id = match known {
            Some(id) if IdRule::RESPONSES.accepts(&id.decode()) => id.borrowed(),
            Some(id) => {
                cx.ledger.renamed(id.pos(), Code::CallId);
                minted = IdRule::RESPONSES.render(&id.decode(), 0).into_owned();
                Str::plain(minted)
            }
            None => {
                let ordinal = usize::try_from(self.index).unwrap_or_default();
                Str::plain(ids::mint(self.response, ordinal))
            }
        };
        let header = ItemHeader {
            id: Some(Str::plain(self.id(prefix))),
            call_id: Some(call_id),
            status: Some(Str::plain(self.status())),
        };
        write_call(call, &header, items, cx);
    }

    fn message(&mut self, content: &[Item<'_>], items: &mut Array<'_>, cx: &mut EncodeContext<'_>) {
        if is_silent(content, cx) {
            return;
        }
        if is_lost(content, PartRole::Answer, cx) {
            return;
        }
        let mut item = items.object();
        item.put("type", "message");
        item.put("id", &self.id("msg"));
        item.put("status", self.status());
        item.put("role", "assistant");
        {
            let mut parts = item.array("content");
            for part in content {
                if let Item::Text(text) = part
                    && text.logprobs.is_none()
                    && let Some(logprobs) = self.logprobs.take()
                {
                    let mut text = text.clone();
                    text.logprobs = Some(logprobs.into_owned());
                    write_part(&Item::Text(text), PartRole::Answer, &mut parts, cx);
                } else {
                    write_part(part, PartRole::Answer, &mut parts, cx);
                }
            }
        }
    }

    /// The item's own id. That of an answer that is kept tells which answer it
    /// belongs to, so that a server finds it without a list of such ids.
    pub(super) fn id(&self, prefix: &str) -> String {
        let random = self.response.strip_prefix("resp_").filter(|own| own.len() > ID_LENGTH);
        if let Some(random) = random.filter(|own| own.len() <= MAX_TOLD) {
            return format!("{prefix}_{random}_{}", self.index);
        }
        let parts = [self.response.as_bytes(), &self.index.to_be_bytes()];
        // What nobody has sealed is known by its id when it comes back.
        if prefix == "rs" {
            return ids::reasoning(&parts);
        }
        format!("{prefix}_{}", hash::base62(&parts, ID_LENGTH))
    }

    fn status(&self) -> &'static str {
        match self.progress {
            ItemProgress::Running => "in_progress",
            ItemProgress::Cut => "incomplete",
            ItemProgress::Whole => "completed",
        }
    }
}

/// The longest part of an answer's id that an item's id repeats. OpenAI takes no
/// more than 64 characters.
const MAX_TOLD: usize = 48;
