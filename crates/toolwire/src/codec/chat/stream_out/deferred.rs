//! What a stream has to keep until its end: the place of each piece of sealed
//! reasoning, and the citations with the bounds of their texts.

use crate::codec::chat::citations_out::{self, UrlCitation};
use crate::codec::chat::reasoning_out;
use crate::ledger::Ledger;
use crate::model::{Own, Reasoning, Sealed};
use crate::wire::{Object, Pos, Raw, Str, TextBuffer};

/// The citations of each text of an answer.
#[derive(Debug, Default)]
pub(super) struct CitedTexts(Vec<CitedText>);

#[derive(Debug, Default)]
struct CitedText {
    /// The number of characters.
    length: u64,
    citations: Vec<UrlCitation<'static>>,
}

impl CitedTexts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Begins a text and returns its number.
    pub(super) fn open(&mut self) -> usize {
        self.0.push(CitedText::default());
        self.0.len() - 1
    }

    pub(super) fn push(&mut self, at: usize, text: &Str<'_>) {
        if let Some(cited) = self.0.get_mut(at) {
            cited.length += length(text);
        }
    }

    pub(super) fn cite(&mut self, at: usize, citation: &Raw<'_>, ledger: &mut Ledger) {
        let Some(text) = self.0.get_mut(at) else { return };
        if let Some(citation) = citations_out::convert(citation, ledger) {
            text.citations.push(citation.into_owned());
        }
    }

    pub(super) fn write(&self, object: &mut Object<'_>) {
        if self.0.iter().all(|text| text.citations.is_empty()) {
            return;
        }
        let mut array = object.array("annotations");
        let mut offset = 0;
        for CitedText { length, citations } in &self.0 {
            for citation in citations {
                citation.write(&mut array, (offset, offset + length));
            }
            offset += length;
        }
    }
}

/// The reasoning of an answer, kept for the envelopes.
#[derive(Debug, Default)]
pub(super) struct EnvelopeBuffer {
    list: Vec<EnvelopedReasoning>,
    /// The text that was shown last: the number of its block, its kind, and which
    /// part of that kind it is.
    shown: Option<(usize, ReasoningKind, usize)>,
}

/// Which of the texts of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningKind {
    /// What the vendor shows of the reasoning.
    Summary,
    /// The reasoning itself.
    Full,
}

/// Reasoning, and what came before it.
#[derive(Debug)]
struct EnvelopedReasoning {
    calls: usize,
    after_text: bool,
    after_refusal: bool,
    summary: Vec<TextBuffer>,
    content: Vec<TextBuffer>,
    sealed: Option<Sealed<'static>>,
}

impl EnvelopeBuffer {
    /// Begins a block of reasoning and returns its number.
    pub(super) fn open(&mut self, calls: usize, after_text: bool, after_refusal: bool) -> usize {
        self.list.push(EnvelopedReasoning {
            calls,
            after_text,
            after_refusal,
            summary: Vec::new(),
            content: Vec::new(),
            sealed: None,
        });
        self.list.len() - 1
    }

    /// Adds text to a block. Returns whether a gap separates it from the text that
    /// was shown last.
    pub(super) fn push(
        &mut self,
        at: usize,
        kind: ReasoningKind,
        part: usize,
        text: &Str<'_>,
    ) -> bool {
        if let Some(entry) = self.list.get_mut(at) {
            let texts = match kind {
                ReasoningKind::Summary => &mut entry.summary,
                ReasoningKind::Full => &mut entry.content,
            };
            // If an upstream skips a part, the part is empty.
            if texts.len() <= part {
                texts.push(TextBuffer::default());
            }
            if let Some(last) = texts.last_mut() {
                last.push(text);
            }
        }
        // An empty text is kept, because a seal may cover it, but not shown.
        if text.is_empty() {
            return false;
        }
        let here = (at, kind, part);
        self.shown.replace(here).is_some_and(|last| last != here)
    }

    pub(super) fn seal(&mut self, at: usize, sealed: Option<&Sealed<'_>>) {
        if let (Some(entry), Some(sealed)) = (self.list.get_mut(at), sealed) {
            entry.sealed = Some(sealed.clone().into_owned());
        }
    }

    /// Writes the envelopes. Whether the answer has text and a refusal decides the
    /// place of reasoning in the message that the client sends back.
    pub(super) fn write(
        &mut self,
        object: &mut Object<'_>,
        has_text: bool,
        has_refusal: bool,
        ledger: &mut Ledger,
    ) {
        let mut list = Vec::new();
        for (before, entry) in self.list.drain(..).enumerate() {
            let EnvelopedReasoning { calls, after_text, after_refusal, summary, content, sealed } =
                entry;
            if sealed.is_none() {
                continue;
            }
            let own = |text: &TextBuffer| text.text().into_owned();
            // Chat puts all text before all calls, so after a call any text
            // counts as written already.
            let after_call = calls > 0;
            let texts_before = usize::from(after_text || (after_call && has_text))
                + usize::from(after_refusal || (after_call && has_refusal));
            let mut reasoning = Reasoning::new(Pos::START);
            reasoning.summary = summary.iter().map(own).collect();
            reasoning.content = content.iter().map(own).collect();
            reasoning.sealed = sealed;
            list.push(((calls + before + texts_before) as u64, reasoning));
        }
        let list: Vec<_> = list.iter().map(|(place, reasoning)| (*place, reasoning)).collect();
        reasoning_out::write_envelopes(object, &list, ledger);
    }
}

/// The number of characters of a text, counted without decoding it.
fn length(text: &Str<'_>) -> u64 {
    let spelled = text.spelled().as_bytes();
    // Every character has one byte that is no continuation byte.
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
