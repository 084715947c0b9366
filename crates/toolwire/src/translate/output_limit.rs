//! A limit of the answer, put into a request that has none.

use std::ops::Range;

use super::{Error, invalid};
use crate::ledger::{Code, Entry, Ledger};
use crate::model::Protocol;
use crate::profile::Profile;
use crate::wire::{Kind, Pos, ReadError, Reader};

/// Whether a request limits its answer.
pub(super) fn is_set(protocol: Protocol, source: &str) -> Result<bool, Error> {
    let limit = find(source, protocol.describe().limit_members);
    Ok(limit.map_err(|error| invalid(source, error))?.is_some_and(|limit| !limit.is_null))
}

/// Puts a limit into a request whose bytes passed. Nothing happens if the protocol
/// keeps its limit somewhere else than at the top.
pub(super) fn insert(body: &mut Vec<u8>, profile: &Profile, tokens: u64) {
    let members = profile.protocol.describe().limit_members;
    let name = if profile.legacy_max_tokens { members.last() } else { members.first() };
    let Some(name) = name else { return };
    let Ok(source) = std::str::from_utf8(body) else { return };
    let Ok(limit) = find(source, members) else { return };
    *body = match limit {
        Some(Limit { value, is_null: _ }) => with(source, value, &tokens.to_string()),
        None => inserted(source, name, tokens),
    };
}

/// What the ledger says about a limit that was set.
pub(super) fn entries(client: Protocol, tokens: u64) -> Vec<Entry> {
    let mut ledger = Ledger::default();
    let member = client.describe().limit_members.first().copied().unwrap_or("max_tokens");
    let detail = format!("The request had no token limit; the operator's policy set {tokens}.");
    ledger.degraded(Pos::START, Code::MaxTokensBudget).key(member).detail(detail).info();
    ledger.entries("{}")
}

/// A limit in a request.
struct Limit {
    value: Range<usize>,
    is_null: bool,
}

/// The limit of a request: the first that says something, or else the first.
fn find(source: &str, names: &[&str]) -> Result<Option<Limit>, ReadError> {
    let mut found: Option<Limit> = None;
    let mut reader = Reader::new(source);
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        if !names.contains(&key.decode().as_ref()) {
            reader.skip()?;
            continue;
        }
        let raw = reader.raw()?;
        let is_null = raw.kind() == Kind::Null;
        if let Some(value) = raw.range()
            && found.as_ref().is_none_or(|found| found.is_null && !is_null)
        {
            found = Some(Limit { value, is_null });
        }
    }
    reader.finish()?;
    Ok(found)
}

fn with(source: &str, place: Range<usize>, text: &str) -> Vec<u8> {
    let (before, after) = (source.get(..place.start), source.get(place.end..));
    [before.unwrap_or_default(), text, after.unwrap_or_default()].concat().into_bytes()
}

fn inserted(source: &str, name: &str, tokens: u64) -> Vec<u8> {
    // The object's opening brace is the first byte that is no space.
    let open = source.find('{').unwrap_or_default() + 1;
    let is_empty = source.get(open..).is_some_and(|rest| rest.trim_start().starts_with('}'));
    let comma = if is_empty { "" } else { "," };
    with(source, open..open, &format!("\"{name}\":{tokens}{comma}"))
}
