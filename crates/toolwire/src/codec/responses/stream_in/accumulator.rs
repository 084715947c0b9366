//! A stream put together to the answer that it amounts to, which its last event
//! has whole.

use std::collections::BTreeMap;

use crate::codec::StreamAccumulator;
use crate::wire::sse::Frame;
use crate::wire::{Array, Kind, Raw, ReadError, Reader, written};

/// An answer that comes whole at its end.
#[derive(Debug, Default)]
pub(crate) struct ResponsesAccumulator {
    response: Option<Raw<'static>>,
    /// The items that were done, by their place. Some servers leave them out of
    /// the last event.
    items: BTreeMap<u64, String>,
}

impl StreamAccumulator for ResponsesAccumulator {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), ReadError> {
        let mut reader = Reader::new(frame.data);
        let kind = reader.tag("type")?;
        let kind = kind.as_ref().map(|kind| kind.decode());
        match kind.as_deref().or(frame.name).unwrap_or_default() {
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let [response] = reader.pick(["response"])?;
                self.response = response.map(Raw::into_owned);
            }
            "response.output_item.done" => {
                let [index, item] = reader.pick(["output_index", "item"])?;
                let next = self.items.last_key_value().map_or(0, |(last, _)| last + 1);
                let index = index.and_then(|index| index.text().parse().ok()).unwrap_or(next);
                if let Some(item) = item {
                    self.items.insert(index, item.text().to_owned());
                }
            }
            _other => {}
        }
        Ok(())
    }

    fn response(&self) -> Vec<u8> {
        let empty = Raw::made("{\"output\":[]}");
        let response = self.response.as_ref().unwrap_or(&empty);
        let [output] = response.reader().pick(["output"]).unwrap_or([None]);
        let has_items = output.is_some_and(|output| {
            output.kind() == Kind::Array && !output.is_empty() || self.items.is_empty()
        });
        if has_items {
            return response.text().as_bytes().to_vec();
        }
        let items = written(|out| {
            let mut array = Array::new(out);
            for item in self.items.values() {
                array.item().extend_from_slice(item.as_bytes());
            }
        });
        let whole = response.but(&[("output", &items)]);
        whole.map(|whole| whole.text().as_bytes().to_vec()).unwrap_or_default()
    }
}
