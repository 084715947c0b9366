//! Reasoning that another vendor sealed, in a request whose bytes pass.

use std::ops::Range;

use super::turns_in::item_alone;
use crate::ledger::{Code, Ledger};
use crate::wire::cuts::{ContainerCuts, Cuts};
use crate::wire::envelope::Envelope;
use crate::wire::{Pos, Raw, ReadError, Reader};

/// Cuts out the reasoning items in envelopes. If there are any, the other items
/// lose their ids, because an item that still had the id of the same answer
/// would ask for the reasoning.
pub(super) fn find(source: &str, ledger: &mut Ledger) -> Result<Vec<Range<usize>>, ReadError> {
    let mut reader = Reader::new(source);
    let [input] = reader.pick(["input"])?;
    reader.finish()?;
    let items = match &input {
        Some(input) => input.elements()?,
        None => Vec::new(),
    };
    let mut cuts = Cuts::default();
    let mut list = cuts.container();
    let mut foreign = Vec::new();
    let sealed = items.iter().map(envelope).collect::<Result<Vec<_>, _>>()?;
    if sealed.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    for (item, sealed) in items.iter().zip(sealed) {
        let Some(range) = item.range() else { continue };
        match sealed {
            Some(code) => {
                foreign.push((item.pos(), code));
                list.cut(range);
            }
            None => {
                if let Some(id) = own_id(item)? {
                    ledger.dropped(id, Code::ItemId).info();
                    cut_id(item, list.container())?;
                }
                list.keep(range);
            }
        }
    }
    list.finish();
    for (at, code) in foreign {
        ledger.dropped(at, code);
    }
    Ok(cuts.into_ranges())
}

/// What the loss of an item is about, if it is reasoning in an envelope.
fn envelope(item: &Raw<'_>) -> Result<Option<Code>, ReadError> {
    let reasons = item.reader().tag("type")?.is_some_and(|kind| kind == "reasoning");
    let sealed = if reasons { item.reader().tag("encrypted_content")? } else { None };
    let sealed = sealed.map(|sealed| sealed.into_decoded());
    Ok(sealed.filter(|sealed| Envelope::is_sealed(sealed)).map(|sealed| {
        match Envelope::open(&sealed) {
            Some(envelope) if envelope.blob.is_none() => Code::ReasoningUnsigned,
            Some(_) | None => Code::ReasoningForeign,
        }
    }))
}

/// Where an item's id is, if the item can do without it. The output of a local
/// shell call names the call by this id.
fn own_id(item: &Raw<'_>) -> Result<Option<Pos>, ReadError> {
    let kind = item.reader().tag("type")?;
    if kind.is_some_and(|kind| kind.decode().starts_with("local_shell_call")) {
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
