//! Citations: writing them as the annotations of a message.

use crate::ledger::{Code, Ledger};
use crate::model::Text;
use crate::wire::{Array, At, Object, Raw, Read, Str, Write};

/// Writes citations that have a URL as annotations of the whole text.
pub(super) fn write(message: &mut Object<'_>, texts: &[&Text<'_>], ledger: &mut Ledger) {
    for text in texts {
        ledger.lost_info(&text.cache, Code::CacheBreakpoint);
        ledger.only(&text.extra);
    }
    let cites = |text: &&&Text<'_>| text.citations.as_ref().is_some_and(|list| !list.is_empty());
    if !texts.iter().any(|text| cites(&text)) {
        return;
    }
    let mut written = Vec::new();
    {
        let mut array = Array::new(&mut written);
        let mut offset = 0;
        for text in texts {
            let end = offset + text.text.decode().chars().count() as u64;
            if let Some(list) = &text.citations {
                annotate(&mut array, list, (offset, end), ledger);
            }
            offset = end;
        }
        if array.is_empty() {
            return;
        }
    }
    Raw::made(String::from_utf8(written).unwrap_or_default()).write(message.key("annotations"));
}

fn annotate(array: &mut Array<'_>, list: &Raw<'_>, bounds: (u64, u64), ledger: &mut Ledger) {
    for raw in Vec::<Raw<'_>>::read(&mut list.reader()).unwrap_or_default() {
        if let Some(citation) = convert(&raw, ledger) {
            citation.write(array, bounds);
        }
    }
}

/// A citation of a URL, the only kind that Chat has.
#[derive(Debug)]
pub(super) struct UrlCitation<'a> {
    url: Str<'a>,
    title: Str<'a>,
    /// Which part of its text it is about, if it says. In Messages it is about
    /// the whole block.
    range: Option<(u64, u64)>,
}

/// Converts a citation of another protocol. Reports one without a URL.
pub(super) fn convert<'r>(raw: &'r Raw<'_>, ledger: &mut Ledger) -> Option<UrlCitation<'r>> {
    let Ok(citation) = ForeignCitation::read(&mut raw.reader()) else {
        ledger.dropped(raw.pos(), Code::Citations);
        return None;
    };
    let ForeignCitation { at, kind: _, url, source, title, start_index, end_index, extra: _ } =
        citation;
    let web = |address: &Str<'_>| address.decode().starts_with("http");
    let Some(url) = url.or(source.filter(web)) else {
        ledger.dropped(at, Code::Citations);
        return None;
    };
    let range = match (start_index, end_index) {
        (Some(start), Some(end)) => Some((start.value, end.value)),
        (_, _) => {
            ledger.degraded(at, Code::Citations);
            None
        }
    };
    Some(UrlCitation { url, title: title.unwrap_or_else(|| Str::plain("")), range })
}

impl UrlCitation<'_> {
    /// Writes it as an annotation of the text at `bounds` of the whole.
    pub(super) fn write(&self, array: &mut Array<'_>, bounds: (u64, u64)) {
        let Self { url, title, range } = self;
        let (start, end) = match range {
            Some((start, end)) => (bounds.0 + start, bounds.0 + end),
            None => bounds,
        };
        let mut object = array.object();
        object.put("type", "url_citation");
        let mut citation = object.object("url_citation");
        citation.put("start_index", &start);
        citation.put("end_index", &end);
        citation.put("title", title);
        citation.put("url", url);
    }

    /// Gives up the borrow of the input.
    pub(super) fn into_owned(self) -> UrlCitation<'static> {
        let Self { url, title, range } = self;
        UrlCitation { url: url.into_owned(), title: title.into_owned(), range }
    }
}

wire! {
    /// A citation of Messages, or an annotation of Responses.
    struct ForeignCitation<'a> {
        kind: Str<'a> = "type",
        url: Str<'a> = "url",
        source: Str<'a> = "source",
        title: Str<'a> = "title",
        start_index: At<u64> = "start_index",
        end_index: At<u64> = "end_index",
    }
}
