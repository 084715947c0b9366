//! Other protocols' citations as annotations.

use crate::ledger::{Code, Ledger};
use crate::wire::{Array, Raw, Read, Str, Write};

/// The annotations for another protocol's citations. Only addresses cross:
/// Responses has no annotation for a place in a client's own document.
pub(super) fn annotations(
    citations: &Raw<'_>,
    text: &Str<'_>,
    ledger: &mut Ledger,
) -> Option<Raw<'static>> {
    let mut reader = citations.reader();
    let Ok(list) = Vec::<AnyCitation<'_>>::read(&mut reader) else {
        ledger.dropped(citations.pos(), Code::Citations);
        return None;
    };
    let mut out = Vec::new();
    let (mut some, mut reshaped) = (false, false);
    {
        let mut notes = Array::new(&mut out);
        for citation in list {
            let written = annotation(citation, text, &mut notes, ledger);
            some |= written != CitationOutcome::Nothing;
            reshaped |= written == CitationOutcome::Reshaped;
        }
    }
    if reshaped {
        emulated(citations, ledger);
    }
    let out = String::from_utf8(out).ok()?;
    some.then(|| Raw::made(out))
}

/// Reports what is lost of one citation.
pub(super) fn report_citation(citation: &Raw<'_>, ledger: &mut Ledger) {
    let Ok(found) = AnyCitation::read(&mut citation.reader()) else {
        ledger.dropped(citation.pos(), Code::Citations);
        return;
    };
    let mut nowhere = Vec::new();
    let written = annotation(found, &Str::plain(""), &mut Array::new(&mut nowhere), ledger);
    if written == CitationOutcome::Reshaped {
        emulated(citation, ledger);
    }
}

fn emulated(citation: &Raw<'_>, ledger: &mut Ledger) {
    ledger.emulated(citation.pos(), Code::Citations).detail("Each crosses as an annotation.");
}

fn annotation(
    citation: AnyCitation<'_>,
    text: &Str<'_>,
    notes: &mut Array<'_>,
    ledger: &mut Ledger,
) -> CitationOutcome {
    let AnyCitation { at, kind: _, url, title, url_citation, extra: _ } = citation;
    match (url_citation, url) {
        (Some(cited), None) => {
            let NestedCitation { at: _, start_index, end_index, url, title, extra } = cited;
            let bounds = [start_index, end_index].map(|at| at.unwrap_or(Raw::made("0")));
            write_annotation(&bounds, url.as_ref(), title.as_ref(), notes);
            ledger.only(&extra);
            CitationOutcome::Reshaped
        }
        (None, Some(url)) => {
            // Messages cites per block, so the citation covers the whole text.
            let end = text.decode().chars().count() as u64;
            write_annotation(&[0, end], Some(&url), title.as_ref(), notes);
            ledger
                .degraded(at, Code::Citations)
                .detail("The address crosses; the cited words and the vendor's own index do not.");
            CitationOutcome::Address
        }
        (_cited, _url) => {
            ledger.dropped(at, Code::Citations);
            CitationOutcome::Nothing
        }
    }
}

fn write_annotation(
    [start, end]: &[impl Write; 2],
    url: Option<&Str<'_>>,
    title: Option<&Str<'_>>,
    notes: &mut Array<'_>,
) {
    let mut note = notes.object();
    note.put("type", "url_citation");
    note.put("start_index", start);
    note.put("end_index", end);
    note.put("url", url.unwrap_or(&Str::plain("")));
    note.put("title", title.unwrap_or(&Str::plain("")));
}

/// What became of a citation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CitationOutcome {
    /// An annotation that says all of it.
    Reshaped,
    /// An annotation with only its address.
    Address,
    Nothing,
}

wire! {
    /// A citation of Messages or an annotation of Chat.
    struct AnyCitation<'a> {
        kind: Str<'a> = "type",
        url: Str<'a> = "url",
        title: Str<'a> = "title",
        url_citation: NestedCitation<'a> = "url_citation",
    }

    struct NestedCitation<'a> {
        start_index: Raw<'a> = "start_index",
        end_index: Raw<'a> = "end_index",
        url: Str<'a> = "url",
        title: Str<'a> = "title",
    }
}
