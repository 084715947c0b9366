//! Reasoning that the upstream did not seal, in a request whose bytes pass.

use std::collections::BTreeSet;
use std::ops::Range;

use super::turns_in::item_alone;
use crate::ledger::{Code, Ledger};
use crate::model::Role;
use crate::wire::cuts::{ContainerCuts, Cuts};
use crate::wire::envelope::Envelope;
use crate::wire::{Pos, Raw, ReadError, Reader, ids};

/// Cuts out the reasoning items in envelopes and, if the upstream keeps nothing, those
/// that toolwire wrote without a seal, which such an upstream refuses. The other items of
/// the same answer lose their ids, because OpenAI asks for the reasoning of an item whose
/// id it knows. Reasoning of the upstream's own keeps its id, which its seal is bound to.
pub(super) fn find(source: &str, ledger: &mut Ledger) -> Result<Vec<Range<usize>>, ReadError> {
    let mut reader = Reader::new(source);
    let [input, store] = reader.pick(["input", "store"])?;
    reader.finish()?;
    let items = match &input {
        Some(input) => input.elements()?,
        None => Vec::new(),
    };
    let is_kept = store.is_none_or(|store| store.text() != "false");
    let lost = items.iter().map(|item| foreign(item, is_kept)).collect::<Result<Vec<_>, _>>()?;
    if lost.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    let answers = answers(&items)?;
    let cut_in = answers.iter().zip(&lost).filter(|(_, lost)| lost.is_some());
    let cut_in: BTreeSet<usize> = cut_in.filter_map(|(answer, _)| *answer).collect();
    let mut cuts = Cuts::default();
    let mut list = cuts.container();
    let mut dropped = Vec::new();
    for ((item, lost), answer) in items.iter().zip(lost).zip(&answers) {
        let Some(range) = item.range() else { continue };
        match lost {
            Some(code) => {
                dropped.push((item.pos(), code));
                list.cut(range);
            }
            None => {
                if answer.is_some_and(|answer| cut_in.contains(&answer))
                    && let Some(id) = own_id(item)?
                {
                    ledger.dropped(id, Code::ItemId).info();
                    cut_id(item, list.container())?;
                }
                list.keep(range);
            }
        }
    }
    list.finish();
    for (at, code) in dropped {
        ledger.dropped(at, code);
    }
    Ok(cuts.into_ranges())
}

/// For every item, which answer of the model's it is part of, if it is.
fn answers(items: &[Raw<'_>]) -> Result<Vec<Option<usize>>, ReadError> {
    let mut answer = 0;
    let mut answers = Vec::with_capacity(items.len());
    for item in items {
        let is_models = item_alone(&mut item.reader())?.role == Role::Assistant;
        answer += usize::from(!is_models);
        answers.push(is_models.then_some(answer));
    }
    Ok(answers)
}

/// What the loss of an item is about, if it is reasoning that the upstream cannot take.
fn foreign(item: &Raw<'_>, is_kept: bool) -> Result<Option<Code>, ReadError> {
    if item.reader().tag("type")?.is_none_or(|kind| kind != "reasoning") {
        return Ok(None);
    }
    match item.reader().tag("encrypted_content")? {
        Some(sealed) => Ok(envelope(&sealed.into_decoded())),
        None if is_kept => Ok(None),
        None => {
            let id = item.reader().tag("id")?;
            let is_own = id.is_some_and(|id| ids::is_own_reasoning(&id.decode()));
            Ok(is_own.then_some(Code::ReasoningUnsigned))
        }
    }
}

/// What the loss of an envelope is about, if it is one.
fn envelope(sealed: &str) -> Option<Code> {
    Envelope::is_sealed(sealed).then(|| match Envelope::open(sealed) {
        Some(envelope) if envelope.blob.is_none() => Code::ReasoningUnsigned,
        Some(_) | None => Code::ReasoningForeign,
    })
}

/// Where an item's id is, if the item can do without it. The output of a local shell call
/// names the call by this id, and a seal is bound to it.
fn own_id(item: &Raw<'_>) -> Result<Option<Pos>, ReadError> {
    let kind = item.reader().tag("type")?;
    let needs_it = |kind: &str| kind == "reasoning" || kind.starts_with("local_shell_call");
    if kind.is_some_and(|kind| needs_it(&kind.decode())) {
        return Ok(None);
    }
    Ok(item_alone(&mut item.reader())?.id.map(|id| id.pos()))
}

fn cut_id(item: &Raw<'_>, mut members: ContainerCuts<'_>) -> Result<(), ReadError> {
    let mut reader = item.reader();
    let mut fields = reader.object()?;
    while let Some(key) = fields.next(&mut reader)? {
        reader.skip()?;
        let (Some(start), Some(end)) = (key.pos().offset(), reader.behind().offset()) else {
            continue;
        };
        match key == "id" {
            true => members.cut(start..end),
            false => members.keep(start..end),
        }
    }
    members.finish();
    Ok(())
}
