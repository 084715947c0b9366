//! A whole answer as a stream of one chunk that keeps every member.

use std::ops::Range;

use super::chunk::DONE;
use crate::wire::{Kind, ReadError, Reader, Str};

/// Writes the stream. An answer without choices gets no end.
pub(crate) fn stream_from_response(body: &str) -> Result<Vec<u8>, ReadError> {
    let mut chunk = ResponseChunk { body, used: 0, out: b"data: ".to_vec() };
    let mut reader = Reader::new(body);
    let mut answered = false;
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        match key.decode().as_ref() {
            "object" if reader.peek() == Kind::String => {
                chunk.replace(&reader.string()?, br#""chat.completion.chunk""#);
            }
            "choices" if reader.peek() == Kind::Array => {
                answered = chunk.choices(&mut reader)?;
            }
            _kept => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok(chunk.end(answered))
}

/// A chunk that is made from an answer.
struct ResponseChunk<'b> {
    body: &'b str,
    /// How much of the answer has been copied.
    used: usize,
    out: Vec<u8>,
}

impl ResponseChunk<'_> {
    /// Turns messages into deltas. Returns whether there are any.
    fn choices(&mut self, reader: &mut Reader<'_>) -> Result<bool, ReadError> {
        let mut answered = false;
        let mut choices = reader.array()?;
        while choices.more(reader)? {
            if reader.peek() != Kind::Object {
                reader.skip()?;
                continue;
            }
            let [message] = reader.clone().pick(["message"])?;
            let has_message = message.is_some_and(|message| message.kind() == Kind::Object);
            let mut members = reader.object()?;
            while let Some(key) = members.next(reader)? {
                if has_message && key == "message" {
                    self.replace(&key, br#""delta""#);
                    self.message(reader)?;
                    answered = true;
                } else {
                    // Perplexity's answers have an empty delta too, which would be the second one
                    // here. The two change names. vectors/responses/chat-delta-beside-message
                    if has_message && key == "delta" {
                        self.replace(&key, br#""message""#);
                    }
                    reader.skip()?;
                }
            }
        }
        Ok(answered)
    }

    fn message(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        let mut members = reader.object()?;
        while let Some(key) = members.next(reader)? {
            if key != "tool_calls" || reader.peek() != Kind::Array {
                reader.skip()?;
                continue;
            }
            let mut calls = reader.array()?;
            let mut number = 0;
            while calls.more(reader)? {
                let call = reader.raw()?;
                // The calls of a chunk need an index.
                if call.kind() == Kind::Object && call.reader().pick(["index"])? == [None] {
                    let inside = call.pos().offset().map(|start| start + 1..start + 1);
                    let comma = if call.is_empty() { "" } else { "," };
                    self.splice(inside, format!("\"index\":{number}{comma}").as_bytes());
                }
                number += 1;
            }
        }
        Ok(())
    }

    fn replace(&mut self, text: &Str<'_>, with: &[u8]) {
        self.splice(text.span(self.body), with);
    }

    /// Copies the answer up to a place and writes something else instead of what
    /// is there.
    fn splice(&mut self, place: Option<Range<usize>>, with: &[u8]) {
        let Some(place) = place else { return };
        self.take(place.start);
        self.out.extend_from_slice(with);
        self.used = place.end;
    }

    fn take(&mut self, end: usize) {
        let rest = self.body.get(self.used..end).unwrap_or_default();
        // A line end between two tokens would end the data.
        let line = rest.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte });
        self.out.extend(line);
        self.used = end;
    }

    fn end(mut self, answered: bool) -> Vec<u8> {
        self.take(self.body.len());
        self.out.extend_from_slice(b"\n\n");
        if answered {
            self.out.extend_from_slice(DONE);
        }
        self.out
    }
}
