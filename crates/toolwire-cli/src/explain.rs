//! The ledger as a table for people.

use std::collections::HashMap;

use toolwire::{Action, Entry, Level};

use crate::terminal::{Screen, Style, visible, wrap};

/// A heading, what was lost in numbers, and the table if there is one.
pub(crate) fn report(heading: &str, entries: &[Entry], screen: Screen) -> String {
    let mut text = String::new();
    for line in wrap(&format!("{heading}: {}", summary(entries)), screen.width) {
        text.push_str(&screen.paint(&line, Style::Bold));
        text.push('\n');
    }
    if !entries.is_empty() {
        text.push('\n');
        text.push_str(&table(entries, screen));
    }
    text
}

/// One row for each entry. Entries that differ only in the index of a list
/// share one.
pub(crate) fn table(entries: &[Entry], screen: Screen) -> String {
    let rows = fold(entries);
    let widest = |cell: fn(&Row<'_>) -> usize| rows.iter().map(cell).max().unwrap_or_default();
    let field = widest(|row| row.field.chars().count()).clamp(FIELD.len(), screen.width / 3);
    let action = widest(|row| row.action.len()).max(ACTION.len());
    let reason = screen.width.saturating_sub(field + action + 2 * GAP).max(16);

    let mut text = String::new();
    let heading = format!("{FIELD:field$}{:GAP$}{ACTION:action$}{:GAP$}{REASON}", "", "");
    text.push_str(&screen.paint(&heading, Style::Faint));
    text.push('\n');
    for row in &rows {
        let fields = wrap_path(&row.field, field);
        let reasons = wrap(&row.reason, reason);
        for line in 0..fields.len().max(reasons.len()) {
            let cell = |lines: &[String]| lines.get(line).cloned().unwrap_or_default();
            let done = if line == 0 { row.action } else { "" };
            let painted = screen.paint(done, style(row.entry));
            let padding = action - done.len() + GAP;
            let line = format!("{:field$}{:GAP$}{painted}{:padding$}", cell(&fields), "", "");
            text.push_str(format!("{line}{}", cell(&reasons)).trim_end());
            text.push('\n');
        }
    }
    text
}

const FIELD: &str = "Field";
const ACTION: &str = "Action";
const REASON: &str = "Reason";
const GAP: usize = 2;

fn summary(entries: &[Entry]) -> String {
    let exact = entries.iter().filter(|entry| is_exact(entry)).count();
    let losses = entries.iter().filter(|entry| entry.is_loss()).count();
    let minor = entries.len() - exact - losses;
    let mut parts = Vec::new();
    if losses + minor == 0 {
        parts.push("nothing was lost".to_owned());
    }
    for (count, one, many) in [
        (losses, "loss", "losses"),
        (minor, "minor loss", "minor losses"),
        (exact, "exact emulation", "exact emulations"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {}", if count == 1 { one } else { many }));
        }
    }
    parts.join(", ") + "."
}

/// Whether an entry comes back as it was.
fn is_exact(entry: &Entry) -> bool {
    match entry.action {
        Action::Renamed | Action::Emulated => true,
        Action::Dropped | Action::Degraded | Action::Moved | Action::Refused => false,
    }
}

fn style(entry: &Entry) -> Style {
    match (entry.action, entry.level) {
        (Action::Refused, _) => Style::Red,
        (Action::Renamed | Action::Emulated, _) => Style::Green,
        (Action::Dropped | Action::Degraded | Action::Moved, Level::Loss) => Style::Yellow,
        (Action::Dropped | Action::Degraded | Action::Moved, Level::Info) => Style::Faint,
    }
}

struct Row<'e> {
    field: String,
    action: &'static str,
    reason: String,
    entry: &'e Entry,
}

fn fold(entries: &[Entry]) -> Vec<Row<'_>> {
    let mut counts: HashMap<(String, String), usize> = HashMap::new();
    for entry in entries {
        *counts.entry(likeness(entry)).or_default() += 1;
    }
    let mut rows = Vec::new();
    for entry in entries {
        // The first of those that are alike stands for all of them.
        let Some(count) = counts.remove(&likeness(entry)) else { continue };
        let field = match count {
            1 if entry.path.is_empty() => "(whole document)".to_owned(),
            1 => visible(&entry.path),
            _ => format!("{} ({count}×)", visible(&pattern(&entry.path))),
        };
        rows.push(Row { field, action: entry.action.as_str(), reason: reason(entry), entry });
    }
    // What matters most comes first; otherwise the order of the ledger stays.
    rows.sort_by_key(|row| (is_exact(row.entry), !row.entry.is_loss()));
    rows
}

/// What entries that share a row have in common.
fn likeness(entry: &Entry) -> (String, String) {
    (pattern(&entry.path), format!("{} {}", entry.action.as_str(), reason(entry)))
}

fn pattern(path: &str) -> String {
    let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = path.split('/').map(|step| if is_index(step) { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

fn reason(entry: &Entry) -> String {
    let code = entry.code.to_string();
    let level = match entry.level {
        Level::Loss => "",
        Level::Info => ", info",
    };
    visible(&format!("{} [{code}{level}]", entry.detail))
}

/// Breaks a JSON Pointer before a slash where that is possible.
fn wrap_path(path: &str, width: usize) -> Vec<String> {
    let spaced = path.replace('/', " /");
    let mut lines = Vec::new();
    let mut line = String::new();
    for step in spaced.split(' ') {
        let gap = if step.starts_with('/') || line.is_empty() { "" } else { " " };
        if !line.is_empty() && line.chars().count() + gap.len() + step.chars().count() > width {
            lines.append(&mut wrap(&std::mem::take(&mut line), width));
            line.push_str(step);
        } else {
            line.push_str(gap);
            line.push_str(step);
        }
    }
    lines.append(&mut wrap(&line, width));
    lines
}

#[cfg(test)]
mod tests;
