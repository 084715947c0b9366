//! The laws of translation, as functions that any test can hold any bytes to:
//! the vectors, random documents and the fuzzers all call these.
//!
//! A law returns what is wrong as text, so that it can be used where nothing may
//! panic.

#![deny(missing_docs)]

pub mod diff;
mod fragments;
pub mod growth;
pub mod meaning;
pub mod recover;
pub mod signature;
pub mod stream;

use toolwire::codec::{CODECS, codec};
use toolwire::ledger::{Action, Ledger};
use toolwire::model::{Protocol, Request};
use toolwire::profile::Profile;
use toolwire::toolset::Toolset;
use toolwire::wire::cuts::without;
use toolwire::wire::{At, Raw, Str};

/// Completeness: whatever a request says is said by its translation into every
/// other built-in protocol, or the ledger has a line for it. A document that
/// cannot be read keeps every law.
pub fn nothing_is_lost_in_silence(from: Protocol, text: &str) -> Result<(), String> {
    others(from).try_for_each(|to| nothing_is_lost_between(from, to, text))
}

/// Completeness between two protocols.
pub fn nothing_is_lost_between(from: Protocol, to: Protocol, text: &str) -> Result<(), String> {
    let Ok(request) = codec(from).decode_request(text) else { return Ok(()) };
    let before = meaning::request(&request);
    let (out, ledger) = encode(to, &request);
    let translated = readable(to, &out)?;
    let mut back = codec(to)
        .decode_request(translated)
        .map_err(|error| format!("{to}: {error}: {translated}"))?;
    carry_in_url(&request, to, &mut back)?;
    let entries = ledger.entries(text);
    // What is refused is not sent at all, and the client is told.
    if entries.iter().any(|entry| entry.action == Action::Refused) {
        return Ok(());
    }
    let lost = diff::lost(&before, &meaning::request(&back), text, &entries);
    match lost.first() {
        Some((atom, path)) => {
            let (count, class, value) = (lost.len(), atom.class, &atom.value);
            Err(format!("to {to}: {count} silent: {class} {value:?} at {path}: {translated}"))
        }
        None => Ok(()),
    }
}

/// Gives a translated request what its protocol keeps in the URL: the model's
/// name, and whether a stream is wanted.
fn carry_in_url(request: &Request<'_>, to: Protocol, back: &mut Request<'_>) -> Result<(), String> {
    let endpoint = &to.describe().answers;
    let Some(model) = request.model.as_ref().filter(|_| endpoint.names_model()) else {
        return Ok(());
    };
    if model.is_empty() {
        // There is no such path, so a request without a name is not sent.
        back.model = Some(Str::plain(""));
        back.stream.on = request.stream.on;
        return Ok(());
    }
    let stream = request.stream.on.is_some_and(|wanted| wanted.value);
    let path = endpoint.fill(&model.decode(), stream);
    let found = endpoint.matches(&path).ok_or_else(|| format!("{to} does not know {path}"))?;
    back.model = found.model.map(Str::plain);
    back.stream.on = found.stream.map(At::made);
    Ok(())
}

/// The same input gives the same bytes and the same ledger, toward every other
/// built-in protocol.
pub fn the_same_bytes_every_time(from: Protocol, text: &str) -> Result<(), String> {
    others(from).try_for_each(|to| the_same_bytes_between(from, to, text))
}

/// The same input gives the same bytes and the same ledger.
pub fn the_same_bytes_between(from: Protocol, to: Protocol, text: &str) -> Result<(), String> {
    let Ok(request) = codec(from).decode_request(text) else { return Ok(()) };
    let Ok(again) = codec(from).decode_request(text) else {
        return Err("the second reading failed".to_owned());
    };
    let (first, second) = (encode(to, &request), encode(to, &again));
    if first.0 != second.0 || first.1.entries(text) != second.1.entries(text) {
        return Err(format!("to {to}: two translations differ"));
    }
    let ledger = first.1;
    if ledger.entries(text) != ledger.entries_past(text, &request.literals(text)) {
        return Err(format!("to {to}: a pointer depends on the texts before it"));
    }
    Ok(())
}

/// Within one protocol only reasoning that another vendor sealed is cut out:
/// what is left is a request that says everything else, and the ledger has a
/// line for whatever is gone.
pub fn only_foreign_reasoning_is_cut(protocol: Protocol, text: &str) -> Result<(), String> {
    let Ok(request) = codec(protocol).decode_request(text) else { return Ok(()) };
    let mut ledger = Ledger::default();
    let cuts = (codec(protocol).foreign_reasoning)(text, &mut ledger)
        .map_err(|error| format!("not readable for cuts: {error}"))?;
    let rest = without(text, &cuts);
    let entries = ledger.entries(text);
    if cuts.is_empty() != entries.is_empty() {
        return Err(format!("{} cuts and {} lines", cuts.len(), entries.len()));
    }
    let back = codec(protocol).decode_request(&rest).map_err(|error| format!("{error}: {rest}"))?;
    let (before, after) = (meaning::request(&request), meaning::request(&back));
    match diff::lost(&before, &after, text, &entries).first() {
        Some((atom, path)) => {
            Err(format!("silent: {} {:?} at {path}: {rest}", atom.class, atom.value))
        }
        None => Ok(()),
    }
}

/// Answers, errors and tool lists come out as JSON that their own protocol
/// reads, in every other built-in protocol.
pub fn answers_are_readable(from: Protocol, text: &str) -> Result<(), String> {
    others(from).try_for_each(|to| answers_are_readable_between(from, to, text))
}

/// Answers, errors and tool lists come out as JSON that their own protocol
/// reads.
pub fn answers_are_readable_between(
    from: Protocol,
    to: Protocol,
    text: &str,
) -> Result<(), String> {
    let mut ledger = Ledger::default();
    if let Ok(response) = (codec(from).decode_response)(text) {
        let mut out = Vec::new();
        (codec(to).encode_response)(&response, None, &mut out, &mut ledger);
        let written = readable(to, &out)?;
        let read = (codec(to).decode_response)(written);
        read.map_err(|error| format!("{to}: {error}: {written}"))?;
    }
    if let Ok(error) = (codec(from).decode_error)(None, text) {
        let mut out = Vec::new();
        (codec(to).encode_error)(&error, &mut out);
        readable(to, &out)?;
    }
    if let Ok(tools) = (codec(from).decode_tools)(text) {
        let mut out = Vec::new();
        (codec(to).encode_tools)(&tools, from, &Profile::of(to), &mut out, &mut ledger);
        readable(to, &out)?;
    }
    Ok(())
}

fn others(from: Protocol) -> impl Iterator<Item = Protocol> {
    CODECS.into_iter().map(|codec| codec.protocol).filter(move |protocol| *protocol != from)
}

fn encode(to: Protocol, request: &Request<'_>) -> (Vec<u8>, Ledger) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let profile = Profile::of(to);
    let tools = Toolset::new(request, &profile);
    (codec(to).encode_request)(request, &tools, &profile, &mut out, &mut ledger);
    (out, ledger)
}

fn readable(to: Protocol, out: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(out).map_err(|error| format!("{to}: {error}"))?;
    Raw::parse(text).map_err(|error| format!("{to}: {error}: {text}"))?;
    Ok(text)
}
