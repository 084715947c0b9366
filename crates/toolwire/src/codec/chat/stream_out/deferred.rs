//! What of an answer a stream can tell only at its end: where each piece of
//! sealed reasoning stood, and what the citations are about.

use crate::codec::chat::citations_out::{self, UrlCitation};
use crate::codec::chat::reasoning_out;
use crate::ledger::Ledger;
use crate::model::{Reasoning, Sealed};
use crate::wire::{Object, Pos, Raw, Str, TextBuffer};

/// The texts of an answer as far as their citations need them.
#[derive(Debug, Default)]
pub(super) struct CitedTexts(Vec<CitedText>);

#[derive(Debug, Default)]
struct CitedText {
    /// How many characters it has.
    length: u64,
    citations: Vec<UrlCitation<'static>>,
}

impl CitedTexts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text begins. Gives its number.
    pub(super) fn open(&mut self) -> usize {
        self.0.push(CitedText::default());
        self.0.len() - 1
    }

    pub(super) fn grow(&mut self, at: usize, text: &Str<'_>) {
        if let Some(text_) = self.0.get_mut(at) {
            text_.length += length(text);
        }
    }

    pub(super) fn cite(&mut self, at: usize, citation: &Raw<'_>, ledger: &mut Ledger) {
        let Some(text_) = self.0.get_mut(at) else { return };
        if let Some(cited) = citations_out::read(citation, ledger) {
            text_.citations.push(cited.into_owned());
        }
    }

    pub(super) fn write(&self, object: &mut Object<'_>) {
        if self.0.iter().all(|text_| text_.citations.is_empty()) {
            return;
        }
        let mut array = object.array("annotations");
        let mut offset = 0;
        for CitedText { length, citations } in &self.0 {
            for cited in citations {
                cited.write(&mut array, (offset, offset + length));
            }
            offset += length;
        }
    }
}

/// The reasoning of an answer, kept for its envelopes.
#[derive(Debug, Default)]
pub(super) struct EnvelopeBuffer {
    list: Vec<EnvelopedReasoning>,
    /// Which text was shown last: of which thought, whether of the reasoning
    /// itself, and which part.
    shown: Option<(usize, bool, usize)>,
}

/// Reasoning, and what stood before it.
#[derive(Debug)]
struct EnvelopedReasoning {
    calls: usize,
    spoke: bool,
    refused: bool,
    summary: Vec<TextBuffer>,
    content: Vec<TextBuffer>,
    sealed: Option<Sealed<'static>>,
}

impl EnvelopeBuffer {
    /// A thought begins. Gives its number.
    pub(super) fn open(&mut self, calls: usize, spoke: bool, refused: bool) -> usize {
        let (summary, content, sealed) = (Vec::new(), Vec::new(), None);
        self.list.push(EnvelopedReasoning { calls, spoke, refused, summary, content, sealed });
        self.list.len() - 1
    }

    /// A thought grows. Whether its text stands apart from what was shown last.
    pub(super) fn grow(&mut self, at: usize, raw: bool, part: usize, text: &Str<'_>) -> bool {
        if let Some(reasoning_) = self.list.get_mut(at) {
            let texts = if raw { &mut reasoning_.content } else { &mut reasoning_.summary };
            // An upstream that skips numbers skips texts that have nothing in
            // them.
            if texts.len() <= part {
                texts.push(TextBuffer::default());
            }
            if let Some(last) = texts.last_mut() {
                last.push(text);
            }
        }
        // A text without anything in it is kept, since a seal may cover it, but
        // it is not shown.
        if text.is_empty() {
            return false;
        }
        let here = (at, raw, part);
        self.shown.replace(here).is_some_and(|last| last != here)
    }

    pub(super) fn seal(&mut self, at: usize, sealed: Option<&Sealed<'_>>) {
        let (Some(reasoning_), Some(sealed)) = (self.list.get_mut(at), sealed) else { return };
        let Sealed { issuer, item_id, blob, redacted } = sealed;
        let own = |text: &Str<'_>| text.clone().into_owned();
        reasoning_.sealed = Some(Sealed {
            issuer: issuer.clone(),
            item_id: item_id.as_ref().map(own),
            blob: blob.as_ref().map(own),
            redacted: *redacted,
        });
    }

    /// Writes what the client is to bring back. Whether it was also spoken and
    /// refused decides where a thought stands in the message that comes back.
    pub(super) fn write(
        &mut self,
        object: &mut Object<'_>,
        speaks: bool,
        refuses: bool,
        ledger: &mut Ledger,
    ) {
        let mut list = Vec::new();
        for (before, reasoning_) in self.list.drain(..).enumerate() {
            let EnvelopedReasoning { calls, spoke, refused, summary, content, sealed } = reasoning_;
            if sealed.is_none() {
                continue;
            }
            let own = |text: &TextBuffer| text.text().into_owned();
            // Chat puts all text before all calls, so behind a call any text
            // counts as said already.
            let called = calls > 0;
            let text_ = usize::from(spoke || (called && speaks))
                + usize::from(refused || (called && refuses));
            let reasoning = Reasoning {
                at: Pos::START,
                summary: summary.iter().map(own).collect(),
                content: content.iter().map(own).collect(),
                sealed,
                place: None,
                extra: Vec::new(),
            };
            list.push(((calls + before + text_) as u64, reasoning));
        }
        let list: Vec<_> = list.iter().map(|(place, reasoning)| (*place, reasoning)).collect();
        reasoning_out::write_envelopes(object, &list, ledger);
    }
}

/// How many characters a text has, counted as it is spelled.
fn length(text: &Str<'_>) -> u64 {
    let spelled = text.spelled().as_bytes();
    // Every character has one byte that continues none.
    let count = |bytes: &[u8]| bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count() as u64;
    if !text.is_escaped() {
        return count(spelled);
    }
    let mut total = 0;
    let mut rest = spelled;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        total += count(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let used = match rest {
            // The second half of a pair is counted with the first.
            [_, b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..] => {
                total -= 1;
                6
            }
            [_, b'u', ..] => 6,
            _short => 2,
        };
        total += 1;
        rest = rest.get(used..).unwrap_or_default();
    }
    total + count(rest)
}
