//! The ledger of a stream: what every event loses is said once.

use crate::ledger::{Action, Code, Entry, Ledger};

/// The lines of a stream so far.
pub(super) struct StreamLedger {
    /// Whether anybody wants to know.
    wanted: bool,
    /// What the current event lost.
    ledger: Ledger,
    /// Lines that nobody has taken yet.
    lines: Vec<Entry>,
    /// What has been said: the code, the action and the place without numbers.
    said: Vec<(Code, Action, String)>,
}

impl StreamLedger {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, ledger: Ledger::default(), lines: Vec::new(), said: Vec::new() }
    }

    pub(super) fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// Turns what the event `number` lost into lines. `data` is the event's.
    pub(super) fn settle(&mut self, data: &str, number: usize) {
        if self.ledger.is_empty() {
            return;
        }
        if !self.wanted {
            return self.ledger.clear();
        }
        let said = &self.said;
        self.ledger.retain(|code, action| {
            let same = said.iter().filter(|(known, done, _)| known == code && *done == action);
            same.count() < OFTEN
        });
        for mut entry in self.ledger.entries(data) {
            let place = without_numbers(&entry.path);
            let known = (entry.code.clone(), entry.action, place);
            if self.said.len() < MOST && !self.said.contains(&known) {
                self.said.push(known);
                entry.path = format!("/{number}{}", entry.path);
                self.lines.push(entry);
            }
        }
        self.ledger.clear();
    }

    pub(super) fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.lines)
    }
}

/// The path with every index of a list replaced, so that the same place in two
/// elements or two events is one place.
fn without_numbers(path: &str) -> String {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = path.split('/').map(|part| if number(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// How many places of one kind of loss are told apart. Beyond it a stream that
/// loses something with every event would pay for looking up where.
const OFTEN: usize = 8;
/// How many lines there are at most. An upstream that invents a field for
/// every event must not fill the memory.
const MOST: usize = 256;
