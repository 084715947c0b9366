//! The answer in the Chat protocol, whole or in pieces.

use toolwire::wire::{Object, hash};

use super::reply::{Input, Made, Said};

/// An answer that is ready to be written.
pub(super) struct Reply<'r> {
    /// What ids are made of: the request, so that they are the same every time
    /// and differ from one turn of a conversation to the next.
    pub(super) seed: &'r str,
    pub(super) model: String,
    /// Whether the client speaks the deprecated functions.
    pub(super) legacy: bool,
    /// Tokens of the request.
    pub(super) input: u64,
    pub(super) tokens: fn(&str) -> u64,
    pub(super) said: Said,
}

impl Reply<'_> {
    /// The answer as one document.
    pub(super) fn document(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = self.begin(&mut out, "chat.completion");
        {
            let mut choices = object.array("choices");
            let mut choice = choices.object();
            choice.put("index", &0);
            {
                let mut message = choice.object("message");
                message.put("role", "assistant");
                self.put_content(&mut message);
                message.put("refusal", &());
                self.put_calls(&mut message);
            }
            choice.put("logprobs", &());
            choice.put("finish_reason", self.finish());
        }
        self.put_usage(&mut object);
        drop(object);
        out
    }

    /// The answer as server-sent events, with usage at the end if `usage`.
    pub(super) fn events(&self, usage: bool) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        events.push(self.event(|delta| {
            delta.put("role", "assistant");
            if self.said.calls.is_empty() {
                delta.put("content", "")
            } else {
                delta.put("content", &())
            }
        }));
        for piece in pieces(&self.said.text) {
            events.push(self.event(|delta| delta.put("content", piece)));
        }
        for (index, made) in self.said.calls.iter().enumerate() {
            events.push(self.event(|delta| self.put_head(delta, index, made)));
            for piece in pieces(made.input.text()) {
                events.push(self.event(|delta| self.put_piece(delta, index, &made.input, piece)));
            }
        }
        events.push(self.last());
        if usage {
            events.push(sse(|out| {
                let mut object = self.begin(out, "chat.completion.chunk");
                object.array("choices");
                self.put_usage(&mut object);
            }));
        }
        events.push(b"data: [DONE]\n\n".to_vec());
        events
    }

    fn begin<'o>(&self, out: &'o mut Vec<u8>, kind: &str) -> Object<'o> {
        let mut object = Object::new(out);
        object.put("id", &format!("chatcmpl-demo{}", hash::base62(&[self.seed.as_bytes()], 20)));
        object.put("object", kind);
        // A clock would make two answers to one request differ.
        object.put("created", &0);
        object.put("model", &self.model);
        object
    }

    fn put_content(&self, message: &mut Object<'_>) {
        if self.said.calls.is_empty() {
            message.put("content", &self.said.text);
        } else {
            message.put("content", &());
        }
    }

    fn put_calls(&self, message: &mut Object<'_>) {
        if self.said.calls.is_empty() {
            return;
        }
        if self.legacy {
            for made in self.said.calls.iter().take(1) {
                let mut function = message.object("function_call");
                function.put("name", &made.name);
                function.put("arguments", made.input.text());
            }
            return;
        }
        let mut calls = message.array("tool_calls");
        for (index, made) in self.said.calls.iter().enumerate() {
            let mut call = calls.object();
            call.put("id", &self.id(index));
            call.put("type", made.input.kind());
            let mut inner = call.object(made.input.kind());
            inner.put("name", &made.name);
            inner.put(made.input.member(), made.input.text());
        }
    }

    fn put_head(&self, delta: &mut Object<'_>, index: usize, made: &Made) {
        if self.legacy {
            let mut function = delta.object("function_call");
            function.put("name", &made.name);
            return function.put("arguments", "");
        }
        let mut calls = delta.array("tool_calls");
        let mut call = calls.object();
        call.put("index", &(index as u64));
        call.put("id", &self.id(index));
        call.put("type", made.input.kind());
        let mut inner = call.object(made.input.kind());
        inner.put("name", &made.name);
        inner.put(made.input.member(), "");
    }

    fn put_piece(&self, delta: &mut Object<'_>, index: usize, input: &Input, piece: &str) {
        if self.legacy {
            return delta.object("function_call").put("arguments", piece);
        }
        let mut calls = delta.array("tool_calls");
        let mut call = calls.object();
        call.put("index", &(index as u64));
        call.object(input.kind()).put(input.member(), piece);
    }

    fn event(&self, fill: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
        sse(|out| {
            let mut object = self.begin(out, "chat.completion.chunk");
            let mut choices = object.array("choices");
            let mut choice = choices.object();
            choice.put("index", &0);
            fill(&mut choice.object("delta"));
            choice.put("finish_reason", &());
        })
    }

    fn last(&self) -> Vec<u8> {
        sse(|out| {
            let mut object = self.begin(out, "chat.completion.chunk");
            let mut choices = object.array("choices");
            let mut choice = choices.object();
            choice.put("index", &0);
            choice.object("delta");
            choice.put("finish_reason", self.finish());
        })
    }

    fn put_usage(&self, object: &mut Object<'_>) {
        let calls = self.said.calls.iter();
        let called: u64 = calls
            .map(|made| 8 + (self.tokens)(&made.name) + (self.tokens)(made.input.text()))
            .sum();
        let output = (self.tokens)(&self.said.text) + called;
        let mut usage = object.object("usage");
        usage.put("prompt_tokens", &self.input);
        usage.put("completion_tokens", &output);
        usage.put("total_tokens", &(self.input + output));
    }

    fn finish(&self) -> &'static str {
        match (self.said.calls.is_empty(), self.legacy) {
            (true, _) if self.said.cut => "length",
            (true, _) => "stop",
            (false, true) => "function_call",
            (false, false) => "tool_calls",
        }
    }

    fn id(&self, index: usize) -> String {
        let ordinal = (index as u64).to_be_bytes();
        format!("call_{}", hash::base62(&[self.seed.as_bytes(), &ordinal], 24))
    }
}

impl Input {
    fn text(&self) -> &str {
        match self {
            Self::Arguments(text) | Self::Freeform(text) => text,
        }
    }

    /// The type of the call, which is also the name of the member with its
    /// content.
    fn kind(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "function",
            Self::Freeform(_) => "custom",
        }
    }

    fn member(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "arguments",
            Self::Freeform(_) => "input",
        }
    }
}

fn sse(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = b"data: ".to_vec();
    fill(&mut out);
    out.extend_from_slice(b"\n\n");
    out
}

/// A text in pieces of about the size that models send.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(PIECE) {
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

const PIECE: usize = 12;
