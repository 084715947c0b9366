//! Other protocols' citations as annotations.

use crate::ledger::{Code, Ledger};
use crate::model::Protocol;
use crate::wire::{Array, Raw, Read, Str};

/// The annotations that say what another protocol's citations say. Only
/// addresses cross; places in a client's own documents have no annotation.
pub(super) fn annotations(
    citations: &Raw<'_>,
    text: &Str<'_>,
    origin: Protocol,
    ledger: &mut Ledger,
) -> Option<Raw<'static>> {
    let mut reader = citations.reader();
    let Ok(list) = Vec::<Citation<'_>>::read(&mut reader) else {
        ledger.dropped(citations.pos(), Code::Citations);
        return None;
    };
    let mut out = Vec::new();
    let mut some = false;
    {
        let mut notes = Array::new(&mut out);
        for citation in list {
            some |= annotation(citation, text, origin, &mut notes, ledger);
        }
    }
    if some && origin == Protocol::Chat {
        emulated(citations, ledger);
    }
    let out = String::from_utf8(out).ok()?;
    some.then(|| Raw::made(out))
}

/// Reports what of one citation does not cross.
pub(super) fn note(citation: &Raw<'_>, origin: Protocol, ledger: &mut Ledger) {
    let Ok(found) = Citation::read(&mut citation.reader()) else {
        ledger.dropped(citation.pos(), Code::Citations);
        return;
    };
    let mut nowhere = Vec::new();
    let some = annotation(found, &Str::plain(""), origin, &mut Array::new(&mut nowhere), ledger);
    if some && origin == Protocol::Chat {
        emulated(citation, ledger);
    }
}

fn emulated(citation: &Raw<'_>, ledger: &mut Ledger) {
    ledger.emulated(citation.pos(), Code::Citations).detail("Each crosses as an annotation.");
}

fn annotation(
    citation: Citation<'_>,
    text: &Str<'_>,
    origin: Protocol,
    notes: &mut Array<'_>,
    ledger: &mut Ledger,
) -> bool {
    let Citation { at, kind: _, url, title, url_citation, extra: _ } = citation;
    match (origin, url_citation, url) {
        (Protocol::Chat | Protocol::Responses, Some(cited), None) => {
            let UrlCitation { at: _, start_index, end_index, url, title, extra } = cited;
            let mut note = notes.object();
            note.put("type", "url_citation");
            note.put("start_index", &start_index.unwrap_or(Raw::made("0")));
            note.put("end_index", &end_index.unwrap_or(Raw::made("0")));
            note.put("url", &url.unwrap_or(Str::plain("")));
            note.put("title", &title.unwrap_or(Str::plain("")));
            ledger.only(&extra);
            true
        }
        (Protocol::Messages, None, Some(url)) => {
            // Messages cites per block, so the block's bounds are the place.
            let end = text.decode().chars().count() as u64;
            let mut note = notes.object();
            note.put("type", "url_citation");
            note.put("start_index", &0u64);
            note.put("end_index", &end);
            note.put("url", &url);
            note.put("title", &title.unwrap_or(Str::plain("")));
            ledger
                .degraded(at, Code::Citations)
                .detail("The address crosses; the cited words and the vendor's own index do not.");
            true
        }
        (_origin, _cited, _url) => {
            ledger.dropped(at, Code::Citations);
            false
        }
    }
}

wire! {
    /// A citation of Messages or an annotation of Chat.
    struct Citation<'a> {
        kind: Str<'a> = "type",
        url: Str<'a> = "url",
        title: Str<'a> = "title",
        url_citation: UrlCitation<'a> = "url_citation",
    }

    struct UrlCitation<'a> {
        start_index: Raw<'a> = "start_index",
        end_index: Raw<'a> = "end_index",
        url: Str<'a> = "url",
        title: Str<'a> = "title",
    }
}
