//! The lines that are counted because there are too many of them.

use std::borrow::Cow;

use super::{Action, Code, Entry, Level, Note};

/// Lines that are not kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Unlisted {
    /// What was changed or lost.
    lost: Tally,
    /// What crossed exactly, in another shape.
    emulated: Tally,
    /// The last line. Whoever made it may still have something to say about it.
    last: Option<Note>,
}

/// How many lines there were, and how much the worst of them matters.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    count: usize,
    worst: Option<(Action, Level)>,
}

impl Unlisted {
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Counts a line.
    pub(super) fn note(&mut self, note: Note) -> &mut Note {
        if let Some(last) = self.last.take() {
            let tally =
                if last.action == Action::Emulated { &mut self.emulated } else { &mut self.lost };
            tally.add(last.action, last.level);
        }
        self.last.insert(note)
    }

    /// A line for all of them, and another for those that crossed exactly.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let Self { mut lost, mut emulated, last } = self.clone();
        if let Some(last) = last {
            let tally = if last.action == Action::Emulated { &mut emulated } else { &mut lost };
            tally.add(last.action, last.level);
        }
        [lost, emulated].into_iter().filter_map(Tally::entry)
    }
}

impl Tally {
    fn add(&mut self, action: Action, level: Level) {
        self.count += 1;
        let is_worse = |(worst, its): (Action, Level)| {
            action == Action::Refused || (action.is_loss(level) && !worst.is_loss(its))
        };
        if self.worst.is_none_or(is_worse) {
            self.worst = Some((action, level));
        }
    }

    fn entry(self) -> Option<Entry> {
        let Self { count, worst } = self;
        let (action, level) = worst?;
        let detail = Cow::Owned(format!("{count} more places are not listed."));
        Some(Entry { path: String::new(), code: Code::More(count), action, level, detail })
    }
}
