//! The laws of translation, as functions that any test can hold any bytes to:
//! the vectors, random documents and the fuzzers all call these.
//!
//! Compiled only with the feature `laws`. A law returns what is wrong as text,
//! so that it can be used where nothing may panic.

pub mod diff;
pub mod meaning;
pub mod stream;

use crate::codec::{CODECS, Codec, codec};
use crate::ledger::{Action, Ledger};
use crate::model::{Protocol, Request};
use crate::profile::Profile;
use crate::toolset::Toolset;
use crate::wire::Raw;
use crate::wire::cuts::without;

/// Completeness: whatever a request says is said by its translation, or the
/// ledger has a line for it. A document that cannot be read keeps every law.
pub fn nothing_is_lost_in_silence(from: Protocol, text: &str) -> Result<(), String> {
    let Ok(request) = codec(from).decode_request(text) else { return Ok(()) };
    let before = meaning::request(&request);
    for to in others(from) {
        let (out, ledger) = encode(to, &request);
        let translated = readable(to, &out)?;
        let back = to
            .decode_request(translated)
            .map_err(|error| format!("{}: {error}: {translated}", to.protocol()))?;
        let entries = ledger.entries(text);
        // What is refused is not sent at all, and the client is told.
        if entries.iter().any(|entry| entry.action == Action::Refused) {
            continue;
        }
        let lost = diff::lost(&before, &meaning::request(&back), text, &entries);
        if let Some((atom, path)) = lost.first() {
            let count = lost.len();
            let class = atom.class;
            return Err(format!(
                "to {}: {count} silent: {class} {:?} at {path}: {translated}",
                to.protocol(),
                atom.value
            ));
        }
    }
    Ok(())
}

/// The same input gives the same bytes and the same ledger.
pub fn the_same_bytes_every_time(from: Protocol, text: &str) -> Result<(), String> {
    let Ok(request) = codec(from).decode_request(text) else { return Ok(()) };
    let Ok(again) = codec(from).decode_request(text) else {
        return Err("the second reading failed".to_owned());
    };
    for to in others(from) {
        let (first, second) = (encode(to, &request), encode(to, &again));
        if first.0 != second.0 || first.1.entries(text) != second.1.entries(text) {
            return Err(format!("to {}: two translations differ", to.protocol()));
        }
        let ledger = first.1;
        if ledger.entries(text) != ledger.entries_past(text, &request.literals(text)) {
            return Err(format!("to {}: a pointer depends on the texts before it", to.protocol()));
        }
    }
    Ok(())
}

/// Within one protocol only reasoning that another vendor sealed is cut out:
/// what is left is a request that says everything else, and the ledger has a
/// line for whatever is gone.
pub fn only_foreign_reasoning_is_cut(protocol: Protocol, text: &str) -> Result<(), String> {
    let Ok(request) = codec(protocol).decode_request(text) else { return Ok(()) };
    let mut ledger = Ledger::default();
    let cuts = codec(protocol)
        .foreign_reasoning(text, &mut ledger)
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
/// reads.
pub fn answers_are_readable(from: Protocol, text: &str) -> Result<(), String> {
    let mut ledger = Ledger::default();
    for to in others(from) {
        if let Ok(response) = codec(from).decode_response(text) {
            let mut out = Vec::new();
            to.encode_response(&response, None, &mut out, &mut ledger);
            let written = readable(to, &out)?;
            to.decode_response(written)
                .map_err(|error| format!("{}: {error}: {written}", to.protocol()))?;
        }
        if let Ok(error) = codec(from).decode_error(None, text) {
            let mut out = Vec::new();
            to.encode_error(&error, &mut out);
            readable(to, &out)?;
        }
        if let Ok(tools) = codec(from).decode_tools(text) {
            let mut out = Vec::new();
            to.encode_tools(&tools, from, &Profile::of(to.protocol()), &mut out, &mut ledger);
            readable(to, &out)?;
        }
    }
    Ok(())
}

fn others(from: Protocol) -> impl Iterator<Item = &'static dyn Codec> {
    CODECS.into_iter().filter(move |codec| codec.protocol() != from)
}

fn encode(to: &dyn Codec, request: &Request<'_>) -> (Vec<u8>, Ledger) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let profile = Profile::of(to.protocol());
    let tools = Toolset::new(request, &profile);
    to.encode_request(request, &tools, &profile, &mut out, &mut ledger);
    (out, ledger)
}

fn readable<'o>(to: &dyn Codec, out: &'o [u8]) -> Result<&'o str, String> {
    let text = std::str::from_utf8(out).map_err(|error| format!("{}: {error}", to.protocol()))?;
    Raw::parse(text).map_err(|error| format!("{}: {error}: {text}", to.protocol()))?;
    Ok(text)
}
