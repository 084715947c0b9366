//! The stream: from events to Messages.

use crate::codec::EventsOut;
use crate::ledger::Ledger;
use crate::model::{Asked, Event};

/// A stream being written.
#[derive(Debug)]
pub(super) struct Writing {
    asked: Asked,
}

impl Writing {
    /// A stream for a client who asked for it so.
    pub(super) fn new(asked: Asked) -> Self {
        Self { asked }
    }
}

impl EventsOut for Writing {
    fn write(&mut self, _event: &Event<'_>, _out: &mut Vec<u8>, _ledger: &mut Ledger) {
        let _ = &self.asked;
    }
}
