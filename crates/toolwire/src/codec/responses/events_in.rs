//! The stream: from Responses into events.

use crate::codec::{EventsIn, Sink};
use crate::wire::ReadError;
use crate::wire::sse::Frame;

/// A stream being read.
#[derive(Debug, Default)]
pub(super) struct Reading;

impl EventsIn for Reading {
    fn read(&mut self, _frame: &Frame<'_>, _sink: &mut dyn Sink) -> Result<(), ReadError> {
        Ok(())
    }

    fn finish(&mut self, _sink: &mut dyn Sink) {}
}
