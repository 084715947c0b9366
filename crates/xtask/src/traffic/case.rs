//! One recorded document of one protocol, found among everything that was recorded.

use std::path::Path;

use toolwire::Protocol;
use toolwire::guess::{self, DocumentKind};

use super::read::Exchange;
use super::sse;

/// A document to translate.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The folder below the one that was asked for: in a collection, the project.
    pub(super) project: String,
    /// The file and, if it has several, the entry.
    pub(super) place: String,
    pub(super) kind: Kind,
    pub(super) protocol: Protocol,
    pub(super) body: Vec<u8>,
    /// The HTTP status it came with; of a request, the status of its answer.
    pub(super) status: Option<u16>,
}

impl Case {
    /// The document as text, which it was recognized as.
    pub(super) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap_or_default()
    }
}

/// What a document is, as far as it matters how it is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Request,
    Response,
    Stream,
    Error,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Request, Self::Response, Self::Stream, Self::Error];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "answer",
            Self::Stream => "stream",
            Self::Error => "error",
        }
    }
}

/// The documents of an exchange that are in a protocol we know.
pub(super) fn cases(file: &str, exchange: Exchange) -> Vec<Case> {
    let Exchange { entry, url, status, request, answer, document } = exchange;
    let place = if entry.is_empty() { file.to_owned() } else { format!("{file}#{entry}") };
    let owner = match &url {
        None => Owner::Unknown,
        Some(url) => of_url(url).map_or(Owner::Other, Owner::Protocol),
    };
    let case = |side, body: Vec<u8>| {
        let (kind, protocol) = recognize(side, owner, status, &body)?;
        let project = project(file);
        Some(Case { project, place: place.clone(), kind, protocol, body, status })
    };
    let sent = request.and_then(|body| case(Side::Sent, body));
    let received = answer.and_then(|body| case(Side::Received, body));
    let either = document.and_then(|body| case(Side::Either, body));
    sent.into_iter().chain(received).chain(either).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Sent,
    Received,
    Either,
}

/// Whose endpoint an address is.
#[derive(Clone, Copy)]
enum Owner {
    Protocol(Protocol),
    /// An endpoint of something else, whose documents may look like ours: embeddings, batches.
    Other,
    Unknown,
}

/// The protocol whose answers an address gives. Compatible servers put the vendor's path behind
/// one of their own.
fn of_url(url: &str) -> Option<Protocol> {
    let path = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
    // OpenAI's threads have messages too.
    if path.contains("/threads/") {
        return None;
    }
    let own = |protocol: &Protocol| {
        let endpoint = match protocol.as_str() {
            "chat" => "/chat/completions",
            other => return path.ends_with(&format!("/{other}")),
        };
        path.ends_with(endpoint)
    };
    Protocol::ALL.iter().copied().find(own)
}

fn recognize(
    side: Side,
    owner: Owner,
    status: Option<u16>,
    body: &[u8],
) -> Option<(Kind, Protocol)> {
    if matches!(owner, Owner::Other) || str::from_utf8(body).is_err() {
        return None;
    }
    let by_url = if let Owner::Protocol(protocol) = owner { Some(protocol) } else { None };
    if sse::is_stream(body) {
        let protocol = by_url.or_else(|| of_stream(body))?;
        if sse::events(body).first().is_some_and(|event| is_text_completion(event.data.as_bytes()))
        {
            return None;
        }
        return (side != Side::Sent).then_some((Kind::Stream, protocol));
    }
    if is_text_completion(body) {
        return None;
    }
    let guessed = guess::guess(body).ok()?;
    // The members of the protocols differ enough to tell; an address decides where they do not.
    let protocol = by_url.or(guessed.protocol)?;
    let failed = status.is_some_and(|status| status >= 400);
    if by_url.is_none() && is_embedding(body) {
        return None;
    }
    let kind = match (side, guessed.document) {
        (Side::Sent, Some(DocumentKind::Request)) => Kind::Request,
        (Side::Either, Some(DocumentKind::Request)) if guessed.protocol.is_some() => Kind::Request,
        (Side::Received | Side::Either, _) if failed => Kind::Error,
        (Side::Received | Side::Either, Some(DocumentKind::Error)) => Kind::Error,
        (Side::Received | Side::Either, Some(DocumentKind::Response)) => Kind::Response,
        (Side::Sent | Side::Received | Side::Either, _) => return None,
    };
    Some((kind, protocol))
}

/// The API before Chat: its answers have choices too, but no messages.
fn is_text_completion(body: &[u8]) -> bool {
    let document: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    document.get("object").is_some_and(|object| object == "text_completion")
}

/// A request for embeddings has a model and an input too, but its input is a list of texts.
fn is_embedding(body: &[u8]) -> bool {
    let document: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    document.pointer("/input/0").is_some_and(|first| !first.is_object())
        || document.get("encoding_format").is_some()
}

fn of_stream(body: &[u8]) -> Option<Protocol> {
    sse::events(body).iter().find_map(|event| guess::stream(event.name.as_deref(), &event.data))
}

fn project(file: &str) -> String {
    let path = Path::new(file);
    let first = path.components().next().filter(|_| path.components().count() > 1);
    first.map_or_else(|| ".".to_owned(), |name| name.as_os_str().to_string_lossy().into_owned())
}
