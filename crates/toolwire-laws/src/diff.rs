//! What of a request is gone after a translation, and not admitted.

use std::collections::BTreeMap;

use super::meaning::Atom;
use toolwire::ledger::Entry;
use toolwire::wire::{Pos, pointers};

/// What `before` says that neither `after` says nor the ledger admits.
///
/// Text may stand inside other text: protocols join parts. Everything else must
/// be there as it was.
pub fn lost<'b>(
    before: &'b [Atom],
    after: &[Atom],
    source: &str,
    ledger: &[Entry],
) -> Vec<(&'b Atom, String)> {
    let positions: Vec<Pos> = before.iter().map(|atom| atom.pos).collect();
    let paths = pointers(source, &positions);
    let excused = |path: &str| {
        // A line about the request as a whole excuses nothing in it.
        let covers = |entry: &Entry| under(path, &entry.path) || under(&entry.path, path);
        ledger.iter().any(|entry| !entry.path.is_empty() && covers(entry))
    };
    let mut rest: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for atom in after {
        *rest.entry((atom.class, &atom.value)).or_default() += 1;
    }
    // What the ledger does not excuse comes first: of two things that say the
    // same, the one that is excused is the one that is gone.
    let (excused, strict): (Vec<_>, Vec<_>) =
        before.iter().zip(paths).partition(|(_, path)| excused(path));
    drop(excused);
    let mut gone = Vec::new();
    for (atom, path) in strict {
        match rest.get_mut(&(atom.class, atom.value.as_str())) {
            Some(count) if *count > 0 => *count -= 1,
            Some(_) | None if !is_said_inside(atom, after) => gone.push((atom, path)),
            Some(_) | None => {}
        }
    }
    gone
}

/// Whether a text stands inside a longer one: protocols join parts.
fn is_said_inside(atom: &Atom, after: &[Atom]) -> bool {
    let inside = |other: &Atom| other.class == atom.class && other.value.contains(&atom.value);
    atom.class.ends_with("text") && after.iter().any(inside)
}

/// Whether `path` is `parent` or below it.
fn under(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
