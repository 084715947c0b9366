//! A stream put together to the message that it amounts to.

use std::collections::BTreeMap;

use crate::codec::StreamAccumulator;
use crate::wire::growing::GrowingObject;
use crate::wire::sse::Frame;
use crate::wire::{Extra, Kind, Object, Raw, ReadError, Reader, TextBuffer, read_fields};

/// A message that grows event by event.
#[derive(Debug, Default)]
pub(in super::super) struct MessagesAccumulator {
    /// The message without its content.
    message: GrowingObject,
    blocks: BTreeMap<u64, AccumulatedBlock>,
}

/// One block of the content.
#[derive(Debug, Default)]
struct AccumulatedBlock {
    members: GrowingObject,
    /// The JSON of `input`, which comes as text.
    input: TextBuffer,
}

impl StreamAccumulator for MessagesAccumulator {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), ReadError> {
        let mut reader = Reader::new(frame.data);
        let kind = reader.tag("type")?;
        let kind = kind.as_ref().map(|kind| kind.decode());
        match kind.as_deref().or(frame.name).unwrap_or_default() {
            "message_start" => self.start(&mut reader),
            "content_block_start" => {
                let [index, block] = reader.pick(["index", "content_block"])?;
                let Some(block) = block.filter(is_object) else { return Ok(()) };
                self.block(index).members.merge(&mut block.reader())
            }
            "content_block_delta" => {
                let [index, delta] = reader.pick(["index", "delta"])?;
                let Some(delta) = delta.filter(is_object) else { return Ok(()) };
                self.block(index).grow(&delta)
            }
            "message_delta" => self.end(&mut reader),
            _other => Ok(()),
        }
    }

    fn response(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut message = Object::new(&mut out);
        self.message.write_members(&mut message);
        {
            let mut content = message.array("content");
            for AccumulatedBlock { members, input } in self.blocks.values() {
                let mut block = content.object();
                members.write_members(&mut block);
                let text = input.text();
                let text = text.decode();
                // What was cut has an input that is none.
                if let Ok(input) = Raw::parse(&text).or_else(|_| Raw::parse("{}"))
                    && !text.trim().is_empty()
                {
                    block.put("input", &input);
                }
            }
        }
        drop(message);
        out
    }
}

impl MessagesAccumulator {
    fn start(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        let [message] = reader.pick(["message"])?;
        let Some(message) = message.filter(is_object) else { return Ok(()) };
        for Extra { key, value } in read_fields(&mut message.reader())? {
            if key != "content" {
                self.message.set(&key.decode(), &value)?;
                continue;
            }
            for (index, block) in
                value.elements()?.iter().filter(|block| is_object(block)).enumerate()
            {
                let known = self.blocks.entry(index as u64).or_default();
                known.members.merge(&mut block.reader())?;
            }
        }
        Ok(())
    }

    fn end(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        for Extra { key, value } in read_fields(reader)? {
            match (key.decode().as_ref(), value.kind()) {
                ("type", _kind) => {}
                ("delta", Kind::Object) => {
                    for Extra { key, value } in read_fields(&mut value.reader())? {
                        self.message.set(&key.decode(), &value)?;
                    }
                }
                // The counts come twice, the second time only with what has changed.
                ("usage", Kind::Object) => {
                    self.message.add("usage", &value)?;
                }
                (other, _kind) => self.message.set(other, &value)?,
            }
        }
        Ok(())
    }

    fn block(&mut self, index: Option<Raw<'_>>) -> &mut AccumulatedBlock {
        let index = index.and_then(|index| index.text().parse().ok()).unwrap_or_default();
        self.blocks.entry(index).or_default()
    }
}

impl AccumulatedBlock {
    fn grow(&mut self, delta: &Raw<'_>) -> Result<(), ReadError> {
        for Extra { key, value } in read_fields(&mut delta.reader())? {
            match (key.decode().as_ref(), value.kind()) {
                ("type", _kind) => {}
                ("partial_json", Kind::String) => self.input.push(&value.reader().string()?),
                ("citation", _kind) => self.members.push("citations", &value),
                (other, _kind) => self.members.add(other, &value)?,
            }
        }
        if !self.input.is_empty() {
            self.members.remove("input");
        }
        Ok(())
    }
}

fn is_object(raw: &Raw<'_>) -> bool {
    raw.kind() == Kind::Object
}
