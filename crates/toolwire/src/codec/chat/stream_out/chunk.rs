//! The chunks of a stream, in which only the middle changes.

use crate::codec::chat::logprobs_out::{self, LogprobsOf};
use crate::codec::chat::response_out::completion_id;
use crate::model::{ResponseContext, Start};
use crate::wire::{Object, Raw, Str, Write};

/// Writes chunks. Everything around a delta is prepared once, so a delta costs a
/// copy of that and of its text.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    /// From `data: ` up to the list of choices.
    top: Vec<u8>,
    /// From `data: ` up to the inside of the delta.
    delta: Vec<u8>,
    /// From `data: ` up to the inside of the text of the content.
    content: Vec<u8>,
    /// The number of a call, and from `data: ` up to the inside of its arguments.
    arguments: (usize, Vec<u8>),
    /// What follows the delta.
    tail: &'static [u8],
    /// Whether `usage` is null in every chunk but the last.
    usage: bool,
    /// Whether the role has been written.
    begun: bool,
}

impl ChunkWriter {
    /// Prepares the chunks of an answer.
    pub(super) fn new(start: &Start<'_>, context: &ResponseContext) -> Self {
        let Start { origin, id, model, created } = start;
        let mut top = b"data: ".to_vec();
        let braces = top.len();
        {
            let mut object = Object::new(&mut top);
            let upstream = id.as_ref().map(Str::decode).unwrap_or_default();
            object.put("id", &*completion_id(*origin, &upstream));
            object.put("object", "chat.completion.chunk");
            let made = created.as_ref().map(|at| at.value).or(context.created);
            object.put("created", &made.unwrap_or_default());
            match (model, &context.model) {
                (Some(model), _) => object.put("model", model),
                (None, Some(model)) => object.put("model", model),
                (None, None) => {}
            }
            object.key("choices");
        }
        // The object is closed after the choices of each chunk.
        top.truncate(top.len().saturating_sub(1).max(braces));
        let with = |before: &[u8], more: &[u8]| [before, more].concat();
        let delta = with(&top, br#"[{"index":0,"delta":{"#);
        let content = with(&delta, br#""content":""#);
        let tail: &[u8] = if context.stream_usage { TAIL_WITHOUT_USAGE } else { TAIL };
        let usage = context.stream_usage;
        Self { top, delta, content, arguments: (0, Vec::new()), tail, usage, begun: false }
    }

    /// Writes a chunk whose delta has other members than text. `members` writes
    /// them, with commas between them.
    pub(super) fn delta(&mut self, out: &mut Vec<u8>, members: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.delta);
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(br#""role":"assistant","content":null,"#);
        }
        members(out);
        out.extend_from_slice(self.tail);
    }

    /// Writes the role before the first text, unless it has been written.
    pub(super) fn begin_content(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(&self.delta);
            out.extend_from_slice(br#""role":"assistant","content":"""#);
            out.extend_from_slice(self.tail);
        }
    }

    /// Writes a chunk of text.
    pub(super) fn content(&self, text: &Str<'_>, logprobs: Option<&Raw<'_>>, out: &mut Vec<u8>) {
        out.reserve(self.content.len() + text.size_hint() + self.tail.len() + 1);
        out.extend_from_slice(&self.content);
        text.write_inside(out);
        out.push(b'"');
        match logprobs {
            None => out.extend_from_slice(self.tail),
            Some(list) => self.logprobs(LogprobsOf::Content, list, out),
        }
    }

    /// Writes a chunk of a refusal.
    pub(super) fn refusal(
        &mut self,
        text: &Str<'_>,
        logprobs: Option<&Raw<'_>>,
        out: &mut Vec<u8>,
    ) {
        self.delta(out, |out| {
            out.extend_from_slice(br#""refusal":"#);
            text.write(out);
        });
        if let Some(list) = logprobs {
            out.truncate(out.len() - self.tail.len());
            self.logprobs(LogprobsOf::Refusal, list, out);
        }
    }

    /// Ends a chunk after its delta, with the log probabilities of its tokens.
    fn logprobs(&self, of: LogprobsOf, list: &Raw<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"},"logprobs":"#);
        logprobs_out::write(Object::new(out), of, &[list]);
        out.extend_from_slice(self.tail.get(1..).unwrap_or_default());
    }

    /// Writes a chunk of a function's arguments.
    pub(super) fn arguments(&mut self, ordinal: usize, text: &Str<'_>, out: &mut Vec<u8>) {
        if self.arguments.1.is_empty() || self.arguments.0 != ordinal {
            let head = &mut self.arguments.1;
            head.clear();
            head.extend_from_slice(&self.delta);
            head.extend_from_slice(br#""tool_calls":[{"index":"#);
            (ordinal as u64).write(head);
            head.extend_from_slice(br#","function":{"arguments":""#);
            self.arguments.0 = ordinal;
        }
        out.reserve(self.arguments.1.len() + text.size_hint() + self.tail.len() + 8);
        out.extend_from_slice(&self.arguments.1);
        text.write_inside(out);
        out.extend_from_slice(br#""}}]"#);
        out.extend_from_slice(self.tail);
    }

    /// Writes the chunk that ends the answer. `more` is the members beside its
    /// choices.
    pub(super) fn finish(&mut self, word: &str, more: &[u8], out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(&self.delta);
            out.extend_from_slice(br#""role":"assistant","content":null"#);
            out.extend_from_slice(self.tail);
        }
        out.extend_from_slice(&self.delta);
        out.extend_from_slice(br#"},"finish_reason":"#);
        word.write(out);
        out.extend_from_slice(b"}]");
        let usage = if self.usage { NULL_USAGE } else { &[] };
        self.close(more, usage, out);
    }

    /// Writes the chunk that has the token counts.
    pub(super) fn usage(&self, usage: &[u8], more: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.top);
        out.extend_from_slice(b"[]");
        self.close(more, usage, out);
    }

    fn close(&self, more: &[u8], usage: &[u8], out: &mut Vec<u8>) {
        for members in [more, usage] {
            if !members.is_empty() {
                out.push(b',');
                out.extend_from_slice(members);
            }
        }
        out.extend_from_slice(b"}\n\n");
    }
}

/// The end of a stream that ended well.
pub(super) const DONE: &[u8] = b"data: [DONE]\n\n";

const TAIL: &[u8] = b"},\"finish_reason\":null}]}\n\n";
const TAIL_WITHOUT_USAGE: &[u8] = b"},\"finish_reason\":null}],\"usage\":null}\n\n";
const NULL_USAGE: &[u8] = b"\"usage\":null";
