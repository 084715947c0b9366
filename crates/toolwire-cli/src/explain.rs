//! The ledger as a table.

use std::collections::HashMap;

use toolwire::{Action, Entry, Level};

use crate::terminal::{Style, Terminal, escape_controls, wrap};

/// A heading with the number of losses, and a table of them if there are any.
pub(crate) fn report(heading: &str, entries: &[Entry], terminal: Terminal) -> String {
    let mut text = String::new();
    for line in wrap(&format!("{heading}: {}", summary(entries)), terminal.width) {
        text.push_str(&terminal.paint(&line, Style::Bold));
        text.push('\n');
    }
    if !entries.is_empty() {
        text.push('\n');
        text.push_str(&table(entries, terminal));
    }
    text
}

/// One row for each entry. Entries that differ only in a list index share a row.
pub(crate) fn table(entries: &[Entry], terminal: Terminal) -> String {
    let rows = rows(entries);
    let widest = |cell: fn(&TableRow<'_>) -> usize| rows.iter().map(cell).max().unwrap_or_default();
    let field = widest(|row| row.field.chars().count()).clamp(FIELD.len(), terminal.width / 3);
    let action = widest(|row| row.action.len()).max(ACTION.len());
    let reason = terminal.width.saturating_sub(field + action + 2 * GAP).max(16);

    let mut text = String::new();
    let heading = format!("{FIELD:field$}{:GAP$}{ACTION:action$}{:GAP$}{REASON}", "", "");
    text.push_str(&terminal.paint(&heading, Style::Faint));
    text.push('\n');
    for row in &rows {
        let fields = wrap_path(&row.field, field);
        let reasons = wrap(&row.reason, reason);
        for line in 0..fields.len().max(reasons.len()) {
            let cell = |lines: &[String]| lines.get(line).cloned().unwrap_or_default();
            let action_cell = if line == 0 { row.action } else { "" };
            let painted = terminal.paint(action_cell, style(row.entry));
            let padding = action - action_cell.len() + GAP;
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

/// Whether nothing is lost, because the change is undone on the way back.
fn is_exact(entry: &Entry) -> bool {
    matches!(entry.action, Action::Renamed | Action::Emulated)
}

fn style(entry: &Entry) -> Style {
    match (entry.action, entry.level) {
        (Action::Refused, _) => Style::Red,
        (Action::Renamed | Action::Emulated, _) => Style::Green,
        (_, Level::Info) => Style::Faint,
        (_, _) => Style::Yellow,
    }
}

struct TableRow<'e> {
    field: String,
    action: &'static str,
    reason: String,
    entry: &'e Entry,
}

fn rows(entries: &[Entry]) -> Vec<TableRow<'_>> {
    let mut counts: HashMap<(String, String), usize> = HashMap::new();
    for entry in entries {
        *counts.entry(row_key(entry)).or_default() += 1;
    }
    let mut rows = Vec::new();
    for entry in entries {
        // The first entry of a row represents the others.
        let Some(count) = counts.remove(&row_key(entry)) else { continue };
        let field = match count {
            1 if entry.path.is_empty() => "(whole document)".to_owned(),
            1 => escape_controls(&entry.path),
            _ => format!("{} ({count}×)", escape_controls(&pattern(&entry.path))),
        };
        rows.push(TableRow { field, action: entry.action.as_str(), reason: reason(entry), entry });
    }
    // Losses come first. Otherwise the order is the ledger's.
    rows.sort_by_key(|row| (is_exact(row.entry), !row.entry.is_loss()));
    rows
}

/// What the entries of a row have in common.
fn row_key(entry: &Entry) -> (String, String) {
    (pattern(&entry.path), format!("{} {}", entry.action.as_str(), reason(entry)))
}

fn pattern(path: &str) -> String {
    let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = path.split('/').map(|step| if is_index(step) { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

fn reason(entry: &Entry) -> String {
    let code = entry.code.to_string();
    let level = if entry.level == Level::Info { ", info" } else { "" };
    escape_controls(&format!("{} [{code}{level}]", entry.detail))
}

/// Breaks a JSON Pointer before a slash if possible.
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
