//! What is counted about a session, and kept with it.

use toolwire::model::Usage;
use toolwire::tracker::{CallState, Tracker};
use toolwire::wire::{Object, Raw, Reader};

/// The counts of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionStats {
    /// How often the model has answered.
    pub(super) turns: u64,
    calls: CallCounts,
    /// Tokens of all requests and answers, as far as upstreams have said.
    tokens: Option<TokenCounts>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TokenCounts {
    input: u64,
    output: u64,
}

/// What has become of the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CallCounts {
    pending: usize,
    completed: usize,
    failed: usize,
    missing: usize,
    /// Results that answer no call.
    orphaned: usize,
    /// Calls with several results.
    duplicated: usize,
}

impl SessionStats {
    /// Reads what [`SessionStats::to_json`] has written.
    pub(super) fn read(json: &[u8]) -> Self {
        let text = std::str::from_utf8(json).unwrap_or_default();
        let [turns, tokens] = Reader::new(text).pick(["turns", "tokens"]).unwrap_or_default();
        let number = |raw: Option<&Raw<'_>>| raw.and_then(|raw| raw.text().parse().ok());
        let tokens = tokens.and_then(|tokens| {
            let [input, output] = tokens.reader().pick(["input", "output"]).ok()?;
            let (input, output) = (number(input.as_ref())?, number(output.as_ref())?);
            Some(TokenCounts { input, output })
        });
        // The calls are counted anew with every change.
        let turns = number(turns.as_ref()).unwrap_or_default();
        Self { turns, calls: CallCounts::default(), tokens }
    }

    /// Counts what has become of the calls.
    pub(super) fn count_calls(&mut self, tracker: &Tracker) {
        let mut counts = CallCounts::default();
        for call in tracker.calls() {
            let count = match call.state {
                CallState::Pending | CallState::TimedOut => &mut counts.pending,
                CallState::Completed => &mut counts.completed,
                CallState::Failed => &mut counts.failed,
                CallState::Missing => &mut counts.missing,
            };
            *count += 1;
            counts.duplicated += usize::from(call.is_duplicated());
        }
        counts.orphaned = tracker.orphans().len();
        self.calls = counts;
    }

    /// Adds the tokens of an answer and its request.
    pub(super) fn add_tokens(&mut self, usage: &Usage<'_>) {
        let TokenCounts { input, output } = self.tokens.unwrap_or_default();
        let (input, output) =
            (input.saturating_add(usage.input), output.saturating_add(usage.output));
        self.tokens = Some(TokenCounts { input, output });
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let Self { turns, calls, tokens } = self;
        let CallCounts { pending, completed, failed, missing, orphaned, duplicated } = calls;
        let mut out = Vec::with_capacity(160);
        let mut object = Object::new(&mut out);
        object.put("turns", turns);
        {
            let mut calls = object.object("calls");
            for (name, count) in [
                ("pending", pending),
                ("completed", completed),
                ("failed", failed),
                ("missing", missing),
                ("orphaned", orphaned),
                ("duplicated", duplicated),
            ] {
                calls.put(name, &u64::try_from(*count).unwrap_or(u64::MAX));
            }
        }
        match tokens {
            Some(TokenCounts { input, output }) => {
                let mut tokens = object.object("tokens");
                tokens.put("input", input);
                tokens.put("output", output);
            }
            None => object.put("tokens", &Raw::made("null")),
        }
        drop(object);
        out
    }
}
