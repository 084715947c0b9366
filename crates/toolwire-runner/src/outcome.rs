//! How a conversation ended.

use std::borrow::Cow;

use toolwire::calls::ToolOutput;
use toolwire::model::Item;
use toolwire::tracker::{TrackedCall, Tracker};
use toolwire::{Protocol, codec};

/// A conversation that was completed.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub(crate) protocol: Protocol,
    pub(crate) request: Vec<u8>,
    pub(crate) response: Vec<u8>,
    pub(crate) rounds: usize,
    pub(crate) tracker: Tracker,
    pub(crate) outputs: Vec<ToolOutput>,
}

impl Outcome {
    /// What the model said at the end.
    pub fn text(&self) -> String {
        let source = std::str::from_utf8(&self.response).unwrap_or_default();
        let Ok(response) = (codec(self.protocol).decode_response)(source) else {
            return String::new();
        };
        let turns = response.candidates.first().map(|candidate| candidate.turns.as_slice());
        let items = turns.unwrap_or_default().iter().flat_map(|turn| &turn.items);
        let texts = items.filter_map(|item| {
            if let Item::Text(text) = item {
                return Some(text.text.decode());
            }
            if let Item::Refusal(refusal) = item { Some(refusal.text.decode()) } else { None }
        });
        let texts: Vec<Cow<'_, str>> = texts.collect();
        texts.concat()
    }

    /// The last request as it was sent, with the whole conversation. After
    /// [`Error::RoundLimit`](crate::Error::RoundLimit) it is the one to send next.
    pub fn request(&self) -> &[u8] {
        &self.request
    }

    /// The model's last answer, in the protocol of the client.
    pub fn response(&self) -> &[u8] {
        &self.response
    }

    /// How many requests were sent.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Every call that the model made, and what became of it.
    pub fn calls(&self) -> &[TrackedCall] {
        self.tracker.calls()
    }

    /// What the model read of each call, in the order of the calls.
    pub fn outputs(&self) -> &[ToolOutput] {
        &self.outputs
    }
}
