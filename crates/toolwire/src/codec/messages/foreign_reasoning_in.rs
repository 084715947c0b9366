//! Reasoning that another vendor sealed, in a request whose bytes pass.

use std::ops::Range;

use crate::ledger::{Code, Ledger};
use crate::wire::cuts::{ContainerCuts, Cuts};
use crate::wire::envelope::Envelope;
use crate::wire::{Kind, Raw, ReadError, Reader};

/// Cuts out the `thinking` blocks that are signed with an envelope. A message
/// that held nothing else is cut too, because the API refuses a message without
/// content.
pub(super) fn find(source: &str, ledger: &mut Ledger) -> Result<Vec<Range<usize>>, ReadError> {
    let mut reader = Reader::new(source);
    let [messages] = reader.pick(["messages"])?;
    reader.finish()?;
    let mut cuts = Cuts::default();
    let mut list = cuts.container();
    for message in messages.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
        let Some(range) = message.range() else { continue };
        let [content] = message.reader().pick(["content"])?;
        let keeps = match content {
            Some(content) => cut_blocks(&content, list.container(), ledger)?,
            None => true,
        };
        if keeps {
            list.keep(range);
        } else {
            list.cut(range);
        }
    }
    list.finish();
    Ok(cuts.into_ranges())
}

/// Cuts blocks out of a message, and says whether the message has any content
/// that is kept or had none to begin with.
fn cut_blocks(
    content: &Raw<'_>,
    mut list: ContainerCuts<'_>,
    ledger: &mut Ledger,
) -> Result<bool, ReadError> {
    let blocks = content.elements()?;
    for block in &blocks {
        let Some(range) = block.range() else { continue };
        match envelope_loss(block)? {
            Some(code) => {
                ledger.dropped(block.pos(), code);
                list.cut(range);
            }
            None => list.keep(range),
        }
    }
    Ok(list.finish() || blocks.is_empty())
}

/// What the loss of a block is about, if its signature is an envelope.
fn envelope_loss(block: &Raw<'_>) -> Result<Option<Code>, ReadError> {
    if block.kind() != Kind::Object
        || block.reader().tag("type")?.is_none_or(|kind| kind != "thinking")
    {
        return Ok(None);
    }
    let Some(signature) = block.reader().tag("signature")? else { return Ok(None) };
    let signature = signature.decode();
    if !Envelope::is_sealed(&signature) {
        return Ok(None);
    }
    Ok(Some(match Envelope::open(&signature) {
        Some(envelope) if envelope.blob.is_none() => Code::ReasoningUnsigned,
        // A damaged envelope still is no signature of this vendor.
        Some(_) | None => Code::ReasoningForeign,
    }))
}
